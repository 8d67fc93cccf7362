"""Bounds against brute force over every input that can occur, and refusals by name."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from burnc.errors import QuantizationError
from burnc.ir import Builder, DType, Graph, QuantParams, TensorType
from burnc.ops import operators
from burnc.ops.average_pool2d import AveragePool2dAttrs
from burnc.quant.accumulators import accumulator_bounds, check_accumulators


def dense(weights, bias, *, zero_point=0, scale=1.0, output_scale=1e6):
    """fully_connected on int8 with those integers."""
    graph = Graph("g")
    b = Builder(graph, operators())
    w = np.array(weights, np.int8)
    x = b.input("x", TensorType(DType.INT8, (1, w.shape[1]), QuantParams.per_tensor(scale, zero_point)))
    held = b.constant("w", w, QuantParams.per_axis((1.0,) * len(w), 0))
    offset = b.constant("b", np.array(bias, np.int32), QuantParams.per_axis((scale,) * len(w), 0))
    y = b.node("fully_connected", [x, held, offset], name="dense", quant=QuantParams.per_tensor(output_scale))
    graph.outputs = [y]
    return graph


@pytest.mark.parametrize("zero_point", [-128, -3, 0, 127])
def test_bounds_hold_and_are_tight(zero_point):
    rng = np.random.default_rng(zero_point + 128)
    weights, bias = rng.integers(-127, 128, (1, 3)), 1000
    bounds = accumulator_bounds(dense(weights, [bias], zero_point=zero_point).nodes[0])
    seen = []
    for inputs in itertools.product((-128, 127), repeat=3):
        for form_bias, operands in (
            (bias, np.array(inputs) - zero_point),
            (bias - zero_point * weights.sum(), np.array(inputs)),
        ):
            for order in itertools.permutations(range(3)):
                seen += [form_bias, *(form_bias + np.cumsum((weights[0] * operands)[list(order)]))]
    assert bounds.low[0] == min(bias, *seen)
    assert bounds.high[0] == max(bias, *seen)


def test_overflow_names_node_and_channel():
    graph = dense([[1, 1], [1, 127]], [0, 2**31 - 10], zero_point=-128)
    with pytest.raises(QuantizationError, match="channel 1 of node 'dense'"):
        check_accumulators(graph)


def test_partial_sums_count_though_the_total_fits():
    # The total never exceeds 2**31 - 1, for the second product is always taken away; but the order is the kernel's.
    graph = dense([[127, -127]], [2**31 - 20_000], zero_point=0)
    with pytest.raises(QuantizationError):
        check_accumulators(graph)


def test_the_largest_bias_that_fits():
    room = 2**31 - 1 - 255 * 2
    check_accumulators(dense([[2]], [room], zero_point=-128))
    with pytest.raises(QuantizationError):
        check_accumulators(dense([[2]], [room + 1], zero_point=-128))


def test_left_shift_counts():
    check_accumulators(dense([[127]], [0], output_scale=2.0**-15))
    with pytest.raises(QuantizationError, match="to the left"):
        check_accumulators(dense([[127]], [0], output_scale=2.0**-20))


def test_matmul():
    def product(terms):
        graph = Graph("g")
        b = Builder(graph, operators())
        left = b.input("l", TensorType(DType.INT8, (1, terms), QuantParams.per_tensor(1.0, -128)))
        right = b.input("r", TensorType(DType.INT8, (terms, 1), QuantParams.per_tensor(1.0, 127)))
        graph.outputs = [b.node("matmul", [left, right], name="product", quant=QuantParams.per_tensor(1e6))]
        return graph

    most = math.floor(2**31 / 255**2)
    check_accumulators(product(most))
    with pytest.raises(QuantizationError, match="'product'"):
        check_accumulators(product(most + 1))


def test_average_pool():
    graph = Graph("g")
    b = Builder(graph, operators())
    quant = QuantParams.per_tensor(1.0, -128)
    x = b.input("x", TensorType(DType.INT8, (1, 3000, 3000, 1), quant))
    pool = b.node("average_pool2d", [x], AveragePool2dAttrs((3000, 3000)), name="pool", quant=quant)
    graph.outputs = [pool]
    with pytest.raises(QuantizationError, match="'pool'"):
        check_accumulators(graph)
