"""The integers of lstm, as TFLite Micro's kernel: gates in 16 bits, sigmoid and tanh by table, every sum saturates.

x, y and h are int8 (y as h), c is int16 with a scale of a power of two, w and r are int8 with a scale for each row, the
bias is int32. Or x, y and h are int16 and the bias is int64, as then are the sums that make gates.
Source: TFLite Micro, lstm_eval.cc and lstm_eval_common.cc.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Array, DType, Node, TensorType
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.kernel.fixed_point import sigmoid_int16, tanh_int16
from burnc.numerics import multiply_by_quantized_multiplier, quantize_multiplier
from burnc.numerics import sigmoid_int16 as sigmoid_of
from burnc.numerics import tanh_int16 as tanh_of
from burnc.ops.recurrent import steps, through
from burnc.ops.requantize import Integers, rescaled

GATE_SCALE, ONE_SCALE = 2.0**-12, 2.0**-15  # of what goes into sigmoid and tanh, of what they give
GATE_POWER = -12
OPERANDS = 8
INT16 = DType.INT16.limits


class Scales:
    """The real factors of a quantized node, and the bound on c."""

    def __init__(self, node: Node) -> None:
        x, w, r = (node.input(i).type for i in range(3))
        y, c = node.outputs[0].type, node.outputs[2].type
        rows = w.shape[1]
        self.x, self.h = (self._rows(t.scale, u, rows) for t, u in ((x, w), (y, r)))
        self.forget, self.update = ONE_SCALE, ONE_SCALE * ONE_SCALE / c.scale
        self.out = ONE_SCALE * ONE_SCALE / y.scale
        self.power = math.frexp(c.scale)[1] - 1
        clip = node.attrs.cell_clip
        self.clip = (-min(int(clip / c.scale), INT16[1]), min(int(clip / c.scale), INT16[1])) if clip else INT16

    @staticmethod
    def _rows(scale: float, weights: TensorType, rows: int) -> Array:
        assert weights.quant is not None
        # TFLite multiplies the two scales in float32.
        products = np.float32(scale) * np.array(weights.quant.scale, np.float32)
        return np.broadcast_to(products.astype(np.float64) / GATE_SCALE, (rows,))


def body_int8(k: KernelBuilder, a: Any, *tensors: Tensor | None) -> None:
    """Stages as in the float kernel: the gates of a step, then c and h."""
    operands, results = tensors[:OPERANDS], [t for t in tensors[OPERANDS:] if t is not None]
    y, _, c = results
    _, _, batch, hidden = y.shape
    scales, zero = Scales(k.node), y.type.zero_point
    gates = k.scratch("gates", DType.INT16, (batch, 4 * hidden))

    def clamp(value: Expr, limits: tuple[int, int] = INT16) -> Expr:
        return k.minimum(k.maximum(value, limits[0]), limits[1])

    for step in steps(k, a, operands, results):
        for n, g in k.grid((batch, 4 * hidden), "n gate"):
            given = step.from_input(n, g)
            before = step.add_recurrent(k.accumulator(step.recurrent_bias(g)), n, g)
            parts = (clamp(k.scale_by_row(s.value, f, g)) for s, f in ((given, scales.x), (before, scales.h)))
            gates[n, g] = clamp(next(parts) + next(parts))
        k.barrier()
        for n, j in k.grid((batch, hidden), "n j"):
            forget = k.scale_by(sigmoid_int16(k, gates[n, j + 2 * hidden]) * c[step.d, n, j], scales.forget)
            update = sigmoid_int16(k, gates[n, j]) * tanh_int16(k, gates[n, j + 3 * hidden], GATE_POWER)
            cell = clamp(clamp(forget) + clamp(k.scale_by(update, scales.update)))
            cell = k.let("cell", clamp(cell, scales.clip))
            product = sigmoid_int16(k, gates[n, j + hidden]) * tanh_int16(k, cell, scales.power)
            out = k.let("out", clamp(k.scale_by(product, scales.out) + zero, y.type.dtype.limits))
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
    bias = np.zeros((len(w), 2, w.shape[1]), np.int64) if b is None else b.astype(np.int64).reshape(len(w), 2, -1)

    def step(d: int, given: Integers, h: Integers, c: Integers) -> tuple[Integers, Integers]:
        sums = (given.astype(np.int64) - node.input(0).type.zero_point) @ w[d].astype(np.int64).T + bias[d, 0]
        before = (h - zero) @ r[d].astype(np.int64).T + bias[d, 1]
        parts = rescaled(node, sums, scales.x), rescaled(node, before, scales.h)
        gates = np.clip(sum(np.clip(part, *INT16) for part in parts), *INT16)
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


def check_quantized(node: Node) -> None:
    """Raises GraphError where a quantized lstm is not of the form above, or a sum could overflow."""
    where = f"node {node.name!r}, operator lstm"
    a = node.attrs
    if a.activations or a.clip or a.input_forget or node.inputs[7] is not None:
        raise GraphError(
            "only its own activations, without clip, peepholes or coupled gates, are quantized", where=where
        )
    x, w, r = (node.input(i) for i in range(3))
    y, h, c = (value.type for value in node.outputs)
    pairs = [(y, h), *((value.type, t) for value, t in zip(node.inputs[5:7], (h, c), strict=True) if value is not None)]
    if any(given.quant != kept.quant for given, kept in pairs):
        raise GraphError("y and the states must keep their parameters", where=where)
    if c.zero_point != 0 or math.frexp(c.scale)[0] != 0.5:
        raise GraphError(f"c must have zero point 0 and a scale of a power of two, it is {c}", where=where)
    bias = node.inputs[3]
    if bias is not None and bias.data is None:
        raise GraphError("the bias must be constant", where=where)
    if x.type.dtype is DType.INT16 and (x.type.zero_point or h.zero_point):
        raise GraphError("int16 tensors must have zero point 0", where=where)
    # What 48 bits hold can be rescaled (numerics.multiply_wide_by_quantized_multiplier).
    reach, limit = (2**15 * 128, 2**47) if x.type.dtype is DType.INT16 else (255 * 128, 2**31)
    largest = 0 if bias is None or bias.data is None else int(np.abs(bias.data.astype(np.int64)).max())
    for value, columns in ((w, x.type.shape[2]), (r, y.shape[3])):
        quant = value.type.quant
        if quant is None or any(quant.zero_point) or quant.axis not in (None, 1):
            raise GraphError(f"weights must have zero point 0 and scales along axis 1, not {quant}", where=where)
        if reach * columns + largest >= limit:
            raise GraphError(f"a sum of {columns} products and the bias can overflow", where=where)
