"""gather_nd: slices at places that rows of indices name. Sources: ONNX GatherND-13; TFLite GATHER_ND.

Indices are counted and clamped as ``gather`` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Node, TensorType
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.ops.case import ALL_KINDS, Operand, case
from burnc.ops.mapping import onnx_op, tflite_op
from burnc.ops.requantize import Integers
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, required


@dataclass(frozen=True)
class GatherNdAttrs:
    batch_dims: int = 0


def infer(a: GatherNdAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x, indices = required(inputs, 0), required(inputs, 1)
    b = a.batch_dims
    if indices.dtype.value not in ("int32", "int64"):
        raise GraphError(f"indices are {indices.dtype.value}, they must be int32 or int64")
    fits = indices.rank > b >= 0 and x.shape[:b] == indices.shape[:b] and b + indices.shape[-1] <= x.rank
    if not fits or 0 in x.shape:
        raise GraphError(f"indices {list(indices.shape)} with {b} batch axes do not go with {list(x.shape)}")
    return [TensorType(x.dtype, (*indices.shape[:-1], *x.shape[b + indices.shape[-1] :]))]


def body(k: KernelBuilder, a: GatherNdAttrs, x: Tensor, indices: Tensor, y: Tensor) -> None:
    rows, depth, b = indices.type.rank - 1, indices.shape[-1], a.batch_dims
    for where in k.grid(y.shape):
        place: list[Expr] = list(where[:b])
        for i in range(depth):
            length = x.shape[b + i]
            given = k.let("given", indices.raw(*where[:rows], i))
            counted = k.select(given < 0, given + length, given)
            place.append(k.let("index", k.cast(k.minimum(k.maximum(counted, 0), length - 1), INT32)))
        y[where] = x.raw(*place, *where[rows:])


def forward(xp: Any, a: GatherNdAttrs, x: Any, indices: Any) -> Any:
    b, depth = a.batch_dims, indices.shape[-1]
    batch = [xp.arange(n).reshape((-1,) + (1,) * (indices.ndim - 2 - i)) for i, n in enumerate(x.shape[:b])]
    found = []
    for i in range(depth):
        given, length = indices[..., i], x.shape[b + i]
        found.append(xp.clip(xp.where(given < 0, given + length, given), 0, length - 1))
    return x[(*batch, *found)]


def integer(node: Node, x: Integers, indices: Integers) -> Integers:
    return np.asarray(forward(np, node.attrs, x, indices))


def to_onnx(w: OnnxWriter, node: Node) -> None:
    indices = w.emit("Cast", [w.input(node, 1)], to=7)
    w.emit("GatherND", [w.input(node, 0), indices], [w.output(node)], batch_dims=node.attrs.batch_dims)


gather_nd = OpSpec(
    name="gather_nd",
    attrs=GatherNdAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    quant=QuantRule(result="same", dtypes=QUANTIZED, integer_inputs=(1,)),
    onnx=(onnx_op("GatherND", attrs={"batch_dims": "batch_dims"}),),
    tflite=(tflite_op("GATHER_ND"),),
    to_onnx=to_onnx,
    cases=(
        case((4, 5, 3), Operand((2, 2), dtype="int32", low=0, high=3), kinds=ALL_KINDS),
        case((2, 4, 3), Operand((2, 3, 1), dtype="int64", low=-4, high=3), attrs=GatherNdAttrs(1), kinds=("float32",)),
    ),
)
