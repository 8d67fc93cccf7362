"""Faults that other projects had in int8 kernels; named by the case's id, on every installed backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from burnc.backends import Backend
from burnc.backends.numpy_reference import NumpyReference
from burnc.ir import Array, Builder, DType, Graph, QuantParams, TensorType, Value, verify
from burnc.ops import operators
from burnc.ops.average_pool2d import AveragePool2dAttrs
from burnc.ops.conv2d import Conv2dAttrs
from burnc.ops.matmul import MatmulAttrs
from burnc.ops.max_pool2d import MaxPool2dAttrs
from burnc.ops.pad import PadAttrs
from burnc.ops.softmax import SoftmaxAttrs
from burnc.ops.spatial import Padding
from burnc.ops.transpose import TransposeAttrs
from conformance.backends import backend_id, host_backends
from conformance.check import differences
from conformance.single_node import int8_inputs
from oracles.tflm import GraphInTfliteMicro
from requirements import requires_package

BACKENDS = [NumpyReference(), *host_backends()]
SOFTMAX = QuantParams.per_tensor(1 / 256, -128)
on_every_backend = pytest.mark.parametrize("backend", BACKENDS, ids=backend_id)


class Net:
    """A graph under construction: int8 inputs, constants, one output."""

    def __init__(self) -> None:
        self.graph = Graph("net")
        self.b = Builder(self.graph, operators())

    def input(self, shape: tuple[int, ...], quant: QuantParams) -> Value:
        return self.b.input("x", TensorType(DType.INT8, shape, quant))

    def weights(self, data: Any, scale: float) -> Value:
        return self.b.constant("w", np.asarray(data, np.int8), QuantParams.per_tensor(scale))

    def bias(self, data: Any, scale: float) -> Value:
        return self.b.constant("b", np.asarray(data, np.int32), QuantParams.per_tensor(scale))

    def finish(self, op: str, inputs: list[Value | None], attrs: Any, quant: QuantParams) -> Graph:
        self.graph.outputs = [self.b.node(op, inputs, attrs, outputs=("y",), quant=quant)]
        verify(self.graph)
        return self.graph


def run(backend: Backend, graph: Graph, x: Any) -> Array:
    (value,) = graph.inputs
    return backend.compile(graph).run({value.name: np.asarray(x, np.int8).reshape(value.type.shape)})["y"]


@on_every_backend
def test_u052_padding_is_the_zero_point(backend: Backend):
    quant = QuantParams.per_tensor(0.02, -128)
    net = Net()
    x = net.input((1, 4, 4, 1), quant)
    w = net.weights(np.ones((1, 3, 3, 1)), 0.01)
    attrs = Conv2dAttrs(pad=Padding(1, 1, 1, 1))
    graph = net.finish("conv2d", [x, w, net.bias([0], 0.02 * 0.01)], attrs, QuantParams.per_tensor(0.1, 17))
    assert (run(backend, graph, np.full(16, -128)) == 17).all()

    net = Net()
    x = net.input((1, 2), quant)
    graph = net.finish("pad", [x], PadAttrs(((0, 0), (1, 1))), quant)
    assert run(backend, graph, [1, 2]).tolist() == [[-128, 1, 2, -128]]

    net = Net()
    x = net.input((1, 2, 2, 1), quant)
    window = AveragePool2dAttrs((3, 3), pad=Padding(1, 1, 1, 1), counted=Padding(1, 1, 1, 1))
    graph = net.finish("average_pool2d", [x], window, quant)
    assert (run(backend, graph, np.full(4, -128)) == -128).all()


@on_every_backend
def test_u096_softmax_of_one_is_127(backend: Backend):
    net = Net()
    graph = net.finish("softmax", [net.input((1, 4), QuantParams.per_tensor(1.0, 0))], SoftmaxAttrs(), SOFTMAX)
    assert run(backend, graph, [20, 0, 0, 0]).tolist() == [[127, -128, -128, -128]]


@on_every_backend
def test_u098_softmax_of_several_rows(backend: Backend):
    net = Net()
    graph = net.finish("softmax", [net.input((3, 10), QuantParams.per_tensor(0.1, 3))], SoftmaxAttrs(), SOFTMAX)
    rows = np.random.default_rng(1).integers(-128, 128, (3, 10), dtype=np.int8)
    y = run(backend, graph, rows)
    real = np.exp(rows * 0.1) / np.exp(rows * 0.1).sum(axis=1, keepdims=True)
    assert np.abs((y + 128.0) / 256 - real).max() < 1 / 128


@on_every_backend
def test_u109_requantize_needs_33_bits(backend: Backend):
    net = Net()
    x = net.input((1, 1), QuantParams.per_tensor(1.0, 0))
    w, bias = net.weights([[0]], 1.0), net.bias([2147483647], 1.0)
    quant = QuantParams.per_tensor(np.float32(1.0000001), 0)
    graph = net.finish("fully_connected", [x, w, bias], None, quant)
    assert run(backend, graph, [0]).tolist() == [[127]]


@on_every_backend
@pytest.mark.parametrize("exponent", [-20, -10, -1, 0, 1, 7, 20, 28])
def test_u110_every_shift(backend: Backend, exponent: int):
    sums = [0, 1, -1, -100, 100, 2**30, -(2**30)]
    net = Net()
    x = net.input((1, 1), QuantParams.per_tensor(1.0, 0))
    w = net.weights(np.zeros((len(sums), 1)), 1.0)
    # A positive shift is applied before the multiplication, so that only sums it leaves within 32 bits have a meaning.
    held = [s if exponent > 0 or abs(s) < 2**30 * 2.0**exponent else 0 for s in sums]
    quant = QuantParams.per_tensor(2.0**exponent, 5)
    graph = net.finish("fully_connected", [x, w, net.bias(held, 1.0)], None, quant)
    y = run(backend, graph, [0])[0]
    wanted = [min(max(_rounded(s, exponent) + 5, -128), 127) for s in held]
    assert y.tolist() == wanted


def _rounded(acc: int, exponent: int) -> int:
    """acc / 2**exponent as gemmlowp rounds it: first to halves (up), then away from zero."""
    if exponent <= 0:
        return acc * 2**-exponent
    first = (acc + 1) // 2
    if exponent == 1:
        return first
    half = 2 ** (exponent - 2)
    return (first + half) // (2 * half) if first >= 0 else -((-first + half) // (2 * half))


@on_every_backend
def test_u111_effective_scale_above_one(backend: Backend):
    net = Net()
    x = net.input((1, 5), QuantParams.per_tensor(0.5, 0))
    other = net.b.constant("k", np.full((1, 5), 3, np.int8), QuantParams.per_tensor(0.5, 0))
    graph = net.finish("mul", [x, other], None, QuantParams.per_tensor(0.01, 0))
    assert run(backend, graph, [-128, -1, 0, 1, 127]).tolist() == [[-128, -75, 0, 75, 127]]


@on_every_backend
def test_u115_average_with_its_own_scale(backend: Backend):
    net = Net()
    quant = QuantParams.per_tensor(6 / 255, -128)
    x = net.input((1, 8, 8, 1), quant)
    graph = net.finish("average_pool2d", [x], AveragePool2dAttrs((8, 8)), QuantParams.per_tensor(0.1 / 255, -128))
    values = np.full(64, -128)
    values[5] = 0  # one pixel of about 3.0 among zeros
    real = 128 * (6 / 255) / 64
    y = run(backend, graph, values).item()
    assert abs((y + 128) * (0.1 / 255) - real) < 0.1 / 255


@on_every_backend
@pytest.mark.parametrize("width", range(1, 10))
def test_u156_one_row_of_every_width(width: int, backend: Backend):
    rng = np.random.default_rng(width)
    for kernel, pad in (((1, 5), Padding(0, 2, 0, 2)), ((3, 1), Padding(1, 0, 1, 0))):
        net = Net()
        x = net.input((1, 1, width, 4), QuantParams.per_tensor(0.05, -20))
        w = net.weights(rng.integers(-127, 128, (3, *kernel, 4)), 0.01)
        bias = net.bias(rng.integers(-99, 99, 3), 0.05 * 0.01)
        graph = net.finish("conv2d", [x, w, bias], Conv2dAttrs(pad=pad), QuantParams.per_tensor(0.1, 7))
        assert differences(backend.compile(graph), NumpyReference().compile(graph), int8_inputs(graph)) == []


@on_every_backend
def test_u157_every_sample_of_a_batch(backend: Backend):
    quant = QuantParams.per_tensor(0.05, -20)
    net = Net()
    net_x = net.input((3, 4, 4, 2), quant)
    graph = net.finish("max_pool2d", [net_x], MaxPool2dAttrs((2, 2), (2, 2)), quant)
    x = np.random.default_rng(0).integers(-128, 128, (3, 4, 4, 2), dtype=np.int8)
    wanted = x.reshape(3, 2, 2, 2, 2, 2).max(axis=(2, 4))
    np.testing.assert_array_equal(run(backend, graph, x), wanted)


@requires_package("tflite_micro")
@on_every_backend
@pytest.mark.parametrize("multiplier", [2.0**-2, 2.0**-5, 3 * 2.0**-6])
def test_u190_ties_of_both_signs(multiplier: float, backend: Backend):
    net = Net()
    x = net.input((1, 16), QuantParams.per_tensor(1.0, 0))
    w = net.weights(np.eye(8, 16) * np.array([1, -1, 3, -3, 5, -5, 127, -127])[:, None], 1.0)
    graph = net.finish(
        "fully_connected", [x, w, net.bias([0] * 8, 1.0)], None, QuantParams.per_tensor(1 / multiplier, 0)
    )
    oracle = GraphInTfliteMicro(graph)
    inputs = [{"x": np.full((1, 16), q, np.int8)} for q in range(-128, 128)]
    assert differences(backend.compile(graph), oracle, inputs) == []


@requires_package("tflite_micro")
@on_every_backend
@pytest.mark.parametrize("adjoint", [False, True])
def test_u030_matmul_of_an_adjoint(adjoint: bool, backend: Backend):
    graph = Graph("net")
    b = Builder(graph, operators())
    quant, other = QuantParams.per_tensor(0.1, 3), QuantParams.per_tensor(0.2, -7)
    left = b.input("left", TensorType(DType.INT8, (2, 2, 3) if adjoint else (2, 3, 2), quant))
    right = b.input("right", TensorType(DType.INT8, (1, 2, 4), other))
    rows = b.node("transpose", [left], TransposeAttrs((0, 2, 1)), quant=quant) if adjoint else left
    graph.outputs = [
        b.node("matmul", [rows, right], MatmulAttrs(), outputs=("y",), quant=QuantParams.per_tensor(0.3, 1))
    ]
    assert differences(backend.compile(graph), GraphInTfliteMicro(graph), int8_inputs(graph)) == []
