"""sub: numpy's broadcast difference of floats. Sources: ONNX Sub-14."""

from __future__ import annotations

from dataclasses import dataclass

from burnc.ir import Builder, Node, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.add import infer_broadcast
from burnc.ops.broadcast import aligned, negated, summed_to
from burnc.ops.case import case, weights
from burnc.ops.mapping import FileNode, onnx_op
from burnc.ops.spec import OnnxWriter, OpSpec


@dataclass(frozen=True)
class SubAttrs:
    pass


def body(k: KernelBuilder, a: SubAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        y[i] = left[aligned(i, left.shape)] - right[aligned(i, right.shape)]


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    left, right = node.input(0).type.shape, node.input(1).type.shape
    return [summed_to(b, dy, left), negated(b, summed_to(b, dy, right))]


def from_onnx(node: FileNode) -> list[Value]:
    if not node.input(0).type.dtype.is_float:
        node.refuse(f"a difference of {node.input(0).type.dtype.value} is not supported")
    return [node.emit("sub", [node.input(0), node.input(1)])]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    w.emit("Sub", [w.input(node, 0), w.input(node, 1)], [w.output(node)])


sub = OpSpec(
    name="sub",
    attrs=SubAttrs,
    infer=infer_broadcast,
    forward=lambda xp, a, left, right: xp.asarray(xp.subtract(left, right)),
    body=body,
    gradient=gradient,
    onnx=(onnx_op("Sub", build=from_onnx),),
    to_onnx=to_onnx,
    cases=(
        case((2, 3, 4), (2, 3, 4), kinds=("float32",)),
        case((1, 5, 5, 3), (3,), kinds=("float32",)),
        case((), (2, 3), kinds=("float32",)),
        case(weights(3, 1), (2, 1, 4), kinds=("float32",)),
    ),
    pointwise=True,
)
