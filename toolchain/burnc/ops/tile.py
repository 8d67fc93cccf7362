"""tile: a tensor repeated along each axis as often as ``repeats`` says. Sources: ONNX Tile-13; TFLite TILE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Builder, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.case import ALL_KINDS, Operand, case
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.reduce_sum import ReduceAttrs
from burnc.ops.requantize import Integers
from burnc.ops.reshape import ReshapeAttrs
from burnc.ops.spec import NARROW, OnnxWriter, OpSpec, QuantRule, required


@dataclass(frozen=True)
class TileAttrs:
    repeats: tuple[int, ...] = ()


def infer(a: TileAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if len(a.repeats) != x.rank or any(n < 1 for n in a.repeats):
        raise GraphError(f"repeats {list(a.repeats)} for shape {list(x.shape)} must be one positive number an axis")
    return [x.with_shape([n * r for n, r in zip(x.shape, a.repeats, strict=True)]).with_quant(None)]


def body(k: KernelBuilder, a: TileAttrs, x: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        y[i] = x.raw(*(index % extent for index, extent in zip(i, x.shape, strict=True)))


def integer(node: Node, x: Integers) -> Integers:
    for axis, count in enumerate(node.attrs.repeats):
        x = np.concatenate([x] * count, axis=axis)
    return x


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    """The sum over all copies."""
    shape, repeats = node.input(0).type.shape, node.attrs.repeats
    split = tuple(n for pair in zip(repeats, shape, strict=True) for n in pair)
    copies = b.node("reshape", [dy], ReshapeAttrs(split))
    return [b.node("reduce_sum", [copies], ReduceAttrs(tuple(range(0, len(split), 2))))]


def permuted(a: TileAttrs, permutation: Sequence[int]) -> TileAttrs:
    return TileAttrs(tuple(a.repeats[list(permutation).index(axis)] for axis in range(len(permutation))))


def build(node: FileNode) -> list[Value]:
    repeats = tuple(int(n) for n in node.constant(1, "the repeats").reshape(-1))
    return [node.emit("tile", [node.input(0)], TileAttrs(repeats))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    repeats = w.constant(np.array(node.attrs.repeats, np.int64), "repeats")
    w.emit("Tile", [w.input(node, 0), repeats], [w.output(node)])


def forward(xp: Any, a: TileAttrs, x: Any) -> Any:
    return xp.tile(x, a.repeats)


tile = OpSpec(
    name="tile",
    attrs=TileAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    gradient=gradient,
    quant=QuantRule(result="same", dtypes=NARROW),
    onnx=(onnx_op("Tile", build=build),),
    tflite=(tflite_op("TILE", build=build),),
    to_onnx=to_onnx,
    permuted=permuted,
    cases=(
        case((2, 3), attrs=TileAttrs((2, 3)), kinds=("float32",)),
        case((1, 2, 1, 3), attrs=TileAttrs((2, 1, 4, 1)), kinds=ALL_KINDS),
        case(Operand((3,), dtype="int32", low=-9, high=9), attrs=TileAttrs((2,)), kinds=("float32",)),
    ),
)
