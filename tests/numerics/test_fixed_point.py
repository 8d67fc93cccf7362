from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from burnc import numerics
from numerics import big_integers as big

EDGES = [0, 1, -1, 2, -2, 2**30, -(2**30), 2**30 - 1, 2**31 - 1, -(2**31), -(2**31) + 1, 2**16, -100]
INT32 = st.sampled_from(EDGES) | st.integers(-(2**31), 2**31 - 1)
MULTIPLIER = st.sampled_from([0, 2**30, 2**31 - 1, 2**30 + 1]) | st.integers(2**30, 2**31 - 1)
SHIFT = st.integers(-31, 30)
repeatable = settings(max_examples=400, deadline=None, derandomize=True, database=None)


@repeatable
@given(INT32, INT32)
@example(-(2**31), -(2**31))
def test_rounding_doubling_high_mul(a, b):
    assert int(numerics.rounding_doubling_high_mul(a, b)) == big.doubling_high_multiply(a, b)


@repeatable
@given(INT32, st.integers(0, 31))
@example(-(2**31), 31)
@example(-(2**30), 31)
@example(2**30, 31)
def test_rounding_divide_by_pot(x, exponent):
    assert int(numerics.rounding_divide_by_pot(x, exponent)) == big.divide_by_power(x, exponent)


@repeatable
@given(INT32, MULTIPLIER, SHIFT)
def test_two_roundings(x, multiplier, shift):
    got = numerics.multiply_by_quantized_multiplier(x, multiplier, shift)
    assert int(got) == big.requantized(x, multiplier, shift)


@repeatable
@given(INT32, MULTIPLIER, SHIFT)
def test_one_rounding(x, multiplier, shift):
    got = numerics.multiply_by_quantized_multiplier(x, multiplier, shift, "single")
    assert int(got) == big.requantized_once(x, multiplier, shift)


@repeatable
@given(st.integers(-(2**47) + 1, 2**47 - 1), MULTIPLIER, st.integers(-31, 7))
def test_64_bit_sums(x, multiplier, shift):
    got = numerics.multiply_wide_by_quantized_multiplier(x, multiplier, shift)
    assert int(got) == big.requantized_wide(x, multiplier, shift)


def test_arrays_go_element_by_element():
    x, m, s = np.array(EDGES)[:, None, None], np.array([2**30, 2**31 - 1])[:, None], np.arange(-31, 31)
    got = numerics.multiply_by_quantized_multiplier(x, m, s)
    expected = [[[big.requantized(int(a), int(b), int(c)) for c in s] for b in m[:, 0]] for a in EDGES]
    np.testing.assert_array_equal(got, expected)


@repeatable
@given(INT32)
def test_count_leading_zeros(x):
    assert int(numerics.count_leading_zeros(x)) == 32 - (x % 2**32).bit_length()


@repeatable
@given(st.sampled_from([0, -1, -(2**31), -(2**26), -(2**24)]) | st.integers(-(2**31), 0), st.integers(0, 8))
def test_exp_on_negative_values(x, integer_bits):
    assert int(numerics.exp_on_negative_values(x, integer_bits)) == big.exp_of_negative(x, integer_bits)
    assert big.exp_of_negative(x, 5) / 2**31 == pytest.approx(math.exp(x / 2**26), abs=5e-7)


@repeatable
@given(st.sampled_from([0, 1, 2**31 - 1]) | st.integers(0, 2**31 - 1))
def test_one_over_one_plus_x(a):
    assert int(numerics.one_over_one_plus_x(a)) == big.reciprocal_of_one_plus(a)
    assert big.reciprocal_of_one_plus(a) / 2**31 == pytest.approx(1 / (1 + a / 2**31), abs=1e-8)


@repeatable
@given(st.floats(0, 2.0**29, allow_nan=False) | st.floats(2.0**-33, 1))
@example(0.0)
@example(1.0)
@example(2.0**-32)
@example(2.0**-33)
@example(math.nextafter(1.0, 0.0))
@example(math.nextafter(2.0**-31, 0.0))
@example(2.0**29)
def test_quantize_multiplier(factor):
    multiplier, shift = numerics.quantize_multiplier(factor)
    assert multiplier == 0 or 2**30 <= multiplier < 2**31
    assert -31 <= shift <= 30
    error = abs(multiplier * 2.0 ** (shift - 31) - factor)
    assert error <= 2.0 ** (shift - 32) if multiplier else factor < 2.0**-31


def test_factors_beyond_the_range():
    assert numerics.quantize_multiplier(2.0**-34) == (0, 0)
    assert numerics.quantize_multiplier(2.0**40) == (2**31 - 1, 30)
