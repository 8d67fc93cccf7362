"""is_nan: whether a float is no number. Sources: ONNX IsNaN-20."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from burnc.errors import GraphError
from burnc.ir import DType, TensorType
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op
from burnc.ops.spec import OpSpec, required
from burnc.ops.unary import NoAttrs, is_nan, written_as


def infer(a: NoAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if not x.dtype.is_float:
        raise GraphError(f"the operand must be float, it is {x.dtype.value}")
    return [x.with_dtype(DType.BOOL)]


def body(k: KernelBuilder, a: NoAttrs, x: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        y[i] = is_nan(k, x[i])


is_nan_of = OpSpec(
    name="is_nan",
    attrs=NoAttrs,
    infer=infer,
    forward=lambda xp, a, x: xp.isnan(x),
    body=body,
    onnx=(onnx_op("IsNaN"),),
    to_onnx=written_as("IsNaN"),
    cases=(case(Operand((2, 4), values=(0.0, np.nan, -1.0, np.inf, -np.inf)), kinds=("float32",)),),
    pointwise=True,
)
