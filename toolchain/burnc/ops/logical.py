"""logical: and, or, exclusive or of bools, broadcast. Sources: ONNX And-7, Or-7, Xor-7; TFLite LOGICAL_AND, _OR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burnc.errors import GraphError
from burnc.ir import DType, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.add import infer_broadcast
from burnc.ops.broadcast import aligned
from burnc.ops.case import Operand, case
from burnc.ops.mapping import Build, FileNode, onnx_op, tflite_op
from burnc.ops.spec import OnnxWriter, OpSpec

OPERATIONS = {"and": "And", "or": "Or", "xor": "Xor"}


@dataclass(frozen=True)
class LogicalAttrs:
    operation: str = "and"


def infer(a: LogicalAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    (type_,) = infer_broadcast(a, inputs)
    if type_.dtype is not DType.BOOL:
        raise GraphError(f"operands must be bool, they are {type_.dtype.value}")
    return [type_]


def body(k: KernelBuilder, a: LogicalAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        first, second = left[aligned(i, left.shape)], right[aligned(i, right.shape)]
        y[i] = {"and": first & second, "or": first | second, "xor": first.ne(second)}[a.operation]


def forward(xp: Any, a: LogicalAttrs, left: Any, right: Any) -> Any:
    return xp.asarray(getattr(xp, f"logical_{a.operation}")(left, right))


def _fixed(operation: str) -> Build:
    def build(node: FileNode) -> list[Value]:
        return [node.emit("logical", [node.input(0), node.input(1)], LogicalAttrs(operation))]

    return build


def to_onnx(w: OnnxWriter, node: Node) -> None:
    w.emit(OPERATIONS[node.attrs.operation], [w.input(node, 0), w.input(node, 1)], [w.output(node)])


LEFT = Operand((2, 2, 2), dtype="bool", values=(1, 0, 1, 0))
RIGHT = Operand((2, 2), dtype="bool", values=(1, 1, 0, 0))

logical = OpSpec(
    name="logical",
    attrs=LogicalAttrs,
    infer=infer,
    forward=forward,
    body=body,
    onnx=tuple(onnx_op(name, build=_fixed(operation)) for operation, name in OPERATIONS.items()),
    tflite=(tflite_op("LOGICAL_AND", build=_fixed("and")), tflite_op("LOGICAL_OR", build=_fixed("or"))),
    to_onnx=to_onnx,
    cases=tuple(case(LEFT, RIGHT, attrs=LogicalAttrs(operation), kinds=("float32",)) for operation in OPERATIONS),
    pointwise=True,
)
