"""Observers against plain numpy definitions; parameters against what int8 quantization promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnc.errors import QuantizationError
from burnc.ir import DType, TensorType
from burnc.numerics import dequantize, quantize
from burnc.quant import OBSERVERS, MeanSquaredError, MinMax, Observer, Percentile
from burnc.quant.observers import params

floats = st.floats(-(2.0**100), 2.0**100, width=32)
ranges = st.tuples(floats, floats).map(sorted)


def type_for(low, high):
    return TensorType(DType.INT8, (1,), params(low, high))


def round_trip(values, type_):
    return dequantize(quantize(np.asarray(values, np.float32), type_), type_)


@settings(deadline=None)
@given(ranges)
def test_zero_is_exact(limits):
    assert round_trip([0.0], type_for(*limits)) == 0


@settings(deadline=None)
@given(ranges, st.lists(st.floats(0, 1), min_size=1))
def test_error_is_at_most_half_a_step_inside(limits, places):
    type_ = type_for(*limits)
    low, high = min(limits[0], 0.0), max(limits[1], 0.0)
    values = np.clip(np.float32(low) + np.float32(high - low) * np.array(places, np.float32), low, high)
    # The zero point is rounded, so that one end may lie up to half a step outside: one more half at most.
    inside = (values >= type_.scale * (-128 - type_.zero_point)) & (values <= type_.scale * (127 - type_.zero_point))
    error = np.abs(round_trip(values, type_).astype(np.float64) - values)
    assert (error[inside] <= type_.scale * (0.5 + 1e-4)).all()
    assert (error <= type_.scale * (1 + 1e-4)).all()


@settings(deadline=None)
@given(ranges, st.lists(floats, min_size=2))
def test_quantization_is_monotone(limits, values):
    quantized = quantize(np.sort(np.array(values, np.float32)), type_for(*limits)).astype(int)
    assert (np.diff(quantized) >= 0).all()


@settings(deadline=None)
@given(ranges)
def test_scale_is_a_normal_float32(limits):
    quant = params(*limits)
    (scale,) = quant.scale
    assert scale >= np.finfo(np.float32).tiny
    assert np.isfinite(scale)
    assert -128 <= quant.zero_point[0] <= 127


@pytest.mark.parametrize(
    ("low", "high", "zero_point"), [(0, 0, -128), (0, 255, -128), (-255, 0, 127), (3, 3, -128), (-3, -3, 127)]
)
def test_degenerate_ranges(low, high, zero_point):
    quant = params(low, high)
    assert quant.zero_point == (zero_point,)
    assert quant.scale[0] > 0


@pytest.mark.parametrize("limits", [(-1e-45, 1e-45), (0, 1e-38), (-3e38, 3e38)])
def test_extreme_ranges_have_normal_scales(limits):
    (scale,) = params(*limits).scale
    assert np.finfo(np.float32).tiny <= scale < np.inf


def test_onnxruntimes_parameters():
    # onnxruntime.quantization.compute_scale_zp for int8, range -1 .. 3.
    quant = params(-1.0, 3.0)
    assert quant.scale[0] == np.float32(4 / 255)
    assert quant.zero_point == (-64,)


@pytest.mark.parametrize("limits", [(np.nan, 1.0), (-np.inf, 0.0)])
def test_ranges_that_are_no_numbers(limits):
    with pytest.raises(QuantizationError):
        params(*limits)


@pytest.mark.parametrize("make", OBSERVERS.values(), ids=OBSERVERS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_refused(make, bad):
    with pytest.raises(QuantizationError, match="NaN or infinite"):
        make().observe(np.array([0.0, bad], np.float32))


@pytest.mark.parametrize("make", OBSERVERS.values(), ids=OBSERVERS)
def test_nothing_observed(make):
    observer: Observer = make()
    observer.observe(np.zeros((0, 3), np.float32))
    with pytest.raises(QuantizationError, match="no value"):
        observer.range()


@pytest.mark.parametrize("make", OBSERVERS.values(), ids=OBSERVERS)
@pytest.mark.parametrize("value", [0.0, 1e-30, -2.5, 3e38, 1e-45])
def test_constant_tensors(make, value):
    observer: Observer = make()
    observer.observe(np.full(10, value, np.float32))
    found = observer.range()
    assert found.low <= min(np.float32(value), 0)
    assert found.high >= max(np.float32(value), 0)


@pytest.mark.parametrize("make", OBSERVERS.values(), ids=OBSERVERS)
@settings(deadline=None)
@given(values=st.lists(floats, min_size=1, max_size=40), cut=st.integers(0, 40))
def test_batches_do_not_matter(make, values, cut):
    array = np.array(values, np.float32)
    whole, parts = make(), make()
    whole.observe(array)
    for part in (array[cut:], array[:cut]):
        parts.observe(part)
    assert whole.range() == parts.range()


def test_min_max():
    observer = MinMax()
    observer.observe(np.array([1.0, 2.0]))
    observer.observe(np.array([-3.0]))
    assert (observer.range().low, observer.range().high) == (-3.0, 2.0)


def test_percentile_against_numpy():
    values = np.random.default_rng(0).normal(size=200_000).astype(np.float32)
    observer = Percentile(99.0)
    for part in np.split(values, 10):
        observer.observe(part)
    found = observer.range()
    np.testing.assert_allclose((found.low, found.high), np.percentile(values, (0.5, 99.5)), atol=0.01)


def test_percentile_100_is_min_max():
    values = np.random.default_rng(1).normal(size=1000).astype(np.float32)
    observer = Percentile(100)
    observer.observe(values)
    assert (observer.range().low, observer.range().high) == (values.min(), values.max())


@pytest.mark.parametrize("percent", [0, -1, 100.1])
def test_percentiles_that_are_none(percent):
    with pytest.raises(QuantizationError):
        Percentile(percent)


def test_mse_against_brute_force():
    rng = np.random.default_rng(2)
    values = np.append(rng.standard_t(3, size=20_000), 25.0).astype(np.float32)
    observer = MeanSquaredError()
    observer.observe(values)

    def error(low, high):
        return float(np.mean((round_trip(values, type_for(low, high)) - values) ** 2))

    found = observer.range()
    low, high = float(values.min()), float(values.max())
    best = min(error(low * i / 20, high * j / 20) for i in range(2, 21) for j in range(2, 21))
    assert error(found.low, found.high) <= best * 1.01
    assert error(found.low, found.high) < error(low, high)


def test_mse_keeps_a_uniform_range():
    observer = MeanSquaredError()
    observer.observe(np.linspace(-1, 1, 10_001, dtype=np.float32))
    assert observer.range().low == pytest.approx(-1, abs=0.02)
    assert observer.range().high == pytest.approx(1, abs=0.02)
