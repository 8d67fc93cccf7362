"""ONNX operators that become several of ours, in forms that the node tests leave out. Oracle: onnxruntime, numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from burnc.errors import BurncError
from cases.run_model import run_node

F32 = np.float32
RNG = np.random.default_rng(11)
IMAGE = RNG.normal(size=(2, 5, 6, 7)).astype(F32)
ROWS = RNG.normal(size=(3, 4, 6)).astype(F32)


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize(
    "window",
    [{"kernel_shape": [3, 2]}, {"kernel_shape": [2, 3], "strides": [2, 1], "pads": [1, 2, 0, 1]}],
    ids=["plain", "padded"],
)
def test_lp_pool(window: dict[str, Any], p: int):
    run_node("LpPool", {"x": IMAGE}, p=p, **window)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_global_lp_pool(p: int):
    assert run_node("GlobalLpPool", {"x": IMAGE}, p=p).shape == (2, 5, 1, 1)


@pytest.mark.parametrize("size", [1, 3, 5])
def test_lrn(size: int):
    run_node("LRN", {"x": IMAGE}, size=size, alpha=0.3, beta=0.6, bias=1.5)


def test_lrn_over_an_even_number_of_channels_is_not_centred():
    """Two channels: the own one and the next, as the standard has it."""
    x = np.array([1, 2, 4], F32).reshape(1, 3, 1)
    y = run_node("LRN", {"x": x}, oracle=False, size=2, alpha=2.0, beta=1.0, bias=0.0)
    np.testing.assert_allclose(y.ravel(), [1 / 5, 2 / 20, 4 / 16], rtol=1e-6)


@pytest.mark.parametrize("length", [4, 5, 8])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("parts", [1, 2])
def test_dft_of_any_length(parts: int, axis: int, length: int):
    """Shorter than the axis, or longer than it; and there and back again."""
    x = RNG.normal(size=(5, 6, parts)).astype(F32)
    constants = {"n": np.array(length), "a": np.array(axis)}
    whole = x[..., 0] + (1j * x[..., 1] if parts == 2 else 0)
    for inverse, transform in ((0, np.fft.fft), (1, np.fft.ifft)):
        y = run_node("DFT", {"x": x}, constants, oracle=False, inverse=inverse)
        wanted = transform(whole, n=length, axis=axis)
        np.testing.assert_allclose(y, np.stack([wanted.real, wanted.imag], -1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("length", [6, 7])
def test_one_side_of_a_spectrum_and_back(length: int):
    x = RNG.normal(size=(2, length, 1)).astype(F32)
    y = run_node("DFT", {"x": x}, oracle=False, onesided=1)
    wanted = np.fft.rfft(x[..., 0], axis=1)
    np.testing.assert_allclose(y, np.stack([wanted.real, wanted.imag], -1), rtol=1e-5, atol=1e-5)
    back = run_node("DFT", {"s": y}, {"n": np.array(length)}, oracle=False, onesided=1, inverse=1)
    np.testing.assert_allclose(back, x, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("onesided", [0, 1])
def test_stft(onesided: int):
    signal = RNG.normal(size=(2, 40, 1)).astype(F32)
    constants = {"step": np.array(5), "window": np.hanning(8).astype(F32)}
    y = run_node("STFT", {"x": signal}, constants, onesided=onesided)
    assert y.shape == (2, 7, 5 if onesided else 8, 2)


def test_stft_of_a_frame_length_without_a_window():
    signal = RNG.normal(size=(1, 20, 1)).astype(F32)
    run_node("STFT", {"x": signal}, {"step": np.array(4), "n": np.array(6)}, order=["x", "step", "", "n"])


def test_stft_whose_window_is_not_a_frame_is_refused():
    constants = {"step": np.array(4), "window": np.ones(6, F32), "n": np.array(8)}
    with pytest.raises(BurncError, match="frames of 8"):
        run_node("STFT", {"x": np.zeros((1, 20, 1), F32)}, constants, oracle=False)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_hardmax_takes_the_first_of_equals(axis: int):
    x = np.round(ROWS)
    run_node("Hardmax", {"x": x}, axis=axis)


def test_old_hardmax_flattens():
    run_node("Hardmax", {"x": ROWS}, axis=1, opset=11)


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_compress_by_a_constant_condition(axis: int | None):
    given = {} if axis is None else {"axis": axis}
    run_node("Compress", {"x": ROWS}, {"c": np.array([True, False, True])}, **given)


def test_compress_by_a_condition_at_run_time_is_refused():
    with pytest.raises(BurncError, match=r"the condition .* is computed at run time"):
        run_node("Compress", {"x": ROWS, "c": np.array([True, False, True])}, oracle=False, axis=0)


@pytest.mark.parametrize("given", [{}, {"k": 1, "dtype": 6}, {"k": -2}])
def test_eye_like(given: dict[str, int]):
    run_node("EyeLike", {"x": ROWS[0]}, **given)


def test_max_unpool_undoes_max_pool():
    x = np.array([[[[5, 8], [9, 7]]]], F32)
    indices = np.array([[[[0, 6], [8, 14]]]])
    run_node("MaxUnpool", {"x": x, "i": indices}, kernel_shape=[2, 2], strides=[2, 2])


@pytest.mark.parametrize("op_type", ["ScatterElements", "Scatter"])
def test_scatter_of_old_opsets(op_type: str):
    indices, updates = np.array([[1, 0, 2]]), np.array([[7, 8, 9]], F32)
    opset = 9 if op_type == "Scatter" else 11
    run_node(op_type, {"x": ROWS[0], "i": indices, "u": updates}, opset=opset, axis=0)


@pytest.mark.parametrize("mode", ["linear", "circular"])
def test_tensor_scatter(mode: str):
    x, updates = RNG.normal(size=(2, 4, 3)).astype(F32), RNG.normal(size=(2, 2, 3)).astype(F32)
    places = np.array([1, 2 if mode == "linear" else 3])
    y = run_node("TensorScatter", {"x": x, "u": updates, "p": places}, oracle=False, opset=24, mode=mode)
    wanted = x.copy()
    for batch, place in enumerate(places):
        for step in range(2):
            wanted[batch, (place + step) % 4] = updates[batch, step]
    np.testing.assert_array_equal(y, wanted)


def test_results_beyond_every_memory_are_refused():
    regions = {"r": np.zeros((1, 4), F32), "b": np.zeros(1, np.int64)}
    attributes = {"output_height": 1 << 20, "output_width": 1 << 20, "sampling_ratio": 1}
    with pytest.raises(BurncError, match="larger than 2 GB"):
        run_node("RoiAlign", {"x": IMAGE}, regions, oracle=False, **attributes)


def test_windows_beyond_every_image_are_refused():
    with pytest.raises(BurncError, match="a window of"):
        run_node("LpPool", {"x": IMAGE}, oracle=False, kernel_shape=[1 << 40, 2], auto_pad="SAME_LOWER")
