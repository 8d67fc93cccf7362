"""What operators of one operand share: their kernel's shape and how they are written to ONNX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from burnc.ir import DType, Node
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.kernel.expr import Expr, lift
from burnc.ops.mapping import Build, FileNode
from burnc.ops.spec import Body, OnnxWriter


@dataclass(frozen=True)
class NoAttrs:
    """Attributes of an operator that has none."""


def each(expression: Callable[[KernelBuilder, Any, Expr], Expr]) -> Body:
    """A body that computes every element from that of the operand by ``(k, attrs, x) -> y``."""

    def body(k: KernelBuilder, a: Any, x: Tensor, y: Tensor) -> None:
        for i in k.grid(y.shape):
            y[i] = expression(k, a, k.let("value", x[i]))

    return body


def written_as(op_type: str, **names: str) -> Callable[[OnnxWriter, Node], None]:
    """``to_onnx`` of one ONNX operator; ``names`` are its attributes' names and ours."""

    def to_onnx(w: OnnxWriter, node: Node) -> None:
        given = {theirs: getattr(node.attrs, ours) for theirs, ours in names.items()}
        w.emit(op_type, [w.input(node, i) for i in range(len(node.inputs))], [w.output(node)], **given)

    return to_onnx


def negative(k: KernelBuilder, x: Expr) -> Expr:
    """-x; of the least integer itself."""
    return -x if x.dtype.is_float else k.wrapped("-", lift(0, x.dtype), x)


def is_nan(k: KernelBuilder, x: Expr) -> Expr:
    """By the bits: some languages may take for granted that there is no NaN."""
    if x.dtype is DType.FLOAT64:
        return (k.call("bitcast_int64", x, dtype=DType.INT64) & (2**63 - 1)) > 0x7FF << 52
    return (k.call("bitcast_int32", x, dtype=INT32) & 0x7FFFFFFF) > 0x7F800000


def floats_only(op: str, *names: str, **fixed: Any) -> Build:
    """A mapping of one to one that refuses integers, which the operator has no kernel for."""

    def build(node: FileNode) -> Any:
        x = node.input(0)
        if not (x.type.dtype.is_float or x.type.quant is not None):
            node.refuse(f"{node.op} of {x.type.dtype.value} is not supported")
        given = {name: node.attributes[name] for name in names if name in node.attributes}
        attrs = node.builder.operators[op].attrs
        return [node.emit(op, [x], attrs(**given, **fixed))]

    return build
