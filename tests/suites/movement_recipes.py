"""Recipes of operators that move elements: shapes, slices, joins, indices, resizing."""

from __future__ import annotations

from typing import Any

import numpy as np

from suites.onnx_graphs import GraphMaker, RejectedError, Shape
from suites.recipe import INTEGERS, image, recipe


def _factors(g: GraphMaker, size: int, rank: int) -> list[int]:
    result = [1] * rank
    for prime in (2, 3, 5, 7):
        while size % prime == 0:
            result[g.random.randrange(rank)] *= prime
            size //= prime
    result[g.random.randrange(rank)] *= size
    return result


@recipe("Reshape", weight=2)
def _reshape(g: GraphMaker, op: str) -> None:
    x = g.pick(*(("float32", *INTEGERS, "bool") if g.chance(0.2) else ()))
    shape = _factors(g, x.sample.size, g.random.randint(1, 5))
    if g.chance(0.4):
        shape[g.random.randrange(len(shape))] = -1
    elif x.rank and shape[0] == x.shape[0] and g.chance(0.5):
        shape[0] = 0
    g.emit(op, [x, g.constant(shape, "int64")])


@recipe("Flatten")
def _flatten(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: len(s) > 0)
    g.emit(op, [x], axis=g.random.choice((None, g.random.randint(-x.rank, x.rank))))


@recipe("Squeeze")
def _squeeze(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: 1 in s, shape=lambda: (*g.shape(1, 2, 3), 1))
    ones = [i for i, n in enumerate(x.shape) if n == 1]
    axes = g.constant(g.random.sample(ones, g.random.randint(1, len(ones))), "int64") if g.chance(0.7) else None
    g.emit(op, [x, axes])


@recipe("Unsqueeze")
def _unsqueeze(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: len(s) < 5)
    count = g.random.choice((1, 1, 2)) if x.rank < 4 else 1
    axes = g.random.sample(range(x.rank + count), count)
    g.emit(op, [x, g.constant([a - x.rank - count if g.chance(0.3) else a for a in axes], "int64")])


@recipe("Transpose", weight=2)
def _transpose(g: GraphMaker, op: str) -> None:
    x = g.pick(*(("float32", *INTEGERS, "bool") if g.chance(0.2) else ()))
    g.emit(op, [x], perm=g.random.sample(range(x.rank), x.rank) if x.rank and g.chance(0.85) else None)


@recipe("Concat", weight=2)
def _concat(g: GraphMaker, op: str) -> None:
    x = g.pick(*(("float32", *INTEGERS) if g.chance(0.15) else ()), fits=lambda s: len(s) > 0)
    axis = g.axis(x.rank)
    place = axis % x.rank

    def joins(shape: Shape) -> bool:
        if len(shape) != x.rank:
            return False
        return all(n == m for i, (n, m) in enumerate(zip(shape, x.shape, strict=True)) if i != place)

    def joinable() -> Shape:
        return tuple(g.size() if i == place else n for i, n in enumerate(x.shape))

    parts = [x, *(g.pick(x.dtype, fits=joins, shape=joinable, new=0.3) for _ in range(g.random.choice((1, 1, 2))))]
    g.random.shuffle(parts)
    g.emit(op, parts, axis=axis)


@recipe("Slice", weight=1.5)
def _slice(g: GraphMaker, op: str) -> None:
    x = g.pick(*(("float32", *INTEGERS) if g.chance(0.2) else ()), fits=lambda s: len(s) > 0)
    axes = g.random.sample(range(x.rank), g.random.randint(1, x.rank))
    starts, ends, steps = [], [], []
    for axis in axes:
        n = x.shape[axis]
        step = g.random.choice((1, 1, 1, 2, -1, -2))
        first, last = sorted((g.random.randint(0, n), g.random.randint(0, n)))
        starts.append(first if step > 0 else last)
        ends.append(g.random.choice((last, 10**6)) if step > 0 else g.random.choice((first, -(10**6))))
        if g.chance(0.3) and 0 < starts[-1] <= n:
            starts[-1] -= n + (starts[-1] == n)
        steps.append(step)
    operands = [g.constant(v, "int64") for v in (starts, ends, axes)]
    if any(step != 1 for step in steps) or g.chance(0.5):
        operands.append(g.constant(steps, "int64"))
    g.emit(op, [x, *operands])


@recipe("Split")
def _split(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: any(n > 1 for n in s), shape=lambda: (*g.shape(1, 2, 3), g.random.randint(2, 6)))
    axis = g.random.choice([i for i, n in enumerate(x.shape) if n > 1])
    first = g.random.randint(1, x.shape[axis] - 1)
    parts = [first, x.shape[axis] - first]
    if parts[1] > 1 and g.chance(0.4):
        parts[1:] = [1, parts[1] - 1]
    if g.opset >= 18 and g.chance(0.4):
        g.emit(op, [x], len(parts), axis=axis, num_outputs=len(parts))
    else:
        g.emit(op, [x, g.constant(parts, "int64")], len(parts), axis=axis - x.rank if g.chance(0.3) else axis)


@recipe("Expand")
def _expand(g: GraphMaker, op: str) -> None:
    x = g.pick(*(("float32", *INTEGERS, "bool") if g.chance(0.2) else ()))
    target = [g.size() if n == 1 and g.chance(0.8) else n for n in x.shape]
    target = [*g.shape(1, 2)][: g.random.choice((0, 0, 1))] + target
    g.emit(op, [x, g.constant(target or [2], "int64")])


@recipe("Tile")
def _tile(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: len(s) > 0)
    g.emit(op, [x, g.constant([g.random.choice((1, 1, 2, 3)) for _ in x.shape], "int64")])


@recipe("Pad", weight=1.5)
def _pad(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: len(s) > 0)
    mode = g.random.choice((None, "constant", "constant", "reflect", "edge", *(["wrap"] if g.opset >= 19 else [])))
    low = -1 if mode in (None, "constant") and min(x.shape) > 2 and g.chance(0.4) else 0
    least = min(x.shape) - 1
    pads = [g.random.randint(low, min(2, least) if mode in ("reflect", "wrap") else 2) for _ in range(2 * x.rank)]
    value = g.constant(g.random.choice((0.0, 1.5, -2.0)), "float32") if low == 0 and g.chance(0.5) else None
    if g.opset >= 18 and x.rank > 1 and g.chance(0.3):
        axes = g.random.sample(range(x.rank), x.rank - 1)
        pads = [pads[a] for a in axes] + [pads[a + x.rank] for a in axes]
        g.emit(op, [x, g.constant(pads, "int64"), value, g.constant(axes, "int64")], mode=mode)
    else:
        g.emit(op, [x, g.constant(pads, "int64"), value], mode=mode)


@recipe("Gather")
def _gather(g: GraphMaker, op: str) -> None:
    x = g.pick(*(("float32", *INTEGERS) if g.chance(0.2) else ()), fits=lambda s: 0 < len(s) < 5)
    axis = g.axis(x.rank)
    g.emit(op, [x, g.indices(g.random.choice(((), (2,), (1, 3), (3, 2))), x.shape[axis])], axis=axis)


@recipe("GatherElements")
def _gather_elements(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: len(s) > 0)
    axis = g.axis(x.rank)
    shape = tuple(g.size() if i == axis % x.rank else g.random.randint(1, n) for i, n in enumerate(x.shape))
    g.emit(op, [x, g.indices(shape, x.shape[axis])], axis=axis)


@recipe("GatherND")
def _gather_nd(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: 0 < len(s) < 5)
    batch = g.random.choice((0, 0, 1)) if x.rank > 1 else 0
    depth = g.random.randint(1, x.rank - batch)
    shape = (*x.shape[:batch], *g.shape(1, 2)[:2])
    places = np.stack([g.rng.integers(0, x.shape[batch + i], shape) for i in range(depth)], axis=-1)
    g.emit(op, [x, g.constant(places, "int64")], batch_dims=batch)


@recipe("OneHot")
def _one_hot(g: GraphMaker, op: str) -> None:
    depth = g.random.randint(1, 5)
    classes = g.indices(g.shape(1, 2), depth)
    axis = g.random.randint(-1, len(classes.shape))
    g.emit(op, [classes, g.constant(depth, "int64"), g.constant([0.5, 2.0], "float32")], axis=axis)


@recipe("Trilu", since=14)
def _trilu(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: len(s) > 1, shape=lambda: g.shape(2, 3))
    k = g.constant(g.random.randint(-3, 3), "int64") if g.chance(0.6) else None
    g.emit(op, [x, k], upper=g.random.choice((None, 0, 1)))


@recipe("DepthToSpace", "SpaceToDepth")
def _blocks(g: GraphMaker, op: str) -> None:
    block = g.random.choice((1, 2, 2, 3))
    n, c, h, w = g.random.choice((1, 2)), g.random.randint(1, 3), g.random.randint(1, 3), g.random.randint(1, 3)
    shape = (n, c * block**2, h, w) if op == "DepthToSpace" else (n, c, h * block, w * block)

    def fits(s: Shape) -> bool:
        if len(s) != 4:
            return False
        return s[1] % block**2 == 0 if op == "DepthToSpace" else s[2] % block == 0 and s[3] % block == 0

    x = g.pick(fits=fits, shape=lambda: shape)
    mode = g.random.choice((None, "DCR", "CRD")) if op == "DepthToSpace" else None
    g.emit(op, [x], blocksize=block, mode=mode)


@recipe("Resize", weight=1.5)
def _resize(g: GraphMaker, op: str) -> None:
    x = image(g, 1, 2)
    mode = g.random.choice(("nearest", "linear", "linear", "cubic"))
    if mode == "cubic" and x.rank != 4:
        raise RejectedError
    attributes: dict[str, Any] = {
        "mode": mode,
        "coordinate_transformation_mode": g.random.choice(
            (None, "half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
        ),
        "nearest_mode": g.random.choice((None, "round_prefer_floor", "floor", "ceil", "round_prefer_ceil"))
        if mode == "nearest"
        else None,
    }
    if g.chance(0.5):
        sizes = [*x.shape[:2], *(g.random.randint(1, 9) for _ in x.shape[2:])]
        g.emit(op, [x, None, None, g.constant(sizes, "int64")], **attributes)
    else:
        scales = [1.0, 1.0, *(g.random.choice((0.5, 0.6, 1.0, 1.5, 2.0, 2.5, 3.0)) for _ in x.shape[2:])]
        g.emit(op, [x, None, g.constant(scales, "float32")], **attributes)
