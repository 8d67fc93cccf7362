"""CUDA C++ to machine code through NVRTC, which needs neither a driver nor a GPU.

CuPy would compile too, but adds ``-ftz=true``: denormal results would become zero.
"""

from __future__ import annotations

from typing import Any

from cuda.bindings import nvrtc

from burnc.errors import BurncError, ToolMissingError
from burnc.kernel.cuda import OPTIONS


def compile_cubin(source: str, architecture: str) -> bytes:
    """The machine code of a source for ``architecture``, ``sm_90`` for instance.

    Raises:
        ToolMissingError: the NVRTC library is not installed.
        BurncError: NVRTC refuses the source; it says why.
    """
    options = [option.encode() for option in (f"-arch={architecture}", *OPTIONS)]
    try:
        program = _checked(nvrtc.nvrtcCreateProgram(source.encode(), b"kernels.cu", 0, [], []))
    except RuntimeError as error:  # how cuda.bindings says that it finds no library
        raise ToolMissingError(f"NVRTC cannot be loaded: {error}", hint="pip install 'burnc[cuda]'") from None
    try:
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise BurncError(f"NVRTC refuses the kernels: {_log(program)}", where=architecture)
        code: bytes = b" " * _checked(nvrtc.nvrtcGetCUBINSize(program))
        _checked(nvrtc.nvrtcGetCUBIN(program, code))
        return code
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _log(program: Any) -> str:
    text: bytes = b" " * _checked(nvrtc.nvrtcGetProgramLogSize(program))
    _checked(nvrtc.nvrtcGetProgramLog(program, text))
    return text.rstrip(b"\0").decode(errors="replace").strip()


def _checked(answer: tuple[Any, ...]) -> Any:
    """What a call gives beside its status."""
    status, *results = answer
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise BurncError(f"NVRTC failed: {status.name}")
    return results[0] if results else None
