"""Networks of int8 layers side by side, each with an input of its own, and the inputs that hurt most."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from burnc.codegen.rows import ROWS
from burnc.ir import Array, Builder, DType, Graph, Node, QuantParams, TensorType, Value, verify
from burnc.ops import operators
from burnc.ops.conv2d import Conv2dAttrs
from burnc.ops.fully_connected import FullyConnectedAttrs
from burnc.ops.spatial import Padding


def without_rows(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Kernels are chosen among the others from now on."""
    monkeypatch.setattr("burnc.codegen.lower.ROWS", tuple(row for row in ROWS if row.name not in names))


Range = tuple[float, float]
UNCLAMPED = (-np.inf, np.inf)
RELU = (0.0, np.inf)


def weights_of(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """``random``: all of int8 but -128; ``signs``: +-127; ``small``: up to 9; ``sparse``: most 0, some rows all 0."""
    if kind == "signs":
        return rng.choice(np.array([-127, 127], np.int8), shape)
    if kind == "lowest":
        return np.full(shape, -128, np.int8)
    data = rng.integers(*((-9, 10) if kind == "small" else (-127, 128)), shape).astype(np.int8)
    if kind == "sparse":
        data[rng.random(shape) < 0.8] = 0
        data[::2] = np.where(rng.random(len(data[::2])) < 0.7, 0, 1).reshape(-1, *[1] * (len(shape) - 1)) * data[::2]
    return data


class Layers:
    """A graph that grows; every layer has an input of its own, and its result is an output."""

    def __init__(self) -> None:
        self.graph = Graph("layers")
        self._b = Builder(self.graph, operators())
        self._rng = np.random.default_rng(0)

    def finished(self) -> Graph:
        verify(self.graph)
        return self.graph

    def _input(self, shape: tuple[int, ...], zero_point: int) -> Value:
        type_ = TensorType(DType.INT8, shape, QuantParams.per_tensor(0.5, zero_point))
        return self._b.input(f"x{len(self.graph.inputs)}", type_)

    def _parameters(self, shape: tuple[int, ...], kind: str, *, per_tensor: bool) -> tuple[Value, Value, int]:
        data = weights_of(kind, shape, self._rng)
        outputs = shape[0]
        scale = (self._rng.uniform(0.5, 1.0, 1 if per_tensor else outputs) * 0.01).astype(np.float32)
        zeros = np.zeros(scale.size, np.int32)
        axis = None if per_tensor else 0
        w = self._b.constant("w", data, QuantParams(scale, zeros, axis))
        biases = self._rng.integers(-4000, 4000, outputs).astype(np.int32)
        b = self._b.constant("b", biases, QuantParams(np.float32(0.5) * scale, zeros, axis))
        return w, b, int(np.abs(data.astype(np.int64)).reshape(outputs, -1).sum(axis=1).max())

    def _end(self, y: Value, zero_point: int, size: int) -> None:
        """``size``: the largest sum of |w|; the result's scale is such that its range is used."""
        scale = 0.5 * 0.0075 * max(size, 1) * 20.0 / 127.0
        y.type = TensorType(DType.INT8, y.type.shape, QuantParams.per_tensor(scale, zero_point))
        self.graph.outputs.append(y)

    def conv(
        self, shape: tuple[int, int, int, int], filters: int, kernel: tuple[int, int], *, kind: str = "random",
        zero_points: tuple[int, int] = (-3, 5), activation: Range = UNCLAMPED, depthwise: bool = False, **attrs: Any,
    ) -> Layers:  # fmt: skip
        x = self._input(shape, zero_points[0])
        groups = shape[3] if depthwise else 1
        w, b, size = self._parameters((filters, *kernel, shape[3] // groups), kind, per_tensor=False)
        pads = attrs.pop("pad", (0, 0, 0, 0))
        low, high = activation
        full = Conv2dAttrs(pad=Padding(*pads), groups=groups, activation_min=low, activation_max=high, **attrs)
        self._end(self._b.node("conv2d", [x, w, b], full), zero_points[1], size)
        return self

    def fully_connected(
        self, batch: int, depth: int, outputs: int, *, kind: str = "random", zero_points: tuple[int, int] = (-3, 5),
        activation: Range = UNCLAMPED,
    ) -> Layers:  # fmt: skip
        x = self._input((batch, depth), zero_points[0])
        w, b, size = self._parameters((outputs, depth), kind, per_tensor=True)
        attrs = FullyConnectedAttrs(activation_min=activation[0], activation_max=activation[1])
        self._end(self._b.node("fully_connected", [x, w, b], attrs), zero_points[1], size)
        return self

    def pair(
        self, op: str, shape: tuple[int, ...], scales: tuple[float, float, float], zeros: tuple[int, int, int]
    ) -> Layers:
        left, right = self._input(shape, zeros[0]), self._input(shape, zeros[1])
        for value, scale, zero in ((left, scales[0], zeros[0]), (right, scales[1], zeros[1])):
            value.type = TensorType(DType.INT8, shape, QuantParams.per_tensor(scale, zero))
        y = self._b.node(op, [left, right])
        y.type = TensorType(DType.INT8, shape, QuantParams.per_tensor(scales[2], zeros[2]))
        self.graph.outputs.append(y)
        return self


def hard_inputs(graph: Graph, seed: int = 0) -> Iterator[dict[str, Array]]:
    """Random numbers, both extremes, and inputs whose signs match the weights' and oppose them."""
    rng = np.random.default_rng(seed)
    yield {v.name: rng.integers(-128, 128, v.type.shape).astype(np.int8) for v in graph.inputs}
    for value in (-128, 127):
        yield {v.name: np.full(v.type.shape, value, np.int8) for v in graph.inputs}
    for sign in (1, -1):
        yield {
            x.name: _matched(x, node, sign) for node in graph.nodes for x in node.present_inputs if not x.is_constant
        }


def _matched(x: Value, node: Node, sign: int) -> Array:
    """An input made of one filter's signs, again and again."""
    w = node.input(1).data
    if w is None:
        return np.resize(np.array([-128, 127, -1, 0, 1, 126, -127], np.int8), x.type.shape)
    kernel = w[0] if w.shape[-1] == x.type.shape[-1] else w[..., 0].transpose(1, 2, 0)
    pattern = np.where(sign * kernel.astype(np.int16) >= 0, 127, -128).astype(np.int8)
    times = [1, *(-(-n // k) for n, k in zip(x.type.shape[1:], pattern.shape, strict=True))]
    tiled = np.tile(pattern, times)[tuple(slice(n) for n in (1, *x.type.shape[1:]))]
    return np.ascontiguousarray(np.broadcast_to(tiled, x.type.shape))
