"""A network of int8 layers for the kernels of larger cores: the shapes and scales that hurt most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from burnc.ir import Builder, DType, Graph, QuantParams, TensorType, Value, verify
from burnc.ops import operators
from burnc.ops.conv2d import Conv2dAttrs
from burnc.ops.fully_connected import FullyConnectedAttrs
from burnc.ops.spatial import Padding

# image, kernel, outputs, stride, pad, groups: a row of taps of 1 to 12, odd pixels, odd channels, borders on all sides.
CONVOLUTIONS = [
    ((5, 5, 3), (3, 3), 5, (1, 1), Padding(1, 1, 1, 1), 1),
    ((6, 7, 4), (3, 3), 6, (2, 2), Padding(0, 1, 0, 1), 1),
    ((9, 4, 1), (5, 4), 7, (2, 1), Padding(2, 2, 1, 2), 1),
    ((3, 3, 8), (1, 1), 9, (1, 1), Padding(), 1),
    ((4, 5, 6), (1, 1), 2, (2, 2), Padding(), 1),
    ((3, 4, 13), (2, 2), 1, (1, 1), Padding(0, 1, 1, 0), 1),
    ((5, 6, 8), (3, 3), 8, (1, 1), Padding(1, 1, 1, 1), 8),
    ((6, 5, 16), (3, 3), 16, (2, 2), Padding(0, 1, 0, 1), 16),
    ((4, 7, 12), (2, 3), 12, (1, 2), Padding(1, 0, 1, 2), 12),
    ((8, 1, 8), (5, 1), 8, (1, 1), Padding(2, 2, 0, 0), 8),
    ((2, 3, 32), (1, 1), 6, (1, 1), Padding(), 1),
    ((7, 3, 4), (1, 1), 8, (1, 1), Padding(), 1),
    ((4, 5, 8), (3, 3), 10, (1, 1), Padding(1, 1, 1, 1), 1),
]
FULLY_CONNECTED = [(1, 5), (7, 4), (16, 9), (33, 3), (64, 8)]
ONE_SCALE = [(16, 9), (64, 8)]
# Scale of the sum to the result: 0.5 and more leaves no second rounding, with the least a result may be constant.
FACTORS = {"usual": (0.002, 0.01), "large": (0.3, 0.9), "tiny": (1e-9, 1e-6)}
CLAMPS = [(-np.inf, np.inf), (0.0, np.inf), (0.0, 6.0)]
ZERO_POINTS = [(-3, 5), (-128, -128), (127, 127), (-128, 127)]


def many_layers() -> Graph:
    """Side by side, each with an input of its own."""
    graph = Graph("layers")
    b = Builder(graph, operators())
    number = 0
    for factors in FACTORS:
        for shape in CONVOLUTIONS:
            graph.outputs.append(_convolution(b, number, factors, *shape))
            number += 1
        for taps, outputs in FULLY_CONNECTED:
            graph.outputs.append(_fully_connected(b, number, factors, taps, outputs))
            number += 1
    verify(graph)
    return graph


def _convolution(
    b: Builder,
    number: int,
    factors: str,
    image: tuple[int, int, int],
    kernel: tuple[int, int],
    outputs: int,
    stride: tuple[int, int],
    pad: Padding,
    groups: int,
) -> Value:
    x = _input(b, number, (1, *image))
    w, bias, scale = _weights(b, number, factors, (outputs, *kernel, image[2] // groups))
    low, high = CLAMPS[number % 3]
    attrs = Conv2dAttrs(stride=stride, pad=pad, groups=groups, activation_min=low * scale, activation_max=high * scale)
    return _result(b.node("conv2d", [x, w, bias], attrs), number, scale)


def _fully_connected(b: Builder, number: int, factors: str, taps: int, outputs: int) -> Value:
    x = _input(b, number, (3, taps))
    w, bias, scale = _weights(b, number, factors, (outputs, taps))
    if (taps, outputs) in ONE_SCALE:
        assert w.data is not None
        w.data = (w.data // 8).astype(np.int8)
        for constant in (w, bias):
            assert constant.type.quant is not None
            one = QuantParams.per_tensor(constant.type.quant.scale[0], 0)
            constant.type = replace(constant.type, quant=one)
    low, high = CLAMPS[number % 3]
    attrs = FullyConnectedAttrs(activation_min=low * scale, activation_max=high * scale)
    return _result(b.node("fully_connected", [x, w, bias], attrs), number, scale)


def _input(b: Builder, number: int, shape: tuple[int, ...]) -> Value:
    return b.input(f"x{number}", TensorType(DType.INT8, shape, QuantParams.per_tensor(1.0, ZERO_POINTS[number % 4][0])))


def _weights(b: Builder, number: int, factors: str, shape: tuple[int, ...]) -> tuple[Value, Value, float]:
    """Weights and bias with scales that give factors of the kind; the scale of the result."""
    rng = np.random.default_rng(number)
    data = rng.integers(-127, 128, shape).astype(np.int8)
    data = (data * (0.5, 1.0, 0.8)[number % 3]).astype(np.int8)
    if number % 5 == 0:
        data = np.where(data < 0, -127, 127).astype(np.int8)
    scales = rng.uniform(*FACTORS[factors], shape[0]).astype(np.float32)
    zeros = np.zeros(shape[0], np.int32)
    most = 1 << 30 if factors == "tiny" else 4000
    bias = rng.integers(-most, most, shape[0]).astype(np.int32)
    return (
        b.constant(f"w{number}", data, QuantParams(scales, zeros, 0)),
        b.constant(f"b{number}", bias, QuantParams(scales, zeros, 0)),
        1.0,
    )


def _result(y: Value, number: int, scale: float) -> Value:
    y.type = TensorType(DType.INT8, y.type.shape, QuantParams.per_tensor(scale, ZERO_POINTS[number % 4][1]))
    return y
