"""Finds the C compiler for a board: a system compiler where there is one, else the one in the PyPI package ziglang."""

from __future__ import annotations

import functools
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from burnc.boards import Board
from burnc.compilers.cores import HOST, core_flags
from burnc.errors import ToolMissingError
from burnc.resources import cache_folder

CompilerKind = Literal["gcc", "clang", "zig"]
_VERSION_TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class CCompiler:
    """A C compiler and the flags that make it compile for one core."""

    command: tuple[str, ...]
    kind: CompilerKind
    version: str
    core: str = HOST
    target_flags: tuple[str, ...] = ()

    @property
    def for_host(self) -> bool:
        """Whether it makes programs for the computer that it runs on."""
        return self.core == HOST

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables that it needs besides the inherited ones."""
        return _zig_environment() if self.kind == "zig" else {}


def find_compiler(board: Board) -> CCompiler:
    """The C compiler for a board.

    Raises:
        ToolMissingError: none was found; the hint says how to get one.
        BoardError: nothing is known about the board's core.
    """
    return find_host_compiler() if board.cpu.core == HOST else find_cross_compiler(board.cpu.core)


def find_host_compiler() -> CCompiler:
    """The host's C compiler: ``$CC``, cc, gcc, clang, or zig from PyPI.

    Raises:
        ToolMissingError: none was found, or ``$CC`` cannot be run.
    """
    command = _from_environment("CC") or _first_on_path("cc", "gcc", "clang") or ziglang_command()
    if command is None:
        raise ToolMissingError(
            "no C compiler for this computer was found",
            hint="install gcc or clang, or `pip install burnc[pico]`, which brings one; or set CC",
        )
    kind, version = identify(command)
    return CCompiler(command, kind, version)


def find_cross_compiler(core: str) -> CCompiler:
    """The bare-metal C compiler for a core: ``$BURNC_CC_ARM`` (or ``_RISCV``), gcc on PATH, or zig from PyPI.

    Raises:
        ToolMissingError: none was found, or the one in the environment cannot be run.
        BoardError: nothing is known about the core.
    """
    flags = core_flags(core)
    variable = f"BURNC_CC_{flags.architecture.upper()}"
    command = _from_environment(variable) or _first_on_path(flags.gcc) or ziglang_command()
    if command is None:
        raise ToolMissingError(
            f"no C compiler for {core} was found",
            hint=f"`pip install burnc[pico]` brings one; or install {flags.gcc}; or set {variable}",
        )
    kind, version = identify(command)
    target_flags = {"gcc": flags.gcc_flags, "clang": flags.clang_flags, "zig": flags.zig_flags}[kind]
    return CCompiler(command, kind, version, core, target_flags)


def ziglang_command() -> tuple[str, ...] | None:
    """The C compiler inside the PyPI package ziglang, or None where it is not installed."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        return None
    program = Path(spec.submodule_search_locations[0]) / ("zig.exe" if os.name == "nt" else "zig")
    if program.is_file():
        return (str(program), "cc")
    return (sys.executable, "-m", "ziglang", "cc")


@functools.cache
def identify(command: tuple[str, ...]) -> tuple[CompilerKind, str]:
    """Which kind of compiler a command starts, and its version.

    Raises:
        ToolMissingError: it cannot be run, or it is neither gcc nor clang nor zig.
    """
    is_zig = command[-1] == "cc" and ("ziglang" in command or Path(command[0]).stem == "zig")
    query = (*command[:-1], "version") if is_zig else (*command, "--version")
    environment = {**os.environ, **_zig_environment()} if is_zig else None
    try:
        result = subprocess.run(
            query,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_VERSION_TIMEOUT_SECONDS,
            env=environment,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolMissingError(
            "the C compiler cannot be run", where=shlex.join(command), hint=f"it said: {error}"
        ) from error
    first_line = result.stdout.strip().partition("\n")[0]
    if is_zig:
        return "zig", f"zig {first_line}"
    if "clang" in result.stdout:
        return "clang", first_line
    if "Free Software Foundation" in result.stdout:
        return "gcc", first_line
    raise ToolMissingError(
        "the C compiler is neither gcc nor clang nor zig",
        where=shlex.join(command),
        hint=f"it calls itself {first_line}",
    )


def _zig_environment() -> dict[str, str]:
    # Without these zig writes into the current folder.
    folder = str(cache_folder() / "zig")
    return {"ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder}


def _from_environment(variable: str) -> tuple[str, ...] | None:
    value = os.environ.get(variable, "").strip()
    if not value:
        return None
    if shutil.which(value):  # a path that may hold spaces
        return (value,)
    command = tuple(shlex.split(value, posix=os.name != "nt"))
    if shutil.which(command[0]) is None:
        raise ToolMissingError(
            f"the compiler that {variable} names does not exist", where=value, hint=f"correct {variable} or unset it"
        )
    return command


def _first_on_path(*names: str) -> tuple[str, ...] | None:
    return next(((path,) for path in map(shutil.which, names) if path), None)
