"""C text compiled with every warning that generated code must be free of, and loaded."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

from burnc.compilers.compile import CODE_FLAGS, compile_objects, link_shared_library
from burnc.compilers.toolchains import find_host_compiler
from burnc.resources import data_folder

WARNINGS = (
    "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wcast-qual", "-Wcast-align", "-Wundef", "-Wpedantic", "-Werror",
)  # fmt: skip
HEADERS = ("fixed_point.h", "float16.h", "float_bits.h", "float_math.h", "double_math.h", "min_max.h")


def load_c(folder: Path, text: str, flags: Sequence[str] = ()) -> ctypes.CDLL:
    includes = "".join(f'#include "burnc/{name}"\n' for name in HEADERS)
    source = folder / "tested.c"
    source.write_text(f"#include <stdbool.h>\n#include <stdint.h>\n{includes}{text}")
    compiler = find_host_compiler()
    options = [*CODE_FLAGS, "-O1", "-fPIC", f"-I{data_folder('runtime_c') / 'include'}", *WARNINGS, *flags]
    objects = compile_objects(compiler, [source], out_dir=folder / "objects", flags=options)
    return ctypes.CDLL(str(link_shared_library(compiler, objects, output=folder / "tested.so")))
