"""Compilers for the tests of this folder."""

from __future__ import annotations

import pytest

from burnc.compilers.cores import core_flags
from burnc.compilers.toolchains import CCompiler, find_cross_compiler, identify, ziglang_command


@pytest.fixture
def zig():
    """Make the compiler of the package ziglang for a core, whatever else is installed."""

    def for_core(core: str) -> CCompiler:
        command = ziglang_command()
        assert command is not None
        return CCompiler(command, *identify(command), core, core_flags(core).zig_flags)

    return for_core


@pytest.fixture
def arm_gcc(monkeypatch):
    """Make the system's arm-none-eabi-gcc for a core."""

    def for_core(core: str) -> CCompiler:
        monkeypatch.delenv("BURNC_CC_ARM", raising=False)
        compiler = find_cross_compiler(core)
        assert compiler.kind == "gcc"
        return compiler

    return for_core
