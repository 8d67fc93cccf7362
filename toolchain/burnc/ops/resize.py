"""resize: another number of points along any axes, nearest, linear or cubic.

Along each axis a result is a sum of a few inputs (one for nearest, two for linear, four for cubic, more where
antialiasing shrinks), whose places and weights follow from the sizes alone. They are computed here once; the kernel
reads them from tables.

Sources: ONNX Resize-19; TFLite RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR; integers as TFLite Micro's reference kernels:
weights in steps of 1/1024, the sum of 2-D products rounded once, halves away from zero. TFLite counts places in such
steps too, so that they drift along an axis; a node whose rounding is not TFLite's has the exact ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Array, DType, Node, TensorType, Value
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.ops.case import ALL_KINDS, Operand, case
from burnc.ops.interpolation import COORDINATES, NEAREST, ONE, Axis, Interpolation
from burnc.ops.mapping import FileNode, OldForm, onnx_op, tflite_op
from burnc.ops.requantize import Integers
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, required


@dataclass(frozen=True)
class ResizeAttrs:
    """How many points, and how they are made.

    Attributes:
        shape: of the result.
        scales: where the file gives them instead.
        rounding: nearest's.
        cubic: the cubic kernel's coefficient.
        part: for ``tf_crop_and_resize``, from where to where along each axis; ``extrapolation`` is what lies outside.
    """

    shape: tuple[int, ...] = ()
    scales: tuple[float, ...] = ()
    mode: str = "nearest"
    coordinates: str = "half_pixel"
    rounding: str = "round_prefer_floor"
    cubic: float = -0.75
    antialias: bool = False
    exclude_outside: bool = False
    part: tuple[tuple[float, float], ...] = ()
    extrapolation: float = 0.0

    @property
    def is_plain(self) -> bool:
        """Nearest, or linear of two neighbours, which integers can do."""
        return self.mode != "cubic" and not (self.antialias or self.exclude_outside or self.part)


MODES = ("nearest", "linear", "cubic")
CROP = "tf_crop_and_resize"


def infer(a: ResizeAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if len(a.shape) != x.rank or min(a.shape, default=1) < 1:
        raise GraphError(f"{list(x.shape)} cannot become {list(a.shape)}")
    if a.mode not in MODES or a.coordinates not in (*COORDINATES, CROP) or a.rounding not in NEAREST:
        raise GraphError(f"mode {a.mode}, coordinates {a.coordinates}, rounding {a.rounding} are not supported")
    if len(a.part) != (x.rank if a.coordinates == CROP else 0) or (a.antialias and a.mode == "nearest"):
        raise GraphError(f"mode {a.mode} with coordinates {a.coordinates} makes no sense with its other attributes")
    if x.quant is not None and not a.is_plain:
        raise GraphError(f"a resize of quantized values in mode {a.mode}, {a.coordinates} is not supported")
    if a.mode == "linear" and x.quant is not None and len(_changed(a, x.shape)) > 2:
        raise GraphError("an int8 linear resize changes two axes at most")
    if a.mode == "linear" and x.dtype is DType.INT16:
        raise GraphError("a linear resize of int16 is not supported")
    if a.mode != "nearest" and x.quant is None and not x.dtype.is_float:
        raise GraphError(f"a {a.mode} resize takes real numbers, not {x.dtype.value}")
    return [x.with_shape(a.shape).with_quant(None)]


def _changed(a: ResizeAttrs, shape: Sequence[int]) -> list[int]:
    scaled, parts = a.scales or (1.0,) * len(shape), a.part or ((0.0, 1.0),) * len(shape)
    same = [m == n and s == 1.0 and p == (0, 1) for n, m, s, p in zip(shape, a.shape, scaled, parts, strict=True)]
    return [i for i, is_same in enumerate(same) if not is_same]


def axes(a: ResizeAttrs, shape: Sequence[int], *, integer: bool = False, stepped: bool = True) -> list[Axis]:
    """How the result is made along each axis that changes; ``stepped``: integers count places as TFLite does."""
    how = Interpolation(a.mode, a.coordinates, a.rounding, a.cubic, a.antialias, a.exclude_outside)
    given, parts = a.scales or (0.0,) * len(shape), a.part or ((0.0, 1.0),) * len(shape)
    return [
        how.axis(i, shape[i], a.shape[i], given[i], parts[i], integer=integer and a.mode == "linear", stepped=stepped)
        for i in _changed(a, shape)
    ]


def _is_stepped(node: Node) -> bool:
    return node.rounding == "tflm"


def body(k: KernelBuilder, a: ResizeAttrs, x: Tensor, y: Tensor) -> None:
    made = axes(a, x.shape, integer=k.quantized, stepped=_is_stepped(k.node))
    places = [k.table(f"place{axis.number}", axis.places) for axis in made]
    dtype = np.int32 if k.quantized else k.real.numpy
    weights = [k.table(f"weight{axis.number}", axis.weights.astype(dtype)) for axis in made]
    for indices in k.grid(y.shape):
        if a.mode == "nearest":
            nearest = _at(x, indices, made, [p[indices[axis.number], 0] for p, axis in zip(places, made, strict=True)])
            y[indices] = _within(k, a, made, indices, nearest)
            continue
        total = k.accumulator(0)
        for taps in _all_taps(k, made):
            rows = [(indices[axis.number], tap) for axis, tap in zip(made, taps, strict=True)]
            term = _at(x, indices, made, [p[row] for p, row in zip(places, rows, strict=True)])
            term = k.cast(term, INT32) if k.quantized else term
            for weight, row in zip(weights, rows, strict=True):
                term = term * weight[row]
            total += term
        value = _rounded(k, total.value, ONE ** len(made)) if k.quantized else total.value
        y[indices] = _within(k, a, made, indices, value)


def _all_taps(k: KernelBuilder, made: Sequence[Axis]) -> Iterable[Sequence[Expr | int]]:
    """What meets in one result: the few of linear one by one, more in loops."""
    counts = [axis.places.shape[1] for axis in made]
    return np.ndindex(*counts) if max(counts, default=1) <= 2 else k.reduce(counts)


def _within(k: KernelBuilder, a: ResizeAttrs, made: Sequence[Axis], indices: Sequence[Expr], value: Expr) -> Expr:
    """The value, or the extrapolated one where an axis has none."""
    for axis in made:
        if axis.leaves_out:
            inside = k.table(f"inside{axis.number}", axis.inside.astype(np.int8)).raw(indices[axis.number])
            value = k.select(inside.ne(0), value, a.extrapolation)
    return value


def _at(x: Tensor, indices: Sequence[Expr], made: Sequence[Axis], places: Sequence[Expr]) -> Expr:
    moved = dict(zip((axis.number for axis in made), places, strict=True))
    return x.raw(*(moved.get(i, index) for i, index in enumerate(indices)))


def _rounded(k: KernelBuilder, value: Expr, one: int) -> Expr:
    """The value over ``one``, to the nearest, halves away from zero."""
    return value if one == 1 else k.call("rounding_divide_by_pot", value, one.bit_length() - 1)


def forward(xp: Any, a: ResizeAttrs, x: Any) -> Any:
    for axis in axes(a, x.shape):
        taps = [xp.take(x, xp.asarray(axis.places[:, tap]), axis=axis.number) for tap in range(axis.places.shape[1])]
        if a.mode == "nearest":
            (x,) = taps
        else:
            along = tuple(-1 if i == axis.number else 1 for i in range(x.ndim))
            x = sum(tap * xp.asarray(axis.weights[:, n].astype(x.dtype)).reshape(along) for n, tap in enumerate(taps))
        if axis.leaves_out:
            along = tuple(-1 if i == axis.number else 1 for i in range(x.ndim))
            x = xp.where(xp.asarray(axis.inside).reshape(along), x, x.dtype.type(a.extrapolation))
    return x


def integer(node: Node, x: Integers) -> Integers:
    a: ResizeAttrs = node.attrs
    if a.mode == "nearest":
        return np.asarray(forward(np, a, x))
    made = axes(a, x.shape, integer=True, stepped=_is_stepped(node))
    total = x.astype(np.int64)
    for axis in made:
        along = tuple(-1 if i == axis.number else 1 for i in range(x.ndim))
        low, high = (np.take(total, axis.places[:, n], axis.number) * axis.weights[:, n].reshape(along) for n in (0, 1))
        total = low + high
    one = ONE ** len(made)
    size = (np.abs(total) + one // 2) // one
    result: Integers = (np.sign(total) * size).astype(x.dtype)
    return result


def permuted(a: ResizeAttrs, permutation: Sequence[int]) -> ResizeAttrs:
    back = [permutation.index(i) for i in range(len(permutation))]
    scales = tuple(a.scales[i] for i in back) if a.scales else ()
    part = tuple(a.part[i] for i in back) if a.part else ()
    return replace(a, shape=tuple(a.shape[i] for i in back), scales=scales, part=part)


def from_onnx(node: FileNode) -> list[Value]:
    x = node.input(0)
    mode, coordinates = (
        node.attribute("mode", "nearest"),
        node.attribute("coordinate_transformation_mode", "half_pixel"),
    )
    if mode not in MODES or coordinates not in (*COORDINATES, CROP):
        node.refuse(f"mode {mode} with coordinates {coordinates} is not supported")
    chosen = [int(i) % x.type.rank for i in node.attribute("axes", range(x.type.rank))]
    shape, scales = list(x.type.shape), [1.0] * x.type.rank
    sizes = node.constant(3, "the sizes") if node.has_input(3) else np.array([])
    given = node.constant(2, "the scales") if node.has_input(2) else np.array([])
    if max(sizes.size, given.size) != len(chosen) or (sizes.size and given.size):
        node.refuse(f"{sizes.size} sizes and {given.size} scales do not go with {len(chosen)} axes")
    for axis, number in zip(chosen, (sizes if sizes.size else given).reshape(-1).tolist(), strict=True):
        if number <= 0:
            node.refuse(f"axis {axis} cannot be resized by {number}")
        shape[axis] = int(number) if sizes.size else math.floor(Fraction(number) * x.type.shape[axis])
        scales[axis] = 1.0 if sizes.size else number
    if sizes.size and node.attribute("keep_aspect_ratio_policy", "stretch") != "stretch":
        sizes = _keep_aspect(node, chosen, shape, scales)
    if coordinates in ("align_corners", CROP) and any(s * n % 1 for s, n in zip(scales, x.type.shape, strict=True)):
        node.refuse(f"scales {scales} of {list(x.type.shape)} give parts of a point, which {coordinates} leaves open")
    if mode == "nearest" and node.attribute("simple") is not None and min(scales) < 1:
        node.refuse(f"before opset 11 the standard leaves open which points scales {scales} keep")
    exact = all(s == float(np.float32(m / n)) for s, m, n in zip(scales, shape, x.type.shape, strict=True))
    a = ResizeAttrs(
        tuple(shape),
        () if sizes.size or exact else tuple(scales),
        mode,
        coordinates,
        node.attribute("nearest_mode", ResizeAttrs.rounding) if mode == "nearest" else ResizeAttrs.rounding,
        node.attribute("cubic_coeff_a", ResizeAttrs.cubic) if mode == "cubic" else ResizeAttrs.cubic,
        bool(node.attribute("antialias", 0)),
        bool(node.attribute("exclude_outside", 0)) and mode != "nearest",
        _part(node, chosen) if coordinates == CROP else (),
        node.attribute("extrapolation_value", 0.0) if coordinates == CROP else 0.0,
    )
    return [node.emit("resize", [x], a, rounding="half_away")]


def _keep_aspect(node: FileNode, chosen: Sequence[int], shape: list[int], scales: list[float]) -> Array:
    """Give all chosen axes one scale: the least or the largest that their sizes ask for.

    Returns:
        The sizes, where that scale makes them whole; nothing where ``scales`` must say how the points lie.
    """
    policy, extents = node.attribute("keep_aspect_ratio_policy"), node.input(0).type.shape
    ratios = [Fraction(shape[axis], extents[axis]) for axis in chosen]
    scale = min(ratios) if policy == "not_larger" else max(ratios)
    whole = all((scale * extents[axis]).denominator == 1 for axis in chosen)
    if not whole and Fraction(float(np.float32(scale))) != scale:
        node.refuse(f"{policy} makes a scale of {scale}, which no float32 is")
    for axis in chosen:
        shape[axis] = math.floor(scale * extents[axis] + Fraction(1, 2))
        scales[axis] = 1.0 if whole else float(scale)
    return np.array([shape[axis] for axis in chosen] if whole else [])


def _part(node: FileNode, chosen: Sequence[int]) -> tuple[tuple[float, float], ...]:
    """The part of each axis that the file names, all of it where it names none."""
    region = [float(v) for v in node.constant(1, "the region of interest").reshape(-1)] if node.has_input(1) else []
    if len(region) != 2 * len(chosen) or not all(map(math.isfinite, region)):
        node.refuse(f"a region of interest of {len(region)} numbers does not go with {len(chosen)} axes")
    named = dict(zip(chosen, zip(region[: len(chosen)], region[len(chosen) :], strict=True), strict=True))
    return tuple(named.get(axis, (0.0, 1.0)) for axis in range(node.input(0).type.rank))


def from_tflite(node: FileNode) -> list[Value]:
    x, size = node.input(0), node.constant(1, "the size")
    aligned, half = node.attribute("align_corners", False), node.attribute("half_pixel_centers", False)
    if x.type.rank != 4 or size.size != 2 or (aligned and half):
        node.refuse(f"{list(x.type.shape)} to size {size.tolist()}, align_corners and half_pixel_centers at once?")
    coordinates = "half_pixel" if half else "align_corners" if aligned else "asymmetric"
    rounding = "round_prefer_ceil" if half or aligned else "floor"
    shape = (x.type.shape[0], *map(int, size.reshape(-1)), x.type.shape[3])
    mode = "linear" if node.op == "RESIZE_BILINEAR" else "nearest"
    a = ResizeAttrs(shape, (), mode, coordinates, rounding if mode == "nearest" else ResizeAttrs.rounding)
    return [node.emit("resize", [x], a)]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: ResizeAttrs = node.attrs
    scales = w.constant(np.array(a.scales, np.float32), "scales") if a.scales else ""
    region = w.constant(np.array(a.part, np.float32).T.reshape(-1), "region") if a.part else ""
    sizes = [] if scales else [w.constant(np.array(a.shape, np.int64), "sizes")]
    names: dict[str, Any] = {
        "coordinate_transformation_mode": a.coordinates,
        "nearest_mode": a.rounding if a.mode == "nearest" else None,
        "cubic_coeff_a": a.cubic if a.mode == "cubic" else None,
        "antialias": 1 if a.antialias else None,
        "exclude_outside": 1 if a.exclude_outside else None,
        "extrapolation_value": a.extrapolation if a.part else None,
    }
    w.emit("Resize", [w.input(node, 0), region, scales, *sizes], [w.output(node)], mode=a.mode, **names)


def _nearest(*sizes: tuple[int, ...], coordinates: str, rounding: str = "floor") -> Any:
    kinds = ALL_KINDS if coordinates != "align_corners" else ("float32", "int8")
    return case(sizes[0], attrs=ResizeAttrs(sizes[1], (), "nearest", coordinates, rounding), kinds=kinds)


def _linear(*sizes: tuple[int, ...], coordinates: str = "half_pixel", scales: tuple[float, ...] = ()) -> Any:
    return case(sizes[0], attrs=ResizeAttrs(sizes[1], scales, "linear", coordinates))


FURTHER: tuple[dict[str, Any], ...] = (
    {"mode": "cubic"},
    {"mode": "cubic", "cubic": -0.5, "exclude_outside": True},
    {"mode": "cubic", "coordinates": "align_corners"},
    {"mode": "cubic", "antialias": True},
    {"mode": "linear", "antialias": True},
    {"mode": "linear", "antialias": True, "exclude_outside": True},
    {"mode": "linear", "coordinates": CROP, "part": ((0, 1), (0, 1), (0.25, 0.8), (0.6, -0.3)), "extrapolation": 7.5},
)

# Upsample, and Resize when it was new, took places as they are and rounded them down (onnxruntime's up,
# where an image shrinks).
OLD_RESIZE = OldForm(
    ("Upsample", "Resize"),
    11,
    {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor", "simple": "1"},
)

resize = OpSpec(
    name="resize",
    attrs=ResizeAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    quant=QuantRule(result="same", dtypes=QUANTIZED, mixes=True),
    onnx=(onnx_op("Resize", build=from_onnx, old=OLD_RESIZE),),
    tflite=(tflite_op("RESIZE_BILINEAR", build=from_tflite), tflite_op("RESIZE_NEAREST_NEIGHBOR", build=from_tflite)),
    to_onnx=to_onnx,
    permuted=permuted,
    cases=(
        _linear((1, 4, 3, 2), (1, 8, 6, 2)),
        _linear((1, 7, 5, 1), (1, 3, 8, 1)),
        _linear((1, 3, 4, 2), (1, 7, 5, 2), coordinates="asymmetric"),
        _linear((1, 3, 4, 2), (1, 7, 5, 2), coordinates="align_corners"),
        _linear((1, 1, 1, 3), (1, 4, 4, 3)),
        _linear((1, 2, 5), (1, 2, 9), coordinates="pytorch_half_pixel"),
        _linear((1, 1, 4, 4), (1, 1, 5, 5), scales=(1.0, 1.0, 1.3, 1.3)),
        *(case((1, 1, 5, 7), attrs=ResizeAttrs((1, 1, 8, 3), **how), kinds=("float32",)) for how in FURTHER),
        _nearest((1, 4, 3, 2), (1, 8, 9, 2), coordinates="half_pixel", rounding="round_prefer_ceil"),
        _nearest((1, 4, 3, 2), (1, 8, 9, 2), coordinates="asymmetric"),
        _nearest((1, 5, 3, 2), (1, 2, 7, 2), coordinates="align_corners", rounding="round_prefer_ceil"),
        _nearest((1, 1, 1, 6), (1, 1, 1, 4), coordinates="half_pixel", rounding="round_prefer_floor"),
        case((1, 1, 6), attrs=ResizeAttrs((1, 1, 9), (), "nearest", "half_pixel_symmetric", "ceil")),
        case(Operand((2, 3), dtype="int32", low=-9, high=9), attrs=ResizeAttrs((4, 3)), kinds=("float32",)),
    ),
)
