"""What the integers of rnn, gru and lstm share: gates as TFLite Micro's LSTM has them, and how a node becomes int8.

x, y and h are int8 (y and h with the same parameters), w and r are int8 with a scale for each row or one in all, the
bias is int32 in two halves, at the scales of the products with w and with r. Sums become int16 with four bits before
the point, where every step saturates; sigmoid and tanh are TFLite Micro's tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Array, Builder, DType, Node, QuantParams, TensorType, Value
from burnc.kernel.builder import KernelBuilder
from burnc.kernel.expr import Expr
from burnc.numerics import dequantize, quantize, quantize_multiplier
from burnc.ops.quantize import QuantizeAttrs
from burnc.ops.recurrent import FIRST_STATE, LENGTHS, B, Form, R, Step, W, X
from burnc.ops.requantize import Integers, rescaled
from burnc.ops.spec import OwnQuantization, StaysFloatError

GATE_SCALE, ONE_SCALE = 2.0**-12, 2.0**-15  # of what goes into sigmoid and tanh, of what they give
GATE_POWER = -12
INT16 = DType.INT16.limits
LARGEST_CELL = 16.0
"""A cell is held within this, unless more was seen; its tanh is 1 to 13 places, its steps are finer than those of h."""


class GateScales:
    """The real factors from sums to gates, one a row."""

    def __init__(self, node: Node) -> None:
        x, w, r, y = node.input(X).type, node.input(W).type, node.input(R).type, node.outputs[0].type
        self.x, self.h = (products(t.scale, u) / GATE_SCALE for t, u in ((x, w), (y, r)))


def products(scale: float, weights: TensorType) -> Array:
    """A scale times those of the rows, in float32 as TFLite multiplies them, as float64."""
    assert weights.quant is not None
    rows = np.float32(scale) * np.array(weights.quant.scale, np.float32)
    return np.broadcast_to(rows.astype(np.float64), (weights.shape[1],))


def clamp(k: KernelBuilder, value: Expr, limits: tuple[int, int] = INT16) -> Expr:
    return k.minimum(k.maximum(value, limits[0]), limits[1])


def given_gate(k: KernelBuilder, step: Step, scales: GateScales, n: Expr, row: Expr) -> Expr:
    """What the operand of a step adds to a gate."""
    return clamp(k, k.scale_by_row(step.from_input(n, row).value, scales.x, row))


def remembered_gate(k: KernelBuilder, step: Step, scales: GateScales, n: Expr, row: Expr) -> Expr:
    """What h adds to a gate."""
    acc = step.add_recurrent(k.accumulator(step.recurrent_bias(row)), n, row)
    return clamp(k, k.scale_by_row(acc.value, scales.h, row))


class Gates:
    """The same on arrays."""

    def __init__(self, node: Node, w: Integers, r: Integers, b: Integers | None) -> None:
        self.node, self.scales = node, GateScales(node)
        self.w, self.r = w.astype(np.int64), r.astype(np.int64)
        self.b = np.zeros((len(w), 2, w.shape[1]), np.int64) if b is None else b.astype(np.int64).reshape(len(w), 2, -1)

    def given(self, d: int, x: Integers) -> Integers:
        centred = x.astype(np.int64) - self.node.input(X).type.zero_point
        return self._scaled(centred @ self.w[d].T + self.b[d, 0], self.scales.x)

    def remembered(self, d: int, h: Integers) -> Integers:
        centred = h - self.node.outputs[0].type.zero_point
        return self._scaled(centred @ self.r[d].T + self.b[d, 1], self.scales.h)

    def _scaled(self, sums: Integers, factors: Array) -> Integers:
        found: Integers = np.clip(rescaled(self.node, sums, factors), *INT16)
        return found


def check_quantized(form: Form, node: Node, remembered: int = 255, dtypes: Sequence[DType] = (DType.INT8,)) -> None:
    """Raises GraphError where a quantized node is not of the form above, or a sum could overflow.

    Args:
        remembered: the largest magnitude of what r is multiplied with.
        dtypes: element types that x may have.
    """
    where = f"node {node.name!r}, operator {node.op}"
    why = _why_other(form, node)
    if why:
        raise GraphError(why, where=where)
    x, y = node.input(X).type, node.outputs[0].type
    is_wide = x.dtype is DType.INT16
    if x.dtype not in dtypes:
        raise GraphError(f"there is no form for {x.dtype.value}", where=where)
    if is_wide and (x.zero_point or y.zero_point):
        raise GraphError("int16 tensors must have zero point 0", where=where)
    alike = [node.outputs[1].type, *(v.type for v in node.inputs[FIRST_STATE : FIRST_STATE + 1] if v is not None)]
    if any(kept.quant != y.quant for kept in alike):
        raise GraphError("y and the states must keep their parameters", where=where)
    bias = node.inputs[B]
    if bias is not None and bias.data is None:
        raise GraphError("the bias must be constant", where=where)
    halves = np.zeros(2) if bias is None or bias.data is None else _largest_halves(bias.data)
    scales = GateScales(node)
    reach = (2**15, 2**15) if is_wide else (255, remembered)
    for index, operand, largest, factors in ((W, reach[0], halves[0], scales.x), (R, reach[1], halves[1], scales.h)):
        value = node.input(index)
        quant = value.type.quant
        if quant is None or any(quant.zero_point) or quant.axis not in (None, 1):
            raise GraphError(f"weights must have zero point 0 and scales along axis 1, not {quant}", where=where)
        shift = max(0, *(quantize_multiplier(float(f))[1] for f in factors))
        # What 48 bits hold can be rescaled (numerics.multiply_wide_by_quantized_multiplier).
        if _largest_sum(value, operand) + largest >= (2**47 if is_wide else 2 ** (31 - shift)):
            raise GraphError(f"a sum of {value.type.shape[2]} products and the bias can overflow", where=where)


def _largest_halves(bias: Array) -> Array:
    halves: Array = np.abs(bias.astype(np.float64)).reshape(len(bias), 2, -1).max(axis=(0, 2))
    return halves


def _largest_sum(weights: Value, operand: int) -> float:
    data = weights.data
    if data is None:
        return float(operand * 128 * weights.type.shape[2])
    return float(operand * np.abs(data.astype(np.float64)).sum(axis=2).max())


def _why_other(form: Form, node: Node) -> str:
    a = node.attrs
    if a.activations or a.clip or getattr(a, "input_forget", 0):
        return "only its own activations, without clip or coupled gates, have an int8 form"
    if any(v is not None for v in node.inputs[FIRST_STATE + len(form.states) :]):
        return "peepholes have no int8 form"
    return ""


def quantization(form: Form) -> OwnQuantization:
    """How nodes of one of the three become int8."""

    def why_not(node: Node) -> str:
        if any(v is not None and v.data is None for v in (node.inputs[W], node.inputs[R], node.inputs[B])):
            return "its weights are computed at run time"
        return _why_other(form, node)

    def groups(node: Node) -> list[list[Value]]:
        remembered = [*node.outputs[:2], node.inputs[FIRST_STATE]]
        return [[node.input(X)], [v for v in remembered if v is not None and v.data is None]]

    def wide(node: Node, largest: Callable[[Value], float]) -> dict[Value, QuantParams]:
        cells = [v for v in (*node.inputs[FIRST_STATE + 1 : FIRST_STATE + len(form.states)], *node.outputs[2:]) if v]
        return {v: cell_params(max(largest(c) for c in cells)) for v in cells if v.data is None}

    def absorb(
        builder: Builder, node: Node, twins: Sequence[Value | None], wanted: Sequence[TensorType | None]
    ) -> list[Value]:
        if _why_other(form, node):
            raise StaysFloatError
        return _Absorbed(builder, node, twins, wanted).nodes(form)

    return OwnQuantization(why_not, ((W, 1), (R, 1)), groups, wide, absorb)


def cell_params(largest: float = 0.0) -> QuantParams:
    """The power of two that holds LARGEST_CELL, or what was seen."""
    return QuantParams.per_tensor(2.0 ** (math.ceil(math.log2(max(LARGEST_CELL, largest))) - 15))


class _Absorbed:
    """The int8 form of one node, made from the integers that stand around it."""

    def __init__(
        self, builder: Builder, node: Node, twins: Sequence[Value | None], wanted: Sequence[TensorType | None]
    ) -> None:
        self.builder, self.node, self.twins, self.wanted = builder, node, twins, wanted

    def nodes(self, form: Form) -> list[Value]:
        kinds = [self._remembered(), self._cell()][: len(form.states)]
        x, w, r = self._integers(X, None), self._integers(W, 1), self._integers(R, 1)
        states = [self._begin(place, kind) for place, kind in enumerate(kinds, start=FIRST_STATE)]
        operands = [x, w, r, self._bias(x, w, r, kinds[0].scale), self.node.inputs[LENGTHS], *states]
        operands += [None] * len(form.after_states)
        names = [value.name for value in self.node.outputs]
        made = self.builder.nodes(self.node.op, operands, self.node.attrs, name=self.node.name, outputs=names)
        for value, kind in zip(made, [kinds[0], *kinds], strict=True):
            value.type = value.type.with_quant(kind.quant)
        return made

    def _integers(self, place: int, axis: int | None) -> Value:
        value = self.twins[place]
        quant = None if value is None else value.type.quant
        if value is None or quant is None or value.type.dtype is not DType.INT8 or quant.axis not in (None, axis):
            raise StaysFloatError
        if axis is not None and (value.data is None or any(quant.zero_point)):
            raise StaysFloatError
        return value

    def _remembered(self) -> TensorType:
        found = self.wanted[0] or self.wanted[1]
        if found is None or found.dtype is not DType.INT8 or found.quant is None or found.quant.axis is not None:
            raise StaysFloatError
        return found

    def _cell(self) -> TensorType:
        if len(self.node.outputs) < 3:
            return self._remembered()
        before, after = self.twins[FIRST_STATE + 1], self.wanted[2]
        for type_ in (None if before is None else before.type, after):
            if type_ is not None and type_.dtype is DType.INT16 and is_cell(type_):
                return type_
        return TensorType(DType.INT16, self.node.outputs[2].type.shape, cell_params())

    def _begin(self, place: int, kind: TensorType) -> Value | None:
        value, twin = self.node.inputs[place], self.twins[place]
        if value is None:
            return None
        quant = kind.quant
        if value.data is not None:
            data = quantize(value.data, TensorType(kind.dtype, value.type.shape, quant))
            return self.builder.constant(value.name, data, quant)
        if twin is None:
            raise StaysFloatError
        if (twin.type.dtype, twin.type.quant) == (kind.dtype, quant):
            return twin
        name = f"{twin.name}.requantized"
        return self.builder.node("quantize", [twin], QuantizeAttrs(kind.dtype.value), name=name, quant=quant)

    def _bias(self, x: Value, w: Value, r: Value, scale: float) -> Value | None:
        value, twin = self.node.inputs[B], self.twins[B]
        if value is None:
            return None
        scales = np.concatenate([products(x.type.scale, w.type), products(scale, r.type)])
        if twin is not None and twin.data is not None and twin.type.quant is not None:
            if twin.type.dtype is DType.INT32 and np.allclose(twin.type.quant.scale, scales, rtol=1e-3, atol=0):
                return twin
            real = dequantize(twin.data, twin.type)
        elif value.data is not None and np.isfinite(value.data).all():
            real = value.data
        else:
            raise StaysFloatError
        data = np.clip(np.rint(real.astype(np.float64) / scales), -(2**31), 2**31 - 1).astype(np.int32)
        return self.builder.constant(value.name, data, QuantParams.per_axis(scales.tolist(), 1))


CELL_POWERS = (-40, 2)
"""Least and largest power of two that the scale of a cell's state may be."""


def is_cell(type_: TensorType) -> bool:
    """Zero point 0 and a scale of a power of two with which tanh's 32 bits hold what it looks up."""
    quant = type_.quant
    if quant is None or quant.axis is not None or any(quant.zero_point):
        return False
    fraction, exponent = math.frexp(type_.scale)
    return fraction == 0.5 and CELL_POWERS[0] <= exponent - 1 <= CELL_POWERS[1]
