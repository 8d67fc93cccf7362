"""Networks of pointwise int8 convolutions, with the weights and inputs that hurt most."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from burnc.ir import Array, Builder, DType, Graph, QuantParams, TensorType, Value, verify
from burnc.ops import operators
from burnc.ops.conv2d import Conv2dAttrs

UNCLAMPED = (-np.inf, np.inf)


def weights_of(kind: str, outputs: int, inputs: int, rng: np.random.Generator) -> Array:
    if kind == "random":
        return rng.integers(-127, 128, (outputs, inputs)).astype(np.int8)
    if kind == "signs":
        return rng.choice(np.array([-127, 127], np.int8), (outputs, inputs))
    return np.full((outputs, inputs), {"high": 127, "low": -127, "zero": 0, "lowest": -128}[kind], np.int8)


def add_pointwise(
    b: Builder,
    pixels: tuple[int, int],
    inputs: int,
    outputs: int,
    *,
    weights: str = "random",
    zero_points: tuple[int, int] = (-3, 5),
    scale: float | None = None,
    activation: tuple[float, float] = UNCLAMPED,
    seed: int = 0,
) -> Value:
    """A convolution of an input of its own.

    ``scale``: of the accumulator to the output; None for one that uses the whole range of int8.
    """
    rng = np.random.default_rng(seed)
    x_type = TensorType(DType.INT8, (1, *pixels, inputs), QuantParams.per_tensor(0.5, zero_points[0]))
    x = b.input(f"x{len(b.graph.inputs)}", x_type)
    data = weights_of(weights, outputs, inputs, rng)
    w_scale = (rng.uniform(0.5, 1.0, outputs) * 0.01).astype(np.float32)
    zeros = np.zeros(outputs, np.int32)
    w = b.constant("w", data.reshape(outputs, 1, 1, inputs), QuantParams(w_scale, zeros, 0))
    biases = rng.integers(-4000, 4000, outputs).astype(np.int32)
    bias = b.constant("b", biases, QuantParams(0.5 * w_scale, zeros, 0))
    y = b.node("conv2d", [x, w, bias], Conv2dAttrs(activation_min=activation[0], activation_max=activation[1]))
    wanted = 2.0 / (127.0 * np.sqrt(inputs)) if scale is None else scale
    y.type = TensorType(DType.INT8, y.type.shape, QuantParams.per_tensor(0.5 * 0.0075 / wanted, zero_points[1]))
    return y


def pointwise(pixels: tuple[int, int], inputs: int, outputs: int, **details: object) -> Graph:
    """A graph of one convolution."""
    graph = Graph("pointwise")
    graph.outputs = [add_pointwise(Builder(graph, operators()), pixels, inputs, outputs, **details)]  # type: ignore[arg-type]
    verify(graph)
    return graph


def many_pointwise() -> Graph:
    """Side by side: odd and even numbers of pixels and channels with all kinds of weights, zero points and clamps."""
    graph = Graph("many")
    b = Builder(graph, operators())
    shapes = [((1, 2), 1, 3), ((2, 2), 8, 4), ((3, 1), 5, 5), ((2, 4), 16, 9), ((3, 3), 34, 7)]
    weights = ["random", "signs", "random", "high", "low", "random", "zero"]
    zero_points = [(-3, 5), (-128, -128), (127, 127), (-128, 127)]
    clamps = [UNCLAMPED, (0.0, np.inf), (0.0, 6.0)]
    for i in range(21):
        details = {"weights": weights[i % 7], "zero_points": zero_points[i % 4], "activation": clamps[i % 3]}
        graph.outputs.append(add_pointwise(b, *shapes[i % 5], **details, seed=i))  # type: ignore[arg-type]
    verify(graph)
    return graph


def hard_inputs(graph: Graph, seed: int = 0) -> Iterator[dict[str, Array]]:
    """Random numbers, both extremes, and pixels whose signs match the weights' and oppose them."""
    rng = np.random.default_rng(seed)
    yield {v.name: rng.integers(-128, 128, v.type.shape).astype(np.int8) for v in graph.inputs}
    for value in (-128, 127):
        yield {v.name: np.full(v.type.shape, value, np.int8) for v in graph.inputs}
    for sign in (1, -1):
        yield {node.input(0).name: _matched(node.input(0), node.input(1), sign) for node in graph.nodes}


def _matched(x: Value, w: Value, sign: int) -> Array:
    assert w.data is not None
    repeated = np.resize(w.data.astype(np.int16), x.type.shape)
    return np.where(sign * repeated >= 0, 127, -128).astype(np.int8)
