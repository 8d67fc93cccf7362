"""reduce_mean: the mean along some axes. Norms that are made of means and sums are listed here (``normalization.py``).

Sources: ONNX ReduceMean-18; TFLite MEAN; integers as TFLite Micro's ``QuantizedMeanOrSum``, which divides
the multiplier.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Builder, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.numerics import multiply_by_quantized_multiplier, quantize_multiplier
from burnc.ops import normalization, reduce_sum
from burnc.ops.case import case
from burnc.ops.mapping import onnx_op, tflite_op
from burnc.ops.reduce_sum import REDUCE_CASES, ReduceAttrs, count, permuted, reduction, spread, summed, written
from burnc.ops.requantize import Integers, to_output
from burnc.ops.spec import QUANTIZED, OpSpec, QuantRule, required


def infer(a: ReduceAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if not x.dtype.is_float and x.quant is None:
        raise GraphError(f"a mean of {x.dtype.value} is not supported")
    if count(a, x) == 0:
        raise GraphError(f"axes {list(a.axes)} of {list(x.shape)} hold nothing, which has no mean")
    return reduce_sum.infer(a, inputs)


def multiplier(node: Node) -> tuple[int, int]:
    """Multiplier and shift from the sum to the result."""
    x, y = node.input(0).type, node.output.type
    value, shift = quantize_multiplier(float(np.float32(x.scale)) / float(np.float32(y.scale)))
    number = count(node.attrs, x)
    # The largest power of two in the number, as far as the shift can take it.
    power = min(number.bit_length() - 1, 32, 31 + shift)
    return (value << power) // number, shift - power


def body(k: KernelBuilder, a: ReduceAttrs, x: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        total = summed(k, a, x, i)
        y[i] = (
            k.to_output(k.scale_by_pair(total, *multiplier(k.node))) if k.quantized else total * (1 / count(a, x.type))
        )


def integer(node: Node, x: Integers) -> Integers:
    centred = x.astype(np.int64) - node.input(0).type.zero_point
    total = centred.sum(axis=node.attrs.axes, keepdims=node.attrs.keepdims)
    return to_output(node, multiply_by_quantized_multiplier(total, *multiplier(node), node.rounding))


def forward(xp: Any, a: ReduceAttrs, x: Any) -> Any:
    total = reduce_sum.forward(xp, a, x)
    return xp.asarray(total * x.dtype.type(total.size / max(1, x.size)))


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    share = np.array(1.0 / count(node.attrs, node.input(0).type), dy.type.dtype.numpy)
    return [spread(b, node, b.node("mul", [dy, b.constant("share", share)]))]


reduce_mean = OpSpec(
    name="reduce_mean",
    attrs=ReduceAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    gradient=gradient,
    quant=QuantRule(dtypes=QUANTIZED),
    onnx=(
        onnx_op("ReduceMean", build=reduction("reduce_mean")),
        onnx_op("InstanceNormalization", build=normalization.instance_normalization),
        onnx_op("LpNormalization", build=normalization.lp_normalization),
        onnx_op("ReduceLogSumExp", build=normalization.reduce_log_sum_exp),
    ),
    tflite=(tflite_op("MEAN", build=reduction("reduce_mean")),),
    permuted=permuted,
    to_onnx=written("ReduceMean"),
    cases=(*REDUCE_CASES, case((2, 3, 4), attrs=ReduceAttrs((1,), keepdims=True), kinds=("int16",))),
)
