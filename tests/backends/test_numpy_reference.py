from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import GraphError, InputError, UnsupportedError
from burnc.ir import Builder, DType, Graph, QuantParams, TensorType
from burnc.ops import operators
from burnc.ops.clip import ClipAttrs
from burnc.ops.concat import ConcatAttrs
from burnc.ops.reshape import ReshapeAttrs
from burnc.ops.softmax import SoftmaxAttrs
from burnc.passes.rebatch import rebatch


def small_graph() -> Graph:
    graph = Graph("small")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (1, 2, 2)))
    doubled = b.node("add", [x, x], outputs=("doubled",))
    flat = b.node("reshape", [doubled], ReshapeAttrs((1, 4)), outputs=("flat",))
    graph.outputs = [b.node("clip", [flat], ClipAttrs(0.0, 6.0), outputs=("y",))]
    return graph


X = np.array([[[-1, 1], [2, 5]]], np.float32)


def test_outputs_then_kept_values():
    graph = small_graph()
    results = NumpyReference().compile(graph, keep=[graph.value("doubled")]).run({"x": X})
    assert list(results) == ["y", "doubled"]
    assert results["y"].tolist() == [[0, 2, 4, 6]]
    assert results["doubled"].tolist() == [[[-2, 2], [4, 10]]]


def test_an_output_that_is_an_input_and_a_constant():
    graph = Graph("g")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (2,)))
    graph.outputs = [x, b.constant("c", np.array([7], np.int32))]
    results = NumpyReference().compile(graph).run({"x": np.array([1, 2], np.float32)})
    assert [r.tolist() for r in results.values()] == [[1, 2], [7]]


@pytest.mark.parametrize(
    ("inputs", "why"),
    [
        ({}, "input 'x' is missing"),
        ({"z": X}, "there is no input 'z'"),
        ({"x": X.astype(np.float64)}, "float64, it must be float32"),
        ({"x": X[0]}, "shape [2, 2], it must be [1, 2, 2]"),
    ],
)
def test_wrong_inputs(inputs: dict[str, np.ndarray], why: str):
    with pytest.raises(InputError) as caught:
        NumpyReference().compile(small_graph()).run(inputs)
    assert why in str(caught.value)
    assert "x: float32[1, 2, 2]" in str(caught.value)


def test_what_cannot_run_is_listed():
    graph = Graph("g")
    b = Builder(graph, operators())
    quant = QuantParams.per_tensor(0.5, 0)
    x = b.input("x", TensorType(DType.INT8, (2,), quant))
    graph.outputs = [b.node("clip", [x], name="held", quant=quant)]
    (node,) = graph.nodes
    node.operator = dataclasses.replace(operators()["clip"], integer=None)
    with pytest.raises(UnsupportedError, match="'held'"):
        NumpyReference().compile(graph)


def test_a_value_of_another_graph_cannot_be_kept():
    with pytest.raises(GraphError, match="doubled"):
        NumpyReference().compile(small_graph(), keep=[small_graph().value("doubled")])


def test_rebatch():
    graph = small_graph()
    many = rebatch(graph, 3)
    x = np.stack([X[0], X[0] * 2, -X[0]])
    results = NumpyReference().compile(many).run({"x": x})["y"]
    one = NumpyReference().compile(graph)
    for sample, wanted in zip(x, results, strict=True):
        assert one.run({"x": sample[None]})["y"].tolist() == [wanted.tolist()]
    assert graph.inputs[0].type.shape == (1, 2, 2)


@pytest.mark.parametrize("op", ["softmax", "concat", "reshape", "transpose", "matmul", "none"])
def test_rebatch_refuses_what_mixes_samples(op: str):
    graph = Graph("g")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (2, 3) if op == "none" else (1, 3)))
    from burnc.ops.transpose import TransposeAttrs

    operands = {"concat": [x, x], "matmul": [b.constant("w", np.ones((1, 1), np.float32)), x]}
    attrs = {
        "softmax": SoftmaxAttrs(0),
        "concat": ConcatAttrs(0),
        "reshape": ReshapeAttrs((3, 1)),
        "transpose": TransposeAttrs((1, 0)),
    }
    graph.outputs = [b.node("clip" if op == "none" else op, operands.get(op, [x]), attrs.get(op))]
    with pytest.raises(GraphError):
        rebatch(graph, 4)
