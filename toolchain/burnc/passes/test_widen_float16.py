from __future__ import annotations

import numpy as np

from burnc.backends.numpy_reference import NumpyReference
from burnc.ir import Builder, DType, Graph, TensorType
from burnc.ops import operators
from burnc.ops.cast import CastAttrs
from burnc.passes import FoldConstants, WidenFloat16, run_passes
from passes.rewriting import ops_of

HALF = DType.FLOAT16


def started(*shape: int) -> tuple[Graph, Builder]:
    graph = Graph("half")
    builder = Builder(graph, operators())
    builder.input("x", TensorType(HALF, shape))
    return graph, builder


def test_edges_stay_and_what_lies_between_is_float32() -> None:
    graph, b = started(3)
    weights = b.constant("w", np.array([1.5, -2.0, 0.25], np.float16))
    product = b.node("mul", [graph.inputs[0], weights], name="product")
    graph.outputs = [b.node("add", [product, product], outputs=["y"]), product]
    run_passes(graph, [WidenFloat16(), FoldConstants()])
    assert ops_of(graph) == ["cast", "mul", "cast", "add", "cast"]
    assert [(v.name, v.type.dtype) for v in graph.outputs] == [("y", HALF), ("product", HALF)]
    assert [c.type.dtype for c in graph.constants()] == [DType.FLOAT32]
    x = np.array([1.0, 3.0, -8.0], np.float16)
    results = NumpyReference().compile(graph).run({"x": x})
    np.testing.assert_array_equal(results["product"], np.array([1.5, -6, -2], np.float16))
    np.testing.assert_array_equal(results["y"], np.array([3, -12, -4], np.float16))


def test_numbers_between_are_not_rounded_but_by_a_cast_of_the_file() -> None:
    graph, b = started(1)
    thousand, one = (b.constant(name, np.array([n], np.float16)) for name, n in (("thousand", 2048), ("one", 1)))
    larger = b.node("add", [b.node("add", [graph.inputs[0], thousand]), one])  # 2049, which float16 has not
    rounded = b.node("cast", [b.node("cast", [larger], CastAttrs("float32"))], CastAttrs("float16"))
    minus = b.constant("minus", np.array([-2048], np.float16))
    graph.outputs = [
        b.node("add", [larger, minus], outputs=["exact"]),
        b.node("add", [rounded, minus], outputs=["coarse"]),
    ]
    run_passes(graph, [WidenFloat16(), FoldConstants()])
    results = NumpyReference().compile(graph).run({"x": np.zeros(1, np.float16)})
    assert (results["exact"].tolist(), results["coarse"].tolist()) == ([1], [0])


def test_states_keep_their_type() -> None:
    graph, b = started(2)
    state = b.state("s", TensorType(HALF, (2,)))
    state.write = b.node("add", [state.read, graph.inputs[0]], outputs=["next"])
    graph.outputs = [state.write]
    run_passes(graph, [WidenFloat16()])
    assert state.write.type == state.read.type
    executable = NumpyReference().compile(graph)
    x = {"x": np.array([1.0, 2.0], np.float16)}
    executable.run(x)
    assert executable.run(x)["next"].tolist() == [2, 4]


def test_what_has_no_float16_is_left_alone() -> None:
    graph, b = started(2)
    graph.outputs = [b.node("cast", [graph.inputs[0]], CastAttrs("int32"))]
    assert WidenFloat16().run(graph) == 0
