"""The integers of gru: gates, sigmoid and tanh as TFLite Micro's lstm has them, for TFLite Micro has no gru.

h is int8 outside. Inside a run it is kept in 16 bits, so that a unit which changes by less than one step of int8 at a
time does not stand still; what is remembered between runs is int8.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burnc.ir import DType, Node
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.kernel.expr import lift
from burnc.kernel.fixed_point import sigmoid_int16, tanh_int16
from burnc.numerics import sigmoid_int16 as sigmoid_of
from burnc.numerics import tanh_int16 as tanh_of
from burnc.ops.recurrent import FIRST_STATE, R, steps, through
from burnc.ops.recurrent_int8 import (
    GATE_POWER,
    GATE_SCALE,
    INT16,
    ONE_SCALE,
    Gates,
    GateScales,
    clamp,
    given_gate,
    products,
    remembered_gate,
)
from burnc.ops.requantize import Integers, rescaled

OPERANDS = 6
ONE = 2**15
RESET_BITS = 6
"""What the reset gate leaves of h has so many bits behind those of h."""
LARGEST_RESET = 255 << RESET_BITS


class Scales(GateScales):
    """The real factors of a quantized node."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        y = node.outputs[0].type
        # What lies between 1 and the largest h comes from an initial h alone.
        reach = max(abs(limit - y.zero_point) for limit in y.dtype.limits) * y.scale
        reach = reach if node.inputs[FIRST_STATE] is not None else 1.0
        self.wide = ONE_SCALE * 2.0 ** max(0, math.ceil(math.log2(reach)))  # of the 16 bits
        self.begin, self.new, self.out = y.scale / self.wide, ONE_SCALE * ONE_SCALE / self.wide, self.wide / y.scale
        self.reset = products(y.scale, node.input(R).type) / 2**RESET_BITS / GATE_SCALE


def body_int8(k: KernelBuilder, a: Any, *tensors: Tensor | None) -> None:
    """Stages as in the float kernel."""
    operands, results = tensors[:OPERANDS], [t for t in tensors[OPERANDS:] if t is not None]
    y, h = results
    _, _, batch, hidden = y.shape
    scales, zero = Scales(k.node), y.type.zero_point
    gates = k.scratch("gates", DType.INT16, (batch, 3 * hidden))
    rest = k.scratch("rest", DType.INT16, (batch, hidden))
    wide = k.scratch("wide", DType.INT16, (len(a.backward), batch, hidden))
    first = operands[FIRST_STATE]
    for d, n, j in k.grid(wide.shape, "d n j"):
        wide[d, n, j] = clamp(k, k.scale_by(first[d, n, j], scales.begin)) if first else 0
    k.barrier()
    for step in steps(k, a, operands, results):
        for n, row in k.grid((batch, 2 * hidden), "n gate"):
            given = given_gate(k, step, scales, n, row)
            gates[n, row] = clamp(k, given + remembered_gate(k, step, scales, n, row))
        for n, j in k.grid((batch, hidden), "n j"):
            gates[n, j + 2 * hidden] = given_gate(k, step, scales, n, j + 2 * hidden)
        k.barrier()
        for n, j in k.grid((batch, hidden), "n j"):
            reset = sigmoid_int16(k, gates[n, j + hidden])
            if a.linear_before_reset:
                after = remembered_gate(k, step, scales, n, j + 2 * hidden)
                rest[n, j] = k.scale_by(reset * after, ONE_SCALE)
            else:
                rest[n, j] = k.scale_by(reset * h[step.d, n, j], ONE_SCALE * 2**RESET_BITS)
        k.barrier()
        for n, j in k.grid((batch, hidden), "n j"):
            row = j + 2 * hidden
            added = k.cast(rest[n, j], INT32)
            if not a.linear_before_reset:
                bias = k.scale_by_row(lift(step.recurrent_bias(row), INT32), scales.h, row)
                acc = step.add_recurrent(k.accumulator(0), n, row, lambda n, i: rest[n, i])
                added = clamp(k, k.scale_by_row(acc.value, scales.reset, row) + bias)
            new = tanh_int16(k, clamp(k, gates[n, row] + added), GATE_POWER)
            update = k.let("update", sigmoid_int16(k, gates[n, j]))
            kept = k.scale_by(update * wide[step.d, n, j], ONE_SCALE)
            state = k.let("state", clamp(k, kept + k.scale_by((ONE - update) * new, scales.new)))
            wide[step.d, n, j] = state
            step.store(n, j, k.let("out", clamp(k, k.scale_by(state, scales.out) + zero, y.type.dtype.limits)))


def integer(
    node: Node,
    x: Integers,
    w: Integers,
    r: Integers,
    b: Integers | None = None,
    lengths: Integers | None = None,
    h0: Integers | None = None,
) -> tuple[Integers, ...]:
    scales, rows, zero = Scales(node), Gates(node, w, r, b), node.outputs[0].type.zero_point
    hidden = r.shape[2]
    low, high = node.outputs[0].type.dtype.limits

    def step(d: int, given: Integers, h: Integers, wide: Integers) -> tuple[Integers, Integers]:
        sums, before = rows.given(d, given), rows.remembered(d, h)
        update, reset = (
            sigmoid_of(np.clip(sums[:, i] + before[:, i], *INT16)) for i in np.split(np.arange(2 * hidden), 2)
        )
        last = slice(2 * hidden, 3 * hidden)
        if node.attrs.linear_before_reset:
            added = rescaled(node, reset * before[:, last], ONE_SCALE)
        else:
            left = rescaled(node, reset * (h - zero), ONE_SCALE * 2**RESET_BITS)
            bias = rescaled(node, np.broadcast_to(rows.b[d, 1, last], (len(h), hidden)), scales.h[last])
            added = np.clip(rescaled(node, left @ rows.r[d, last].T, scales.reset[last]) + bias, *INT16)
        new = tanh_of(np.clip(sums[:, last] + added, *INT16), GATE_POWER)
        state = rescaled(node, update * wide, ONE_SCALE) + rescaled(node, (ONE - update) * new, scales.new)
        state = np.clip(state, *INT16)
        return np.clip(rescaled(node, state, scales.out) + zero, low, high), state

    shape = node.outputs[1].type.shape
    h = np.full(shape, zero, np.int64) if h0 is None else h0.astype(np.int64)
    wide = np.clip(rescaled(node, h - zero, scales.begin), *INT16)
    y, h, _ = through(np, node.attrs, x, lengths, [h, wide], step, zero)
    return tuple(found.astype(np.int8) for found in (y, h))
