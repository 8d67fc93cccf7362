"""bitwise: and, or, exclusive or of the bits of whole numbers, broadcast.

Sources: ONNX BitwiseAnd-18, BitwiseOr-18, BitwiseXor-18; TFLite BITWISE_XOR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burnc.errors import GraphError
from burnc.ir import Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.add import infer_broadcast
from burnc.ops.broadcast import aligned
from burnc.ops.case import Operand, case
from burnc.ops.mapping import Build, FileNode, onnx_op, tflite_op
from burnc.ops.spec import OnnxWriter, OpSpec

OPERATIONS = {"and": "BitwiseAnd", "or": "BitwiseOr", "xor": "BitwiseXor"}


@dataclass(frozen=True)
class BitwiseAttrs:
    operation: str = "and"


def infer(a: BitwiseAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    (type_,) = infer_broadcast(a, inputs)
    if not type_.dtype.is_integer:
        raise GraphError(f"operands must be whole numbers, they are {type_.dtype.value}")
    return [type_]


def body(k: KernelBuilder, a: BitwiseAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        first, second = left.raw(*aligned(i, left.shape)), right.raw(*aligned(i, right.shape))
        y[i] = {"and": first & second, "or": first | second, "xor": first ^ second}[a.operation]


def forward(xp: Any, a: BitwiseAttrs, left: Any, right: Any) -> Any:
    return xp.asarray(getattr(xp, f"bitwise_{a.operation}")(left, right))


def _fixed(operation: str) -> Build:
    def build(node: FileNode) -> list[Value]:
        return [node.emit("bitwise", [node.input(0), node.input(1)], BitwiseAttrs(operation))]

    return build


def to_onnx(w: OnnxWriter, node: Node) -> None:
    w.emit(OPERATIONS[node.attrs.operation], [w.input(node, 0), w.input(node, 1)], [w.output(node)])


LEFT = Operand((2, 2, 3), dtype="int32", low=-(2**31), high=2**31 - 1)
RIGHT = Operand((2, 1), dtype="int32", low=-(2**31), high=2**31 - 1)

bitwise = OpSpec(
    name="bitwise",
    attrs=BitwiseAttrs,
    infer=infer,
    forward=forward,
    body=body,
    onnx=tuple(onnx_op(name, build=_fixed(operation)) for operation, name in OPERATIONS.items()),
    tflite=(tflite_op("BITWISE_XOR", build=_fixed("xor")),),
    to_onnx=to_onnx,
    cases=(
        *(case(LEFT, RIGHT, attrs=BitwiseAttrs(operation), kinds=("float32",)) for operation in OPERATIONS),
        *(
            case(
                Operand((8,), dtype=dtype, low=low, high=high),
                Operand((8,), dtype=dtype, low=low, high=high),
                attrs=BitwiseAttrs("xor"),
                kinds=("float32",),
            )
            for dtype, low, high in (("int8", -128, 127), ("uint16", 0, 65535), ("int64", -(2**62), 2**62))
        ),
    ),
    pointwise=True,
)
