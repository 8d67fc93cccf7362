"""div: numpy's broadcast quotient of floats. Sources: ONNX Div-14."""

from __future__ import annotations

from dataclasses import dataclass

from burnc.ir import Builder, Node, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.add import infer_broadcast
from burnc.ops.broadcast import aligned, negated, summed_to
from burnc.ops.case import Operand, case, weights
from burnc.ops.mapping import FileNode, onnx_op
from burnc.ops.spec import OnnxWriter, OpSpec


def _divisor(*shape: int) -> Operand:
    return Operand(shape, low=0.5, high=2.0)


@dataclass(frozen=True)
class DivAttrs:
    pass


def body(k: KernelBuilder, a: DivAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        y[i] = left[aligned(i, left.shape)] / right[aligned(i, right.shape)]


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    """d(l/r) = dl / r - (l/r) dr / r."""
    left, right = node.input(0), node.input(1)
    scaled = b.node("div", [dy, right])
    drop = b.node("mul", [scaled, node.output])
    return [summed_to(b, scaled, left.type.shape), negated(b, summed_to(b, drop, right.type.shape))]


def from_onnx(node: FileNode) -> list[Value]:
    if not node.input(0).type.dtype.is_float:
        node.refuse(f"a quotient of {node.input(0).type.dtype.value} is not supported")
    return [node.emit("div", [node.input(0), node.input(1)])]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    w.emit("Div", [w.input(node, 0), w.input(node, 1)], [w.output(node)])


div = OpSpec(
    name="div",
    attrs=DivAttrs,
    infer=infer_broadcast,
    forward=lambda xp, a, left, right: xp.asarray(xp.divide(left, right)),
    body=body,
    gradient=gradient,
    onnx=(onnx_op("Div", build=from_onnx),),
    to_onnx=to_onnx,
    cases=(
        case((2, 3, 4), _divisor(2, 3, 4), kinds=("float32",)),
        case((1, 5, 5, 3), _divisor(3), kinds=("float32",)),
        case((), Operand((2, 3), low=-2.0, high=-0.5), kinds=("float32",)),
        case(weights(3, 1), _divisor(2, 1, 4), kinds=("float32",)),
    ),
    pointwise=True,
)
