"""Symmetric weights: scales, degenerate channels, room for the bias."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from burnc.errors import QuantizationError
from burnc.quant.weights import check_finite, quantize_weights

weights = arrays(np.float32, (3, 4), elements=st.floats(-1e3, 1e3, width=32))


@settings(deadline=None)
@given(weights)
def test_per_axis_error_and_range(data):
    held = quantize_weights(data, 0)
    scale = np.array(held.quant.scale)[:, None]
    assert held.quant.axis == 0
    assert np.abs(held.data.astype(int)).max(initial=0) <= 127
    assert (np.abs(held.data * scale - data) <= scale * 0.5 * (1 + 1e-5)).all()
    largest = np.abs(data).max(axis=1)
    normal = largest > 1e-30
    np.testing.assert_allclose(scale[normal, 0], largest[normal] / 127, rtol=1e-6)


@settings(deadline=None)
@given(weights)
def test_per_tensor(data):
    held = quantize_weights(data, None)
    assert held.quant.axis is None
    assert (np.abs(held.data * held.quant.scale[0] - data) <= held.quant.scale[0] * 0.5 * (1 + 1e-5)).all()


def test_scales_follow_another_axis():
    data = np.array([[1, 10, 100], [-1, -10, -100]], np.float32)
    np.testing.assert_allclose(quantize_weights(data, 1).quant.scale, np.array([1, 10, 100]) / 127, rtol=1e-6)


@settings(deadline=None)
@given(
    weights,
    arrays(np.float32, 3, elements=st.floats(-(2.0**100), 2.0**100, width=32)),
    st.floats(float(np.finfo(np.float32).tiny), 2.0**100, width=32),
    st.sampled_from([0, None]),
)
def test_bias_and_products_stay_within_int32(data, bias, input_scale, axis):
    held = quantize_weights(data, axis, input_scale=input_scale, bias=bias)
    scales = np.broadcast_to(np.array(held.quant.scale), 3)
    assert (scales >= np.finfo(np.float32).tiny).all()
    product = (input_scale * scales).astype(np.float32)
    usable = np.isfinite(product)
    assert (product[usable] >= np.finfo(np.float32).tiny).all()
    total = np.abs(bias) / (input_scale * scales) + 256 * np.abs(held.data.astype(np.float64)).sum(axis=1)
    assert (total[scales < 3e38] < 2**31).all()


def test_zero_channel_keeps_its_bias():
    data, bias = np.zeros((2, 3), np.float32), np.array([0.3, 0.0], np.float32)
    data[1] = 1
    held = quantize_weights(data, 0, input_scale=1.0, bias=bias)
    assert not held.data[0].any()
    assert np.rint(0.3 / held.quant.scale[0]) * held.quant.scale[0] == pytest.approx(0.3, rel=1e-6)
    assert held.widened == ()


def test_all_zero_weights():
    for axis in (0, None):
        held = quantize_weights(np.zeros((2, 2), np.float32), axis)
        assert not held.data.any()
        assert min(held.quant.scale) > 0


def test_only_the_crowded_channel_is_widened():
    data = np.array([[1e-7, -1e-7], [0.5, 0.25]], np.float32)
    held = quantize_weights(data, 0, input_scale=1e-4, bias=np.array([5.0, 5.0], np.float32))
    assert held.widened == (0,)
    assert held.quant.scale[1] == np.float32(0.5 / 127)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_weights_are_named(bad):
    data = np.zeros((2, 3), np.float32)
    data[1, 2] = bad
    with pytest.raises(QuantizationError) as caught:
        check_finite(data, node="conv1", tensor="conv1.weight")
    assert "[1, 2]" in str(caught.value)
    assert "'conv1.weight'" in str(caught.value)
    assert "node 'conv1'" in str(caught.value)
