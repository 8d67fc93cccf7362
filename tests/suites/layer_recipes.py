"""Recipes of layers: convolutions, pools, norms, products of matrices, recurrent ones."""

from __future__ import annotations

import math
from typing import Any

from suites.onnx_graphs import GraphMaker, Shape, Tensor
from suites.recipe import image, recipe


def _window(g: GraphMaker, spatial: Shape, *, may_dilate: bool = True) -> dict[str, Any]:
    """kernel_shape, strides, dilations and padding that leave something of the image."""
    kernel = [g.random.randint(1, min(4, n)) for n in spatial]
    dilations = [
        g.random.choice((1, 1, 1, 2)) if may_dilate and n >= 2 * k - 1 else 1
        for k, n in zip(kernel, spatial, strict=True)
    ]
    strides = [g.random.choice((1, 1, 2, 3)) for _ in spatial]
    auto = g.random.choice((None, None, None, "SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"))
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        strides = [min(s, 2) for s in strides]  # beyond that tools disagree on what is skipped
    if auto in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        return {
            "kernel_shape": kernel,
            "strides": strides,
            "dilations": dilations if auto == "VALID" else None,
            "auto_pad": auto,
        }
    pads = [g.random.randint(0, k - 1) for k in kernel + kernel] if g.chance(0.6) else None
    return {
        "kernel_shape": kernel,
        "strides": strides if g.chance(0.8) else None,
        "dilations": dilations if max(dilations) > 1 or g.chance(0.3) else None,
        "pads": pads,
        "auto_pad": auto,
    }


@recipe("Conv", weight=6)
def _conv(g: GraphMaker, op: str) -> None:
    x = image(g, 1, 2, 2, 2)
    channels = x.shape[1]
    groups = g.random.choice([1, 1, channels, *(d for d in range(2, channels) if channels % d == 0)])
    window = _window(g, x.shape[2:])
    out = groups * g.random.randint(1, 3 if groups > 1 else 6)
    weights = g.weights(out, channels // groups, *window["kernel_shape"])
    bias = g.weights(out) if g.chance(0.7) else None
    g.emit(op, [x, weights, bias], group=groups if groups > 1 else None, **window)


@recipe("ConvTranspose", weight=1.5)
def _conv_transpose(g: GraphMaker, op: str) -> None:
    x = image(g, 1, 2, 2)
    channels, spatial = x.shape[1], len(x.shape) - 2
    groups = g.random.choice((1, 1, channels))
    kernel = [g.random.randint(1, 4) for _ in range(spatial)]
    strides = [g.random.choice((1, 2, 2, 3)) for _ in range(spatial)]
    out = g.random.randint(1, 4)
    weights = g.weights(channels, out, *kernel)
    bias = g.weights(out * groups) if g.chance(0.6) else None
    attributes: dict[str, Any] = {"strides": strides, "group": groups}
    if g.chance(0.4):
        attributes["pads"] = [g.random.randint(0, k - 1) for k in kernel + kernel]
    if g.chance(0.3):
        attributes["output_padding"] = [g.random.randint(0, s - 1) for s in strides]
    if g.chance(0.2):
        attributes["dilations"] = [g.random.choice((1, 2)) for _ in kernel]
    if g.chance(0.15):
        attributes["auto_pad"] = g.random.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))
        attributes.pop("pads", None)
    g.emit(op, [x, weights, bias], **attributes)


@recipe("MaxPool", "AveragePool", weight=2.5)
def _pool(g: GraphMaker, op: str) -> None:
    x = image(g, 1, 2, 2)
    window = _window(g, x.shape[2:], may_dilate=op == "MaxPool" or g.opset >= 19)
    if op == "AveragePool":
        if g.opset < 19:
            window.pop("dilations", None)
        window["count_include_pad"] = g.random.choice((None, 0, 1))
    ceil = g.random.choice((None, None, 0, 1)) if "pads" in window else None
    g.emit(op, [x], ceil_mode=ceil, **window)


@recipe("GlobalAveragePool", "GlobalMaxPool")
def _global_pool(g: GraphMaker, op: str) -> None:
    g.emit(op, [image(g, 1, 2)])


@recipe("BatchNormalization", weight=2)
def _batch_norm(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: 2 <= len(s) <= 4, shape=lambda: g.shape(2, 3, 4))
    c = x.shape[1]
    parts = [g.uniform((c,), 0.5, 2), g.weights(c), g.weights(c), g.uniform((c,), 0.3, 2)]
    g.emit(op, [x, *parts], epsilon=g.random.choice((None, 1e-3)))


@recipe("InstanceNormalization")
def _instance_norm(g: GraphMaker, op: str) -> None:
    x = image(g, 1, 2)
    g.emit(op, [x, g.uniform((x.shape[1],), 0.5, 2), g.weights(x.shape[1])], epsilon=g.random.choice((1e-2, 1e-3)))


@recipe("LayerNormalization", since=17)
def _layer_norm(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: len(s) > 1 and math.prod(s[1:]) > 1, shape=lambda: (2, *g.shape(1, 2), 3))
    axis = g.random.randint(1, x.rank - 1)
    shape = x.shape[axis:]
    bias = g.weights(*shape) if g.chance(0.7) else None
    g.emit(op, [x, g.uniform(shape, 0.5, 2), bias], axis=axis - x.rank if g.chance(0.5) else axis, epsilon=1e-2)


@recipe("GroupNormalization", since=21)
def _group_norm(g: GraphMaker, op: str) -> None:
    x = image(g, 1, 2)
    c = x.shape[1]
    groups = g.random.choice([d for d in range(1, c + 1) if c % d == 0])
    g.emit(op, [x, g.uniform((c,), 0.5, 2), g.weights(c)], num_groups=groups, epsilon=1e-2)


@recipe("LpNormalization")
def _lp_norm(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: len(s) > 0)
    g.emit(op, [x], axis=g.axis(x.rank), p=g.random.choice((1, 2)))


@recipe("Gemm", weight=3)
def _gemm(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: len(s) == 2, shape=lambda: g.shape(2))
    trans_a, trans_b = g.random.choice((0, 0, 0, 1)), g.random.choice((0, 1))
    rows, inner = x.shape[::-1] if trans_a else x.shape
    out = g.random.randint(1, 6)
    weights = g.weights(*((out, inner) if trans_b else (inner, out)))
    if g.chance(0.15):
        shape = (out, inner) if trans_b else (inner, out)
        weights = g.pick(fits=lambda s: s == shape, shape=lambda: shape)
    bias = g.weights(*g.random.choice(((out,), (1, out), (rows, out), (rows, 1), (1,), ()))) if g.chance(0.8) else None
    g.emit(
        op,
        [x, weights, bias],
        transA=trans_a or None,
        transB=trans_b or None,
        alpha=g.random.choice((None, None, 0.5)),
        beta=g.random.choice((None, None, 2.0)),
    )


@recipe("MatMul", weight=3)
def _matmul(g: GraphMaker, op: str) -> object:
    x = g.pick(fits=lambda s: len(s) > 0)
    inner = x.shape[-1]
    if g.chance(0.6):
        return g.emit(op, [x, g.weights(inner, g.random.randint(1, 6))])
    if x.rank > 1 and g.chance(0.3):
        right = (*x.shape[:-2], inner, g.random.randint(1, 4))
        return g.emit(op, [x, g.pick(fits=lambda s: s == right, shape=lambda: right)])
    y = g.pick(fits=lambda s: len(s) > 0 and (s[-2] if len(s) > 1 else s[0]) == inner, shape=lambda: (inner, g.size()))
    return g.emit(op, [x, y])


@recipe("Einsum")
def _einsum(g: GraphMaker, op: str) -> None:
    letters = g.random.sample("abcde", 4)
    a, b, c, d = letters
    equation = g.random.choice(
        (f"{a}{b},{b}{c}->{a}{c}", f"{a}{b}{c},{a}{c}{d}->{a}{b}{d}", f"{a}{b},{c}{b}->{c}{a}",
         f"{a}{b}{c},{c}->{b}{a}", f"{a}{b},{a}{b}->{a}", f"{a},{b}->{a}{b}", f"{a}{b}{c}->{c}{a}", f"{a}{b}->{a}")
    )  # fmt: skip
    sizes = {letter: g.size() for letter in letters}
    operands: list[Tensor] = []
    for term in equation.split("->")[0].split(","):
        known = [t for t in g.pool if t.dtype == "float32" and t.rank == len(term)]
        if not operands and known:
            operands.append(g.random.choice(known))
            sizes.update(zip(term, operands[0].shape, strict=True))
        else:
            shape = tuple(sizes[letter] for letter in term)
            operands.append(g.pick(fits=lambda s, shape=shape: s == shape, shape=lambda shape=shape: shape))  # type: ignore[misc]
    g.emit(op, operands, equation=equation)


@recipe("LSTM", "GRU", "RNN", weight=0.7)
def _recurrent(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: len(s) == 3, shape=lambda: (g.random.randint(1, 5), g.random.choice((1, 1, 2)), g.size()))
    hidden, (_, batch, features) = g.random.randint(1, 4), x.shape
    direction = g.random.choice((None, "forward", "reverse", "bidirectional"))
    ways = 2 if direction == "bidirectional" else 1
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    operands: list[Tensor | None] = [
        x,
        g.weights(ways, gates * hidden, features),
        g.weights(ways, gates * hidden, hidden),
        g.weights(ways, 2 * gates * hidden) if g.chance(0.7) else None,
    ]
    operands += [None, None]
    if g.chance(0.5):
        state = (ways, batch, hidden)
        operands[5] = g.pick(fits=lambda s: s == state, shape=lambda: state)
        if op == "LSTM":
            operands.append(g.weights(*state))
            if g.chance(0.4):
                operands.append(g.weights(ways, 3 * hidden))
    extra: dict[str, Any] = {"linear_before_reset": g.random.choice((0, 1))} if op == "GRU" else {}
    outputs = g.random.randint(1, 3 if op == "LSTM" else 2)
    g.emit(op, operands, outputs, hidden_size=hidden, direction=direction, **extra)
