"""identity: the value itself, where a graph needs it under a second name.

Mappings return their input, so that the file's Identity and Dropout leave no node.
Sources: ONNX Identity-1, Dropout-13 (inference), OptionalGetElement-18 (of a tensor).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from burnc.ir import DType, Node, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.case import ALL_KINDS, case
from burnc.ops.image_rows import same_rows
from burnc.ops.mapping import FileNode, onnx_op
from burnc.ops.spec import OnnxWriter, OpSpec, QuantRule, same_type


@dataclass(frozen=True)
class IdentityAttrs:
    pass


def body(k: KernelBuilder, a: IdentityAttrs, x: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        y[i] = x.raw(*i)


def from_onnx_identity(node: FileNode) -> list[Value]:
    return [node.input(0)]


def from_onnx_dropout(node: FileNode) -> list[Value]:
    """The input, and as a mask that nothing was dropped."""
    if node.has_input(2) and bool(node.constant(2, "training_mode").reshape(())):
        ratio = float(node.constant(1, "the ratio").reshape(())) if node.has_input(1) else 0.5
        if ratio:
            node.refuse(f"training_mode with a ratio of {ratio} is not supported")
    x = node.input(0)
    if not any(node.output_names[1:]):
        return [x]
    return [x, node.new_constant("mask", np.ones(x.type.shape, np.bool_))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    w.emit("Identity", [w.input(node, 0)], [w.output(node)])


identity = OpSpec(
    name="identity",
    attrs=IdentityAttrs,
    infer=same_type,
    forward=lambda xp, a, x: x,
    integer=lambda node, x: x,
    body=body,
    gradient=lambda b, node, dy: [dy],
    rows=same_rows,
    quant=QuantRule(result="same", dtypes=tuple(t for t in DType if t.is_integer)),
    onnx=(
        onnx_op("Identity", build=from_onnx_identity),
        onnx_op("Dropout", build=from_onnx_dropout),
        onnx_op("OptionalGetElement", build=from_onnx_identity),
    ),
    to_onnx=to_onnx,
    cases=(case((2, 3), kinds=ALL_KINDS), case(())),
    view=True,
)
