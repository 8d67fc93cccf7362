"""col2im: columns of windows added up at their places in an image of any number of axes. Sources: ONNX Col2Im-18."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.ops.case import case
from burnc.ops.mapping import FileNode, onnx_op
from burnc.ops.spec import OnnxWriter, OpSpec, required


@dataclass(frozen=True)
class Col2ImAttrs:
    """All but ``image`` and ``block`` have one value an axis of the image; ``pads`` are (begin, end)."""

    image: tuple[int, ...] = (1, 1)
    block: tuple[int, ...] = (1, 1)
    strides: tuple[int, ...] = (1, 1)
    dilations: tuple[int, ...] = (1, 1)
    pads: tuple[tuple[int, int], ...] = ((0, 0), (0, 0))

    @property
    def windows(self) -> tuple[int, ...]:
        """How many windows there are along each axis."""
        rows = zip(self.image, self.block, self.strides, self.dilations, self.pads, strict=True)
        return tuple((n + b + e - d * (w - 1) - 1) // s + 1 for n, w, s, d, (b, e) in rows)


def infer(a: Col2ImAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    counts = [len(given) for given in (a.image, a.block, a.strides, a.dilations, a.pads)]
    if len(set(counts)) != 1 or min(*a.image, *a.block, *a.strides, *a.dilations) < 1:
        raise GraphError(f"blocks {list(a.block)} do not go with an image {list(a.image)}")
    block, windows = math.prod(a.block), a.windows
    if (
        not x.dtype.is_float
        or x.rank != 3
        or x.shape[1] % block
        or x.shape[2] != math.prod(windows)
        or min(windows) < 1
    ):
        raise GraphError(f"columns {x} are none of blocks {list(a.block)} of an image {list(a.image)}")
    return [x.with_shape((x.shape[0], x.shape[1] // block, *a.image))]


def body(k: KernelBuilder, a: Col2ImAttrs, x: Tensor, y: Tensor) -> None:
    windows = a.windows
    for n, c, *place in k.grid(y.shape):
        total = k.local("total", 0.0, x.type.dtype)
        for offsets in k.reduce(a.block, " ".join("uvwst"[: len(a.block)])):
            inside: Expr | None = None
            row, column = c * 1, n * 0
            for axis, offset in enumerate(offsets):
                row = row * a.block[axis] + offset
                begin = k.let("begin", place[axis] + a.pads[axis][0] - offset * a.dilations[axis])
                positive = k.let("positive", k.maximum(begin, 0))
                window = k.let("window", positive // a.strides[axis])
                fits = (begin >= 0) & (window < windows[axis]) & (positive % a.strides[axis]).eq(0)
                inside = fits if inside is None else inside & fits
                column = column * windows[axis] + window
            assert inside is not None
            with k.when(inside):
                total += x[n, row, column]
        y[n, c, *place] = total.value


def forward(xp: Any, a: Col2ImAttrs, x: Any) -> Any:
    count, windows = x.shape[0], a.windows
    columns = x.reshape(count, -1, *a.block, *windows)
    borders = [(n + b + e, b) for n, (b, e) in zip(a.image, a.pads, strict=True)]
    y = xp.zeros((count, columns.shape[1], *(size for size, _ in borders)), x.dtype)
    for offsets in product(*map(range, a.block)):
        box = tuple(
            slice(o * d, o * d + s * (m - 1) + 1, s)
            for o, d, s, m in zip(offsets, a.dilations, a.strides, windows, strict=True)
        )
        y[(slice(None), slice(None), *box)] += columns[(slice(None), slice(None), *offsets)]
    inner = tuple(slice(b, b + n) for n, (_, b) in zip(a.image, borders, strict=True))
    return xp.ascontiguousarray(y[(slice(None), slice(None), *inner)])


def from_onnx(node: FileNode) -> list[Value]:
    image, block = (
        tuple(int(n) for n in node.constant(i, what).reshape(-1))
        for i, what in ((1, "the image's shape"), (2, "the block's shape"))
    )
    rank = len(image)
    pads = node.integers("pads", 2 * rank, 0)
    pairs = tuple(zip(pads[:rank], pads[rank:], strict=True))
    attrs = Col2ImAttrs(image, block, node.integers("strides", rank, 1), node.integers("dilations", rank, 1), pairs)
    return [node.emit("col2im", [node.input(0)], attrs)]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: Col2ImAttrs = node.attrs
    shapes = [w.constant(np.array(s, np.int64), hint) for s, hint in ((a.image, "image"), (a.block, "block"))]
    pads = [b for b, _ in a.pads] + [e for _, e in a.pads]
    inputs, results = [w.input(node, 0), *shapes], [w.output(node)]
    w.emit("Col2Im", inputs, results, strides=list(a.strides), dilations=list(a.dilations), pads=pads)


col2im = OpSpec(
    name="col2im",
    attrs=Col2ImAttrs,
    infer=infer,
    forward=forward,
    body=body,
    onnx=(onnx_op("Col2Im", build=from_onnx),),
    to_onnx=to_onnx,
    cases=(
        case((1, 8, 6), attrs=Col2ImAttrs((3, 4), (2, 2)), kinds=("float32",)),
        case(
            (2, 12, 6),
            attrs=Col2ImAttrs((5, 6), (2, 3), (2, 1), (2, 2), ((0, 1), (1, 0))),
            kinds=("float32",),
        ),
    ),
)
