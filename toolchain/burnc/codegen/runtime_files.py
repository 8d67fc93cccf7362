"""The runtime files that a model needs, renamed to its prefix so that several models live in one firmware."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from burnc.errors import BurncError
from burnc.resources import data_folder
from burnc.version import VERSION

_INCLUDE = re.compile(r'#include "burnc/(\w+\.h)"')
_CALL = re.compile(r"\b(burnc_\w+)\(")
_SYMBOL = re.compile(r"\bburnc_(?!status\b)")
_MACRO = re.compile(r"\bBURNC_(?!STATUS_)")


def runtime_files(prefix: str, functions: Iterable[str], headers: Iterable[str]) -> dict[str, str]:
    """File name -> text, for the runtime functions and headers that are named and all that those use in turn.

    Args:
        functions: names as the runtime has them (``burnc_conv2d_s8``); each stands in a C file of its name, and some
            beside it in an assembler file, which comes along.

    Raises:
        BurncError: the runtime has no such file.
    """
    runtime = data_folder("runtime_c")
    files: dict[str, str] = {}
    waiting = [f"include/burnc/{h}" for h in sorted(headers)] + [f"src/{f}.c" for f in sorted(functions)]
    while waiting:
        path = waiting.pop(0)
        name = f"{prefix}_{path.rsplit('/', 1)[1].removeprefix('burnc_')}"
        if name in files:
            continue
        file = runtime / path
        if not file.is_file():
            raise BurncError(f"the runtime has no file {path}", where=str(runtime), hint="install burnc again")
        text = file.read_text(encoding="utf-8")
        files[name] = _with_origin(rename_symbols(text, prefix), path)
        waiting += [f"include/burnc/{h}" for h in _INCLUDE.findall(text)]
        if path.endswith(".c"):
            waiting += [f"src/{f}.c" for f in called_functions(text)]
            assembly = path.removesuffix(".c") + ".S"  # the same function for one instruction set, guarded
            waiting += [assembly] if (runtime / assembly).is_file() else []
    return files


@cache
def assembly_of(function: str) -> Sequence[str]:
    """The names of the functions in assembly among a runtime function and those it calls."""
    files = runtime_files("burnc", [function], [])
    return tuple(name.removesuffix(".S") for name in files if name.endswith(".S"))


def _with_origin(text: str, path: str) -> str:
    """The licence line, then where the file came from, then the rest."""
    licence, rest = text.split("\n", 1)
    return f"{licence}\n/* From burnc {VERSION}, runtime_c/{path}; names carry the model's prefix. */\n{rest}"


def called_functions(text: str) -> list[str]:
    """Runtime functions with a source file of their own that the C text calls."""
    sources = data_folder("runtime_c") / "src"
    return [f for f in sorted(set(_CALL.findall(text))) if (sources / f"{f}.c").is_file()]


def rename_symbols(text: str, prefix: str) -> str:
    """``burnc_x`` becomes ``<prefix>_x``, ``BURNC_X`` ``<PREFIX>_X``; ``burnc_status`` is shared and stays."""
    text = _INCLUDE.sub(rf'#include "{prefix}_\1"', text)
    return _MACRO.sub(f"{prefix.upper()}_", _SYMBOL.sub(f"{prefix}_", text))
