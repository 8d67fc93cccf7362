"""The runtime's float16 against numpy's: every half, and floats and doubles around every tie between halves."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from burnc.resources import data_folder
from kernel.compiled import load_c

SOURCES = ("burnc_float_of_half", "burnc_half_of_float", "burnc_half_of_double")
LOOP = """
extern void {name}(const {source} *x, {to} *y, int32_t n);
void {name}(const {source} *x, {to} *y, int32_t n) {{
    for (int32_t i = 0; i < n; ++i) {{
        y[i] = {function}(x[i]);
    }}
}}
"""
LOOPS = "".join(
    LOOP.format(name=name, source=source, to=to, function=function)
    for name, source, to, function in (
        ("widen", "uint16_t", "float", "burnc_float_of_half"),
        ("of_float", "float", "uint16_t", "burnc_half_of_float"),
        ("of_double", "double", "uint16_t", "burnc_half_of_double"),
    )
)
HALVES = np.arange(2**16, dtype=np.uint16).view(np.float16)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    source = data_folder("runtime_c") / "src"
    text = "".join((source / f"{name}.c").read_text(encoding="utf-8") for name in SOURCES)
    return load_c(tmp_path_factory.mktemp("float16"), text + LOOPS)


def computed(function, x, dtype):
    y = np.zeros(x.shape, dtype)
    function(*(array.ctypes.data_as(ctypes.c_void_p) for array in (x, y)), ctypes.c_int32(x.size))
    return y


def around_ties(dtype):
    """Between neighbouring halves the middle, and the numbers next to it on either side."""
    with np.errstate(all="ignore"):
        finite = np.sort(HALVES[np.isfinite(HALVES)].astype(dtype))
        middle = (finite[1:] + finite[:-1]) / 2
        extreme = np.array([65520.0, 65519.99, 65536.0, 1e38, np.inf, np.nan, 2.0**-25, 2.0**-26, 1e-45], dtype)
        ends = np.array([np.finfo(dtype).max, np.finfo(dtype).tiny], dtype)
        points = np.concatenate([finite, middle, extreme, -extreme, ends, -ends])
        inf = dtype(np.inf)
        return np.concatenate([points, np.nextafter(points, inf), np.nextafter(points, -inf)])


def test_every_half_is_its_float(library):
    got = computed(library.widen, HALVES.view(np.uint16), np.float32)
    np.testing.assert_array_equal(got, HALVES.astype(np.float32))
    np.testing.assert_array_equal(np.signbit(got), np.signbit(HALVES))


@pytest.mark.parametrize(("name", "dtype"), [("of_float", np.float32), ("of_double", np.float64)])
def test_rounded_once_to_nearest_even(library, name, dtype):
    x = around_ties(dtype)
    got = computed(getattr(library, name), x, np.uint16).view(np.float16)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(got, x.astype(np.float16))
