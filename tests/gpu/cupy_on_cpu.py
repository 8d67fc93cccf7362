"""A stand-in for the few names of CuPy that the ``cuda`` backend uses: arrays are numpy's, kernels are C++.

The generated CUDA source is compiled by the host's C++ compiler with ``__global__`` and the thread indices defined
away; a launch is a loop over blocks and threads. What it proves is the kernels' logic and the backend's own, not a
GPU's.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

SHIM = r"""
#include <cstddef>
#include <utility>
#define __global__
struct burnc_index { unsigned x; };
static burnc_index blockIdx, blockDim, threadIdx;
template <typename... P, std::size_t... I>
static void burnc_call(void (*kernel)(P...), void **arguments, std::index_sequence<I...>) {
    kernel(*static_cast<P *>(arguments[I])...);
}
template <typename... P>
static void burnc_launch(void (*kernel)(P...), unsigned blocks, unsigned threads, void **arguments) {
    blockDim.x = threads;
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x)
            burnc_call(kernel, arguments, std::index_sequence_for<P...>{});
}
"""

_KERNEL = re.compile(r'extern "C" __global__ void (\w+)\(')


def compile_for_cpu(source: str, architecture: str) -> bytes:
    """What ``compile_cubin`` does, for the CPU: a shared library."""
    assert re.fullmatch(r"sm_\d+", architecture)
    launchers = "".join(
        f'extern "C" void launch_{name}(unsigned blocks, unsigned threads, void **arguments) '
        f"{{ burnc_launch({name}, blocks, threads, arguments); }}\n"
        for name in _KERNEL.findall(source)
    )
    compiler = shutil.which("g++") or shutil.which("clang++")
    assert compiler
    with tempfile.TemporaryDirectory() as folder:
        text, library = Path(folder, "kernels.cpp"), Path(folder, "kernels.so")
        text.write_text(SHIM + source + launchers, encoding="utf-8")
        flags = ["-std=c++17", "-O1", "-w", "-ffp-contract=off", "-fwrapv", "-fPIC", "-shared"]
        subprocess.run([compiler, *flags, str(text), "-o", str(library)], check=True)
        return library.read_bytes()


class RawModule:
    """A library that ``compile_for_cpu`` has made."""

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)

    def get_function(self, name: str) -> Any:
        launch = self._library[f"launch_{name}"]

        def function(grid: tuple[int], block: tuple[int], arguments: tuple[Any, ...]) -> None:
            # Each argument by address: an array's is that of the pointer to its elements.
            held = [np.array(a.ctypes.data) if isinstance(a, np.ndarray) else np.array(a) for a in arguments]
            pointers = (ctypes.c_void_p * len(held))(*(h.ctypes.data for h in held))
            launch(grid[0], block[0], pointers)

        return function


class CUDARuntimeError(RuntimeError):
    """How CuPy says that the driver or the GPU is missing."""


def _device(number: int) -> Any:
    class Device(SimpleNamespace, AbstractContextManager[None]):
        def __exit__(self, *_: object) -> None:
            pass

    return Device(id=number, compute_capability="90")


def install(monkeypatch: pytest.MonkeyPatch, devices: int = 1) -> Any:
    """Put the stand-in in CuPy's place; the ``cuda`` backend's module, imported with it."""
    cupy: Any = ModuleType("cupy")
    cupy.asarray = np.array
    cupy.asnumpy = np.array
    cupy.RawModule = RawModule

    def count() -> int:
        if devices == 0:
            raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return devices

    runtime = SimpleNamespace(getDeviceCount=count, CUDARuntimeError=CUDARuntimeError)
    cupy.cuda = SimpleNamespace(runtime=runtime, Device=_device, Stream=lambda non_blocking: nullcontext())
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.delitem(sys.modules, "burnc_host.cuda", raising=False)
    import burnc_host.cuda as module

    # Imported with the stand-in, it must not outlive the test.
    monkeypatch.setitem(sys.modules, "burnc_host.cuda", module)
    monkeypatch.setattr(module, "compile_cubin", compile_for_cpu)
    return module
