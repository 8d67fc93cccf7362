"""softmax: exp(beta x) over its sum along one axis. Sources: ONNX Softmax-13; TFLite SOFTMAX.

Integers as TFLite Micro's reference kernel: gemmlowp's exp in Q0.31, 12 integer bits in the sum, result in 1/256 steps
from -128, so that 1.0 becomes 127. A result with other parameters, as ONNX files have it, is the same quotient in
2**-23 steps, requantized once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnc.errors import GraphError
from burnc.ir import Builder, DType, Node, QuantParams, TensorType, Value
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.kernel.fixed_point import one_over_one_plus_x
from burnc.numerics import (
    count_leading_zeros,
    exp_on_negative_values,
    quantize_multiplier,
    rounding_divide_by_pot,
    rounding_doubling_high_mul,
)
from burnc.numerics import one_over_one_plus_x as reciprocal_of_one_plus
from burnc.ops import softmax_int16
from burnc.ops.case import ALL_KINDS, Operand, case
from burnc.ops.mapping import ONNXRUNTIME, FileNode, onnx_op, tflite_op
from burnc.ops.quantized_form import float_form, real, stored
from burnc.ops.reduce_sum import ReduceAttrs
from burnc.ops.requantize import Integers, rescaled, to_output
from burnc.ops.softmax_int16 import split_at
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, is_near, same_real_type

SCALED_DIFF_INTEGER_BITS = 5
ACCUMULATION_INTEGER_BITS = 12
# As many exponentials of 1.0 as the sum has room for.
UNIT_INT8 = QuantParams.per_tensor(1 / 256, -128)
FINE_BITS = 23
LONGEST_INT8 = 2**ACCUMULATION_INTEGER_BITS - 1


@dataclass(frozen=True)
class SoftmaxAttrs:
    """``to`` is the element type of the result, the operand's if empty: int16 is the other one that int8 may become."""

    axis: int = -1
    beta: float = 1.0
    to: str = ""


def infer(a: SoftmaxAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    (x,) = same_real_type(a, inputs)
    if not -x.rank <= a.axis < x.rank:
        raise GraphError(f"axis {a.axis} is out of range for shape {list(x.shape)}")
    longest = softmax_int16.LONGEST if x.dtype is DType.INT16 else LONGEST_INT8
    if not x.dtype.is_float and x.shape[a.axis] > longest:
        raise GraphError(
            f"an {x.dtype.value} softmax over {x.shape[a.axis]} elements overflows; {longest} are possible"
        )
    if a.to not in ("", x.dtype.value) and (x.dtype.value, a.to) != ("int8", "int16"):
        raise GraphError(f"a softmax of {x.dtype.value} has no {a.to} result")
    return [x.with_dtype(DType(a.to or x.dtype.value))]


def body(k: KernelBuilder, a: SoftmaxAttrs, x: Tensor, y: Tensor) -> None:
    before, behind = split_at(x.shape, a.axis)
    length = (x.shape[a.axis],)
    for indices in k.grid(before + behind):
        outer, inner = indices[: len(before)], indices[len(before) :]
        largest = k.local("largest", -math.inf, k.real)
        for (i,) in k.reduce(length):
            largest.set(k.maximum(largest.value, x[*outer, i, *inner]))
        total = k.local("total", 0.0, k.real)
        for (i,) in k.reduce(length):
            difference = x[*outer, i, *inner] - largest.value
            power = k.let("power", k.call("exp", difference if a.beta == 1.0 else difference * a.beta))
            total += power
            y[*outer, i, *inner] = power
        for (i,) in k.reduce(length):
            y[*outer, i, *inner] = y[*outer, i, *inner] / total.value


def exponentials(node: Node) -> NDArray[np.int32]:
    """exp(-d * beta * scale) in Q0.31 for d = 0 .. 255; 0 where TFLite leaves the element out."""
    a: SoftmaxAttrs = node.attrs
    real = float(np.float32(a.beta)) * node.input(0).type.scale * 2.0 ** (31 - SCALED_DIFF_INTEGER_BITS)
    multiplier, shift = quantize_multiplier(min(real, 2.0**31 - 1))
    radius = (2**SCALED_DIFF_INTEGER_BITS - 1) * 2.0 ** (31 - SCALED_DIFF_INTEGER_BITS - shift)
    difference = -np.arange(256, dtype=np.int64)
    kept = difference >= -math.floor(radius)
    # A negative shift stands for a factor below 1, which TFLite excludes.
    left, right = max(shift, 0), max(-shift, 0)
    scaled = rounding_doubling_high_mul(np.where(kept, difference, 0) << left, multiplier)
    powers = exp_on_negative_values(rounding_divide_by_pot(scaled, right), SCALED_DIFF_INTEGER_BITS)
    return np.where(kept, powers, 0).astype(np.int32)


def body_int8(k: KernelBuilder, a: SoftmaxAttrs, x: Tensor, y: Tensor) -> None:
    before, behind = split_at(x.shape, a.axis)
    length = (x.shape[a.axis],)
    powers = k.table("exp", exponentials(k.node))
    least, most = y.type.dtype.limits
    for indices in k.grid(before + behind):
        outer, inner = indices[: len(before)], indices[len(before) :]
        largest = k.local("largest", -128)
        for (i,) in k.reduce(length):
            largest.set(k.maximum(largest.value, k.cast(x.raw(*outer, i, *inner), INT32)))
        total = k.local("total", 0)
        for (i,) in k.reduce(length):
            power = powers.raw(largest.value - k.cast(x.raw(*outer, i, *inner), INT32))
            total += k.call("rounding_divide_by_pot", power, ACCUMULATION_INTEGER_BITS)
        headroom = k.let("headroom", k.call("count_leading_zeros", total.value))
        fraction = k.call("wrapping_shift_left", total.value, headroom) & 0x7FFFFFFF
        scale = k.let("scale", one_over_one_plus_x(k, k.let("fraction", fraction)))
        exponent = k.let("exponent", _exponent(k, k.node, headroom))
        for (i,) in k.reduce(length):
            power = powers.raw(largest.value - k.cast(x.raw(*outer, i, *inner), INT32))
            product = k.call("rounding_doubling_high_mul", scale, power)
            steps = k.call("rounding_divide_by_pot", product, exponent)
            if is_requantized(k.node):
                y[*outer, i, *inner] = k.to_output(k.scale_by(steps, _fine_factor(k.node)))
            else:
                y[*outer, i, *inner] = k.minimum(steps + least, most)


def is_requantized(node: Node) -> bool:
    """Whether the int8 result has other parameters than TFLite's."""
    y = node.output.type
    return y.dtype is DType.INT8 and not is_near(y.quant, UNIT_INT8)


def _fine_factor(node: Node) -> float:
    return 2.0**-FINE_BITS / node.output.type.scale


def _result_bits(node: Node) -> int:
    return FINE_BITS if is_requantized(node) else 8 * node.output.type.dtype.bytes


def _exponent(k: KernelBuilder, node: Node, headroom: Expr) -> Expr:
    """Places to shift by. Over 31 (rows of over 512 equal elements) TFLite is undefined; 31 makes those 0 or 1."""
    return k.minimum(ACCUMULATION_INTEGER_BITS + 31 - _result_bits(node) - headroom, 31)


def integer(node: Node, x: Integers) -> Integers:
    if x.dtype == np.int16:
        return softmax_int16.integer(node, x)
    axis, result_type = node.attrs.axis, node.output.type.dtype
    values = x.astype(np.int64)
    power = exponentials(node).astype(np.int64)[values.max(axis=axis, keepdims=True) - values]
    total = rounding_divide_by_pot(power, ACCUMULATION_INTEGER_BITS).sum(axis=axis, keepdims=True)
    headroom = count_leading_zeros(total)
    scale = reciprocal_of_one_plus((total << headroom) - 2**31)
    exponent = np.minimum(ACCUMULATION_INTEGER_BITS - headroom + 31 - _result_bits(node), 31)
    result = rounding_divide_by_pot(rounding_doubling_high_mul(scale, power), exponent)
    if is_requantized(node):
        return to_output(node, rescaled(node, result, _fine_factor(node)))
    least, most = result_type.limits
    return np.clip(result + least, least, most).astype(result_type.numpy)


def forward(xp: Any, a: SoftmaxAttrs, x: Any) -> Any:
    power = xp.exp((x - x.max(axis=a.axis, keepdims=True)) * np.float32(a.beta))
    return power / power.sum(axis=a.axis, keepdims=True)


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    """The input's: beta * y * (dy - sum(dy * y))."""
    a: SoftmaxAttrs = node.attrs
    y = node.output
    along = ReduceAttrs((a.axis % y.type.rank,), keepdims=True)
    mean = b.node("reduce_sum", [b.node("mul", [dy, y])], along)
    dx = b.node("mul", [y, b.node("sub", [dy, mean])])
    if a.beta == 1.0:
        return [dx]
    return [b.node("mul", [dx, b.constant("beta", np.array(a.beta, y.type.dtype.numpy))])]


def permuted(a: SoftmaxAttrs, permutation: Sequence[int]) -> SoftmaxAttrs:
    # Counted from the end, as everywhere here: the printed form then knows one spelling.
    return replace(a, axis=permutation[a.axis] - len(permutation))


def from_onnx(node: FileNode) -> list[Value]:
    x = node.input(0)
    axis = int(node.attribute("axis", -1))
    if not -x.type.rank <= axis < x.type.rank:
        node.refuse(f"axis {axis} is out of range for shape {list(x.type.shape)}")
    return [node.emit("softmax", [x], SoftmaxAttrs(axis - x.type.rank if axis >= 0 else axis))]


def from_onnx_quantized(node: FileNode) -> list[Value]:
    """QLinearSoftmax: before opset 13 all axes from the given one on are one."""
    last = node.input(0).type.rank - 1
    joined = int(node.attribute("opset", 13)) < 13
    axis = int(node.attribute("axis", 1 if joined else -1))
    if joined and axis not in (last, -1):
        node.refuse(f"axis {axis} of opset {node.attribute('opset')} joins several axes of {node.input(0).type.shape}")
    return stored(node, float_form(node, from_onnx, [real(node, 0)], axis=axis), 3)


def from_tflite(node: FileNode) -> list[Value]:
    beta = float(node.attribute("beta", 1.0))
    if beta <= 0:
        node.refuse(f"beta {beta} must be positive")
    x, declared = node.input(0), node.output_types[0]
    to = "" if declared is None or declared.dtype is x.type.dtype else declared.dtype.value
    return [node.emit("softmax", [x], SoftmaxAttrs(beta=beta, to=to))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: SoftmaxAttrs = node.attrs
    x = w.input(node, 0)
    if a.beta != 1.0:
        x = w.emit("Mul", [x, w.constant(np.array(a.beta, np.float32), "beta")])
    w.emit("Softmax", [x], [w.output(node)], axis=a.axis)


softmax = OpSpec(
    name="softmax",
    attrs=SoftmaxAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    body_int8=body_int8,
    gradient=gradient,
    body_int16=softmax_int16.body,
    quant=QuantRule(
        UNIT_INT8,
        {
            (DType.INT16, DType.INT16): QuantParams.per_tensor(2.0**-15, 0),
            (DType.INT8, DType.INT16): QuantParams.per_tensor(2.0**-16, -(2**15)),
        },
        adjustable=True,
        dtypes=QUANTIZED,
    ),
    onnx=(
        onnx_op("Softmax", build=from_onnx),
        onnx_op("QLinearSoftmax", build=from_onnx_quantized, domain=ONNXRUNTIME, integers=True),
    ),
    tflite=(tflite_op("SOFTMAX", build=from_tflite),),
    to_onnx=to_onnx,
    permuted=permuted,
    cases=(
        case(Operand((1, 10), low=-5, high=5), kinds=ALL_KINDS),
        case(Operand((4, 12), low=-20, high=20)),
        case(Operand((2, 3, 5), low=-3, high=3), attrs=SoftmaxAttrs(1), kinds=ALL_KINDS),
        case(Operand((3, 4), low=-3, high=3), attrs=SoftmaxAttrs(0)),
        case(Operand((2, 7), low=-3, high=3), attrs=SoftmaxAttrs(beta=0.5), kinds=ALL_KINDS),
        case(Operand((2, 3), values=(88.0, 89.0, 90.0, -90.0, 0.0, 0.0)), kinds=("float32",)),
        case(Operand((2, 1), low=-3, high=3)),
        case(Operand((1, 300), low=-0.01, high=0.01), kinds=ALL_KINDS),
        case(Operand((3, 11), low=-9, high=9), attrs=SoftmaxAttrs(to="int16"), kinds=("int8",)),
    ),
)
