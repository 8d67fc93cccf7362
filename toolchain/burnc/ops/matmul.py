"""matmul: numpy's matrix product of two activations; leading axes broadcast, 1-D operands are rows and columns.

Sources: ONNX MatMul-13, Einsum-12 (``einsum.py``); TFLite BATCH_MATMUL; integers as TFLite Micro's reference kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnc.errors import GraphError
from burnc.ir import Builder, DType, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.ops import einsum, spectral
from burnc.ops.broadcast import aligned, summed_to
from burnc.ops.case import ALL_KINDS, case
from burnc.ops.integer_form import differences, matmul_of_dynamic, matmul_to_float
from burnc.ops.mapping import ONNXRUNTIME, FileNode, onnx_op, tflite_op
from burnc.ops.quantized_form import quantized_form
from burnc.ops.requantize import Integers, requantized
from burnc.ops.reshape import ReshapeAttrs
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, broadcast_shapes, product_type, required
from burnc.ops.transpose import TransposeAttrs

ONNX_INT32 = 6


@dataclass(frozen=True)
class MatmulAttrs:
    pass


def infer(a: MatmulAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    left, right = required(inputs, 0), required(inputs, 1)
    if left.rank < 1 or right.rank < 1:
        raise GraphError(f"shapes {list(left.shape)} and {list(right.shape)}: a scalar is no matrix")
    dtype = product_type(left, right)
    rows = right.shape[-2] if right.rank > 1 else right.shape[0]
    if left.shape[-1] != rows:
        raise GraphError(
            f"{left.shape[-1]} columns of {list(left.shape)} do not go with {rows} rows of {list(right.shape)}"
        )
    try:
        batch = broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except GraphError:
        raise GraphError(f"batch axes of {list(left.shape)} and {list(right.shape)} do not broadcast") from None
    matrix = (left.shape[-2:-1] if left.rank > 1 else ()) + (right.shape[-1:] if right.rank > 1 else ())
    return [TensorType(dtype, batch + matrix)]


def body(k: KernelBuilder, a: MatmulAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
    has_row, has_column = left.type.rank > 1, right.type.rank > 1
    for indices in k.grid(y.shape):
        batch = indices[: len(indices) - has_row - has_column]
        row: tuple[Expr, ...] = indices[len(batch) : len(batch) + has_row]
        column: tuple[Expr, ...] = indices[len(indices) - has_column :]
        acc = k.accumulator()
        for (i,) in k.reduce(left.shape[-1:], "k"):
            first = left[*aligned(batch, left.shape[:-2]), *row, i]
            second = right[*aligned(batch, right.shape[:-2]), i, *column]
            if k.sums_integers:
                acc.set(k.wrapped("+", acc.value, k.wrapped("*", first, second)))
            else:
                acc += first * second
        y[indices] = k.requantize(acc)


def forward(xp: Any, a: MatmulAttrs, left: Any, right: Any) -> Any:
    if left.dtype.kind in "iu" and left.dtype.itemsize < 4:
        left = left.astype(np.int32)
    return xp.asarray(xp.matmul(left, right))


def from_onnx_integer(node: FileNode) -> list[Value]:
    """MatMulInteger: products of differences from zero points, which may be computed."""
    operands = differences(node, (-2, -1))
    return from_onnx(node.part(node.name, operands, result=node.output_names[0]))


def integer(node: Node, left: Integers, right: Integers) -> Integers:
    centred = [v.astype(np.float64) - node.input(i).type.zero_point for i, v in enumerate((left, right))]
    # float64 holds these integer sums exactly: |acc| < 2**47 is proven when the graph is quantized or imported.
    return requantized(node, np.asarray(np.matmul(*centred)).astype(np.int64))


def factors(node: Node) -> NDArray[np.float64]:
    """TFLite multiplies the two scales in float32."""
    left, right, y = node.input(0).type, node.input(1).type, node.output.type
    return np.array([float(np.float32(left.scale) * np.float32(right.scale)) / y.scale])


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    """Left: dy R'; right: L' dy; with 1-D operands as the row and the column that they stand for."""
    left, right = node.input(0), node.input(1)
    row = left if left.type.rank > 1 else b.node("reshape", [left], ReshapeAttrs((1, left.type.size)))
    column = right if right.type.rank > 1 else b.node("reshape", [right], ReshapeAttrs((right.type.size, 1)))
    batch = broadcast_shapes(row.type.shape[:-2], column.type.shape[:-2])
    dy = b.node("reshape", [dy], ReshapeAttrs((*batch, row.type.shape[-2], column.type.shape[-1])))
    found = []
    for operand, matrix, factors in (
        (left, row, (dy, _turned(b, column))),
        (right, column, (_turned(b, row), dy)),
    ):
        part = summed_to(b, b.node("matmul", factors), matrix.type.shape)
        found.append(part if operand is matrix else b.node("reshape", [part], ReshapeAttrs(operand.type.shape)))
    return found


def _turned(b: Builder, x: Value) -> Value:
    axes = range(x.type.rank)
    return b.node("transpose", [x], TransposeAttrs((*axes[:-2], axes[-1], axes[-2])))


def macs(node: Node) -> int:
    return node.output.type.size * node.input(0).type.shape[-1]


def from_onnx(node: FileNode) -> list[Value]:
    return [node.emit("matmul", [node.input(0), node.input(1)])]


def from_tflite(node: FileNode) -> list[Value]:
    left, right = node.input(0), node.input(1)
    if left.type.rank < 2 or right.type.rank < 2:
        node.refuse(f"operands {list(left.type.shape)} and {list(right.type.shape)} must have at least 2 axes")
    left = _adjoint(node, left) if node.attribute("adj_x", False) else left
    right = _adjoint(node, right) if node.attribute("adj_y", False) else right
    return [node.emit("matmul", [left, right])]


def _adjoint(node: FileNode, x: Value) -> Value:
    axes = list(range(x.type.rank))
    axes[-2:] = axes[:-3:-1]
    name = f"{node.name}.transpose"
    return node.emit("transpose", [x], TransposeAttrs(tuple(axes)), last=False, name=name, quant=x.type.quant)


def to_onnx(w: OnnxWriter, node: Node) -> None:
    names = [w.input(node, 0), w.input(node, 1)]
    types = {v.type.dtype for v in node.present_inputs}
    if node.output.type.dtype is DType.INT32 and types <= {DType.INT8, DType.UINT8}:
        w.emit("MatMulInteger", names, [w.output(node)])
        return
    if node.output.type.dtype is DType.INT32:  # ONNX multiplies no narrower integers than these
        names = [w.emit("Cast", [name], to=ONNX_INT32) for name in names]
    w.emit("MatMul", names, [w.output(node)])


matmul = OpSpec(
    name="matmul",
    attrs=MatmulAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    gradient=gradient,
    quant=QuantRule(dtypes=QUANTIZED, wide=True),
    factors=factors,
    macs=macs,
    onnx=(
        onnx_op("MatMul", build=from_onnx),
        onnx_op("Einsum", build=einsum.from_onnx),
        onnx_op("DFT", build=spectral.dft),
        onnx_op("MatMulInteger", build=from_onnx_integer, integers=True),
        onnx_op("MatMulIntegerToFloat", build=matmul_to_float, domain=ONNXRUNTIME, integers=True),
        onnx_op("DynamicQuantizeMatMul", build=matmul_of_dynamic, domain=ONNXRUNTIME, integers=True),
        onnx_op("QLinearMatMul", build=quantized_form(from_onnx, 0, 3, axes=(-2, -1)), integers=True),
    ),
    tflite=(tflite_op("BATCH_MATMUL", build=from_tflite),),
    to_onnx=to_onnx,
    cases=(
        case((3, 4), (4, 5)),
        case((2, 1, 2, 3), (2, 3, 2), kinds=ALL_KINDS),
        case((2, 3, 4), (4, 2)),
        case((3, 4), (5, 4, 2), kinds=ALL_KINDS),
        case((1, 1, 6), (3, 6, 1)),
        case((4,), (4, 3)),
        case((2, 3, 4), (4,)),
        case((6,), (6,)),
    ),
)
