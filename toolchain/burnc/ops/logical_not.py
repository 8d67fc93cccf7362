"""logical_not: true where x is false. Sources: ONNX Not-1; TFLite LOGICAL_NOT."""

from __future__ import annotations

from collections.abc import Sequence

from burnc.errors import GraphError
from burnc.ir import DType, TensorType
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op, tflite_op
from burnc.ops.spec import OpSpec, required
from burnc.ops.unary import NoAttrs, written_as


def infer(a: NoAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if x.dtype is not DType.BOOL:
        raise GraphError(f"the operand must be bool, it is {x.dtype.value}")
    return [x]


def body(k: KernelBuilder, a: NoAttrs, x: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        y[i] = x[i].eq(0)


logical_not = OpSpec(
    name="logical_not",
    attrs=NoAttrs,
    infer=infer,
    forward=lambda xp, a, x: xp.logical_not(x),
    body=body,
    onnx=(onnx_op("Not"),),
    tflite=(tflite_op("LOGICAL_NOT"),),
    to_onnx=written_as("Not"),
    cases=(case(Operand((2, 3), dtype="bool", values=(1, 0, 1)), kinds=("float32",)),),
    pointwise=True,
)
