from __future__ import annotations

import numpy as np

from burnc.ir import QuantParams, verify
from burnc.ops.clip import ClipAttrs
from burnc.ops.reshape import ReshapeAttrs
from burnc.ops.top_k import TopKAttrs
from burnc.ops.transpose import TransposeAttrs
from burnc.passes import FoldConstants, run_passes
from passes.rewriting import changed, floats, ops_of, run, started

FOLD = FoldConstants()
PER_TENSOR = QuantParams.per_tensor(0.5, 3)


def test_a_chain_of_constants_becomes_one() -> None:
    graph, b, x = started(4)
    c = b.node("add", [b.constant("a", floats(4)), b.constant("b", floats(4, seed=1))])
    y = b.node("mul", [x, b.node("clip", [c], ClipAttrs(0.0))])
    assert changed(FOLD, graph, [y]) == 2
    assert ops_of(graph) == ["mul"]


def test_integers_without_quantization_are_exact() -> None:
    graph, b, _ = started(1)
    big = np.array([2**24 + 1, -7], np.int32)
    graph.outputs = [b.node("add", [b.constant("a", big), b.constant("b", np.array([2, 3], np.int32))])]
    run_passes(graph, [FOLD])
    data = graph.outputs[0].data
    assert data is not None
    assert data.tolist() == [2**24 + 3, -4]
    assert data.dtype == np.int32


def test_quantized_constants_go_by_the_integer_meaning() -> None:
    graph, b, _ = started(1)
    c = b.constant("c", np.array([-128, 0, 9, 127], np.int8), PER_TENSOR)
    twice = b.node("add", [c, c], quant=QuantParams.per_tensor(1.0, -3))
    assert changed(FOLD, graph, [twice]) == 1
    data = graph.outputs[0].data
    assert data is not None
    assert data.tolist() == [-128, -6, 3, 121]


def test_quantize_of_a_float_constant_folds_and_dequantize_of_an_integer_one_stays() -> None:
    graph, b, x = started(2)
    w = b.constant("w", np.array([0.25, -9.0], np.float32))
    q = b.node("quantize", [w], quant=PER_TENSOR, rounding="half_even")
    assert changed(FOLD, graph, [b.node("mul", [x, b.node("dequantize", [q])])]) == 1
    assert ops_of(graph) == ["dequantize", "mul"]
    assert changed(FoldConstants(dequantized=True), graph, graph.outputs) == 1
    assert ops_of(graph) == ["mul"]


def test_a_moved_constant_keeps_its_name_and_others_take_the_results() -> None:
    graph, b, x = started(3, 2)
    w = b.constant("w", floats(2, 3))
    moved = b.node("transpose", [w], TransposeAttrs((1, 0)), outputs=("moved",))
    total = b.node("add", [b.constant("a", floats(2)), b.constant("b", floats(2))], outputs=("sum",))
    assert changed(FOLD, graph, [b.node("mul", [b.node("add", [x, moved]), total])]) == 2
    assert {v.name for v in graph.constants()} == {"w", "sum"}


def test_a_constant_that_is_read_elsewhere_keeps_its_own_name() -> None:
    graph, b, x = started(2, 3)
    w = b.constant("w", floats(2, 3))
    moved = b.node("reshape", [w], ReshapeAttrs((1, 2, 3)))
    assert changed(FOLD, graph, [b.node("add", [x, moved]), b.node("add", [x, w])]) == 1
    assert sorted(v.name for v in graph.constants()) == ["w", "w_2"]


def test_a_graph_output_keeps_its_name() -> None:
    graph, b, _ = started(1)
    y = b.node("reshape", [b.constant("w", floats(4))], ReshapeAttrs((2, 2)), outputs=("y",))
    assert changed(FOLD, graph, [y]) == 1
    assert [(v.name, v.is_constant) for v in graph.outputs] == [("y", True)]
    assert run(graph, {"x": floats(1)})["y"].shape == (2, 2)


def test_parameters_follow_the_axis_that_moves() -> None:
    graph, b, _ = started(1)
    quant = QuantParams.per_axis((0.5, 0.25), 0)
    w = b.constant("w", np.arange(6, dtype=np.int8).reshape(2, 3), quant)
    # The verifier admits no per-axis activation; weights that are moved are the only such values.
    moved = b.node("transpose", [w], TransposeAttrs((1, 0)), quant=quant.with_axis(1))
    graph.outputs = [b.node("dequantize", [moved])]
    FOLD.run(graph)
    verify(graph)
    (held,) = graph.constants()
    assert held.type.quant == quant.with_axis(1)
    assert held.type.shape == (3, 2)


def test_infinity_and_nan_are_values_like_others() -> None:
    graph, b, _ = started(1)
    huge = b.constant("h", np.array([3e38, np.inf], np.float32))
    graph.outputs = [b.node("add", [huge, b.node("mul", [huge, b.constant("z", np.array([2, 0], np.float32))])])]
    run_passes(graph, [FOLD])
    np.testing.assert_array_equal(np.asarray(graph.outputs[0].data), [np.inf, np.nan])


def test_what_reads_an_input_stays() -> None:
    graph, b, x = started(2)
    assert changed(FOLD, graph, [b.node("add", [x, b.constant("c", floats(2))])]) == 0


def test_every_result_of_a_node_becomes_a_constant() -> None:
    graph, b, _ = started(1)
    c = b.constant("c", np.array([3.0, 1.0, 2.0], np.float32))
    graph.outputs = b.nodes("top_k", [c], TopKAttrs(2), outputs=("largest", "places"))
    run_passes(graph, [FOLD])
    assert graph.nodes == []
    assert [(v.name, None if v.data is None else v.data.tolist()) for v in graph.outputs] == [
        ("largest", [3.0, 2.0]),
        ("places", [0, 2]),
    ]
