from __future__ import annotations

import pytest

from burnc.ir import Builder, Value
from burnc.ops.clip import ClipAttrs
from burnc.ops.conv2d import Conv2dAttrs
from burnc.passes import FoldBatchNorm
from passes.rewriting import changed, floats, ops_of, started

FOLD = FoldBatchNorm("conv2d")
SHAPE = (1, 3, 3, 4)


def norm(b: Builder, x: Value, seed: int = 5) -> Value:
    parameters = [b.constant(f"p{i}", floats(x.type.shape[-1], seed=seed + i, low=0.2, high=1.5)) for i in range(4)]
    return b.node("batch_norm", [x, *parameters], outputs=("normed",))


def conv(b: Builder, x: Value, attrs: Conv2dAttrs | None = None) -> Value:
    return b.node("conv2d", [x, b.constant("w", floats(4, 1, 1, 4, seed=1))], attrs)


@pytest.mark.parametrize("with_bias", [False, True])
def test_a_convolution_absorbs_the_norm(with_bias: bool) -> None:
    graph, b, x = started(*SHAPE)
    bias = b.constant("b", floats(6, seed=2)) if with_bias else None
    y = norm(b, b.node("conv2d", [x, b.constant("w", floats(6, 2, 2, 4, seed=1)), bias]))
    assert changed(FOLD, graph, [y]) == 1
    assert ops_of(graph) == ["conv2d"]
    assert graph.outputs[0].name == "normed"


def test_the_scale_goes_along_the_output_axis_of_groups() -> None:
    graph, b, x = started(*SHAPE)
    y = b.node("conv2d", [x, b.constant("w", floats(8, 3, 3, 1, seed=1)), None], Conv2dAttrs(groups=4))
    assert changed(FOLD, graph, [norm(b, y)]) == 1


def test_a_fully_connected_layer_absorbs_the_norm() -> None:
    graph, b, x = started(*SHAPE)
    y = norm(b, b.node("fully_connected", [x, b.constant("w", floats(5, 4))]))
    assert changed(FoldBatchNorm("fully_connected"), graph, [y]) == 1
    assert ops_of(graph) == ["fully_connected"]


def test_two_norms_in_a_row_are_both_absorbed() -> None:
    graph, b, x = started(*SHAPE)
    assert changed(FOLD, graph, [norm(b, norm(b, conv(b, x)), seed=20)]) == 2
    assert ops_of(graph) == ["conv2d"]


def test_shared_weights_are_scaled_for_each_reader_alone() -> None:
    graph, b, x = started(*SHAPE)
    w = b.constant("w", floats(4, 1, 1, 4, seed=1))
    first, second, plain = (b.node("conv2d", [x, w]) for _ in range(3))
    assert changed(FOLD, graph, [norm(b, first), norm(b, second, seed=30), plain]) == 2
    assert ops_of(graph) == ["conv2d"] * 3


def test_an_activation_in_between_keeps_them_apart() -> None:
    graph, b, x = started(*SHAPE)
    assert changed(FOLD, graph, [norm(b, conv(b, x, Conv2dAttrs(activation_min=0.0)))]) == 0
    graph, b, x = started(*SHAPE)
    assert changed(FOLD, graph, [norm(b, b.node("clip", [conv(b, x)], ClipAttrs(0.0)))]) == 0


def test_a_second_reader_keeps_them_apart() -> None:
    graph, b, x = started(*SHAPE)
    y = conv(b, x)
    assert changed(FOLD, graph, [b.node("add", [norm(b, y), y])]) == 0


def test_a_graph_output_in_between_keeps_them_apart() -> None:
    graph, b, x = started(*SHAPE)
    y = conv(b, x)
    assert changed(FOLD, graph, [norm(b, y), y]) == 0


def test_computed_weights_or_parameters_keep_them_apart() -> None:
    graph, b, x = started(*SHAPE)
    w = b.node("clip", [b.constant("w", floats(4, 1, 1, 4))], ClipAttrs(0.0, 1.0))
    assert changed(FOLD, graph, [norm(b, b.node("conv2d", [x, w]))]) == 0
    graph, b, x = started(*SHAPE)
    gamma = b.node("clip", [b.constant("g", floats(4))], ClipAttrs(0.0, 1.0))
    rest = [b.constant(f"p{i}", floats(4, seed=i, low=0.2)) for i in range(3)]
    assert changed(FOLD, graph, [b.node("batch_norm", [conv(b, x), gamma, *rest])]) == 0
