"""Masked attention keeps its accuracy in int8, whatever number stands for the mask."""

from __future__ import annotations

import numpy as np
import pytest

from burnc.backends.numpy_reference import NumpyReference
from burnc.ir import Builder, DType, Graph, TensorType
from burnc.numerics import dequantize
from burnc.numerics import quantize as quantize_values
from burnc.ops import operators
from burnc.ops.softmax import SoftmaxAttrs
from burnc.quant import QuantizeOptions, calibrate, prepare, quantize

SHAPE = (2, 4, 4)
ABOVE = np.triu(np.ones(SHAPE[1:], bool), 1)


def attention(hidden: float, *, selected: bool) -> Graph:
    graph = Graph("attention")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, SHAPE))
    if selected:
        masked = b.node("where", [b.constant("above", ABOVE), b.constant("hidden", np.array(hidden, np.float32)), x])
    else:
        masked = b.node("add", [x, b.constant("mask", np.where(ABOVE, hidden, 0.25).astype(np.float32))])
    graph.outputs = [b.node("softmax", [masked], SoftmaxAttrs(), outputs=["y"])]
    return graph


@pytest.mark.parametrize("hidden", [-np.inf, float(np.finfo(np.float32).min), -1e9, -1e4])
@pytest.mark.parametrize("selected", [False, True])
def test_what_is_hidden_stays_hidden_and_the_rest_exact(hidden: float, selected: bool):
    graph = attention(hidden, selected=selected)
    data = np.random.default_rng(1).normal(0, 2, (60, *SHAPE)).astype(np.float32)
    prepared = prepare(graph)
    small = quantize(prepared, calibrate(prepared, {"x": data}), QuantizeOptions(require_int8=True)).graph
    (x,), (y,) = small.inputs, small.outputs
    real, stored = NumpyReference().compile(graph), NumpyReference().compile(small)
    for sample in data[:20]:
        wanted = real.run({"x": sample})["y"]
        found = dequantize(stored.run({"x": quantize_values(sample, x.type, "half_even")})["y"], y.type)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=0.04)
        assert found[:, ABOVE].max() == 0


def test_a_constant_that_no_softmax_reads_is_no_mask():
    graph = Graph("sum")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (2,)))
    graph.outputs = [b.node("add", [x, b.constant("c", np.array([-5e4, 0], np.float32))], outputs=["y"])]
    prepared = prepare(graph)
    ranges = calibrate(prepared, {"x": np.ones((3, 2), np.float32)})
    assert ranges["y"].low == -49999
