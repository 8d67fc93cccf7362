"""Graphs of one operator whose kernel a test writes by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.ir import Array, Builder, DType, Graph, TensorType
from burnc.ops import OpSpec, operators
from burnc.ops.case import case


@dataclass(frozen=True)
class NoAttrs:
    """The toy has none."""


def toy_graph(inputs: Mapping[str, Array], result: TensorType, body: Callable[..., None]) -> Graph:
    """One node ``toy`` from these inputs to ``y``; ``body(k, *inputs, y)`` is its KernelIR."""

    def infer(_: Any, __: Sequence[TensorType | None]) -> list[TensorType]:
        return [result]

    def forward(xp: Any, a: Any, *arrays: Any) -> Any:
        return np.zeros(result.shape, result.dtype.numpy)  # for the self-test vector of C, which nobody runs

    spec = OpSpec(
        name="toy", attrs=NoAttrs, infer=infer, forward=forward, body=lambda k, a, *t: body(k, *t), cases=(case((1,)),)
    )
    graph = Graph("toy")
    b = Builder(graph, {**operators(), "toy": spec})
    values = [b.input(name, TensorType(DType.of(data), data.shape)) for name, data in inputs.items()]
    graph.outputs = [b.node("toy", values, outputs=("y",))]
    return graph


def elementwise(
    inputs: Mapping[str, Array], dtype: DType, expression: Callable[..., Any]
) -> tuple[Graph, Mapping[str, Array]]:
    """``y[i] = expression(k, *inputs at i)`` over arrays of one shape, and those arrays."""
    shape = np.shape(next(iter(inputs.values())))

    def body(k: Any, *tensors: Any) -> None:
        *operands, y = tensors
        for i in k.grid(shape):
            y[i] = expression(k, *(t.raw(*i) for t in operands))

    return toy_graph(inputs, TensorType(dtype, shape), body), inputs
