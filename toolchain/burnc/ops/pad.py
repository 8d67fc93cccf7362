"""pad: elements added before and after each axis; a real value, or read from the tensor itself.

Sources: ONNX Pad-21 (constant, reflect, edge, wrap); TFLite PAD, PADV2, MIRROR_PAD. A quantized tensor is padded with
the quantized value: for 0 that is the zero point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Array, Builder, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.numerics import quantize
from burnc.ops.case import ALL_KINDS, Operand, case
from burnc.ops.image_rows import ROWS, RowsRead
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.requantize import Integers
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, required
from burnc.ops.transpose import TransposeAttrs

MODES = ("constant", "reflect", "edge", "wrap")


@dataclass(frozen=True)
class PadAttrs:
    """``pads`` holds (before, after) for each axis."""

    pads: tuple[tuple[int, int], ...] = ()
    value: float = 0.0
    mode: str = "constant"


def infer(a: PadAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if len(a.pads) != x.rank:
        raise GraphError(f"{len(a.pads)} pairs of pads for shape {list(x.shape)}")
    if any(n < 0 for pair in a.pads for n in pair):
        raise GraphError(f"negative pads {list(a.pads)} are not supported")
    if a.mode not in MODES:
        raise GraphError(f"mode {a.mode!r} is unknown; known are {', '.join(MODES)}")
    limits = {"reflect": -1, "wrap": 0}
    if a.mode in limits and any(max(p) > n + limits[a.mode] for p, n in zip(a.pads, x.shape, strict=True)):
        raise GraphError(f"pads {list(a.pads)} reach further than shape {list(x.shape)} has elements to {a.mode}")
    return [x.with_shape([b + n + e for (b, e), n in zip(a.pads, x.shape, strict=True)]).with_quant(None)]


def quantized_value(a: PadAttrs, type_: TensorType) -> int:
    return int(quantize(np.float32(a.value), type_, "half_away"))


def body(k: KernelBuilder, a: PadAttrs, x: Tensor, y: Tensor) -> None:
    if a.mode == "constant":
        # Reads of a quantized kernel are centred; unquantized integers are padded with the value as it is.
        outside = quantized_value(a, x.type) - x.type.zero_point if k.quantized else a.value
        for i in k.grid(y.shape):
            element = x.at(*(index - before for index, (before, _) in zip(i, a.pads, strict=True)), outside=outside)
            y[i] = k.to_output(element) if k.quantized else element
        return
    for i in k.grid(y.shape):
        y[i] = x.raw(*(_source(k, a, axis, index, x.shape[axis]) for axis, index in enumerate(i)))


def _source(k: KernelBuilder, a: PadAttrs, axis: int, index: Expr, extent: int) -> Expr:
    """Where along one axis an element is read from."""
    if a.pads[axis] == (0, 0):
        return index
    return k.table(f"source{axis}", np.pad(np.arange(extent, dtype=np.int32), a.pads[axis], mode=a.mode)).raw(index)  # type: ignore[call-overload]


def forward(xp: Any, a: PadAttrs, x: Any) -> Any:
    if a.mode == "constant":
        return xp.pad(x, a.pads, constant_values=np.array(a.value).astype(x.dtype))
    return xp.pad(x, a.pads, mode=a.mode)


def integer(node: Node, x: Integers) -> Integers:
    a: PadAttrs = node.attrs
    if a.mode != "constant":
        return np.pad(x, a.pads, mode=a.mode)  # type: ignore[call-overload,no-any-return]
    return np.pad(x, a.pads, constant_values=quantized_value(a, node.input(0).type))


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    a: PadAttrs = node.attrs
    shape = node.input(0).type.shape
    if a.mode == "constant":
        box = b.operators["slice"].attrs(tuple(before for before, _ in a.pads), shape)
        return [b.node("slice", [dy], box)]
    for axis, pads in enumerate(a.pads):
        if pads != (0, 0):
            source = np.pad(np.arange(shape[axis]), pads, mode=a.mode)  # type: ignore[call-overload]
            dy = unread(b, dy, axis, source, shape[axis])
    return [dy]


def unread(b: Builder, dy: Value, axis: int, source: Array, extent: int) -> Value:
    """The gradient of what was read at ``source`` along an axis: a product with the 0/1 matrix that says which."""
    matrix = b.constant("source", (source[:, None] == np.arange(extent)).astype(dy.type.dtype.numpy))
    swap = list(range(dy.type.rank))
    swap[axis], swap[-1] = swap[-1], swap[axis]
    turned = b.node("transpose", [dy], TransposeAttrs(tuple(swap)))
    return b.node("transpose", [b.node("matmul", [turned, matrix])], TransposeAttrs(tuple(swap)))


def permuted(a: PadAttrs, permutation: Sequence[int]) -> PadAttrs:
    return replace(a, pads=tuple(a.pads[permutation.index(axis)] for axis in range(len(permutation))))


def from_onnx(node: FileNode) -> list[Value]:
    x = node.input(0)
    mode = node.attribute("mode", "constant")
    if mode not in MODES:
        node.refuse(f"mode {mode!r} is unknown")
    given = node.constant(1, "the pads").reshape(-1) if node.has_input(1) else np.array(node.attribute("pads", ()))
    axes = node.constant(3, "the axes").reshape(-1).tolist() if node.has_input(3) else list(range(x.type.rank))
    if len(given) != 2 * len(axes) or any(not -x.type.rank <= axis < x.type.rank for axis in axes):
        node.refuse(f"pads {given.tolist()} for axes {axes} do not go with shape {list(x.type.shape)}")
    pads = [(0, 0)] * x.type.rank
    for i, axis in enumerate(axes):
        pads[axis] = (int(given[i]), int(given[len(axes) + i]))
    value = float(node.attribute("value", node.zero))
    if mode != "constant":
        value = 0.0  # given or not, it means nothing
    elif node.has_input(2):
        data = node.constant(2, "the padding value").reshape(-1)
        if data.size > 1:
            node.refuse(f"the padding value has {data.size} elements")
        value = float(data[0]) if data.size else node.zero
    if any(n < 0 for pair in pads for n in pair):
        if mode != "constant":
            node.refuse(f"negative pads {given.tolist()} are not supported in mode {mode}")
        x = _cropped(node, x, pads)
        pads = [(max(before, 0), max(after, 0)) for before, after in pads]
    return [node.emit("pad", [x], PadAttrs(tuple(pads), value, mode))]


def _cropped(node: FileNode, x: Value, pads: Sequence[tuple[int, int]]) -> Value:
    """What negative padding leaves of an operand."""
    cut = [(-min(before, 0), -min(after, 0)) for before, after in pads]
    sizes = [n - sum(pair) for n, pair in zip(x.type.shape, cut, strict=True)]
    if min(sizes) < 1:
        node.refuse(f"negative pads {list(pads)} leave nothing of {list(x.type.shape)}")
    attrs = node.builder.operators["slice"].attrs(tuple(before for before, _ in cut), tuple(sizes))
    return node.emit("slice", [x], attrs, last=False)


def from_tflite(node: FileNode) -> list[Value]:
    x = node.input(0)
    pads = node.constant(1, "the paddings").reshape(-1, 2).tolist()
    value = 0.0
    if node.has_input(2):
        data, type_ = node.constant(2, "the padding value"), node.input(2).type
        value = float(data.reshape(()))
        if type_.quant is not None:
            if type_.quant != x.type.quant:
                node.refuse(f"the padding value is quantized as {type_}, the input as {x.type}")
            value = (value - type_.zero_point) * type_.scale
    return [node.emit("pad", [x], PadAttrs(tuple((int(b), int(e)) for b, e in pads), value))]


def from_tflite_mirror(node: FileNode) -> list[Value]:
    """REFLECT leaves the border out, SYMMETRIC repeats it: then each axis is gathered at constant places."""
    x = node.input(0)
    pads = [(int(b), int(e)) for b, e in node.constant(1, "the paddings").reshape(-1, 2)]
    if node.attribute("mode") == "REFLECT":
        return [node.emit("pad", [x], PadAttrs(tuple(pads), mode="reflect"))]
    if len(pads) != x.type.rank or any(max(p) > n or min(p) < 0 for p, n in zip(pads, x.type.shape, strict=True)):
        node.refuse(f"paddings {pads} do not go with shape {list(x.type.shape)}")
    padded = [axis for axis, pair in enumerate(pads) if pair != (0, 0)]
    for axis in padded:
        places = np.pad(np.arange(x.type.shape[axis], dtype=np.int32), pads[axis], mode="symmetric")
        operands = [x, node.new_constant(f"places{axis}", places)]
        attrs = node.builder.operators["gather"].attrs(axis)
        if axis == padded[-1]:
            return [node.emit("gather", operands, attrs)]
        x = node.emit("gather", operands, attrs, last=False, quant=x.type.quant)
    return [x]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: PadAttrs = node.attrs
    pads = np.array([b for b, _ in a.pads] + [e for _, e in a.pads], np.int64)
    value = np.array(a.value, node.input(0).type.dtype.numpy if node.input(0).type.quant is None else np.float32)
    inputs = [w.input(node, 0), w.constant(pads, "pads")]
    if a.mode == "constant":
        inputs.append(w.constant(value, "value"))
    w.emit("Pad", inputs, [w.output(node)], mode=a.mode)


def rows_within_padding(node: Node, first: int, last: int) -> RowsRead | None:
    a, height = node.attrs, node.input(0).type.shape[ROWS]
    if a.mode != "constant":
        return None
    above, below = first - a.pads[ROWS][0], last - a.pads[ROWS][0]
    begin, end = max(0, above), min(height, below)
    pads = (*a.pads[:ROWS], (begin - above, below - end), *a.pads[ROWS + 1 :])
    return RowsRead(begin, end, replace(a, pads=pads))


pad = OpSpec(
    name="pad",
    attrs=PadAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    gradient=gradient,
    quant=QuantRule(result="same", dtypes=QUANTIZED),
    rows=rows_within_padding,
    onnx=(onnx_op("Pad", build=from_onnx),),
    tflite=(
        tflite_op("PAD", build=from_tflite),
        tflite_op("PADV2", build=from_tflite),
        tflite_op("MIRROR_PAD", build=from_tflite_mirror),
    ),
    to_onnx=to_onnx,
    permuted=permuted,
    cases=(
        case((1, 4, 4, 2), attrs=PadAttrs(((0, 0), (1, 1), (1, 1), (0, 0)))),
        case((2, 3), attrs=PadAttrs(((0, 2), (1, 0))), kinds=ALL_KINDS),
        case((1, 3), attrs=PadAttrs(((0, 0), (1, 2)), value=0.5)),
        case((2, 3), attrs=PadAttrs(((1, 0), (0, 1)), value=-1000.0)),
        case((2, 5), attrs=PadAttrs(((0, 0), (2, 1)), mode="reflect")),
        case((2, 4), attrs=PadAttrs(((1, 1), (2, 3)), mode="edge")),
        case((3, 4), attrs=PadAttrs(((1, 2), (0, 3)), mode="wrap")),
        case(Operand((2, 2), dtype="int32", low=-9, high=9), attrs=PadAttrs(((0, 1), (1, 0)), 7.0), kinds=("float32",)),
    ),
)
