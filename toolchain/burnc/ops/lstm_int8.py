"""The integers of lstm, as TFLite Micro's kernel; what is not here stands in recurrent_int8.py.

c is int16 with a scale of a power of two. Or x, y and h are int16 and the bias is int64, as then are the sums that make
gates. Source: TFLite Micro, lstm_eval.cc and lstm_eval_common.cc.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import DType, Node
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.fixed_point import sigmoid_int16, tanh_int16
from burnc.numerics import multiply_by_quantized_multiplier, quantize_multiplier
from burnc.numerics import sigmoid_int16 as sigmoid_of
from burnc.numerics import tanh_int16 as tanh_of
from burnc.ops.recurrent import FIRST_STATE, steps, through
from burnc.ops.recurrent_int8 import (
    GATE_POWER,
    INT16,
    ONE_SCALE,
    Gates,
    GateScales,
    clamp,
    given_gate,
    is_cell,
    remembered_gate,
)
from burnc.ops.requantize import Integers

OPERANDS = 8


class Scales(GateScales):
    """The real factors of a quantized node, and the bound on c."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        y, c = node.outputs[0].type, node.outputs[2].type
        self.forget, self.update = ONE_SCALE, ONE_SCALE * ONE_SCALE / c.scale
        self.out = ONE_SCALE * ONE_SCALE / y.scale
        self.power = math.frexp(c.scale)[1] - 1
        clip = node.attrs.cell_clip
        self.clip = (-min(int(clip / c.scale), INT16[1]), min(int(clip / c.scale), INT16[1])) if clip else INT16


def body_int8(k: KernelBuilder, a: Any, *tensors: Tensor | None) -> None:
    """Stages as in the float kernel: the gates of a step, then c and h."""
    operands, results = tensors[:OPERANDS], [t for t in tensors[OPERANDS:] if t is not None]
    y, _, c = results
    _, _, batch, hidden = y.shape
    scales, zero = Scales(k.node), y.type.zero_point
    gates = k.scratch("gates", DType.INT16, (batch, 4 * hidden))

    for step in steps(k, a, operands, results):
        for n, g in k.grid((batch, 4 * hidden), "n gate"):
            given = given_gate(k, step, scales, n, g)
            gates[n, g] = clamp(k, given + remembered_gate(k, step, scales, n, g))
        k.barrier()
        for n, j in k.grid((batch, hidden), "n j"):
            forget = k.scale_by(sigmoid_int16(k, gates[n, j + 2 * hidden]) * c[step.d, n, j], scales.forget)
            update = sigmoid_int16(k, gates[n, j]) * tanh_int16(k, gates[n, j + 3 * hidden], GATE_POWER)
            cell = clamp(k, clamp(k, forget) + clamp(k, k.scale_by(update, scales.update)))
            cell = k.let("cell", clamp(k, cell, scales.clip))
            product = sigmoid_int16(k, gates[n, j + hidden]) * tanh_int16(k, cell, scales.power)
            out = k.let("out", clamp(k, k.scale_by(product, scales.out) + zero, y.type.dtype.limits))
            step.store(n, j, out, cell)


def integer(
    node: Node,
    x: Integers,
    w: Integers,
    r: Integers,
    b: Integers | None = None,
    lengths: Integers | None = None,
    h0: Integers | None = None,
    c0: Integers | None = None,
    p: None = None,
) -> tuple[Integers, ...]:
    scales, zero = Scales(node), node.outputs[0].type.zero_point
    shape = node.outputs[1].type.shape
    rows = Gates(node, w, r, b)

    def step(d: int, given: Integers, h: Integers, c: Integers) -> tuple[Integers, Integers]:
        gates = np.clip(rows.given(d, given) + rows.remembered(d, h), *INT16)
        i, o, f, g = np.split(gates, 4, axis=-1)
        forget = _product(node, sigmoid_of(f), c, scales.forget)
        update = _product(node, sigmoid_of(i), tanh_of(g, GATE_POWER), scales.update)
        cell = np.clip(np.clip(np.clip(forget, *INT16) + np.clip(update, *INT16), *INT16), *scales.clip)
        out = _product(node, sigmoid_of(o), tanh_of(cell, scales.power), scales.out)
        return np.clip(out + zero, *node.outputs[0].type.dtype.limits), cell

    h = np.full(shape, zero, np.int64) if h0 is None else h0.astype(np.int64)
    c = np.zeros(shape, np.int64) if c0 is None else c0.astype(np.int64)
    results = through(np, node.attrs, x, lengths, [h, c], step, zero)
    return tuple(found.astype(v.type.dtype.numpy) for found, v in zip(results, node.outputs, strict=True))


def _product(node: Node, a: Integers, b: Integers, factor: float) -> Integers:
    """Of numbers of 16 bits: it has 32 whatever the sums of gates have."""
    return multiply_by_quantized_multiplier(a * b, *quantize_multiplier(factor), node.rounding)


def check_cell(node: Node) -> None:
    """Raises GraphError where c of a quantized node is not of the form above."""
    c, begins = node.outputs[2].type, node.inputs[FIRST_STATE + 1]
    where = f"node {node.name!r}, operator lstm"
    if not is_cell(c):
        raise GraphError(f"c must have zero point 0 and a scale of a power of two, it is {c}", where=where)
    if begins is not None and begins.type.quant != c.quant:
        raise GraphError("c must keep its parameters", where=where)
