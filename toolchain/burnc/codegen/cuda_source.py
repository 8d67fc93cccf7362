"""One CUDA source for all launches of a graph, with the runtime's functions that it calls; it includes no file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from burnc.codegen.launches import Launch
from burnc.codegen.runtime_files import called_functions, runtime_files
from burnc.kernel.c99 import headers
from burnc.kernel.cuda import render

# In place of <stdint.h>, which NVRTC has not, and of burnc/memory.h, as it declares memcpy itself.
_PREAMBLE = """\
#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT32_MAX 2147483647
#define INT32_MIN (-INT32_MAX - 1)
#define INT64_C(x) x##LL
#define UINT64_C(x) x##ULL
#else
#include <stdint.h>
#include <string.h>
#endif
static inline void burnc_memcpy(void *destination, const void *source, size_t size) {
    memcpy(destination, source, size);
}
"""

_INCLUDE = re.compile(r"^#include [<\"](?:\w+/)?(\w+\.h)[>\"]\n", re.MULTILINE)


def cuda_source(launches: Sequence[Launch]) -> tuple[str, list[str]]:
    """The source, and the name of each launch's kernel in it; equal kernels stand there once."""
    names: dict[str, str] = {}  # the text under a common name -> the kernel's own
    parts: list[str] = []
    chosen: list[str] = []
    for launch in launches:
        text = render(launch.stage)
        if text not in names:
            names[text] = f"{launch.node.op}_{len(names)}"
            parts.append(render(launch.stage, names[text]))
        chosen.append(names[text])
    kernels = "\n".join(parts)
    needed = {header for launch in launches for header in headers(launch.stage.kernel)}
    return "\n".join([_PREAMBLE, _runtime(kernels, needed), kernels]), chosen


def _runtime(kernels: str, needed: set[str]) -> str:
    """The runtime's headers and functions as one text, each behind what it includes."""
    files = runtime_files("burnc", called_functions(kernels), needed)
    files.pop("burnc_memory.h", None)
    written: dict[str, str] = {}

    def write(name: str) -> None:
        if name in files:
            text = files.pop(name)
            for included in _INCLUDE.findall(text):
                write(included)
            written[name] = _INCLUDE.sub("", text)

    for name in sorted(files, key=lambda name: name.endswith(".c")):
        write(name)
    return "\n".join(written.values())
