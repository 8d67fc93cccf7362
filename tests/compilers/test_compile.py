"""Compiling and linking: results, and what an error says."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from burnc.compilers.compile import CODE_FLAGS, compile_objects, link_program, link_shared_library
from burnc.compilers.toolchains import find_host_compiler
from burnc.errors import CompileError
from requirements import requires


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture(
    params=[pytest.param("host", marks=requires("host compiler")), pytest.param("zig", marks=requires("ziglang"))]
)
def compiler(request, monkeypatch, tmp_path):
    """The host's own compiler, and zig in its place."""
    monkeypatch.delenv("CC", raising=False)
    if request.param == "zig":
        monkeypatch.setenv("PATH", str(tmp_path))
    return find_host_compiler()


def test_shared_library_with_spaces_and_equal_names(compiler, tmp_path):
    folder = tmp_path / "a folder with spaces"
    header = write(folder / "include here" / "three.h", "#define THREE 3\n")
    one = write(folder / "one" / "part.c", '#include "three.h"\nint one(void) { return THREE + ADD; }\n')
    two = write(folder / "two" / "part.c", "int two(void) { return 2; }\n")
    objects = compile_objects(
        compiler,
        [one, two],
        include_dirs=[header.parent],
        defines=["ADD=4"],
        flags=[*CODE_FLAGS, "-O2", "-fPIC"],
        out_dir=folder / "objects",
    )
    assert [path.name for path in objects] == ["part.o", "part.1.o"]
    path = link_shared_library(compiler, objects, output=folder / "parts.so")
    library = ctypes.CDLL(str(path))
    assert (library.one(), library.two()) == (7, 2)


def test_file_macro_hides_the_folder(compiler, tmp_path):
    source = write(tmp_path / "secret-place" / "where.c", "const char *where(void) { return __FILE__; }\n")
    (built,) = compile_objects(compiler, [source], flags=["-O2"], out_dir=tmp_path)
    assert b"secret-place" not in built.read_bytes()


def test_a_source_with_an_error_is_named(compiler, tmp_path):
    good = write(tmp_path / "good.c", "int good;\n")
    bad = write(tmp_path / "bad one.c", "int f(void) { return missing; }\n")
    with pytest.raises(CompileError) as caught:
        compile_objects(compiler, [good, bad], out_dir=tmp_path)
    assert caught.value.what == "bad one.c does not compile"
    assert str(bad) in caught.value.where
    assert "missing" in caught.value.where


def test_long_messages_are_cut(compiler, tmp_path):
    bad = write(tmp_path / "bad.c", "".join(f"int f{i}(void) {{ return no{i}; }}\n" for i in range(50)))
    with pytest.raises(CompileError) as caught:
        compile_objects(compiler, [bad], out_dir=tmp_path)
    assert len(str(caught.value).splitlines()) < 15


def test_a_missing_symbol_is_named(compiler, tmp_path):
    source = write(tmp_path / "main.c", "int lost(void);\nint main(void) { return lost(); }\n")
    objects = compile_objects(compiler, [source], out_dir=tmp_path)
    with pytest.raises(CompileError, match="program cannot be linked") as caught:
        link_program(compiler, objects, output=tmp_path / "program")
    assert "lost" in caught.value.where
