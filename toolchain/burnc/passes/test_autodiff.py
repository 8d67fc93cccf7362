from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import GraphError
from burnc.ir import Builder, DType, Graph, TensorType
from burnc.ops import operators
from burnc.ops.reduce_sum import ReduceAttrs
from burnc.passes.autodiff import differentiate


def test_a_value_that_is_read_twice_gets_the_sum() -> None:
    graph = Graph("g")
    b = Builder(graph, operators())
    x, unused = (b.input(name, TensorType(DType.FLOAT32, (3,))) for name in ("x", "unused"))
    square = b.node("mul", [x, x])
    loss = b.node("reduce_sum", [b.node("mul", [square, x])], ReduceAttrs((0,)))
    graph.outputs = differentiate(graph, loss, [x, unused])
    data = np.array([1, -2, 3], np.float32)
    cubed, nothing = NumpyReference().compile(graph).run({"x": data, "unused": data}).values()
    np.testing.assert_allclose(cubed, 3 * data**2)
    assert not nothing.any()


def test_refusals() -> None:
    graph = Graph("g")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (3,)))
    silent = dataclasses.replace(operators()["sqrt"], gradient=None)
    y = b.node("sqrt", [x])
    loss = b.node("reduce_sum", [y], ReduceAttrs((0,)))
    with pytest.raises(GraphError, match="one float"):
        differentiate(graph, y, [x])
    graph.nodes[0].operator = silent
    with pytest.raises(GraphError, match="no gradient"):
        differentiate(graph, loss, [x])


def test_what_serves_no_gradient_is_not_computed() -> None:
    graph = Graph("g")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (1, 5, 5, 2)))
    w = b.input("w", TensorType(DType.FLOAT32, (3, 3, 3, 2)))
    loss = b.node("reduce_mean", [b.node("conv2d", [x, w])], ReduceAttrs((0, 1, 2, 3)))
    graph.outputs = differentiate(graph, loss, [w])
    assert "conv2d_input_gradient" not in {n.op for n in graph.nodes}
