"""reduce_max: the largest element along some axes; a NaN counts as larger than any number.

Sources: ONNX ReduceMax-20; TFLite REDUCE_MAX.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from burnc.ir import Node
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.ops.mapping import onnx_op, tflite_op
from burnc.ops.reduce_sum import (
    INTEGERS,
    REDUCE_CASES,
    ReduceAttrs,
    elements,
    infer,
    of_flags,
    permuted,
    reduction,
    written,
)
from burnc.ops.requantize import Integers
from burnc.ops.spec import OpSpec, QuantRule


def selected(k: KernelBuilder, a: ReduceAttrs, x: Tensor, y: Tensor, precedes: Callable[[Expr, Expr], Expr]) -> None:
    """The element that precedes all others, or a NaN."""
    for i in k.grid(y.shape):
        kept = iter(i)
        origin = [0 if axis in a.axes and not a.keepdims else next(kept) for axis in range(x.type.rank)]
        best = k.local("best", x.raw(*origin))
        for indices in elements(k, a, x, i):
            value = k.let("value", x.raw(*indices))
            better = precedes(value, best.value)
            with k.when(better | value.ne(value) if x.type.dtype.is_float else better):
                best.set(value)
        y[i] = best.value


def least(dtype: Any) -> Any:
    """What any element of that numpy type precedes or equals: the maximum of no elements."""
    return -np.inf if dtype.kind == "f" else dtype.kind != "b" and np.iinfo(dtype).min


def body(k: KernelBuilder, a: ReduceAttrs, x: Tensor, y: Tensor) -> None:
    selected(k, a, x, y, lambda value, best: value > best)


def forward(xp: Any, a: ReduceAttrs, x: Any) -> Any:
    return xp.asarray(x.max(axis=a.axes, keepdims=a.keepdims, initial=least(x.dtype)))


def integer(node: Node, x: Integers) -> Integers:
    return np.asarray(np.amax(x, axis=node.attrs.axes, keepdims=node.attrs.keepdims))


reduce_max = OpSpec(
    name="reduce_max",
    attrs=ReduceAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    quant=QuantRule(result="same"),
    onnx=(onnx_op("ReduceMax", build=reduction("reduce_max")),),
    tflite=(
        tflite_op("REDUCE_MAX", build=reduction("reduce_max")),
        tflite_op("REDUCE_ANY", build=of_flags("reduce_max")),
    ),
    permuted=permuted,
    to_onnx=written("ReduceMax"),
    cases=(*REDUCE_CASES, INTEGERS),
)
