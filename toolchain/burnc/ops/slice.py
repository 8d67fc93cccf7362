"""slice: a box cut out of a tensor: ``sizes`` elements from ``starts`` on, in ``steps`` that may go backwards.

Sources: ONNX Slice-13, Split-18; TFLite SLICE, STRIDED_SLICE, SPLIT, SPLIT_V, UNPACK.

An end beyond either side is clamped as ONNX's text says: with a negative step the largest integer means the last
element, so the slice holds nothing. Such a one that goes backwards is refused: onnxruntime takes it for "up to the
first element".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Builder, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.case import ALL_KINDS, Operand, case
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.pad import PadAttrs, unread
from burnc.ops.requantize import Integers
from burnc.ops.spec import NARROW, OnnxWriter, OpSpec, QuantRule, required

INT64_MIN = -(2**63)


@dataclass(frozen=True)
class SliceAttrs:
    """``steps`` may be left out: each is 1 then."""

    starts: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()

    @property
    def every_step(self) -> tuple[int, ...]:
        return self.steps or (1,) * len(self.starts)


def infer(a: SliceAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if not len(a.starts) == len(a.sizes) == len(a.every_step) == x.rank:
        raise GraphError(f"starts {list(a.starts)} and sizes {list(a.sizes)} for shape {list(x.shape)}")
    for start, size, step, extent in zip(a.starts, a.sizes, a.every_step, x.shape, strict=True):
        last = start + (size - 1) * step
        inside = 0 <= start < extent and 0 <= last < extent if size else 0 <= start <= extent
        if size < 0 or step == 0 or not inside:
            raise GraphError(f"{list(a.sizes)} elements from {list(a.starts)} on do not lie in shape {list(x.shape)}")
    return [x.with_shape(a.sizes).with_quant(None)]


def body(k: KernelBuilder, a: SliceAttrs, x: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        places = zip(i, a.starts, a.every_step, strict=True)
        y[i] = x.raw(*(index * step + start for index, start, step in places))


def _indices(a: SliceAttrs) -> list[tuple[int, int, int]]:
    return list(zip(a.starts, a.sizes, a.every_step, strict=True))


def forward(xp: Any, a: SliceAttrs, x: Any) -> Any:
    box = []
    for start, size, step in _indices(a):
        end = start + size * step
        box.append(slice(start, None if end < 0 else end, step))
    return xp.ascontiguousarray(x[tuple(box)]).reshape(a.sizes)


def integer(node: Node, x: Integers) -> Integers:
    a: SliceAttrs = node.attrs
    for axis, (start, size, step) in enumerate(_indices(a)):
        x = np.take(x, start + step * np.arange(size), axis=axis)
    return x


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    a: SliceAttrs = node.attrs
    extents = node.input(0).type.shape
    if set(a.every_step) <= {1}:
        pads = tuple((s, extent - s - n) for s, n, extent in zip(a.starts, a.sizes, extents, strict=True))
        return [b.node("pad", [dy], PadAttrs(pads))]
    for axis, (start, size, step) in enumerate(_indices(a)):
        dy = unread(b, dy, axis, start + step * np.arange(size), extents[axis])
    return [dy]


def permuted(a: SliceAttrs, permutation: Sequence[int]) -> SliceAttrs:
    order = [list(permutation).index(axis) for axis in range(len(permutation))]
    return SliceAttrs(*(tuple(v[i] for i in order) if v else () for v in (a.starts, a.sizes, a.steps)))


def box(
    node: FileNode, ranges: Sequence[slice], x: Value | None = None, output: int = 0, *, last: bool = True
) -> Value:
    """The part of an input that Python's slices mean, for the file node's ``output``-th result."""
    x = node.input(0) if x is None else x
    limits = [r.indices(n) for r, n in zip(ranges, x.type.shape, strict=True)]
    starts, steps = tuple(s for s, _, _ in limits), tuple(step for _, _, step in limits)
    sizes = tuple(max(0, -(-(e - s) // step)) for s, e, step in limits)
    if any(size == 0 and step < 0 for size, step in zip(sizes, steps, strict=True)):
        node.refuse(f"the result {list(sizes)} of a slice that goes backwards holds nothing")
    if sizes == x.type.shape and set(steps) <= {1} and node.output_quant in (None, x.type.quant):
        return x  # it takes all there is
    attrs = SliceAttrs(starts, sizes, () if set(steps) <= {1} else steps)
    if not last:
        return node.emit("slice", [x], attrs, last=False, quant=x.type.quant)
    names = [name for name in node.output_names[output : output + 1] if name] or [f"{node.name}.{output}"]
    if output == 0:
        return node.emit("slice", [x], attrs, outputs=names)
    return node.builder.node("slice", [x], attrs, name=f"{node.name}.{output}", outputs=names, quant=x.type.quant)


def parts(node: FileNode, axis: int, sizes: Sequence[int], x: Value | None = None, *, last: bool = True) -> list[Value]:
    """Consecutive parts along an axis, one a result."""
    x = node.input(0) if x is None else x
    rank = x.type.rank
    if not -rank <= axis < rank:
        node.refuse(f"axis {axis} is out of range for shape {list(x.type.shape)}")
    axis %= rank
    if any(n < 0 for n in sizes) or sum(sizes) != x.type.shape[axis]:
        node.refuse(f"parts of {list(sizes)} do not fill axis {axis} of shape {list(x.type.shape)}")
    found, start = [], 0
    for output, size in enumerate(sizes):
        ranges = [slice(None)] * rank
        ranges[axis] = slice(start, start + size)
        found.append(box(node, ranges, x, output, last=last))
        start += size
    return found


def from_onnx(node: FileNode) -> list[Value]:
    shape = node.input(0).type.shape
    starts = [int(v) for v in node.constant(1, "starts").reshape(-1)]
    ends = [int(v) for v in node.constant(2, "ends").reshape(-1)]
    axes = [int(v) for v in node.constant(3, "axes").reshape(-1)] if node.has_input(3) else list(range(len(starts)))
    steps = [int(v) for v in node.constant(4, "steps").reshape(-1)] if node.has_input(4) else [1] * len(axes)
    if any(not -len(shape) <= axis < len(shape) for axis in axes) or 0 in steps:
        node.refuse(f"steps {steps} along axes {axes} do not go with shape {list(shape)}")
    ranges = [slice(None)] * len(shape)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        ranges[axis] = slice(start, end, step)
    return [box(node, ranges)]


def from_onnx_split(node: FileNode) -> list[Value]:
    axis, count = int(node.attribute("axis", 0)), len(node.output_names)
    shape = node.input(0).type.shape
    if not -len(shape) <= axis < len(shape):
        node.refuse(f"axis {axis} is out of range for shape {list(shape)}")
    if node.has_input(1):
        sizes = [int(v) for v in node.constant(1, "the sizes").reshape(-1)]
    else:
        # The last part is smaller where they do not come out even.
        extent, number = shape[axis], int(node.attribute("num_outputs", count))
        each = -(-extent // number)
        sizes = [min(each, max(0, extent - i * each)) for i in range(number)]
    if len(sizes) != count:
        node.refuse(f"{len(sizes)} parts, but {count} outputs")
    return parts(node, axis, sizes)


def from_tflite_slice(node: FileNode) -> list[Value]:
    begins = node.constant(1, "begin").reshape(-1).tolist()
    sizes = node.constant(2, "size").reshape(-1).tolist()
    if len(begins) != len(sizes) or len(begins) != node.input(0).type.rank or min(begins, default=0) < 0:
        node.refuse(f"begin {begins} and size {sizes} for shape {list(node.input(0).type.shape)}")
    return [box(node, [slice(b, None if n == -1 else b + n) for b, n in zip(begins, sizes, strict=True)])]


def from_tflite_strided_slice(node: FileNode) -> list[Value]:
    """Bit i of each mask belongs to entry i of begin, end and strides, an ellipsis standing for several axes."""
    x = node.input(0)
    begins, ends, steps = (node.constant(i, what).reshape(-1) for i, what in ((1, "begin"), (2, "end"), (3, "strides")))
    masks = {
        name: int(node.attribute(f"{name}_mask", 0)) for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    if masks["ellipsis"].bit_count() > 1 or not all(steps) or not len(begins) == len(ends) == len(steps):
        node.refuse(f"masks {masks} with strides {steps.tolist()}")
    given = [i for i in range(len(begins)) if not (masks["new_axis"] | masks["ellipsis"]) >> i & 1]
    rest = x.type.rank - len(given)
    if rest < 0:
        node.refuse(f"{len(given)} entries for shape {list(x.type.shape)}")
    ranges: list[slice] = []
    shape: list[int | None] = []  # None: the size of the next range; 0: dropped
    for i, (begin, end, step) in enumerate(zip(begins.tolist(), ends.tolist(), steps.tolist(), strict=True)):
        bit = 1 << i
        if masks["ellipsis"] & bit:
            ranges += [slice(None)] * rest
            shape += [None] * rest
            rest = 0
        elif masks["new_axis"] & bit:
            shape.append(1)
        elif masks["shrink_axis"] & bit:
            extent = x.type.shape[len(ranges)]
            if not -extent <= begin < extent:
                node.refuse(f"index {begin} is out of range for axis {len(ranges)} of shape {list(x.type.shape)}")
            ranges.append(slice(begin % extent, begin % extent + 1))
            shape.append(0)
        else:
            first, behind = (None if masks[m] & bit else v for m, v in (("begin", begin), ("end", end)))
            if node.attribute("offset", False) and behind is not None and first is not None:
                behind += first
            ranges.append(slice(first, behind, step))
            shape.append(None)
    ranges += [slice(None)] * rest
    shape += [None] * rest
    if all(n is None for n in shape):
        return [box(node, ranges)]
    y = box(node, ranges, last=False)
    sizes = iter(y.type.shape)
    result = [1 if n == 1 else (next(sizes), n) for n in shape]
    kept = tuple(n if isinstance(n, int) else n[0] for n in result if isinstance(n, int) or n[1] is None)
    return [node.emit("reshape", [y], node.builder.operators["reshape"].attrs(kept))]


def from_tflite_split(node: FileNode) -> list[Value]:
    axis, x = int(node.constant(0, "the axis").reshape(())), node.input(1)
    count = int(node.attribute("num_splits", len(node.output_names)))
    if not -x.type.rank <= axis < x.type.rank or count < 1 or x.type.shape[axis] % count:
        node.refuse(f"axis {axis} of shape {list(x.type.shape)} does not split into {count} equal parts")
    return parts(node, axis, [x.type.shape[axis] // count] * count, x)


def from_tflite_split_v(node: FileNode) -> list[Value]:
    x = node.input(0)
    sizes = [int(n) for n in node.constant(1, "the sizes").reshape(-1)]
    axis = int(node.constant(2, "the axis").reshape(()))
    if sizes.count(-1) == 1 and -x.type.rank <= axis < x.type.rank:
        sizes[sizes.index(-1)] = x.type.shape[axis] - sum(sizes) - 1
    return parts(node, axis, sizes)


def from_tflite_unpack(node: FileNode) -> list[Value]:
    x, axis = node.input(0), int(node.attribute("axis", 0))
    if not -x.type.rank <= axis < x.type.rank or node.attribute("num", 0) != x.type.shape[axis]:
        node.refuse(f"axis {axis} of shape {list(x.type.shape)} has no {node.attribute('num', 0)} elements")
    axis %= x.type.rank
    found = []
    for output, part in enumerate(parts(node, axis, [1] * x.type.shape[axis], last=False)):
        attrs = node.builder.operators["reshape"].attrs((*x.type.shape[:axis], *x.type.shape[axis + 1 :]))
        name, names = f"{node.name}.{output}", node.output_names[output : output + 1]
        found.append(node.builder.node("reshape", [part], attrs, name=name, outputs=names, quant=x.type.quant))
    return found


def from_tflite_reverse(node: FileNode) -> list[Value]:
    x, axes = node.input(0), node.constant(1, "the axes").reshape(-1).tolist()
    if any(not -x.type.rank <= axis < x.type.rank for axis in axes):
        node.refuse(f"axes {axes} are no axes of shape {list(x.type.shape)}")
    turned = {axis % x.type.rank for axis in axes}
    ends = [(n - 1, -1) if i in turned else (0, 1) for i, n in enumerate(x.type.shape)]
    starts, steps = (tuple(column) for column in zip(*ends, strict=True))
    return [node.emit("slice", [x], SliceAttrs(starts, x.type.shape, steps))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: SliceAttrs = node.attrs
    ends = [s + n * step for s, n, step in _indices(a)]
    ends = [INT64_MIN if e < 0 else e for e in ends]
    axes = range(len(ends))
    lists = ((a.starts, "starts"), (ends, "ends"), (axes, "axes"), (a.every_step, "steps"))
    bounds = [w.constant(np.array(v, np.int64), hint) for v, hint in lists[: 4 if a.steps else 2]]
    w.emit("Slice", [w.input(node, 0), *bounds], [w.output(node)])


def contiguous_part(node: Node) -> int | None:
    """Of a slice whose elements lie side by side in its input, the byte where they begin."""
    shape, a = node.input(0).type.shape, node.attrs
    if any(step != 1 and size > 1 for step, size in zip(a.every_step, a.sizes, strict=True)):
        return None
    outermost = next((axis for axis, size in enumerate(a.sizes) if size != 1), len(shape))
    if any(a.sizes[axis] != shape[axis] for axis in range(outermost + 1, len(shape))):
        return None
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    elements: int = sum(s * n for s, n in zip(a.starts, strides, strict=True))
    return elements * node.output.type.dtype.bytes


slice_ = OpSpec(
    name="slice",
    attrs=SliceAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    gradient=gradient,
    quant=QuantRule(result="same", dtypes=NARROW),
    part=contiguous_part,
    onnx=(onnx_op("Slice", build=from_onnx), onnx_op("Split", build=from_onnx_split)),
    tflite=(
        tflite_op("SLICE", build=from_tflite_slice),
        tflite_op("STRIDED_SLICE", build=from_tflite_strided_slice),
        tflite_op("SPLIT", build=from_tflite_split),
        tflite_op("SPLIT_V", build=from_tflite_split_v),
        tflite_op("UNPACK", build=from_tflite_unpack),
        tflite_op("REVERSE_V2", build=from_tflite_reverse),
    ),
    to_onnx=to_onnx,
    permuted=permuted,
    cases=(
        case((3, 4, 5), attrs=SliceAttrs((1, 0, 2), (2, 4, 1)), kinds=ALL_KINDS),
        case((6,), attrs=SliceAttrs((5,), (1,)), kinds=("float32",)),
        case((3, 7), attrs=SliceAttrs((2, 6), (3, 3), (-1, -3))),
        case((2, 9), attrs=SliceAttrs((0, 1), (2, 4), (1, 2)), kinds=("float32",)),
        case(Operand((5,), dtype="int64", low=-9, high=9), attrs=SliceAttrs((4,), (2,), (-4,)), kinds=("float32",)),
    ),
)
