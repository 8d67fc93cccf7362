"""Runs a C compiler: sources to objects, objects to a program or a shared library."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

from burnc.compilers.toolchains import CCompiler
from burnc.errors import CompileError

Optimize = Literal["size", "balanced", "speed"]

OPTIMIZE_FLAGS: Mapping[Optimize, str] = {"size": "-Os", "balanced": "-O2", "speed": "-O3"}

# How generated code, runtime code and board support are compiled everywhere. -ffp-contract=off: a fused multiply-add
# rounds once where the reference rounds twice.
CODE_FLAGS: tuple[str, ...] = (
    "-std=c99",
    "-ffreestanding",
    "-ffp-contract=off",
    "-ffunction-sections",
    "-fdata-sections",
    "-fomit-frame-pointer",  # zig keeps r7 for frames otherwise, and a Cortex-M0+ has eight registers of use
    "-fno-unwind-tables",
    "-fno-asynchronous-unwind-tables",
)

# The warnings that generated code, runtime code and board support must not raise.
WARNING_FLAGS: tuple[str, ...] = (
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-Wcast-qual",
    "-Wcast-align",
    "-Wundef",
    "-Wpedantic",
    "-Werror",
)

_MESSAGE_LINES = 8


def compile_objects(
    compiler: CCompiler,
    sources: Sequence[Path],
    *,
    out_dir: Path,
    include_dirs: Sequence[Path] = (),
    defines: Sequence[str] = (),
    flags: Sequence[str] = (),
) -> list[Path]:
    """Compile C and assembler sources in parallel; the objects come in the order of the sources.

    Args:
        out_dir: where the objects go; made if it is missing.
        defines: ``NAME`` or ``NAME=VALUE``.
        flags: everything else, as ``CODE_FLAGS`` and one of ``OPTIMIZE_FLAGS``.

    Raises:
        CompileError: a source does not compile; it names the source and quotes the compiler.
    """
    out_dir.mkdir(parents=True, exist_ok=True)
    common = [*_target_flags(compiler), *flags]
    common += [f"-D{define}" for define in defines]
    common += [f"-I{folder}" for folder in include_dirs]
    objects = [out_dir / name for name in _object_names(sources)]

    def compile_one(source: Path, output: Path) -> None:
        # The map keeps this machine's paths out of __FILE__, and so out of the firmware.
        hide_path = f"-ffile-prefix-map={source.parent}{os.sep}="
        command = [*common, hide_path, "-c", str(source), "-o", str(output)]
        _run(compiler, command, f"{source.name} does not compile", str(source))

    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        list(pool.map(compile_one, sources, objects))
    return objects


def link_program(compiler: CCompiler, objects: Sequence[Path], *, output: Path, flags: Sequence[str] = ()) -> Path:
    """Link a program and return ``output``.

    Raises:
        CompileError: the linker refused; it quotes the linker.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    command = [*_target_flags(compiler), *map(str, objects), *flags, "-o", str(output)]
    _run(compiler, command, f"{output.name} cannot be linked", str(output))
    return output


def link_shared_library(
    compiler: CCompiler, objects: Sequence[Path], *, output: Path, flags: Sequence[str] = ()
) -> Path:
    """Link a shared library for the host, from objects compiled with ``-fPIC``, and return ``output``.

    Raises:
        CompileError: the linker refused; it quotes the linker.
    """
    return link_program(compiler, objects, output=output, flags=("-shared", *flags))


def _target_flags(compiler: CCompiler) -> tuple[str, ...]:
    # zig adds undefined-behaviour traps of its own to code that is not optimized.
    return (*compiler.target_flags, "-fno-sanitize=all") if compiler.kind == "zig" else compiler.target_flags


def _object_names(sources: Iterable[Path]) -> list[str]:
    """``name.o`` for each source; sources of the same name from different folders get a number."""
    used: dict[str, int] = {}
    names = []
    for source in sources:
        count = used.get(source.stem, 0)
        used[source.stem] = count + 1
        names.append(f"{source.stem}.{count}.o" if count else f"{source.stem}.o")
    return names


def _run(compiler: CCompiler, arguments: Sequence[str], what: str, where: str) -> None:
    command = [*compiler.command, *arguments]
    result = subprocess.run(
        command,
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        env={**os.environ, **compiler.environment},
        check=False,
    )
    if result.returncode == 0:
        return
    lines = (result.stderr or result.stdout).strip().splitlines() or [f"exit status {result.returncode}"]
    if len(lines) > _MESSAGE_LINES:
        lines = [*lines[:_MESSAGE_LINES], "..."]
    quoted = "".join(f"\n    {line}" for line in lines)
    raise CompileError(what, where=where + quoted, hint=f"the command was: {shlex.join(command)}")
