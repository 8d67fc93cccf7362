"""A batch_norm of its own becomes mul and add with the same results."""

from __future__ import annotations

import numpy as np

from burnc.ir import Array, Builder, DType, Graph, TensorType, Value
from burnc.ops import operators, spec_of
from burnc.ops.batch_norm import BatchNormAttrs
from burnc.passes import run_passes
from burnc.passes.lower_batch_norm import LowerBatchNorm


def graph_with_batch_norm(*, computed_scale: bool = False) -> Graph:
    rng = np.random.default_rng(0)
    graph = Graph("g")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (1, 4, 3)))
    gamma = b.constant("gamma", rng.normal(size=3).astype(np.float32))
    if computed_scale:
        gamma = b.input("gamma_in", TensorType(DType.FLOAT32, (3,)))
    beta, mean = (b.constant(n, rng.normal(size=3).astype(np.float32)) for n in ("beta", "mean"))
    var = b.constant("var", rng.uniform(0.1, 2, 3).astype(np.float32))
    graph.outputs = [b.node("batch_norm", [x, gamma, beta, mean, var], BatchNormAttrs(1e-3), name="norm")]
    return graph


def evaluate(graph: Graph, x: Array) -> Array:
    held: dict[Value, Array] = {graph.inputs[0]: x}
    for node in graph.nodes:
        operands = [held[v] if v.data is None else v.data for v in node.present_inputs]
        held[node.output] = spec_of(node).forward(np, node.attrs, *operands)
    return held[graph.outputs[0]]


def test_same_results() -> None:
    graph = graph_with_batch_norm()
    x = np.random.default_rng(1).normal(size=(1, 4, 3)).astype(np.float32)
    before = evaluate(graph, x)
    assert run_passes(graph, [LowerBatchNorm()])[0].count == 1
    assert [node.op for node in graph.nodes] == ["mul", "add"]
    np.testing.assert_allclose(evaluate(graph, x), before, rtol=1e-5, atol=1e-6)


def test_computed_parameters_are_left_alone() -> None:
    graph = graph_with_batch_norm(computed_scale=True)
    assert run_passes(graph, [LowerBatchNorm()]) == []
