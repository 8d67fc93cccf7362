"""What of the tools that burnc can use is on this machine: the data behind ``burnc doctor``."""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from burnc.boards import all_boards
from burnc.compilers.cores import HOST
from burnc.compilers.toolchains import find_cross_compiler, find_host_compiler
from burnc.errors import BurncError


@dataclass(frozen=True)
class Finding:
    """One tool: what was found (None: nothing), what needs it, how to get it, and whether ``burnc demo`` needs it."""

    name: str
    found: str | None
    needed_for: str
    how_to_get: str
    for_demo: bool = False


_DEMO_BOARD = "pico"

_OPTIONAL_PACKAGES = (
    ("wgpu", "the device webgpu", "pip install 'burnc[webgpu]'"),
    ("cupy-cuda13x", "the device cuda", "pip install 'burnc[cuda]'"),
    ("onnxruntime", "the tests, as oracle of float models", "pip install onnxruntime"),
    ("tflite-micro", "the demo and the tests, as oracle of int8 models", "pip install tflite-micro"),
)


def diagnose(further: Iterable[Finding] = ()) -> list[Finding]:
    """Look for every tool; ``further`` are findings of rooms that this one does not know, as the emulators'."""
    findings = [look_for("host C compiler", "the device c", _host_compiler, for_demo=True)]
    findings += [
        look_for(
            f"C compiler for {core}",
            f"firmware for {', '.join(keys)}",
            functools.partial(_cross_compiler, core),
            for_demo=_DEMO_BOARD in keys,
        )
        for core, keys in _cores_with_firmware().items()
    ]
    findings += [Finding(name, _package_version(name), needed_for, how) for name, needed_for, how in _OPTIONAL_PACKAGES]
    return [*findings, *further]


def look_for(name: str, needed_for: str, find: Callable[[], str], *, for_demo: bool) -> Finding:
    """A finding from a search that raises BurncError, with a hint, where there is nothing to be found."""
    try:
        return Finding(name, find(), needed_for, "", for_demo)
    except BurncError as error:
        return Finding(name, None, needed_for, error.hint or error.what, for_demo)


def _host_compiler() -> str:
    compiler = find_host_compiler()
    return f"{compiler.version} ({compiler.command[0]})"


def _cross_compiler(core: str) -> str:
    compiler = find_cross_compiler(core)
    return f"{compiler.version} ({compiler.command[0]})"


def _cores_with_firmware() -> dict[str, list[str]]:
    """Core to the keys of the boards that have it."""
    keys: dict[str, list[str]] = {}
    for board in all_boards():
        if board.build is not None and board.cpu.core != HOST:
            keys.setdefault(board.cpu.core, []).append(board.key)
    return keys


def _package_version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
