"""What of the tools that burnc can use is on this machine: the data behind ``burnc doctor``."""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from burnc.boards import all_boards
from burnc.compilers.cores import HOST
from burnc.compilers.nodejs import find_nodejs
from burnc.compilers.toolchains import find_cross_compiler, find_host_compiler
from burnc.errors import BurncError


@dataclass(frozen=True)
class Finding:
    """One tool: what was found (None: nothing), what needs it, and how to get it."""

    name: str
    found: str | None
    needed_for: str
    how_to_get: str


_OPTIONAL_PACKAGES = (
    ("onnxruntime", "the device onnxruntime, a second opinion on float models", "pip install onnxruntime"),
    ("tflite-micro", "comparing with TensorFlow Lite Micro", "pip install tflite-micro"),
)


def diagnose(further: Iterable[Finding] = ()) -> list[Finding]:
    """Look for every tool; ``further`` are findings of rooms that this one does not know, as the emulators'."""
    findings = [_tool("host C compiler", "the device c", _host_compiler)]
    findings += [
        _tool(f"C compiler for {core}", f"firmware for {names}", functools.partial(_cross_compiler, core))
        for core, names in _cores_with_firmware().items()
    ]
    findings.append(_tool("Node.js", "emulated boards", _nodejs))
    findings += [Finding(name, _package_version(name), needed_for, how) for name, needed_for, how in _OPTIONAL_PACKAGES]
    return [*findings, *further]


def _tool(name: str, needed_for: str, find: Callable[[], str]) -> Finding:
    try:
        return Finding(name, find(), needed_for, "")
    except BurncError as error:
        return Finding(name, None, needed_for, error.hint or error.what)


def _host_compiler() -> str:
    compiler = find_host_compiler()
    return f"{compiler.version} ({compiler.command[0]})"


def _cross_compiler(core: str) -> str:
    compiler = find_cross_compiler(core)
    return f"{compiler.version} ({compiler.command[0]})"


def _nodejs() -> str:
    nodejs = find_nodejs()
    return f"{'.'.join(map(str, nodejs.version))} ({nodejs.node})"


def _cores_with_firmware() -> dict[str, str]:
    """Core to the names of the boards that have it."""
    names: dict[str, list[str]] = {}
    for board in all_boards():
        if board.build is not None and board.cpu.core != HOST:
            names.setdefault(board.cpu.core, []).append(board.key)
    return {core: ", ".join(keys) for core, keys in names.items()}


def _package_version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
