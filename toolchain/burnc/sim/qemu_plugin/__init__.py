"""Builds the plug-in with which QEMU counts instructions, once for each compiler, into the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from burnc.compilers.compile import compile_objects, link_shared_library
from burnc.compilers.toolchains import find_host_compiler
from burnc.errors import ToolMissingError
from burnc.resources import cache_folder

_SOURCE = Path(__file__).parent / "instructions.c"
_FLAGS = ("-std=gnu99", "-O2", "-fPIC", "-fvisibility=hidden")


def obtain_plugin() -> Path:
    """The plug-in: from the cache, or compiled and put there.

    Raises:
        ToolMissingError: it is not cached, and there is no C compiler for this computer, or the cache is read-only.
        CompileError: the compiler refused it.
    """
    compiler = find_host_compiler()
    key = hashlib.sha256(_SOURCE.read_bytes() + compiler.version.encode()).hexdigest()[:16]
    cache = cache_folder()
    plugin = cache / f"qemu-instructions-{key}.so"
    if plugin.is_file():
        return plugin
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix=".plugin-") as name:
            objects = compile_objects(compiler, [_SOURCE], out_dir=Path(name), flags=_FLAGS)
            made = link_shared_library(compiler, objects, output=Path(name) / plugin.name, flags=("-lpthread",))
            os.replace(made, plugin)  # noqa: PTH105 - appears whole or not at all
    except OSError as error:
        raise ToolMissingError(
            f"the emulator's plug-in cannot be kept: {error.strerror}",
            where=str(cache),
            hint="set BURNC_CACHE to a folder that can be written to",
        ) from error
    return plugin
