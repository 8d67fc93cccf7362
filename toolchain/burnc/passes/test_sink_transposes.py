from __future__ import annotations

import numpy as np
import pytest

from burnc.ir import DType, QuantParams, TensorType
from burnc.ops.clip import ClipAttrs
from burnc.ops.concat import ConcatAttrs
from burnc.ops.pad import PadAttrs
from burnc.ops.reshape import ReshapeAttrs
from burnc.ops.softmax import SoftmaxAttrs
from burnc.ops.transpose import TransposeAttrs
from burnc.passes import SinkTransposes
from passes.rewriting import changed, floats, ops_of, started

SINK = SinkTransposes()
NCHW = TransposeAttrs((0, 3, 1, 2))
NHWC = TransposeAttrs((0, 2, 3, 1))
X = (1, 4, 5, 3)


def test_a_transpose_of_axes_of_size_1_is_a_reshape() -> None:
    graph, b, x = started(1, 1, 1, 3)
    assert changed(SINK, graph, [b.node("transpose", [x], NCHW)]) == 1
    assert ops_of(graph) == ["reshape"]
    graph, b, x = started(1, 2, 1, 3)
    assert changed(SINK, graph, [b.node("transpose", [x], NCHW)]) == 0


def test_movers_in_a_row_are_one_and_inverses_are_none() -> None:
    graph, b, x = started(2, 3, 4)
    y = b.node("transpose", [b.node("transpose", [x], TransposeAttrs((1, 0, 2)))], TransposeAttrs((0, 2, 1)))
    assert changed(SINK, graph, [y]) == 1
    assert graph.nodes[0].attrs == TransposeAttrs((1, 2, 0))
    graph, b, x = started(2, 3, 4)
    y = b.node("reshape", [b.node("reshape", [x], ReshapeAttrs((24,)))], ReshapeAttrs((6, 4)), outputs=("y",))
    assert changed(SINK, graph, [y]) == 1
    assert (ops_of(graph), graph.outputs[0].name) == (["reshape"], "y")


def test_equal_movers_of_one_value_are_one() -> None:
    graph, b, x = started(*X)
    first, second = (b.node("transpose", [x], NCHW) for _ in range(2))
    outputs = [b.node("softmax", [first], SoftmaxAttrs(-1)), b.node("concat", [second], ConcatAttrs(1))]
    changed(SINK, graph, [b.node("reshape", [y], ReshapeAttrs((60,))) for y in outputs])
    assert ops_of(graph).count("transpose") <= 2


@pytest.mark.parametrize("shape", [(3, 1, 1), (1, 3, 1, 1), (3, 4, 5), (4, 1), (), (1,), (1, 3, 4, 5)])
def test_a_pointwise_operator_is_computed_before_with_constants_permuted(shape: tuple[int, ...]) -> None:
    graph, b, x = started(*X)
    y = b.node("add", [b.node("transpose", [x], NCHW), b.constant("c", floats(*shape))])
    assert changed(SINK, graph, [b.node("transpose", [y], NHWC, outputs=("y",))]) > 0
    assert ops_of(graph) == ["add"]


def test_a_constant_of_higher_rank_leaves_it_behind() -> None:
    graph, b, x = started(*X)
    y = b.node("add", [b.node("transpose", [x], NCHW), b.constant("c", floats(2, 1, 3, 1, 1))])
    assert changed(SINK, graph, [y]) == 0


@pytest.mark.parametrize(
    ("op", "attrs"),
    [
        ("softmax", SoftmaxAttrs(1)),
        ("softmax", SoftmaxAttrs(-3)),
        ("pad", PadAttrs(((0, 0), (1, 2), (3, 0), (0, 1)), 0.5)),
        ("clip", ClipAttrs(0.0)),
    ],
)
def test_axes_and_pads_of_permutable_operators_are_mapped(op: str, attrs: object) -> None:
    graph, b, x = started(*X)
    y = b.node(op, [b.node("transpose", [x], NCHW)], attrs)
    assert changed(SINK, graph, [b.node("transpose", [y], NHWC)]) > 0
    assert ops_of(graph) == [op]


@pytest.mark.parametrize("axis", [1, -3, 2])
def test_concat_moves_with_all_its_operands_constants_too(axis: int) -> None:
    graph, b, x = started(*X)
    parts = [b.node("transpose", [x], NCHW), b.constant("c", floats(1, 3, 4, 5)), b.node("transpose", [x], NCHW)]
    y = b.node("concat", parts, ConcatAttrs(axis))
    assert changed(SINK, graph, [b.node("transpose", [y], NHWC)]) > 0
    assert ops_of(graph) == ["concat"]


def test_different_permutations_leave_it_behind() -> None:
    graph, b, x = started(2, 3, 3, 3)
    left, right = b.node("transpose", [x], NCHW), b.node("transpose", [x], NHWC)
    assert changed(SINK, graph, [b.node("add", [left, right])]) == 0


def test_a_reshape_of_axes_of_size_1_counts_as_the_transpose() -> None:
    graph, b, x = started(*X)
    pooled = b.input("pooled", TensorType(DType.FLOAT32, (1, 1, 1, 3)))
    scale = b.node("reshape", [b.node("clip", [pooled], ClipAttrs(0.0))], ReshapeAttrs((1, 3, 1, 1)))
    y = b.node("mul", [b.node("transpose", [b.node("clip", [x], ClipAttrs(-1.0))], NCHW), scale])
    assert changed(SINK, graph, [b.node("transpose", [y], NHWC)]) > 0
    assert ops_of(graph) == ["clip", "clip", "mul"]


def test_an_input_that_is_read_transposed_is_read_so_everywhere() -> None:
    graph, b, x = started(1, 3, 4, 5)
    inner = b.node("clip", [b.node("transpose", [x], NHWC)], ClipAttrs(0.0))
    y = b.node("add", [b.node("transpose", [b.node("softmax", [inner])], NCHW), x])
    changed(SINK, graph, [b.node("softmax", [b.node("transpose", [y], NHWC)])])
    assert ops_of(graph).count("transpose") <= 2


def test_two_inputs_read_both_ways_come_to_rest() -> None:
    graph, b, x = started(2, 3, 3, 3)
    z = b.input("z", TensorType(DType.FLOAT32, (2, 3, 3, 3)))
    outputs = [b.node("add", [b.node("transpose", [x], NCHW), z]), b.node("add", [b.node("transpose", [z], NHWC), x])]
    assert changed(SINK, graph, outputs) == 0


def test_what_a_move_that_fails_has_made_is_taken_back() -> None:
    graph, b, x = started(*X)
    z = b.input("z", TensorType(DType.FLOAT32, (1, 3, 4, 5)))
    w = b.input("w", TensorType(DType.FLOAT32, (1, 3, 4, 5)))
    moved = b.node("transpose", [b.node("softmax", [x])], NCHW)
    outputs = [b.node("transpose", [z], NHWC), b.node("concat", [moved, z, w], ConcatAttrs(1))]
    assert changed(SINK, graph, outputs) == 0
    assert ops_of(graph).count("transpose") == 2


@pytest.mark.parametrize("shape", [(3, 1), (1, 3, 1), (3, 5), (5,), (1,), ()])
def test_a_pointwise_operator_moves_before_a_reshape_of_unit_axes(shape: tuple[int, ...]) -> None:
    graph, b, x = started(1, 3, 1, 5)
    y = b.node("mul", [b.node("reshape", [x], ReshapeAttrs((1, 3, 5))), b.constant("c", floats(*shape))])
    assert changed(SINK, graph, [b.node("reshape", [y], ReshapeAttrs((1, 3, 1, 5)))]) > 0
    assert ops_of(graph) == ["mul"]


def test_a_reshape_that_joins_axes_lets_single_numbers_pass_alone() -> None:
    graph, b, x = started(2, 6)
    y = b.node("mul", [b.node("reshape", [x], ReshapeAttrs((3, 4))), b.constant("c", floats(4))])
    assert changed(SINK, graph, [y]) == 0
    graph, b, x = started(2, 6)
    y = b.node("mul", [b.node("reshape", [x], ReshapeAttrs((3, 4))), b.constant("c", floats(1, 1))])
    assert changed(SINK, graph, [b.node("reshape", [y], ReshapeAttrs((2, 6)))]) > 0
    assert ops_of(graph) == ["mul"]


def test_two_operands_reshaped_from_one_shape_pass_and_from_two_do_not() -> None:
    graph, b, x = started(2, 6)
    z = b.input("z", TensorType(DType.FLOAT32, (2, 6)))
    left, right = (b.node("reshape", [v], ReshapeAttrs((3, 4))) for v in (x, z))
    assert changed(SINK, graph, [b.node("reshape", [b.node("add", [left, right])], ReshapeAttrs((2, 6)))]) > 0
    assert ops_of(graph) == ["add"]
    graph, b, x = started(2, 6)
    z = b.input("z", TensorType(DType.FLOAT32, (6, 2)))
    left, right = (b.node("reshape", [v], ReshapeAttrs((3, 4))) for v in (x, z))
    assert changed(SINK, graph, [b.node("add", [left, right])]) == 0


def test_weights_after_a_flatten_are_permuted() -> None:
    graph, b, x = started(2, 4, 5, 3)
    flat = b.node("reshape", [b.node("transpose", [x], NCHW)], ReshapeAttrs((2, 60)), outputs=("flat",))
    w = b.constant("w", floats(7, 60))
    y = b.node("fully_connected", [flat, w, b.constant("b", floats(7))])
    assert changed(SINK, graph, [y]) == 1
    assert ops_of(graph) == ["reshape", "fully_connected"]
    assert graph.nodes[0].output.name == "flat"
    assert w.data is not None
    np.testing.assert_array_equal(w.data, floats(7, 60))  # another reader would still see its own


def test_quantized_weights_after_a_flatten_keep_their_scales() -> None:
    graph, b, x = started(1, 2, 2, 3)
    w = b.constant("w", np.arange(24, dtype=np.int8).reshape(2, 12), QuantParams.per_axis((0.1, 0.3), 0))
    flat = b.node("reshape", [b.node("transpose", [x], NCHW)], ReshapeAttrs((1, 12)))
    assert changed(SINK, graph, [b.node("fully_connected", [flat, b.node("dequantize", [w])])]) == 1
    assert ops_of(graph) == ["dequantize", "reshape", "fully_connected"]


def test_what_is_no_flatten_of_the_batch_or_scaled_along_columns_stays() -> None:
    graph, b, x = started(2, 4, 5, 3)
    rows = b.node("reshape", [b.node("transpose", [x], NCHW)], ReshapeAttrs((6, 20)))
    assert changed(SINK, graph, [b.node("fully_connected", [rows, b.constant("w", floats(7, 20))])]) == 0
    graph, b, x = started(1, 2, 2, 3)
    w = b.constant("w", np.ones((2, 12), np.int8), QuantParams.per_axis((0.1,) * 12, 1))
    flat = b.node("reshape", [b.node("transpose", [x], NCHW)], ReshapeAttrs((1, 12)))
    assert changed(SINK, graph, [b.node("fully_connected", [flat, b.node("dequantize", [w])])]) == 0


def test_quantized_values_keep_their_parameters() -> None:
    quant, other = QuantParams.per_tensor(0.1, 3), QuantParams.per_tensor(0.3, -7)
    graph, b, x = started(*X, quant=quant)
    c = b.constant("c", np.arange(3, dtype=np.int8).reshape(3, 1, 1), other)
    y = b.node("add", [b.node("transpose", [x], NCHW, quant=quant), c], quant=other)
    assert changed(SINK, graph, [b.node("transpose", [y], NHWC, quant=other)]) > 0
    assert ops_of(graph) == ["add"]


def test_results_scaled_along_an_axis_are_not_moved() -> None:
    graph, b, x = started(*X)
    quant = QuantParams.per_axis((0.1, 0.2, 0.3), 1)
    y = b.node("quantize", [b.node("transpose", [x], NCHW)], quant=quant)
    assert changed(SINK, graph, [b.node("dequantize", [y])]) == 0


def test_names_of_the_file_stay_on_what_is_computed() -> None:
    graph, b, x = started(1, 4, 5, 3)
    conv = b.node("conv2d", [x, b.constant("w", floats(2, 1, 1, 3))], name="n", outputs=("n.conv2d",))
    known = b.node("transpose", [conv], NCHW, name="n.transpose", outputs=("known",))
    active = b.node("clip", [known], ClipAttrs(0.0), name="relu", outputs=("active",))
    back = b.node("transpose", [active], NHWC, name="m.transpose")
    changed(SINK, graph, [b.node("max_pool2d", [back], name="m", outputs=("y",))])
    assert [n.output.name for n in graph.nodes] == ["known", "active", "y"]


def test_graph_outputs_keep_their_names_whatever_vanishes() -> None:
    graph, b, x = started(*X)
    y = b.node("clip", [x], ClipAttrs(0.0), outputs=("y",))
    same = b.node("transpose", [b.node("transpose", [y], NCHW)], NHWC, outputs=("same",))
    unmoved = b.node("reshape", [x], ReshapeAttrs(X), outputs=("unmoved",))
    changed(SINK, graph, [y, same, unmoved])
    assert [v.name for v in graph.outputs] == ["y", "same", "unmoved"]
    assert sorted(ops_of(graph)) == ["clip", "identity", "identity"]
