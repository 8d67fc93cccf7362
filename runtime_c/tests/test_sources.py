# SPDX-License-Identifier: 0BSD
"""What the files promise: warning-free in every compiler and in C++, self-contained, freestanding, well named."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

RUNTIME = Path(__file__).parents[1]
INCLUDE = RUNTIME / "include"
SOURCES = sorted((RUNTIME / "src").glob("*.c"))
ASSEMBLY = sorted((RUNTIME / "src").glob("*.S"))
HEADERS = sorted((INCLUDE / "burnc").glob("*.h"))
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wcast-qual", "-Wcast-align", "-Wundef", "-Wpedantic"]
STRICT += ["-Werror", "-ffp-contract=off"]
ZIG = [sys.executable, "-m", "ziglang", "cc"]
THUMB = [*ZIG, "-target", "thumb-freestanding-eabi", "-mcpu=cortex_m0plus", "-fno-unwind-tables"]
THUMB += ["-fno-asynchronous-unwind-tables"]
# What assembly is for, by the ending of its name; the rest is for Cortex-M0 and M0+.
CORES = {
    "_dsp": [*ZIG, "-target", "thumb-freestanding-eabi", "-mcpu=cortex_m4"],
    "_mve": [*ZIG, "-target", "thumb-freestanding-eabihf", "-mcpu=cortex_m55+mve"],
    "_rv32": [*ZIG, "-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m+c"],
    "x4_s8": [*ZIG, "-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m+c"],
    "": THUMB,
}
COMPILERS = {
    "gcc": ["gcc", "-std=c99", "-O2"],
    "gcc-Os": ["gcc", "-std=c99", "-Os"],
    "g++": ["g++", "-x", "c++", "-std=c++11", "-O2"],
    "clang": ["clang", "-std=c99", "-O2"],
    "clang++": ["clang++", "-x", "c++", "-std=c++11", "-O2"],
    "arm-none-eabi-gcc": ["arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-mthumb", "-std=c99", "-Os"],
    "zig-m0plus-Os": [*THUMB, "-std=c99", "-Os"],
    "zig-m0plus-O2": [*THUMB, "-std=c99", "-O2"],
    "zig-m0plus-c++": [*THUMB, "-x", "c++", "-std=c++11", "-fno-exceptions", "-fno-rtti", "-O2"],
}
MEMORY = {"memcpy", "memmove", "memset"}


def core_of(assembly: Path) -> list[str]:
    return next(command for ending, command in CORES.items() if assembly.stem.endswith(ending))


# On a Cortex-M0+ a function in its assembly takes the place of its C twin.
THUMB_SOURCES = [
    path.with_suffix(".S") if path.with_suffix(".S") in ASSEMBLY and core_of(path) == THUMB else path
    for path in SOURCES
]


def compile_all(command: Sequence[str], sources: Sequence[Path], folder: Path) -> list[Path]:
    """One object a source; the test fails with the compiler's words."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} here")
    folder.mkdir(exist_ok=True)
    objects = []
    for source in sources:
        target = folder / f"{source.stem}.o"
        done = subprocess.run(
            [*command, *STRICT, f"-I{INCLUDE}", "-c", source, "-o", target], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        objects.append(target)
    return objects


def symbols(path: Path) -> tuple[set[str], set[str]]:
    """Global symbols defined in an object, and those that it needs."""
    with path.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        if table is None:  # an object without anything in it
            return set(), set()
        assert isinstance(table, SymbolTableSection)
        found = [s for s in table.iter_symbols() if s["st_info"]["bind"] in ("STB_GLOBAL", "STB_WEAK") and s.name]
        needed = {s.name for s in found if s["st_shndx"] == "SHN_UNDEF"}
        return {s.name for s in found} - needed, needed


def compile_one(command: Sequence[str], text: str, folder: Path) -> None:
    """One translation unit of that text."""
    unit = folder / "unit.c"
    unit.write_text(text)
    compile_all(command, [unit], folder)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_no_warnings(compiler: str, tmp_path: Path) -> None:
    compile_one(COMPILERS[compiler], "".join(f'#include "{path}"\n' for path in SOURCES), tmp_path)


@pytest.mark.parametrize("compiler", ["gcc", "g++", "clang", "clang++"])
def test_headers_stand_alone_and_beside_the_standard_ones(compiler: str, tmp_path: Path) -> None:
    check = [*COMPILERS[compiler], "-fsyntax-only"]
    for header in HEADERS:
        compile_one(check, 2 * f'#include "burnc/{header.name}"\n' + "typedef int unit;\n", tmp_path)
    ours = "".join(f'#include "burnc/{header.name}"\n' for header in HEADERS)
    others = "#include <string.h>\n#include <math.h>\n#include <stdlib.h>\n"
    use = "void use(char *a, const char *b);\n"
    use += "void use(char *a, const char *b) { memcpy(a, b, 3); burnc_memcpy(a, b, 3); }\n"
    compile_one(check, f"{others}{ours}{use}", tmp_path)
    compile_one(check, f"{ours}{others}{use}", tmp_path)


@pytest.mark.parametrize("compiler", ["gcc", "g++", "clang", "zig-m0plus-Os"])
def test_two_models_share_a_translation_unit(compiler: str, tmp_path: Path) -> None:
    """Renamed to two prefixes, as the exporter does it; only the status stays common."""
    includes = ""
    for prefix in ("first", "second"):
        for path in (*HEADERS, *SOURCES):
            text = re.sub(r'"burnc/(\w+\.h)"', rf'"{prefix}_\1"', path.read_text(encoding="utf-8"))
            text = re.sub(r"\bburnc_(?!status\b)", f"{prefix}_", text)
            text = re.sub(r"\bBURNC_(?!STATUS_)", f"{prefix.upper()}_", text)
            name = f"{prefix}_{path.name.removeprefix('burnc_')}"
            (tmp_path / name).write_text(text)
            includes += f'#include "{name}"\n'
    compile_one([*COMPILERS[compiler], f"-I{tmp_path}"], includes, tmp_path)


@pytest.fixture(scope="module", params=["-Os", "-O2"])
def objects(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Every source for a Cortex-M0+."""
    return compile_all([*THUMB, request.param], THUMB_SOURCES, tmp_path_factory.mktemp("objects"))


def test_objects_define_one_function_and_need_no_double(objects: list[Path]) -> None:
    known = {source.stem for source in SOURCES}
    for built in objects:
        defined, needed = symbols(built)
        assert defined == {built.stem}
        ours = needed & known
        support = {name for name in needed - ours if name.startswith(("__aeabi_", "__clzsi2"))}
        assert needed - ours - support <= MEMORY, built.stem
        assert not {name for name in support if re.match(r"__aeabi_(d|[a-z0-9]+2d)(?!iv)", name)}, built.stem


def test_links_freestanding(objects: list[Path], tmp_path: Path) -> None:
    """With nothing but mem* and the compiler's own support library."""
    main = tmp_path / "main.c"
    calls = "".join(f"(const void *){source.stem}, " for source in SOURCES)
    includes = "".join(f'#include "burnc/{header.name}"\n' for header in HEADERS)
    main.write_text(
        f"{includes}"
        "void *memcpy(void *d, const void *s, size_t n);\nvoid *memset(void *d, int v, size_t n);\n"
        "void *memcpy(void *d, const void *s, size_t n) { char *a = (char *)d; const char *b = (const char *)s;\n"
        "  while (n--) { *(volatile char *)a++ = *b++; } return d; }\n"
        "void *memset(void *d, int v, size_t n) { char *a = (char *)d;\n"
        "  while (n--) { *(volatile char *)a++ = (char)v; } return d; }\n"
        f"extern const void *const table[];\nconst void *const table[] = {{{calls}0}};\n"
        "void _start(void);\nvoid _start(void) { for (;;) { *(const void *const volatile *)table; } }\n"
    )
    files = [str(path) for path in (main, *objects)]
    command = [*THUMB, "-ffreestanding", f"-I{INCLUDE}", *files, "-o", str(tmp_path / "a.elf")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", [*HEADERS, *SOURCES], ids=lambda path: path.name)
def test_house_rules(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    code = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    assert text.startswith("/* SPDX-License-Identifier: 0BSD */\n")
    assert text.count("\n") < 300
    if path.suffix == ".h":
        guard = f"BURNC_{path.stem.upper()}_H"
        assert f"#ifndef {guard}\n#define {guard}\n" in text
    for include in re.findall(r"#include\s+(\S+)", text):
        assert include in ("<stdint.h>", "<stddef.h>", "<stdbool.h>", "<arm_mve.h>") or re.fullmatch(
            r'"burnc/[a-z0-9_]+\.h"', include
        )
    sections = "" if path.name == "ram.h" else "|__attribute__"
    banned = rf"\b(goto|malloc|free|char|long{sections})\b"
    assert not re.search(banned, re.sub("typedef char", "", code))
    # What floats need must not even name doubles: cores without them would be thought to compute with them.
    assert path.name == "double_math.h" or "burnc/double_math.h" in code or not re.search(r"\bdouble\b", code)
    for macro in re.findall(r"#\s*define\s+(\w+)", code):
        assert macro.startswith("BURNC_")
    # whatever a file defines at its outermost level can be renamed with the model's prefix
    for name in re.findall(
        r"^(?:static |extern )*(?:inline )?(?:const )?\w[\w ]*[ *](\w+)\(", code, flags=re.MULTILINE
    ):
        assert name.startswith("burnc_") or name in MEMORY, name
    for name in re.findall(r"(?:struct|enum|union)\s+(\w+)", code):
        assert name.startswith("burnc_")
    assert not re.search(r"^static (?!inline|const)[^(]*[=;]", code, flags=re.MULTILINE), "static mutable data"


@pytest.mark.parametrize("path", ASSEMBLY, ids=lambda path: path.name)
def test_assembly_stands_beside_a_twin_and_is_guarded(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("/* SPDX-License-Identifier: 0BSD */\n")
    assert path.with_suffix(".c") in SOURCES
    assert text.count("\n") < 400
    assert not re.search(
        r"[@;]", re.sub(r"@object|@progbits|@function", "", re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL))
    )
    for macro in re.findall(r"#\s*define\s+(\w+)", text):
        assert macro.startswith("BURNC_")
    elsewhere = [command for command in CORES.values() if command != core_of(path) and "mve" not in command[-1]]
    for command in (["gcc"], *elsewhere, [*core_of(path), "-DBURNC_NO_ASSEMBLY"]):
        (built,) = compile_all(command, [path], tmp_path)
        assert symbols(built)[0] == set()


@pytest.mark.parametrize("flags", [[], ["-DBURNC_NO_ASSEMBLY"]], ids=["assembly", "twin"])
@pytest.mark.parametrize("path", ASSEMBLY, ids=lambda path: path.name)
def test_one_of_assembly_and_twin_defines_the_function(path: Path, flags: list[str], tmp_path: Path) -> None:
    for command in (["gcc"], core_of(path)):
        built = compile_all([*command, *flags], [path], tmp_path) + compile_all(
            [*command, *flags], [path.with_suffix(".c")], tmp_path / "twin"
        )
        assert [name for one in built for name in symbols(one)[0]] == [path.stem]


def test_every_function_of_a_header_has_its_file() -> None:
    declared = set()
    for header in HEADERS:
        code = re.sub(r"/\*.*?\*/", " ", header.read_text(encoding="utf-8"), flags=re.DOTALL)
        declared |= set(
            re.findall(
                r"^(?:void |float |double |uint16_t |uint32_t \*)(burnc_\w+)\([^{]*?\);", code, flags=re.MULTILINE
            )
        )
    assert declared == {source.stem for source in SOURCES}


def test_clang_format() -> None:
    formatter = Path(sys.executable).with_name("clang-format")
    if not formatter.exists():
        pytest.skip("no clang-format here")
    files = [*HEADERS, *SOURCES, *sorted((RUNTIME / "tests").glob("*.c"))]
    done = subprocess.run([formatter, "--dry-run", "-Werror", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_cppcheck() -> None:
    if shutil.which("cppcheck") is None:
        pytest.skip("no cppcheck here")
    command = ["cppcheck", "--quiet", "--std=c99", "--error-exitcode=1", "--inline-suppr", "--force"]
    command += ["--enable=warning,style,performance,portability", f"-I{INCLUDE}", str(RUNTIME / "src")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
