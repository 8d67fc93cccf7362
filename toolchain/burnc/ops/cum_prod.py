"""cum_prod: running products along one axis, of floats and whole numbers. Sources: ONNX CumProd-26."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.ir import Node
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.case import Operand, case
from burnc.ops.cum_sum import CumSumAttrs, infer, permuted, running, running_build, running_of
from burnc.ops.mapping import onnx_op
from burnc.ops.spec import OnnxWriter, OpSpec


def body(k: KernelBuilder, a: CumSumAttrs, x: Tensor, y: Tensor) -> None:
    running(k, a, x, y, 1, lambda total, value: k.wrapped("*", total, value))


def forward(xp: Any, a: CumSumAttrs, x: Any) -> Any:
    return running_of(xp, a, x, xp.cumprod, 1)


def to_onnx(w: OnnxWriter, node: Node) -> None:
    """One product a step: ONNX has CumProd only from opset 26 on."""
    a: CumSumAttrs = node.attrs
    type_ = node.input(0).type
    length, axes = type_.shape[a.axis], w.constant(np.array([a.axis]), "axes")
    ends = [w.constant(np.array([i]), "end") for i in range(length + 1)]
    parts = [w.emit("Slice", [w.input(node, 0), ends[i], ends[i + 1], axes]) for i in range(length)]
    parts = parts[::-1] if a.reverse else parts
    shape = [1 if i == a.axis else n for i, n in enumerate(type_.shape)]
    products = [w.constant(np.ones(shape, type_.dtype.numpy), "one")] if a.exclusive else [parts.pop(0)]
    for part in parts[: length - 1]:
        products.append(w.emit("Mul", [products[-1], part]))
    w.emit("Concat", products[::-1] if a.reverse else products, [w.output(node)], axis=a.axis)


cum_prod = OpSpec(
    name="cum_prod",
    attrs=CumSumAttrs,
    infer=infer,
    forward=forward,
    body=body,
    onnx=(onnx_op("CumProd", build=running_build("cum_prod")),),
    to_onnx=to_onnx,
    permuted=permuted,
    cases=(
        case(Operand((2, 4, 3), low=-2, high=2), attrs=CumSumAttrs(1), kinds=("float32",)),
        case((5,), attrs=CumSumAttrs(0, exclusive=True), kinds=("float32",)),
        case((2, 4), attrs=CumSumAttrs(1, exclusive=True, reverse=True), kinds=("float32",)),
        case(Operand((3, 4), dtype="int32", low=-9, high=9), attrs=CumSumAttrs(0, reverse=True), kinds=("float32",)),
    ),
)
