"""div: numpy's broadcast quotient. Sources: ONNX Div-14; TFLite DIV; integers as TFLite Micro's reference kernel.

Integers without parameters are divided toward zero, as in C; x / 0 is 0 for them. In int8, x / 0 saturates and 0 / 0 is
0: TFLite leaves both open.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.ir import Builder, DType, Node, Value
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.kernel.expr import Expr, lift
from burnc.numerics import (
    count_leading_zeros,
    one_over_one_plus_x,
    quantize_multiplier,
    rounding_divide_by_pot,
    rounding_doubling_high_mul,
)
from burnc.ops.activation import clamped, through_activation
from burnc.ops.add import activation_of_real, infer_arithmetic
from burnc.ops.broadcast import aligned, negated, summed_to
from burnc.ops.case import Operand, case, weights
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.requantize import Integers, to_output
from burnc.ops.spec import OnnxWriter, OpSpec, QuantRule

LARGEST = 255  # magnitude of a centred int8 number
SATURATED = 2**20  # beyond every int8 result


def _divisor(*shape: int, **rest: Any) -> Operand:
    return Operand(shape, low=0.5, high=2.0, **rest)


@dataclass(frozen=True)
class DivAttrs:
    activation_min: float = -math.inf
    activation_max: float = math.inf


def body(k: KernelBuilder, a: DivAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        numerator, divisor = left[aligned(i, left.shape)], right[aligned(i, right.shape)]
        if y.type.dtype.is_float:
            y[i] = k.clamp_real(numerator / divisor)
        else:
            y[i] = _truncated(k, k.let("numerator", numerator), k.let("divisor", divisor))


def _truncated(k: KernelBuilder, numerator: Expr, divisor: Expr) -> Expr:
    """Integer division toward zero, 0 for a divisor 0; KernelIR divides what is not negative."""
    if not numerator.dtype.value.startswith("int"):
        return k.select(divisor.eq(0), lift(0, divisor.dtype), numerator // divisor)
    # In unsigned numbers, which hold the magnitude of the least one too.
    unsigned = DType.UINT64 if numerator.dtype is DType.INT64 else DType.UINT32
    above, below = (k.cast(v, unsigned) for v in (numerator, divisor))
    above = k.let("above", k.select(numerator < 0, 0 - above, above))
    below = k.let("below", k.select(divisor < 0, 0 - below, below))
    quotient = k.let("quotient", k.select(below.eq(0), lift(0, unsigned), above // below))
    return k.cast(k.select((numerator < 0).ne(divisor < 0), 0 - quotient, quotient), numerator.dtype)


def factors(node: Node) -> list[float]:
    return [node.input(0).type.scale / (node.input(1).type.scale * node.output.type.scale)]


def reciprocals() -> tuple[Any, Any]:
    """1 / d for d = 0 .. 255 as Q0.31 in [1/2, 1), and how many places that is to be shifted. TFLite GetReciprocal."""
    divisor = np.maximum(np.arange(LARGEST + 1), 1)
    headroom = count_leading_zeros(divisor) + 1
    fraction = (divisor << headroom) & 0xFFFFFFFF
    return one_over_one_plus_x(fraction >> 1), 32 - headroom


def integer(node: Node, left: Integers, right: Integers) -> Integers:
    numerator, divisor = (v.astype(np.int64) - node.input(i).type.zero_point for i, v in enumerate((left, right)))
    numerator, divisor = np.broadcast_arrays(np.where(divisor < 0, -numerator, numerator), np.abs(divisor))
    multiplier, shift = quantize_multiplier(factors(node)[0])
    inverse, places = (table[divisor] for table in reciprocals())
    headroom = headrooms()[numerator + LARGEST]
    quotient = rounding_doubling_high_mul(numerator << headroom, inverse)
    exponent = np.maximum(headroom + places - shift, 0)
    result = rounding_divide_by_pot(rounding_doubling_high_mul(quotient, multiplier), np.minimum(exponent, 31))
    # So many places leave less than one half; TFLite does not say what a shift by more than 31 is.
    result = np.where(exponent > 31, 0, result)
    return to_output(node, np.where(divisor == 0, np.sign(numerator) * SATURATED, result))


def headrooms() -> Any:
    """Sign bits beyond the first of -255 .. 255, as TFLite counts them."""
    numerator = np.arange(-LARGEST, LARGEST + 1)
    return np.where(numerator >= 0, count_leading_zeros(numerator) - 1, count_leading_zeros(-2 * numerator - 1))


def body_int8(k: KernelBuilder, a: DivAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
    multiplier, shift = quantize_multiplier(factors(k.node)[0])
    of_divisor, places_of = reciprocals()
    inverses = k.table("inverse", of_divisor.astype(np.int32))
    places = k.table("places", places_of.astype(np.int8))
    free = k.table("headroom", headrooms().astype(np.int8))
    for i in k.grid(y.shape):
        divisor = k.let("divisor", right[aligned(i, right.shape)])
        top = k.let("top", left[aligned(i, left.shape)])
        numerator = k.let("numerator", k.select(divisor < 0, 0 - top, top))
        size = k.let("size", k.select(divisor < 0, 0 - divisor, divisor))
        headroom = k.let("shift", k.cast(free.raw(numerator + LARGEST), INT32))
        shifted = k.call("wrapping_shift_left", numerator, headroom)
        quotient = k.call("rounding_doubling_high_mul", shifted, inverses.raw(size))
        exponent = k.let("exponent", k.maximum(headroom + k.cast(places.raw(size), INT32) - shift, 0))
        scaled = k.call("rounding_doubling_high_mul", k.let("quotient", quotient), multiplier)
        rounded = k.let("rounded", k.call("rounding_divide_by_pot", scaled, k.minimum(exponent, 31)))
        beyond = k.select(numerator > 0, lift(SATURATED, INT32), k.select(numerator < 0, lift(-SATURATED, INT32), 0))
        within = k.select(exponent > 31, lift(0, INT32), rounded)
        y[i] = k.to_output(k.let("result", k.select(divisor.eq(0), beyond, within)))


def forward(xp: Any, a: DivAttrs, left: Any, right: Any) -> Any:
    if left.dtype.kind == "f":
        return clamped(xp, a, xp.divide(left, right))
    safe = xp.where(right == 0, xp.ones_like(right), right)
    # Numpy's goes to the lower number; it is one too low where something is left of a negative quotient.
    quotient, rest = left // safe, left % safe
    quotient = quotient + ((rest != 0) & ((left < 0) != (right < 0))).astype(left.dtype)
    return xp.where(right == 0, xp.zeros_like(quotient), quotient).astype(left.dtype)


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    """d(l/r) = dl / r - (l/r) dr / r."""
    dy = through_activation(b, node, dy)
    left, right = node.input(0), node.input(1)
    scaled = b.node("div", [dy, right])
    drop = b.node("mul", [scaled, node.output])
    return [summed_to(b, scaled, left.type.shape), negated(b, summed_to(b, drop, right.type.shape))]


def from_onnx(node: FileNode) -> list[Value]:
    return [node.emit("div", [node.input(0), node.input(1)])]


def from_tflite(node: FileNode) -> list[Value]:
    return [node.emit("div", [node.input(0), node.input(1)], DivAttrs(**activation_of_real(node)))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    w.finish(node, w.emit("Div", [w.input(node, 0), w.input(node, 1)]))


div = OpSpec(
    name="div",
    attrs=DivAttrs,
    infer=infer_arithmetic,
    forward=forward,
    integer=integer,
    body=body,
    body_int8=body_int8,
    gradient=gradient,
    quant=QuantRule(),
    factors=factors,
    onnx=(onnx_op("Div", build=from_onnx),),
    tflite=(tflite_op("DIV", build=from_tflite),),
    to_onnx=to_onnx,
    cases=(
        case((2, 30, 4), _divisor(2, 30, 4)),
        case((1, 5, 5, 3), _divisor(3, constant=True), attrs=DivAttrs(0.0, 6.0)),
        case((5, 40), Operand((40,), constant=True, low=-2.0, high=-0.1)),
        case((), Operand((2, 3), low=-2.0, high=-0.5), kinds=("float32",)),
        case(weights(3, 1), _divisor(2, 1, 4), kinds=("float32",)),
        case((3,), Operand((3,), values=(0.0, -0.0, np.inf)), kinds=("float32",)),
        case(
            Operand((5,), dtype="int32", values=(-7, 7, -7, 7, 6)),
            Operand((5,), dtype="int32", values=(2, -2, -2, 2, 3)),
            kinds=("float32",),
        ),
    ),
    pointwise=True,
)
