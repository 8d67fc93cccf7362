"""Every compiler takes the generated C without a warning, as C99 and as C++11; nothing but the model is in it."""

from __future__ import annotations

import re

import pytest

from burnc.compilers.compile import CODE_FLAGS, compile_objects
from burnc.compilers.cores import core_flags
from burnc.compilers.toolchains import CCompiler, identify, ziglang_command
from codegen.exported import INT8, MODELS, STRICT, run_tool
from requirements import requires

THUMB = core_flags("cortex-m0plus").gcc_flags


@requires("gcc")
@pytest.mark.parametrize("io", ["arena", "caller"])
@pytest.mark.parametrize("model", MODELS)
def test_gcc(exported, model, io):
    run_tool("gcc", "-std=c99", *STRICT, "-fsyntax-only", *exported(model, io).sources)


@requires("clang")
@pytest.mark.parametrize(("model", "io"), [("resnet", "caller"), ("kws", "arena"), ("emx_kws", "arena")])
def test_clang(exported, model, io):
    run_tool("clang", "-std=c99", *STRICT, "-fsyntax-only", *exported(model, io).sources)


@requires("c++ compiler")
@pytest.mark.parametrize(
    ("model", "io"), [("resnet", "arena"), ("kws", "caller"), ("mnist8", "arena"), ("emx_kws", "caller")]
)
def test_cplusplus(exported, model, io):
    run_tool("g++", "-std=c++11", "-x", "c++", *STRICT, "-fsyntax-only", *exported(model, io).sources)


@requires("ziglang")
def test_zig_for_thumb(exported, tmp_path):
    command = ziglang_command()
    assert command is not None
    zig = CCompiler(command, *identify(command), "cortex-m0plus", core_flags("cortex-m0plus").zig_flags)
    sources = [s for m in ("kws", "magicwand") for s in exported(m).sources]
    compile_objects(zig, sources, out_dir=tmp_path, flags=[*CODE_FLAGS, *STRICT, "-O1"])


@requires("gcc")
def test_rendered_int8_kernels(exported):
    run_tool("gcc", "-std=c99", *STRICT, "-fsyntax-only", *exported("kws", rendered=True).sources)


@requires("cppcheck")
def test_cppcheck(exported):
    sources = [s for m in ("kws", "resnet", "mnist8", "emx_kws") for s in exported(m).sources]
    run_tool(
        "cppcheck",
        "--std=c99",
        "--enable=warning,performance,portability",
        "--error-exitcode=1",
        "--inline-suppr",
        "--quiet",
        # What cppcheck does not know of (system headers), it says so and goes on.
        "--suppress=missingIncludeSystem",
        *[s for s in sources if not s.name.endswith("_weights.c")],
    )


@pytest.fixture(scope="module")
def thumb_objects(exported, tmp_path_factory):
    """Compile a model for the Cortex-M0+ and name the objects."""

    def objects(model):
        folder = tmp_path_factory.mktemp(model)
        made = []
        model = exported(model)
        for source in [*model.sources, *sorted(model.folder.glob(f"{model.prefix}*.S"))]:
            made.append(folder / f"{source.name}.o")
            flags = [*THUMB, *CODE_FLAGS, "-O2", *STRICT, "-Wstack-usage=1024"]
            run_tool("arm-none-eabi-gcc", *flags, "-c", source, "-o", made[-1])
        return made

    return objects


def _symbols(objects, *options):
    lines = run_tool("arm-none-eabi-nm", *options, *objects).decode().splitlines()
    return [line.split() for line in lines if line and not line.endswith(":")]


# What the compiler's own library supplies on a core without a divider, and the memory functions of the firmware.
LIBRARY = re.compile(r"__aeabi_(u?idiv(mod)?|mem(cpy|set|clr)4?|lmul|lasr|llsl|llsr)|__gnu_thumb\w*|mem(cpy|move|set)")
SOFT_FLOAT = re.compile(r"__aeabi_(f\w+|\w*2f|cf\w+)")


@requires("arm-none-eabi-gcc")
@pytest.mark.parametrize("model", ["kws", "resnet", "hello", "mnist8", "emx_kws"])
def test_objects_for_thumb(thumb_objects, exported, model):
    prefix = exported(model).prefix
    objects = thumb_objects(model)
    defined = {s[-1] for s in _symbols(objects, "--defined-only", "--extern-only")}
    assert defined
    assert all(name.startswith(f"{prefix}_") for name in defined)
    missing = {s[-1] for s in _symbols(objects, "--undefined-only")} - defined
    foreign = {n for n in missing if not LIBRARY.fullmatch(n)}
    if model in INT8:
        assert not foreign, "a pure int8 net needs no float routine"
    else:
        assert all(SOFT_FLOAT.fullmatch(n) for n in foreign), "no double, no math library"
    # Nothing in .data or .bss: weights stay in flash, and nothing is remembered between runs.
    kinds = {s[-2].lower() for s in _symbols(objects, "--defined-only")}
    assert kinds <= {"t", "r"}
    sizes = run_tool("arm-none-eabi-size", "-B", *objects).decode().splitlines()[1:]
    assert all(line.split()[1:3] == ["0", "0"] for line in sizes)


@requires("arm-none-eabi-gcc")
@pytest.mark.parametrize("model", ["kws", "emx_kws"])
def test_links_without_a_c_library(thumb_objects, exported, tmp_path, model):
    prefix = exported(model).prefix
    main = tmp_path / "main.c"
    main.write_text(
        f'#include "{prefix}.h"\n'
        "void *memcpy(void *to, const void *from, unsigned size);\n"
        "void *memcpy(void *to, const void *from, unsigned size) { (void)from; (void)size; return to; }\n"
        "void *memset(void *to, int value, unsigned size);\n"
        "void *memset(void *to, int value, unsigned size) { (void)value; (void)size; return to; }\n"
        f"static {prefix}_arena arena;\n"
        f"int start(void);\nint start(void) {{ return (int){prefix}_self_test(&arena); }}\n"
    )
    program = tmp_path / "program.elf"
    flags = [*THUMB, "-std=c99", "-Os", "-ffreestanding", "-fno-builtin", "-nostdlib", "-Wl,-e,start"]
    run_tool(
        "arm-none-eabi-gcc", *flags, main, *thumb_objects(model), f"-I{exported(model).folder}", "-lgcc", "-o", program
    )


@requires("gcc", "c++ compiler")
def test_header_in_several_units(exported, tmp_path):
    model = exported("kws")
    prefix = model.prefix
    objects = []
    for name, compiler in (("one.c", "gcc"), ("two.c", "gcc"), ("three.cpp", "g++")):
        unit = tmp_path / name
        function = unit.stem
        linkage = 'extern "C" ' if compiler == "g++" else ""
        body = f"static {prefix}_arena arena;\n{linkage}int {function}(void);\n"
        body += f"int {function}(void) {{ return (int){prefix}_run(&arena); }}\n"
        if name == "one.c":
            body += "int two(void);\nint three(void);\nint main(void) { return one() + two() + three(); }\n"
        unit.write_text(f'#include "{prefix}.h"\n#include "{prefix}.h"\n{body}')
        objects.append(unit.with_suffix(".o"))
        standard = "-std=c++11" if compiler == "g++" else "-std=c99"
        run_tool(compiler, standard, *STRICT, f"-I{model.folder}", "-c", unit, "-o", objects[-1])
    run_tool("gcc", "-std=c99", *objects, *model.sources, f"-I{model.folder}", "-o", tmp_path / "program")
    run_tool(tmp_path / "program")


ALLOWED_HEADERS = {"<stdint.h>", "<stddef.h>", "<stdbool.h>"}


@pytest.mark.parametrize("model", ["kws", "emx_kws", "resnet", "mnist8"])
def test_text(exported, model):
    found = exported(model)
    for path in found.folder.glob(f"{found.prefix}*.[ch]"):
        assert path.name.startswith(found.prefix)
        text = path.read_text()
        assert text.isascii()
        assert text.startswith("/* SPDX-License-Identifier: 0BSD")
        headers = set(re.findall(r"#include (\S+)", text))
        assert all(h in ALLOWED_HEADERS or h.startswith(f'"{found.prefix}') for h in headers), headers
        code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        assert not re.search(r"\b(goto|malloc|calloc|free|alloca|setjmp|double|long|short)\b", code)
        assert not re.search(r"\bchar\b(?! \w+_requires_)", code)
        # GNU syntax only inside macros.
        plain = re.sub(r"#define(.*\\\n)*.*", "", code)
        assert not re.search(r"__attribute__|__asm__|__typeof__|\(\{|\[0\]", re.sub(r"\w+\[0\]", "", plain))
        assert not re.search(r"\bburnc_(?!status\b)|\bBURNC_(?!STATUS_)", code)


@requires("gcc")
def test_no_recursion(exported):
    for model in ("resnet", "emx_kws"):
        found = exported(model)
        calls: dict[str, set[str]] = {}
        for source in found.sources:
            code = re.sub(r"/\*.*?\*/", "", source.read_text(), flags=re.DOTALL)
            for header in found.folder.glob("*.h"):
                code += re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)
            for function in re.finditer(r"^[\w ]+?\**(\w+)\([^;{]*\) \{\n(.*?)^\}", code, re.MULTILINE | re.DOTALL):
                calls.setdefault(function[1], set()).update(re.findall(r"\b(\w+)\(", function[2]))
        assert f"{found.prefix}_run" in calls

        def reaches(name: str, target: str, seen: set[str], calls: dict[str, set[str]] = calls) -> bool:
            follow = calls.get(name, set()) - seen
            return target in follow or any(reaches(f, target, seen | follow, calls) for f in follow)

        assert not [name for name in calls if reaches(name, name, set())]


@requires("gcc")
def test_stack_is_bounded_where_the_activation_is_large(exported):
    """The largest tensors of this net are 48 KiB; no function needs a kilobyte of stack."""
    model = exported("vww")
    sources = [s for s in model.sources if not s.name.endswith("_weights.c")]
    for source in sources:
        run_tool("gcc", "-std=c99", "-O2", *STRICT, "-Wstack-usage=1024", "-c", source, "-o", "/dev/null")
