from __future__ import annotations

import ctypes

import numpy as np
import pytest

from burnc.ir import DType
from burnc.kernel.c99 import C_TYPES, format_array, format_scalar
from kernel.compiled import load_c

SMALLEST = np.float32(1e-45)


def limits(dtype: DType) -> list[int]:
    low, high = dtype.limits
    return [low, high, 0, 1, low + 1, high // 2, *([-1, -7] if low < 0 else [])]


def floats(dtype: DType) -> list[float]:
    info = np.finfo(dtype.numpy)
    special = [0.1, 1.17549435e-38, 1e-45, -0.0, 0.0, 16777216.0, 1e10, -1.5, 1 / 3, 1e-5, 123456.789, np.inf, -np.inf]
    ends = [info.max, info.min, info.tiny, info.smallest_subnormal, info.eps]
    noise = np.random.default_rng(0).integers(0, 2**64, 300, dtype=np.uint64).view(np.uint8).view(dtype.numpy)
    return [*special, *(float(v) for v in ends), *(float(v) for v in noise if np.isfinite(v))]


VALUES = {d: limits(d) for d in DType if d.is_integer}
VALUES |= {d: floats(d) for d in (DType.FLOAT32, DType.FLOAT64)} | {DType.BOOL: [True, False, True]}


@pytest.mark.parametrize("dtype", list(VALUES), ids=lambda d: d.value)
def test_u149_literals_read_back_bit_for_bit(dtype, tmp_path):
    with np.errstate(over="ignore"):
        expected = np.array(VALUES[dtype], dtype.numpy)
    ctype = C_TYPES[dtype]
    lines = "\n".join(format_array(expected, dtype))
    scalars = "".join(f"    y[{i}] = {format_scalar(v, dtype)};\n" for i, v in enumerate(expected.tolist()))
    text = f"extern const {ctype} array[];\nconst {ctype} array[] = {{\n{lines}\n}};\n"
    library = load_c(tmp_path, f"{text}extern void fill({ctype} *y);\nvoid fill({ctype} *y) {{\n{scalars}}}\n")
    held = np.frombuffer((ctypes.c_char * expected.nbytes).in_dll(library, "array"), dtype.numpy)
    filled = np.empty_like(expected)
    library.fill(filled.ctypes.data_as(ctypes.c_void_p))
    assert held.tobytes() == filled.tobytes() == expected.tobytes()


def test_nan_reads_back_as_nan(tmp_path):
    text = f"extern float nan(void);\nfloat nan(void) {{ return {format_scalar(float('nan'), DType.FLOAT32)}; }}\n"
    library = load_c(tmp_path, text, ["-fno-builtin"])
    library.nan.restype = ctypes.c_float
    assert np.isnan(library.nan())


def test_lines_stay_within_the_width():
    data = np.arange(-500, 500, dtype=np.int32)
    lines = format_array(data, DType.INT32, width=60)
    assert max(map(len, lines)) <= 60
    assert [int(v) for v in "".join(lines).strip(",").split(",")] == data.tolist()
