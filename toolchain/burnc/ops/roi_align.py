"""roi_align: regions of images, each averaged into a grid of bins from samples between the pixels, NHWC.

Sources: ONNX RoiAlign-22. The largest of a bin's samples (``largest``) is that of their weighted pixels, as onnx's
reference and onnxruntime have it. An index of an image is clamped as ``gather`` does.
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
from burnc.ops.scattering import clamped, counted
from burnc.ops.spatial import NCHW_FROM_NHWC, NHWC_FROM_NCHW, transpose
from burnc.ops.spec import OnnxWriter, OpSpec, required


@dataclass(frozen=True)
class RoiAlignAttrs:
    """``samples`` along each axis of a bin; ``half_pixel``: pixels are counted from their middles."""

    bins: tuple[int, int] = (1, 1)
    samples: int = 1
    scale: float = 1.0
    half_pixel: bool = True
    largest: bool = False


def infer(a: RoiAlignAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x, regions, images = (required(inputs, i) for i in range(3))
    if x.dtype is not DType.FLOAT32 or regions.dtype is not DType.FLOAT32 or min(*a.bins, a.samples) < 1:
        raise GraphError(f"regions {regions} of {x} in {list(a.bins)} bins of {a.samples} samples are not supported")
    if images.dtype.value not in ("int32", "int64"):
        raise GraphError(f"indices of images are {images.dtype.value}, they must be int32 or int64")
    if x.rank != 4 or regions.rank != 2 or regions.shape[1] != 4 or images.shape != regions.shape[:1]:
        raise GraphError(
            f"regions {list(regions.shape)} with images {list(images.shape)} do not go with {list(x.shape)}"
        )
    return [x.with_shape((regions.shape[0], *a.bins, x.shape[3]))]


def body(k: KernelBuilder, a: RoiAlignAttrs, x: Tensor, regions: Tensor, images: Tensor, y: Tensor) -> None:
    for r, ph, pw in k.grid(y.shape[:3], "r ph pw"):
        image = counted(k, images.raw(r), x.shape[0])
        starts, sizes = zip(*(_bin(k, a, regions, r, axis, place) for axis, place in ((1, ph), (0, pw))), strict=True)
        for (c,) in k.reduce(x.shape[3:], "c"):
            total = k.local("total", -math.inf if a.largest else 0.0, FLOAT32)
            for steps in k.reduce((a.samples, a.samples), "iy ix"):
                axes = [
                    _Between(k, start, size, step, a.samples, length)
                    for start, size, step, length in zip(starts, sizes, steps, x.shape[1:3], strict=True)
                ]
                inside = k.let("inside", axes[0].inside & axes[1].inside)
                parts = [
                    k.select(inside, axes[0].weights[i] * axes[1].weights[j], 0.0)
                    * x[image, axes[0].indices[i], axes[1].indices[j], c]
                    for i in (0, 1)
                    for j in (0, 1)
                ]
                if a.largest:
                    best = k.maximum(k.maximum(parts[0], parts[1]), k.maximum(parts[2], parts[3]))
                    total.set(k.maximum(total.value, best))
                else:
                    total += parts[0] + parts[1] + parts[2] + parts[3]
            y[r, ph, pw, c] = total.value if a.largest else total.value / float(a.samples**2)


def _bin(k: KernelBuilder, a: RoiAlignAttrs, regions: Tensor, r: Expr, axis: int, place: Expr) -> tuple[Expr, Expr]:
    """Where a bin begins along one axis (0 for x), and how long it is."""
    offset = 0.5 if a.half_pixel else 0.0
    begin, end = (k.let("edge", regions[r, i] * a.scale - offset) for i in (axis, axis + 2))
    size = end - begin if a.half_pixel else k.maximum(end - begin, 1.0)
    size = k.let("size", size / float(a.bins[1 - axis]))
    return k.let("start", begin + k.cast(place, FLOAT32) * size), size


class _Between:
    """The two pixels along one axis that a sample lies between, and their weights."""

    def __init__(self, k: KernelBuilder, start: Expr, size: Expr, step: Expr, samples: int, length: int) -> None:
        at = k.let("at", start + (k.cast(step, FLOAT32) + 0.5) * size / float(samples))
        self.inside = (at >= -1.0) & (at <= float(length))
        # NaN and what lies outside become 0, and count for nothing.
        at = k.let("at", k.select((at > 0.0) & (at <= float(length)), at, lift(0.0, FLOAT32)))
        low = k.let("low", k.minimum(k.cast(at, INT32), length - 1))
        rest = k.select(low >= length - 1, lift(0.0, FLOAT32), at - k.cast(low, FLOAT32))
        rest = k.let("rest", rest)
        self.indices = [low, k.let("high", k.minimum(low + 1, length - 1))]
        self.weights = [1.0 - rest, rest]


def forward(xp: Any, a: RoiAlignAttrs, x: Any, regions: Any, images: Any) -> Any:
    offset = x.dtype.type(0.5 if a.half_pixel else 0.0)
    axes = []
    for axis in (1, 0):  # rows, then columns
        begin, end = (regions[:, i] * x.dtype.type(a.scale) - offset for i in (axis, axis + 2))
        count, length = a.bins[1 - axis], x.shape[2 - axis]
        size = (end - begin if a.half_pixel else xp.maximum(end - begin, 1)) / x.dtype.type(count)
        start = begin[:, None, None] + xp.arange(count, dtype=x.dtype)[:, None] * size[:, None, None]
        steps = xp.arange(a.samples, dtype=x.dtype) + x.dtype.type(0.5)
        axes.append(_between(xp, start + steps * size[:, None, None] / x.dtype.type(a.samples), length))
    image = clamped(xp, images, x.shape[0])[:, None, None, None, None]
    (rows, row_weights, row_inside), (columns, column_weights, column_inside) = axes
    there = row_inside[:, :, None, :, None] & column_inside[:, None, :, None, :]
    parts = []
    for i in (0, 1):
        for j in (0, 1):
            value = x[image, rows[i][:, :, None, :, None], columns[j][:, None, :, None, :]]
            weight = row_weights[i][:, :, None, :, None] * column_weights[j][:, None, :, None, :]
            parts.append(xp.where(there, weight, 0).astype(x.dtype)[..., None] * value)
    if a.largest:
        return xp.max(parts, axis=(0, 4, 5))
    return (sum(parts).sum(axis=(3, 4)) / x.dtype.type(a.samples**2)).astype(x.dtype)


def _between(xp: Any, at: Any, length: int) -> tuple[list[Any], list[Any], Any]:
    inside = (at >= -1) & (at <= length)
    at = xp.where((at > 0) & (at <= length), at, 0).astype(at.dtype)
    low = xp.minimum(at.astype(np.int64), length - 1)
    rest = xp.where(low >= length - 1, 0, at - low).astype(at.dtype)
    return [low, xp.minimum(low + 1, length - 1)], [1 - rest, rest], inside


def from_onnx(node: FileNode) -> list[Value]:
    samples, mode = int(node.attribute("sampling_ratio", 0)), node.attribute("mode", "avg")
    if samples < 1:
        node.refuse("sampling_ratio = 0, a number of samples that depends on the regions, is not supported")
    if mode not in ("avg", "max"):
        node.refuse(f"mode {mode!r} is not supported")
    bins = tuple(int(node.attribute(name, 1)) for name in ("output_height", "output_width"))
    half_pixel = node.attribute("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    attrs = RoiAlignAttrs(
        (bins[0], bins[1]), samples, float(node.attribute("spatial_scale", 1.0)), half_pixel, mode == "max"
    )
    x = transpose(node, node.input(0), NHWC_FROM_NCHW)
    y = node.emit("roi_align", [x, node.input(1), node.input(2)], attrs, last=False)
    return [transpose(node, y, NCHW_FROM_NHWC, last=True)]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: RoiAlignAttrs = node.attrs
    images = w.emit("Cast", [w.input(node, 2)], to=7)
    y = w.emit(
        "RoiAlign",
        [w.transposed(w.input(node, 0), NCHW_FROM_NHWC), w.input(node, 1), images],
        output_height=a.bins[0],
        output_width=a.bins[1],
        sampling_ratio=a.samples,
        spatial_scale=a.scale,
        coordinate_transformation_mode="half_pixel" if a.half_pixel else "output_half_pixel",
        mode="max" if a.largest else "avg",
    )
    w.finish(node, y, from_nchw=True)


REGIONS = Operand((3, 4), values=(0.5, 1.0, 6.0, 7.5, -2.0, -3.0, 4.0, 3.0, 5.0, 2.0, 12.0, 20.0))
IMAGES = Operand((3,), dtype="int64", values=(0, 1, 1))

roi_align = OpSpec(
    name="roi_align",
    attrs=RoiAlignAttrs,
    infer=infer,
    forward=forward,
    body=body,
    onnx=(onnx_op("RoiAlign", build=from_onnx),),
    to_onnx=to_onnx,
    cases=(
        case((2, 6, 5, 3), REGIONS, IMAGES, attrs=RoiAlignAttrs((2, 3), 2, 0.5), kinds=("float32",)),
        case((2, 6, 5, 3), REGIONS, IMAGES, attrs=RoiAlignAttrs((3, 2), 3, 1.0, half_pixel=False), kinds=("float32",)),
        case((2, 6, 5, 2), REGIONS, IMAGES, attrs=RoiAlignAttrs((2, 2), 2, 0.5, largest=True), kinds=("float32",)),
    ),
)
