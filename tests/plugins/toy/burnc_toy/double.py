"""double: 2 x. An operator of a domain of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from burnc.ir import Node
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops import OpSpec
from burnc.ops.case import case
from burnc.ops.mapping import onnx_op
from burnc.ops.requantize import Integers, requantized
from burnc.ops.spec import OnnxWriter, QuantRule, same_type

DOMAIN = "com.example"


@dataclass(frozen=True)
class DoubleAttrs:
    """None."""


def body(k: KernelBuilder, a: DoubleAttrs, x: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        y[i] = k.requantize(x[i] * 2)


def integer(node: Node, x: Integers) -> Integers:
    return requantized(node, 2 * (x.astype(np.int64) - node.input(0).type.zero_point))


def to_onnx(w: OnnxWriter, node: Node) -> None:
    w.emit("Double", [w.input(node, 0)], [w.output(node)], domain=DOMAIN)


double = OpSpec(
    name="double",
    attrs=DoubleAttrs,
    infer=same_type,
    forward=lambda xp, a, x: x + x,
    integer=integer,
    body=body,
    quant=QuantRule(),
    onnx=(onnx_op("Double", domain=DOMAIN),),
    to_onnx=to_onnx,
    cases=(case((2, 3)),),
    pointwise=True,
)
