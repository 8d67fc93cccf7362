"""Recipes of rarer operators: angles, bits, scattering, sampling, signals, products of stored integers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from suites.onnx_graphs import GraphMaker, RejectedError, Shape, Tensor
from suites.recipe import INTEGERS, image, recipe


@recipe("Asinh", "Atan", "Sinh", "Cosh", weight=0.5)
def _of_any(g: GraphMaker, op: str) -> None:
    g.emit(op, [g.pick()])


@recipe("ThresholdedRelu", "Shrink", "MeanVarianceNormalization", weight=0.4)
def _by_their_bodies(g: GraphMaker, op: str) -> None:
    if op == "MeanVarianceNormalization":
        g.emit(op, [image(g, 2)])
    else:
        given: dict[str, Any] = {"alpha": 0.5} if op == "ThresholdedRelu" else {"lambd": 0.4, "bias": 0.1}
        g.emit(op, [g.pick()], **given)


@recipe("Asin", "Acos", "Atanh", "Acosh", "Tan", weight=0.5)
def _of_few(g: GraphMaker, op: str) -> None:
    """Of numbers where the function is defined, and not steep."""
    low, high = {"Acosh": (1.01, 9.0), "Tan": (-1.4, 1.4)}.get(op, (-0.99, 0.99))
    (limited,) = g.emit("Clip", [g.pick(), g.constant(low, "float32"), g.constant(high, "float32")])
    g.emit(op, [limited])


@recipe("IsNaN", "IsInf", weight=0.5)
def _is(g: GraphMaker, op: str) -> None:
    x = g.pick()
    if g.chance(0.7) and g.chance(0.7):
        (x,) = g.emit(
            "Where", [g.pick("bool", fits=lambda s: s == x.shape, shape=lambda: x.shape), x, g.constant(1.0, "float32")]
        )
    g.emit(op, [x])


@recipe("Hardmax", weight=0.5)
def _hardmax(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: len(s) > 0)
    g.emit(op, [x], axis=g.axis(x.rank) if g.chance(0.8) else None)


@recipe("BitwiseAnd", "BitwiseOr", "BitwiseXor", since=18, weight=0.5)
def _bitwise(g: GraphMaker, op: str) -> None:
    x = g.pick(*INTEGERS, "uint8")
    y = g.pick(x.dtype, fits=lambda s: s in (x.shape, x.shape[1:]), shape=lambda: x.shape)
    g.emit(op, [x, y])


@recipe("BitwiseNot", since=18, weight=0.5)
def _bitwise_not(g: GraphMaker, op: str) -> None:
    g.emit(op, [g.pick(*INTEGERS, "uint8")])


@recipe("BitShift", weight=0.5)
def _bit_shift(g: GraphMaker, op: str) -> None:
    x = g.pick("uint8", "uint32", new=0.5)
    g.emit(op, [x, g.constant(g.rng.integers(0, 8, x.shape), x.dtype)], direction=g.random.choice(("LEFT", "RIGHT")))


@recipe("ScatterElements", since=16, weight=0.7)
def _scatter_elements(g: GraphMaker, op: str) -> None:
    """Without a reduction no place is named twice: which one stays is open."""
    x = g.pick(fits=lambda s: 0 < len(s) < 5)
    axis = g.random.randrange(x.rank)
    reduction = g.random.choice((None, "add", "mul", *(("max", "min") if g.opset >= 18 else ())))
    shape = tuple(g.random.randint(1, n) for n in x.shape)
    places = g.rng.integers(0, x.shape[axis], shape)
    if reduction is None:
        places = np.argsort(g.rng.random((*shape[:axis], x.shape[axis], *shape[axis + 1 :])), axis=axis)
        places = np.take(places, range(shape[axis]), axis=axis)
    updates = g.pick(fits=lambda s: s == shape, shape=lambda: shape)
    g.emit(op, [x, g.constant(places, "int64"), updates], axis=axis, reduction=reduction)


@recipe("ScatterND", since=16, weight=0.7)
def _scatter_nd(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: 0 < len(s) < 5)
    depth = g.random.randint(1, x.rank)
    outer = x.shape[:depth]
    count = g.random.randint(1, math.prod(outer))
    flat = g.rng.permutation(math.prod(outer))[:count]
    shape = (count, *x.shape[depth:])
    updates = g.pick(fits=lambda s: s == shape, shape=lambda: shape)
    places = np.stack(np.unravel_index(flat, outer), axis=-1)
    g.emit(op, [x, g.constant(places, "int64"), updates], reduction=g.random.choice((None, "add", "mul")))


@recipe("ReverseSequence", weight=0.5)
def _reverse_sequence(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: len(s) > 1, shape=lambda: g.shape(2, 3))
    time = g.random.choice((0, 1))
    lengths = g.rng.integers(1, x.shape[time] + 1, x.shape[1 - time])
    g.emit(op, [x, g.constant(lengths, "int64")], time_axis=time, batch_axis=1 - time)


@recipe("Compress", weight=0.4)
def _compress(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: len(s) > 0)
    axis = g.axis(x.rank)
    kept = g.rng.random(x.shape[axis]) < 0.7
    kept[g.random.randrange(len(kept))] = True
    g.emit(op, [x, g.constant(kept)], axis=axis)


@recipe("Det", weight=0.3)
def _det(g: GraphMaker, op: str) -> None:
    n = g.random.randint(1, 3)
    g.emit(op, [g.pick(fits=lambda s: s[-2:] == (n, n), shape=lambda: (*g.shape(1)[:1], n, n))])


@recipe("LRN", weight=0.5)
def _lrn(g: GraphMaker, op: str) -> None:
    g.emit(op, [image(g, 2)], size=g.random.choice((1, 3, 5)), alpha=0.02, beta=g.random.choice((0.75, 0.5)), bias=1.5)


@recipe("LpPool", since=18, weight=0.5)
def _lp_pool(g: GraphMaker, op: str) -> None:
    x = image(g, 1, 2)
    kernel = [g.random.randint(1, min(3, n)) for n in x.shape[2:]]
    g.emit(op, [x], kernel_shape=kernel, strides=[g.random.choice((1, 2)) for _ in kernel], p=g.random.choice((1, 2)))


@recipe("GlobalLpPool", weight=0.4)
def _global_lp_pool(g: GraphMaker, op: str) -> None:
    g.emit(op, [image(g, 1, 2)], p=g.random.choice((None, 1, 3)))


@recipe("GridSample", since=16, weight=0.4)
def _grid_sample(g: GraphMaker, op: str) -> None:
    x = image(g, 2)
    grid = (x.shape[0], g.random.randint(1, 3), g.random.randint(1, 3), 2)
    modes = ("linear", "nearest", "cubic") if g.opset >= 20 else ("bilinear", "nearest", "bicubic")
    places = g.constant(g.rng.uniform(-1.2, 1.2, grid), "float32")
    g.emit(
        op,
        [x, places],
        mode=g.random.choice(modes),
        padding_mode=g.random.choice(("zeros", "border", "reflection")),
        align_corners=g.random.choice((0, 1)),
    )


@recipe("RoiAlign", since=16, weight=0.3)
def _roi_align(g: GraphMaker, op: str) -> None:
    x = image(g, 2)
    corners = np.sort(g.rng.uniform(0, max(x.shape[2:]), (2, 2, 2)), axis=1).reshape(2, 4)
    batch = g.constant(g.rng.integers(0, x.shape[0], 2), "int64")
    mode = g.random.choice(("avg", "max"))
    g.emit(op, [x, g.constant(corners, "float32"), batch], output_height=2, output_width=3, sampling_ratio=2, mode=mode)


@recipe("ConvInteger", weight=0.5)
def _conv_integer(g: GraphMaker, op: str) -> None:
    x = _stored(g, (1, g.random.randint(1, 3), g.random.randint(3, 5), g.random.randint(3, 5)))
    out = g.random.randint(1, 4)
    w = g.constant(g.rng.integers(-100, 100, (out, x.shape[1], 2, 3)), "int8")
    zero = g.constant(g.random.randint(0, 20), x.dtype) if g.chance(0.6) else None
    g.emit(op, [x, w, zero], pads=[0, 1, 1, 0] if g.chance(0.4) else None)


@recipe("MatMulInteger", weight=0.5)
def _matmul_integer(g: GraphMaker, op: str) -> None:
    x = _stored(g, (g.size(), g.size()))
    w = g.constant(g.rng.integers(-100, 100, (x.shape[1], g.size())), "int8")
    zero = g.constant(g.random.randint(0, 20), x.dtype) if g.chance(0.6) else None
    g.emit(op, [x, w, zero])


@recipe("DynamicQuantizeLinear", weight=0.4)
def _dynamic_quantize(g: GraphMaker, op: str) -> None:
    x = g.pick()
    if not x.sample.any():  # of nothing but zeros the standard's scale is 0, and onnxruntime's 1
        raise RejectedError
    stored, scale, zero = g.emit(op, [x], 3)
    g.emit("DequantizeLinear", [stored, scale, zero])


def _stored(g: GraphMaker, shape: Shape) -> Tensor:
    """Integers of eight bits, as an input."""
    dtype = g.random.choice(("uint8", "uint8", "int8"))
    if len(g.makers) >= 4:
        raise RejectedError
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return g.input(dtype, shape, lambda rng: rng.integers(low, high + 1, shape).astype(dtype))
