from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnc.ir import DType, QuantParams, TensorType
from burnc.numerics import activation_range, dequantize, quantize, round_half_away
from numerics import big_integers as big

SCALES = st.sampled_from([0.5, 1.0, 0.1, 1 / 256, 3e-5, 1e30, 1e-38])
FLOAT32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
repeatable = settings(max_examples=400, deadline=None, derandomize=True, database=None)


def type_of(scale: float, zero_point: int, dtype: DType = DType.INT8) -> TensorType:
    return TensorType(dtype, (), QuantParams.per_tensor(scale, zero_point))


@repeatable
@given(FLOAT32, SCALES, st.integers(-128, 127), st.sampled_from(["half_even", "half_away"]))
def test_quantize_rounds_the_float32_quotient_and_saturates(x, scale, zero_point, rounding):
    with np.errstate(over="ignore"):
        quotient = np.float32(x) / np.float32(scale)
    if np.isinf(quotient):
        expected = 127 if quotient > 0 else -128
    else:
        rounded = getattr(big, rounding)(Fraction(float(quotient)))
        expected = min(max(rounded + zero_point, -128), 127)
    assert int(quantize(x, type_of(scale, zero_point), rounding)) == expected


@pytest.mark.parametrize("dtype", [DType.INT8, DType.UINT8, DType.INT16, DType.UINT16, DType.INT32])
@pytest.mark.parametrize("rounding", ["half_even", "half_away"])
def test_what_lies_outside_has_one_defined_result(dtype, rounding):
    low, high = dtype.limits
    x = np.array([np.nan, np.inf, -np.inf, 3.4e38, -3.4e38], np.float32)
    got = quantize(x, type_of(1e-3, 7, dtype), rounding)
    assert got.dtype == dtype.numpy
    assert got.tolist() == [7, high, low, high, low]


@repeatable
@given(FLOAT32)
def test_round_half_away_is_exact(x):
    got = round_half_away(np.float32(x))
    assert got.dtype == np.float32
    assert Fraction(float(got)) == big.half_away(Fraction(float(np.float32(x))))


def test_round_half_away_beside_one_half():
    below = np.nextafter(np.float32(0.5), np.float32(0))
    assert round_half_away(np.array([below, -below, 0.5, -0.5, 2.5, -2.5], np.float32)).tolist() == [0, 0, 1, -1, 3, -3]
    np.testing.assert_array_equal(round_half_away(np.array([np.inf, -np.inf, np.nan])), [np.inf, -np.inf, np.nan])


def test_parameters_along_an_axis():
    quant = QuantParams((0.5, 0.25), (0, 10), 1)
    type_ = TensorType(DType.INT8, (2, 2), quant)
    real = np.array([[1, 1], [-1, -1]], np.float32)
    q = quantize(real, type_)
    assert q.tolist() == [[2, 14], [-2, 6]]
    np.testing.assert_array_equal(dequantize(q, type_), real)


@given(st.integers(-128, 127), st.integers(-128, 127), SCALES)
@repeatable
def test_dequantize_then_quantize_is_nothing(q, zero_point, scale):
    type_ = type_of(scale, zero_point)
    with np.errstate(under="ignore"):
        assert int(quantize(dequantize(np.int8(q), type_), type_)) == q


@pytest.mark.parametrize(
    ("scale", "zero_point", "low", "high", "expected"),
    [
        (0.1, -128, 0.0, np.inf, (-128, 127)),
        (0.1, 0, 0.0, 6.0, (0, 60)),
        (0.01, 0, 0.0, 6.0, (0, 127)),
        (0.1, 100, -1.0, 1.0, (90, 110)),
        (0.1, -100, -np.inf, np.inf, (-128, 127)),
        (0.5, 0, 0.25, 0.75, (1, 2)),
        (1.0, 127, 5.0, 6.0, (127, 127)),
        (1.0, -128, -9.0, -5.0, (-128, -128)),
        (1e-30, 0, 0.0, 6.0, (0, 127)),
        (0.05, 3, -3.4028235e38, 1.0, (-128, 23)),  # the limits that ONNX's Clip has by default before opset 11
        (0.05, 3, -1.0, 3.4028235e38, (-17, 127)),
    ],
)
def test_activation_range(scale, zero_point, low, high, expected):
    assert activation_range(type_of(scale, zero_point), low, high) == expected
