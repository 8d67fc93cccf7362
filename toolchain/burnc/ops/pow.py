"""pow: x to the power of a broadcast exponent. Sources: ONNX Pow-15; TFLite POW.

Kernels compute exp(exponent * log |x|): the relative error grows with that product, to 1e-5 where a result is near the
end of the floats. A constant exponent of one element is ``power``. Powers of integers are products, which keep the low
bits; of a negative exponent they are 1 / x^n toward zero, and 0 for x = 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.ir import Array, DType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import Expr, lift
from burnc.ops.add import infer_arithmetic
from burnc.ops.broadcast import aligned
from burnc.ops.case import Operand, case
from burnc.ops.cast import CastAttrs
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.power import PowerAttrs, raised
from burnc.ops.spec import OpSpec
from burnc.ops.unary import NoAttrs, written_as


def body(k: KernelBuilder, a: NoAttrs, x: Tensor, exponent: Tensor, y: Tensor) -> None:
    power_of = raised if y.type.dtype.is_float else _whole_power
    for i in k.grid(y.shape):
        base = k.let("value", x[aligned(i, x.shape)])
        y[i] = power_of(k, base, k.let("power", exponent[aligned(i, exponent.shape)]))


def _whole_power(k: KernelBuilder, x: Expr, exponent: Expr) -> Expr:
    """By squaring, in unsigned numbers, whose low bits are right however large a product becomes."""
    unsigned = DType.UINT64 if x.dtype.bytes == 8 else DType.UINT32
    product = k.local("product", 1, unsigned)
    factor = k.local("factor", k.cast(x, unsigned))
    rest = k.local("rest", k.cast(exponent, unsigned))
    for _ in k.reduce((8 * unsigned.bytes,)):
        with k.when((rest.value & 1).ne(0)):
            product.set(product.value * factor.value)
        factor.set(factor.value * factor.value)
        rest.set(rest.value >> 1)
    positive = k.cast(product.value, x.dtype)
    if exponent.dtype.limits[0] == 0:
        return positive
    # Of 1 and -1 the product is right too: the low bit of the exponent is its parity.
    return k.select((exponent < 0) & x.ne(1) & x.ne(-1), lift(0, x.dtype), positive)


def forward(xp: Any, a: NoAttrs, x: Any, exponent: Any) -> Any:
    if x.dtype.kind == "f":
        return xp.asarray(xp.power(x, exponent))
    is_unit = (x == 1) | (x + 1 == 0)
    safe = xp.where(exponent < 0, xp.where(is_unit, exponent & 1, 0), exponent).astype(exponent.dtype)
    return xp.asarray(xp.where((exponent < 0) & ~is_unit, 0, xp.power(x, safe)).astype(x.dtype))


def build(node: FileNode) -> list[Value]:
    x, exponent = node.input(0), node.input(1)
    if not x.type.dtype.is_float:
        if exponent.data is not None and exponent.type.dtype.is_float and _is_whole(exponent.data):
            exponent = node.new_constant("exponent", exponent.data.astype(np.int64))
        if DType.BOOL in (x.type.dtype, exponent.type.dtype) or not _fits(exponent, x.type.dtype):
            node.refuse(f"powers of {x.type.dtype.value} to {exponent.type.dtype.value} are not supported")
        return [node.emit("pow", [x, _as(node, exponent, x.type.dtype)])]
    if exponent.data is not None and exponent.type.size == 1 and exponent.type.rank <= x.type.rank:
        number = float(exponent.data.reshape(()))
        if number == -0.5:
            return [node.emit("rsqrt", [x])]
        return [node.emit("power", [x], PowerAttrs(number))]
    return [node.emit("pow", [x, _as(node, exponent, x.type.dtype)])]


def _is_whole(data: Array) -> bool:
    return bool(np.all((data == np.rint(data)) & (np.abs(data) < 2.0**31)))


def _fits(value: Value, dtype: DType) -> bool:
    """Whether that integer type holds every number that the value can have."""
    if value.type.dtype.is_float:
        return False
    low, high = value.type.dtype.limits
    if value.data is not None:
        low, high = value.data.min(initial=0), value.data.max(initial=0)
    return bool(dtype.limits[0] <= low and high <= dtype.limits[1])


def _as(node: FileNode, value: Value, dtype: DType) -> Value:
    return value if value.type.dtype is dtype else node.emit("cast", [value], CastAttrs(dtype.value), last=False)


power_of = OpSpec(
    name="pow",
    attrs=NoAttrs,
    infer=infer_arithmetic,
    forward=forward,
    body=body,
    onnx=(onnx_op("Pow", build=build),),
    tflite=(tflite_op("POW", build=build),),
    to_onnx=written_as("Pow"),
    cases=(
        case(Operand((2, 3), low=0.1, high=4.0), Operand((3,), low=-3, high=3), kinds=("float32",)),
        case(
            Operand((8,), values=(-2.0, -2.0, -2.0, 0.0, 0.0, np.nan, 1.0, np.inf)),
            Operand((8,), values=(3.0, 2.0, 0.5, 2.0, -1.0, 0.0, np.nan, -1.0)),
            kinds=("float32",),
        ),
        case(
            Operand((6,), dtype="int32", values=(3, -7, 2, -1, 10, 0)),
            Operand((6,), dtype="int32", values=(4, 3, 30, 5, 9, 0)),
            kinds=("float32",),
        ),
    ),
    pointwise=True,
)
