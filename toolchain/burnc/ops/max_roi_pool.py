"""max_roi_pool: the largest pixels of regions of images, in a grid of bins of whole pixels, NHWC.

A bin without pixels is 0. Each region holds its image and its corners (x, y), both inside.
Sources: ONNX MaxRoiPool-22, as onnxruntime rounds regions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import DType, Node, TensorType, Value
from burnc.kernel.builder import FLOAT32, INT32, KernelBuilder, Tensor
from burnc.kernel.expr import Expr, lift
from burnc.ops.case import Operand, case
from burnc.ops.mapping import FileNode, onnx_op
from burnc.ops.spatial import NCHW_FROM_NHWC, NHWC_FROM_NCHW, transpose
from burnc.ops.spec import OnnxWriter, OpSpec, required

FARTHEST = 2.0**20
"""Pixels from the image at which a corner counts as being, so that it fits an integer."""


@dataclass(frozen=True)
class MaxRoiPoolAttrs:
    bins: tuple[int, int] = (1, 1)
    scale: float = 1.0


def infer(a: MaxRoiPoolAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x, regions = required(inputs, 0), required(inputs, 1)
    fits = x.rank == 4 and regions.rank == 2 and regions.shape[1] == 5 and min(a.bins) > 0
    if not fits or x.dtype is not DType.FLOAT32 or regions.dtype is not DType.FLOAT32:
        raise GraphError(f"regions {regions} in {list(a.bins)} bins do not go with {x}")
    return [x.with_shape((regions.shape[0], *a.bins, x.shape[3]))]


def body(k: KernelBuilder, a: MaxRoiPoolAttrs, x: Tensor, regions: Tensor, y: Tensor) -> None:
    for r, ph, pw in k.grid(y.shape[:3], "r ph pw"):
        image = k.let("image", _whole(k, regions[r, 0], x.shape[0] - 1.0, 0.0))
        rows = _range(k, a, regions, r, 2, ph, x.shape[1])
        columns = _range(k, a, regions, r, 1, pw, x.shape[2])
        is_empty = (rows[1] <= rows[0]) | (columns[1] <= columns[0])
        first = k.let("first", k.select(is_empty, lift(0.0, FLOAT32), lift(-math.inf, FLOAT32)))
        for (c,) in k.reduce(x.shape[3:], "c"):
            largest = k.local("largest", first)
            for h, w in k.reduce(x.shape[1:3], "h w"):
                inside = (h >= rows[0]) & (h < rows[1]) & (w >= columns[0]) & (w < columns[1])
                with k.when(inside):
                    largest.set(k.maximum(largest.value, x[image, h, w, c]))
            y[r, ph, pw, c] = largest.value


def _whole(k: KernelBuilder, value: Expr, high: float, low: float) -> Expr:
    """An integer between two numbers; NaN becomes the lower."""
    return k.cast(k.select(value > low, k.select(value < high, value, lift(high, FLOAT32)), lift(low, FLOAT32)), INT32)


def _range(
    k: KernelBuilder, a: MaxRoiPoolAttrs, regions: Tensor, r: Expr, corner: int, place: Expr, length: int
) -> tuple[Expr, Expr]:
    """The first pixel of a bin along one axis, and the one behind its last."""
    count = a.bins[0 if corner == 2 else 1]
    begin, end = (
        k.let("edge", _whole(k, k.call("round_half_away", regions[r, i] * a.scale), FARTHEST, -FARTHEST))
        for i in (corner, corner + 2)
    )
    size = k.let("size", k.cast(k.maximum(end - begin + 1, 1), FLOAT32) / float(count))
    at = k.cast(place, FLOAT32)
    starts = k.cast(k.call("floor", at * size), INT32) + begin
    stops = k.cast(-k.call("floor", -((at + 1.0) * size)), INT32) + begin
    low = k.let("low", k.minimum(k.maximum(starts, 0), length))
    return low, k.let("high", k.minimum(k.maximum(stops, 0), length))


def forward(xp: Any, a: MaxRoiPoolAttrs, x: Any, regions: Any) -> Any:
    y = np.zeros((len(regions), *a.bins, x.shape[3]), x.dtype)
    for r, region in enumerate(regions):
        image = int(np.clip(np.nan_to_num(region[0]), 0, x.shape[0] - 1))
        scaled = np.nan_to_num(region[1:] * x.dtype.type(a.scale), nan=-FARTHEST)
        edges = np.clip(np.copysign(np.floor(np.abs(scaled) + x.dtype.type(0.5)), scaled), -FARTHEST, FARTHEST).astype(
            int
        )
        for ph in range(a.bins[0]):
            rows = _bin(x.dtype.type, edges[1], edges[3], ph, a.bins[0], x.shape[1])
            for pw in range(a.bins[1]):
                columns = _bin(x.dtype.type, edges[0], edges[2], pw, a.bins[1], x.shape[2])
                part = x[image, rows, columns]
                if part.size:
                    y[r, ph, pw] = part.max(axis=(0, 1))
    return y


def _bin(real: Any, begin: int, end: int, place: int, count: int, length: int) -> slice:
    size = real(max(end - begin + 1, 1)) / real(count)
    start, stop = (int(f) + begin for f in (np.floor(real(place) * size), np.ceil(real(place + 1) * size)))
    return slice(min(max(start, 0), length), min(max(stop, 0), length))


def from_onnx(node: FileNode) -> list[Value]:
    bins = node.integers("pooled_shape", 2, 0)
    x = transpose(node, node.input(0), NHWC_FROM_NCHW)
    attrs = MaxRoiPoolAttrs((bins[0], bins[1]), float(node.attribute("spatial_scale", 1.0)))
    y = node.emit("max_roi_pool", [x, node.input(1)], attrs, last=False)
    return [transpose(node, y, NCHW_FROM_NHWC, last=True)]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: MaxRoiPoolAttrs = node.attrs
    inputs = [w.transposed(w.input(node, 0), NCHW_FROM_NHWC), w.input(node, 1)]
    w.finish(node, w.emit("MaxRoiPool", inputs, pooled_shape=a.bins, spatial_scale=a.scale), from_nchw=True)


REGIONS = Operand((4, 5), values=(0, 0, 0, 4, 5, 1, 1, 2, 3, 9, 1, -3, -2, 2, 2, 0, 7, 1, 9, 3))

max_roi_pool = OpSpec(
    name="max_roi_pool",
    attrs=MaxRoiPoolAttrs,
    infer=infer,
    forward=forward,
    body=body,
    onnx=(onnx_op("MaxRoiPool", build=from_onnx),),
    to_onnx=to_onnx,
    cases=(
        case((2, 6, 5, 3), REGIONS, attrs=MaxRoiPoolAttrs((2, 3)), kinds=("float32",)),
        case((2, 6, 5, 2), REGIONS, attrs=MaxRoiPoolAttrs((3, 2), 0.5), kinds=("float32",)),
    ),
)
