"""reduce_min: the smallest element along some axes; a NaN counts as smaller than any number.

Sources: ONNX ReduceMin-20; TFLite REDUCE_MIN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.ir import Node
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.mapping import onnx_op, tflite_op
from burnc.ops.reduce_max import selected
from burnc.ops.reduce_sum import INTEGERS, REDUCE_CASES, ReduceAttrs, infer, of_flags, permuted, reduction, written
from burnc.ops.requantize import Integers
from burnc.ops.spec import OpSpec, QuantRule


def greatest(dtype: Any) -> Any:
    """What every element of that numpy type precedes or equals: the minimum of no elements."""
    return np.inf if dtype.kind == "f" else dtype.kind == "b" or np.iinfo(dtype).max


def body(k: KernelBuilder, a: ReduceAttrs, x: Tensor, y: Tensor) -> None:
    selected(k, a, x, y, lambda value, best: value < best)


def forward(xp: Any, a: ReduceAttrs, x: Any) -> Any:
    return xp.asarray(x.min(axis=a.axes, keepdims=a.keepdims, initial=greatest(x.dtype)))


def integer(node: Node, x: Integers) -> Integers:
    return np.asarray(np.amin(x, axis=node.attrs.axes, keepdims=node.attrs.keepdims))


reduce_min = OpSpec(
    name="reduce_min",
    attrs=ReduceAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    quant=QuantRule(result="same"),
    onnx=(onnx_op("ReduceMin", build=reduction("reduce_min")),),
    tflite=(
        tflite_op("REDUCE_MIN", build=reduction("reduce_min")),
        tflite_op("REDUCE_ALL", build=of_flags("reduce_min")),
    ),
    permuted=permuted,
    to_onnx=written("ReduceMin"),
    cases=(*REDUCE_CASES, INTEGERS),
)
