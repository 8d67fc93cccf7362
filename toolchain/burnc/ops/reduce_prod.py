"""reduce_prod: the product along some axes. Sources: ONNX ReduceProd-18; TFLite REDUCE_PROD."""

from __future__ import annotations

from typing import Any

from burnc.ir import DType
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.mapping import onnx_op, tflite_op
from burnc.ops.reduce_sum import INTEGERS, REDUCE_CASES, ReduceAttrs, elements, infer_sum, permuted, reduction, written
from burnc.ops.spec import OpSpec


def body(k: KernelBuilder, a: ReduceAttrs, x: Tensor, y: Tensor) -> None:
    dtype = x.type.dtype if x.type.dtype.is_float else DType.INT64
    for i in k.grid(y.shape):
        total = k.local("product", 1, dtype)
        for indices in elements(k, a, x, i):
            total.set(k.wrapped("*", total.value, k.cast(x.raw(*indices), dtype)))
        y[i] = total.value


def forward(xp: Any, a: ReduceAttrs, x: Any) -> Any:
    return xp.asarray(x.prod(axis=a.axes, keepdims=a.keepdims, dtype=x.dtype))


reduce_prod = OpSpec(
    name="reduce_prod",
    attrs=ReduceAttrs,
    infer=infer_sum,
    forward=forward,
    body=body,
    onnx=(onnx_op("ReduceProd", build=reduction("reduce_prod")),),
    tflite=(tflite_op("REDUCE_PROD", build=reduction("reduce_prod")),),
    permuted=permuted,
    to_onnx=written("ReduceProd"),
    cases=(*REDUCE_CASES, INTEGERS),
)
