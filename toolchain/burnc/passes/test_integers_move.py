from __future__ import annotations

import numpy as np

from burnc.ir import Builder, DType, Graph, QuantParams, TensorType, verify
from burnc.ops import operators
from burnc.ops.reshape import ReshapeAttrs
from burnc.ops.transpose import TransposeAttrs
from burnc.passes.integers_move import IntegersMove

PER_TENSOR = QuantParams.per_tensor(0.5, 3)
PER_AXIS = QuantParams.per_axis((0.5, 0.25, 2.0), 0)
WEIGHTS = np.arange(12, dtype=np.int8).reshape(3, 2, 2)


def graph_of(op: str, attrs: object, quant: QuantParams, is_constant: bool) -> Graph:
    graph = Graph("net")
    b = Builder(graph, operators())
    x = b.constant("w", WEIGHTS, quant) if is_constant else b.input("x", TensorType(DType.INT8, (3, 2, 2), quant))
    graph.outputs = [b.node(op, [b.node("dequantize", [x])], attrs, outputs=["y"])]
    verify(graph)
    return graph


def test_activation_is_moved_before_dequantize() -> None:
    graph = graph_of("transpose", TransposeAttrs((2, 0, 1)), PER_TENSOR, is_constant=False)
    assert IntegersMove().run(graph) == 1
    verify(graph)
    assert [n.op for n in graph.nodes] == ["transpose", "dequantize"]
    assert graph.nodes[0].output.type == TensorType(DType.INT8, (2, 3, 2), PER_TENSOR)
    assert graph.outputs[0].name == "y"


def test_constant_is_moved_now_and_its_axis_follows() -> None:
    graph = graph_of("transpose", TransposeAttrs((2, 0, 1)), PER_AXIS, is_constant=True)
    assert IntegersMove().run(graph) == 1
    verify(graph)
    (node,) = graph.nodes
    assert node.op == "dequantize"
    weights = node.input(0)
    np.testing.assert_array_equal(np.asarray(weights.data), WEIGHTS.transpose(2, 0, 1))
    assert weights.type.quant == PER_AXIS.with_axis(1)
    assert weights.name == "w"


def test_reshape_keeps_the_quantized_axis() -> None:
    graph = graph_of("reshape", ReshapeAttrs((1, 3, 4)), PER_AXIS, is_constant=True)
    assert IntegersMove().run(graph) == 1
    verify(graph)
    assert graph.nodes[0].input(0).type.quant == PER_AXIS.with_axis(1)


def test_reshape_that_joins_the_quantized_axis_stays() -> None:
    graph = graph_of("reshape", ReshapeAttrs((6, 2)), PER_AXIS, is_constant=True)
    assert IntegersMove().run(graph) == 0
    assert [n.op for n in graph.nodes] == ["dequantize", "reshape"]


def test_activation_with_several_scales_stays() -> None:
    graph = graph_of("transpose", TransposeAttrs((2, 0, 1)), PER_AXIS, is_constant=False)
    assert IntegersMove().run(graph) == 0


def test_activation_of_a_type_that_cannot_be_moved_stays() -> None:
    graph = Graph("net")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.INT32, (3, 2, 2), PER_TENSOR))
    graph.outputs = [b.node("transpose", [b.node("dequantize", [x])], TransposeAttrs((2, 0, 1)), outputs=["y"])]
    assert IntegersMove().run(graph) == 0
    verify(graph)
