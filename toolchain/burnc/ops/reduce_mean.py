"""reduce_mean: the mean along some axes of floats. Sources: ONNX ReduceMean-18."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.ir import Builder, Node, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops import reduce_sum
from burnc.ops.mapping import FileNode, onnx_op
from burnc.ops.reduce_sum import REDUCE_CASES, ReduceAttrs, accumulate, attrs_from_onnx, count, infer, spread
from burnc.ops.spec import OnnxWriter, OpSpec


def body(k: KernelBuilder, a: ReduceAttrs, x: Tensor, y: Tensor) -> None:
    accumulate(k, a, x, y, 1.0 / count(a, x.type))


def forward(xp: Any, a: ReduceAttrs, x: Any) -> Any:
    total = reduce_sum.forward(xp, a, x)
    return xp.asarray(total * x.dtype.type(total.size / max(1, x.size)))


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    share = np.array(1.0 / count(node.attrs, node.input(0).type), dy.type.dtype.numpy)
    return [spread(b, node, b.node("mul", [dy, b.constant("share", share)]))]


def from_onnx(node: FileNode) -> list[Value]:
    if not node.input(0).type.dtype.is_float:
        node.refuse(f"a mean of {node.input(0).type.dtype.value} is not supported")
    return [node.emit("reduce_mean", [node.input(0)], attrs_from_onnx(node))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    axes = w.constant(np.array(node.attrs.axes, np.int64), "axes")
    w.emit(
        "ReduceMean",
        [w.input(node, 0), axes],
        [w.output(node)],
        keepdims=int(node.attrs.keepdims),
        noop_with_empty_axes=1,
    )


reduce_mean = OpSpec(
    name="reduce_mean",
    attrs=ReduceAttrs,
    infer=infer,
    forward=forward,
    body=body,
    gradient=gradient,
    onnx=(onnx_op("ReduceMean", build=from_onnx),),
    to_onnx=to_onnx,
    cases=REDUCE_CASES,
)
