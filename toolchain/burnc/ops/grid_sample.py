"""grid_sample: an image of any number of axes read at places between its elements, channels last.

The grid holds, for each result, its place along the last axis of space first, from -1 to 1; a NaN counts as the least.
Sources: ONNX GridSample-22.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import DType, Node, TensorType, Value
from burnc.kernel.builder import FLOAT32, INT32, KernelBuilder, Tensor
from burnc.kernel.expr import Expr, lift
from burnc.ops.case import Operand, case
from burnc.ops.mapping import FileNode, onnx_op
from burnc.ops.spatial import NCHW_FROM_NHWC, transpose
from burnc.ops.spec import OnnxWriter, OpSpec, required

MODES = {"nearest": 1, "linear": 2, "cubic": 4}
"""How many elements along each axis a result is made of."""
_ONNX_MODES = {"bilinear": "linear", "bicubic": "cubic"}
PADDINGS = ("zeros", "border", "reflection")
ALPHA = -0.75


@dataclass(frozen=True)
class GridSampleAttrs:
    """``align_corners``: -1 and 1 are the middles of the outermost elements, not their outer edges."""

    mode: str = "linear"
    padding: str = "zeros"
    align_corners: bool = False


def infer(a: GridSampleAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x, grid = required(inputs, 0), required(inputs, 1)
    # Of cubic reads beyond the border onnx's reference and onnxruntime have two opinions.
    if a.mode not in MODES or a.padding not in PADDINGS or (a.mode, a.padding) == ("cubic", "border"):
        raise GraphError(f"mode {a.mode!r} with padding {a.padding!r} is not supported")
    if x.dtype is not DType.FLOAT32 or grid.dtype is not DType.FLOAT32:
        raise GraphError(f"image {x} and grid {grid} must be float32")
    if x.rank < 3 or grid.rank != x.rank or grid.shape[0] != x.shape[0] or grid.shape[-1] != x.rank - 2:
        raise GraphError(f"grid {list(grid.shape)} does not go with image {list(x.shape)}")
    return [x.with_shape((*grid.shape[:-1], x.shape[-1]))]


def limits(a: GridSampleAttrs, length: int) -> tuple[float, float]:
    """Where an axis begins and ends in its own units."""
    return (0.0, length - 1.0) if a.align_corners else (-0.5, length - 0.5)


def body(k: KernelBuilder, a: GridSampleAttrs, x: Tensor, grid: Tensor, y: Tensor) -> None:
    space = x.shape[1:-1]
    for n, *place in k.grid(y.shape[:-1]):
        axes = [
            _Axis(k, a, grid[n, *place, len(space) - 1 - axis], length, f"{axis}") for axis, length in enumerate(space)
        ]
        for (c,) in k.reduce(x.shape[-1:], "c"):
            total: Expr = lift(0.0, FLOAT32)
            for corner in product(range(MODES[a.mode]), repeat=len(space)):
                where = [axis.index(i) for axis, i in zip(axes, corner, strict=True)]
                value = x[n, *where, c]
                for axis, i in zip(axes, corner, strict=True):
                    inside = axis.inside[i]
                    if inside is not None:
                        value = k.select(inside, value, 0.0)
                for axis, i in zip(axes, corner, strict=True):
                    if a.mode != "nearest":
                        value = value * axis.weights[i]
                total = k.let("total", value if corner == (0,) * len(space) else total + value)
            y[n, *place, c] = total


class _Axis:
    """The elements along one axis that a result is made of: indices, weights, and whether they are there."""

    def __init__(self, k: KernelBuilder, a: GridSampleAttrs, given: Expr, length: int, suffix: str) -> None:
        low, high = limits(a, length)
        at = (given + 1.0) * 0.5 * (length - 1.0) if a.align_corners else ((given + 1.0) * float(length) - 1.0) * 0.5
        if a.mode == "nearest":
            at = k.call("round_half_even", at)
        at = k.let(f"at{suffix}", at)
        if a.padding == "reflection":
            at = k.let(f"at{suffix}", _reflected(k, at, low, high))
        if a.padding == "border":
            at = k.let(f"at{suffix}", k.select((at < low) | (at > high), _clamped(k, at, 0.0, length - 1.0), at))
        # Farther out nothing else is met; then the numbers fit integers.
        at = k.let(f"at{suffix}", _clamped(k, at, *_reach(a, length)))
        base = k.let(f"base{suffix}", k.call("floor", at))
        rest = at - base if a.mode == "nearest" else k.let(f"rest{suffix}", at - base)
        first = k.let(f"first{suffix}", k.cast(base, INT32))
        self.weights = [k.let(f"weight{suffix}", w) for w in _weights(a.mode, rest)]
        self.inside: list[Expr | None] = []
        self._indices: list[Expr] = []
        begin = 0 if a.mode != "cubic" else -1
        for i in range(MODES[a.mode]):
            index = k.let(f"i{suffix}", first + (begin + i))
            there = k.let(f"there{suffix}", (index >= 0) & (index < length)) if a.padding == "zeros" else None
            self.inside.append(there)
            if a.padding == "reflection":
                index = k.cast(_reflected(k, k.cast(index, FLOAT32), low, high), INT32)
            self._indices.append(k.let(f"i{suffix}", k.minimum(k.maximum(index, 0), length - 1)))

    def index(self, i: int) -> Expr:
        return self._indices[i]


def _reach(a: GridSampleAttrs, length: int) -> tuple[float, float]:
    """Beyond these coordinates a result is the same as at them."""
    return (-4.0, length + 4.0) if a.padding == "zeros" else limits(a, length)


def _clamped(k: KernelBuilder, value: Expr, low: float, high: float) -> Expr:
    """Between two numbers; NaN, for which no comparison holds, becomes the lower."""
    return k.select(value > low, k.select(value < high, value, lift(high, FLOAT32)), lift(low, FLOAT32))


def _reflected(k: KernelBuilder, value: Expr, low: float, high: float) -> Expr:
    if high <= low:  # one element between its own middles
        return lift(0.0, FLOAT32)
    off = value - low
    off = k.let("off", k.select(off < 0.0, -off, off))
    turns = k.let("turns", k.call("floor", off / (high - low)))
    rest = off - turns * (high - low)
    half = turns * 0.5
    back = k.select(half.eq(k.call("floor", half)), low + rest, high - rest)
    return k.select((value < low) | (value > high), back, value)


def _weights(mode: str, rest: Any) -> list[Any]:
    """Of the elements around a place that lies ``rest`` behind one of them; Keys' cubic convolution."""
    if mode == "nearest":
        return []
    if mode == "linear":
        return [1.0 - rest, rest]
    far, near = rest + 1.0, 1.0 - rest
    beyond = 2.0 - rest
    return [
        ((ALPHA * far - 5 * ALPHA) * far + 8 * ALPHA) * far - 4 * ALPHA,
        ((ALPHA + 2) * rest - (ALPHA + 3)) * rest * rest + 1.0,
        ((ALPHA + 2) * near - (ALPHA + 3)) * near * near + 1.0,
        ((ALPHA * beyond - 5 * ALPHA) * beyond + 8 * ALPHA) * beyond - 4 * ALPHA,
    ]


def forward(xp: Any, a: GridSampleAttrs, x: Any, grid: Any) -> Any:
    space = x.shape[1:-1]
    parts = [_along(xp, a, grid[..., len(space) - 1 - axis], length) for axis, length in enumerate(space)]
    batch = xp.arange(x.shape[0]).reshape((-1,) + (1,) * len(space))
    total = xp.zeros((*grid.shape[:-1], x.shape[-1]), x.dtype)
    for corner in product(range(MODES[a.mode]), repeat=len(space)):
        indices, weights, inside = zip(*(part[i] for part, i in zip(parts, corner, strict=True)), strict=True)
        value = x[(batch, *indices)]
        there = np.logical_and.reduce(inside)[..., None]
        value = xp.where(there, value, 0.0).astype(x.dtype)
        for weight in weights:
            value = value * weight[..., None]
        total = total + value
    return total


def _along(xp: Any, a: GridSampleAttrs, given: Any, length: int) -> list[tuple[Any, Any, Any]]:
    """(indices, weights, whether there) of the elements along one axis."""
    one, (low, high) = np.float32(1), limits(a, length)
    at = (
        (given + one) / 2 * np.float32(length - 1)
        if a.align_corners
        else ((given + one) * np.float32(length) - one) / 2
    )
    at = xp.rint(at) if a.mode == "nearest" else at
    at = _mirrored(xp, at, low, high) if a.padding == "reflection" else at
    if a.padding == "border":
        at = xp.where((at < low) | (at > high), xp.clip(at, 0, length - 1), at)
    first, last = _reach(a, length)
    at = xp.where(xp.isnan(at), first, xp.clip(at, first, last)).astype(given.dtype)
    base = xp.floor(at)
    weights = _weights(a.mode, at - base) or [xp.ones_like(at)]
    found = []
    for i, weight in enumerate(weights):
        index = base.astype(np.int64) + i - (a.mode == "cubic")
        inside = (index >= 0) & (index < length) | (a.padding != "zeros")
        if a.padding == "reflection":
            index = _mirrored(xp, index.astype(given.dtype), low, high).astype(np.int64)
        found.append((xp.clip(index, 0, length - 1), weight.astype(given.dtype), inside))
    return found


def _mirrored(xp: Any, value: Any, low: float, high: float) -> Any:
    if high <= low:
        return xp.zeros_like(value)
    off = xp.abs(value - np.float32(low))
    turns = xp.floor(off / np.float32(high - low))
    rest = off - turns * np.float32(high - low)
    back = xp.where(turns % 2 == 0, np.float32(low) + rest, np.float32(high) - rest)
    return xp.where((value < low) | (value > high), back, value)


def from_onnx(node: FileNode) -> list[Value]:
    mode = node.attribute("mode", "linear")
    flags = (node.attribute("padding_mode", "zeros"), bool(node.attribute("align_corners", 0)))
    x, rank = node.input(0), node.input(0).type.rank
    moved = transpose(node, x, (0, *range(2, rank), 1))
    attrs = GridSampleAttrs(_ONNX_MODES.get(mode, mode), *flags)
    y = node.emit("grid_sample", [moved, node.input(1)], attrs, last=False)
    return [transpose(node, y, (0, rank - 1, *range(1, rank - 1)), last=True)]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: GridSampleAttrs = node.attrs
    if node.input(0).type.rank != 4:
        raise GraphError("ONNX samples images of two axes alone before opset 20", where=f"node {node.name!r}")
    mode = {ours: theirs for theirs, ours in _ONNX_MODES.items()}.get(a.mode, a.mode)
    inputs = [w.transposed(w.input(node, 0), NCHW_FROM_NHWC), w.input(node, 1)]
    y = w.emit("GridSample", inputs, mode=mode, padding_mode=a.padding, align_corners=int(a.align_corners))
    w.finish(node, y, from_nchw=True)


GRID = Operand((2, 3, 4, 2), low=-2, high=2)
FAR = Operand((1, 2, 3, 2), values=(-1.0, 1.0, 0.0, -30.0, 1e9, 0.2, -1e9, 9.9, 0.5, -0.5, 1.2, -1.1))

grid_sample = OpSpec(
    name="grid_sample",
    attrs=GridSampleAttrs,
    infer=infer,
    forward=forward,
    body=body,
    onnx=(onnx_op("GridSample", build=from_onnx),),
    to_onnx=to_onnx,
    cases=(
        *(
            case((2, 4, 5, 3), GRID, attrs=GridSampleAttrs(mode, padding, align), kinds=("float32",))
            for mode, padding, align in zip(
                ("nearest", "linear", "cubic", "linear", "nearest", "linear", "linear", "cubic"),
                ("zeros", "zeros", "zeros", "border", "border", "reflection", "reflection", "reflection"),
                (False, True, False, False, True, True, False, False),
                strict=True,
            )
        ),
        case((1, 4, 5, 2), FAR, attrs=GridSampleAttrs("linear", "zeros"), kinds=("float32",)),
    ),
)
