"""pow: x to the power of a broadcast exponent. Sources: ONNX Pow-15; TFLite POW.

Kernels compute exp(exponent * log |x|): the relative error grows with that product, to 1e-5 where a result is near the
end of the floats. A constant exponent of one element is ``power``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.ir import DType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.add import infer_arithmetic
from burnc.ops.broadcast import aligned
from burnc.ops.case import Operand, case
from burnc.ops.cast import CastAttrs
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.power import PowerAttrs, raised
from burnc.ops.spec import OpSpec
from burnc.ops.unary import NoAttrs, written_as


def body(k: KernelBuilder, a: NoAttrs, x: Tensor, exponent: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        base = k.let("value", x[aligned(i, x.shape)])
        y[i] = raised(k, base, k.let("power", exponent[aligned(i, exponent.shape)]))


def forward(xp: Any, a: NoAttrs, x: Any, exponent: Any) -> Any:
    return xp.asarray(xp.power(x, exponent))


def build(node: FileNode) -> list[Value]:
    x, exponent = node.input(0), node.input(1)
    if x.type.dtype is not DType.FLOAT32:
        node.refuse(f"powers of {x.type.dtype.value} are not supported")
    if exponent.data is not None and exponent.type.size == 1 and exponent.type.rank <= x.type.rank:
        number = float(exponent.data.reshape(()))
        if number == -0.5:
            return [node.emit("rsqrt", [x])]
        return [node.emit("power", [x], PowerAttrs(number))]
    if exponent.type.dtype is not x.type.dtype:
        exponent = node.emit("cast", [exponent], CastAttrs(x.type.dtype.value), last=False)
    return [node.emit("pow", [x, exponent])]


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
    ),
    pointwise=True,
)
