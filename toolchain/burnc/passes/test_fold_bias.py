from __future__ import annotations

import numpy as np
import pytest

from burnc.ir import Builder, QuantParams, Value
from burnc.ops.add import AddAttrs
from burnc.ops.clip import ClipAttrs
from burnc.ops.conv2d import Conv2dAttrs
from burnc.passes import FoldBias, OrderOperands
from passes.rewriting import changed, floats, ops_of, started

FOLD = FoldBias("conv2d")
SHAPE = (1, 3, 3, 4)


def conv(b: Builder, x: Value, attrs: Conv2dAttrs | None = None, *, bias: bool = False) -> Value:
    inputs = [x, b.constant("w", floats(8, 2, 2, 4, seed=1))]
    return b.node("conv2d", [*inputs, b.constant("b", floats(8, seed=2))] if bias else inputs, attrs)


def term(b: Builder, *shape: int) -> Value:
    return b.constant("c", floats(*shape, seed=3))


@pytest.mark.parametrize("shape", [(8,), (1, 1, 1, 8), (1, 8), (1,), (), (1, 1, 1, 1)])
@pytest.mark.parametrize("bias", [False, True])
def test_a_value_for_each_channel_or_for_all_is_folded(shape: tuple[int, ...], bias: bool) -> None:
    graph, b, x = started(*SHAPE)
    y = b.node("add", [conv(b, x, bias=bias), term(b, *shape)], outputs=("sum",))
    assert changed(FOLD, graph, [y]) == 1
    assert ops_of(graph) == ["conv2d"]
    assert graph.outputs[0].name == "sum"


@pytest.mark.parametrize(
    "shape", [(2, 1), (1, 2, 2, 1), (8, 1, 1), (2, 8), (1, 2, 2, 8), (1, 1, 1, 1, 8), (3, 1, 1, 1)]
)
def test_a_term_that_varies_otherwise_or_broadcasts_the_result_is_not(shape: tuple[int, ...]) -> None:
    graph, b, x = started(*SHAPE)
    single = b.node("conv2d", [x, b.constant("v", floats(8, 3, 3, 4))])
    y = single if shape == (8, 1, 1) else conv(b, x)
    assert changed(FOLD, graph, [b.node("add", [y, term(b, *shape)])]) == 0


@pytest.mark.parametrize("shape", [(8, 1), (8, 1, 1)])
def test_as_many_values_as_channels_along_another_axis_are_not_folded(shape: tuple[int, ...]) -> None:
    graph, b, x = started(1, 9, 9, 4)
    assert changed(FOLD, graph, [b.node("add", [conv(b, x), term(b, *shape)])]) == 0


def test_a_fully_connected_layer_takes_the_bias() -> None:
    graph, b, x = started(*SHAPE)
    y = b.node("add", [b.node("fully_connected", [x, b.constant("w", floats(5, 4))]), term(b, 5)])
    assert changed(FoldBias("fully_connected"), graph, [y]) == 1


def test_the_range_of_the_add_moves_along() -> None:
    graph, b, x = started(*SHAPE)
    y = b.node("add", [conv(b, x), term(b, 8)], AddAttrs(0.0, 0.5))
    assert changed(FOLD, graph, [y]) == 1
    assert graph.nodes[0].attrs.activation_max == 0.5


def test_a_constant_that_comes_first_is_folded_once_operands_are_ordered() -> None:
    graph, b, x = started(*SHAPE)
    assert changed([OrderOperands(), FOLD], graph, [b.node("add", [term(b, 8), conv(b, x)])]) == 2


def test_an_activation_in_between_keeps_them_apart() -> None:
    graph, b, x = started(*SHAPE)
    assert changed(FOLD, graph, [b.node("add", [conv(b, x, Conv2dAttrs(activation_min=0.0)), term(b, 8)])]) == 0


def test_a_second_reader_or_a_graph_output_in_between_keeps_them_apart() -> None:
    graph, b, x = started(*SHAPE)
    y = conv(b, x)
    assert changed(FOLD, graph, [b.node("add", [y, term(b, 8)]), b.node("clip", [y], ClipAttrs(0.0))]) == 0
    graph, b, x = started(*SHAPE)
    y = conv(b, x)
    assert changed(FOLD, graph, [b.node("add", [y, term(b, 8)]), y]) == 0


def test_a_computed_bias_or_term_keeps_them_apart() -> None:
    graph, b, x = started(*SHAPE)
    bias = b.node("clip", [b.constant("b", floats(8))], ClipAttrs(0.0))
    y = b.node("conv2d", [x, b.constant("w", floats(8, 2, 2, 4)), bias])
    assert changed(FOLD, graph, [b.node("add", [y, term(b, 8)])]) == 0
    graph, b, x = started(*SHAPE)
    computed = b.node("clip", [term(b, 8)], ClipAttrs(0.0))
    assert changed(FOLD, graph, [b.node("add", [conv(b, x), computed])]) == 0


def test_quantized_nodes_stay() -> None:
    quant = QuantParams.per_tensor(0.1, 3)
    graph, b, x = started(*SHAPE, quant=quant)
    w = b.constant("w", np.ones((8, 1, 1, 4), np.int8), QuantParams.per_tensor(0.1))
    y = b.node("conv2d", [x, w], quant=quant)
    c = b.constant("c", np.ones(8, np.int8), quant)
    assert changed(FOLD, graph, [b.node("add", [y, c], quant=quant)]) == 0


@pytest.mark.parametrize(("dtype", "folded"), [(np.int32, 1), (np.int8, 0)])
def test_the_bias_of_a_qdq_file_stays_the_integers_that_it_is(dtype: type[np.integer], folded: int) -> None:
    graph, b, x = started(*SHAPE)
    held = b.constant("c", np.arange(5).astype(dtype), QuantParams.per_tensor(0.1))
    bias = b.node("dequantize", [held])
    layer = b.node("fully_connected", [x, b.constant("w", floats(5, 4))])
    assert changed(FoldBias("fully_connected"), graph, [b.node("add", [layer, bias])]) == folded
    if folded:
        assert ops_of(graph) == ["dequantize", "fully_connected"]
