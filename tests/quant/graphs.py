"""Small graphs to quantize."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from burnc.ir import Array, Builder, DType, Graph, TensorType, Value, verify
from burnc.ops import operators


class Net:
    """Builds a float graph; constants are given as arrays."""

    def __init__(self, **inputs: Sequence[int]) -> None:
        self.graph = Graph("net")
        self.builder = Builder(self.graph, operators())
        self.inputs = [self.builder.input(n, TensorType(DType.FLOAT32, tuple(s))) for n, s in inputs.items()]

    def node(self, op: str, *operands: Value | Array | None, name: str = "", attrs: Any = None) -> Value:
        values = [
            self.builder.constant(f"{name or op}.{i}", np.asarray(v, np.float32)) if isinstance(v, np.ndarray) else v
            for i, v in enumerate(operands)
        ]
        return self.builder.node(op, values, attrs, name=name or op)

    def done(self, *outputs: Value) -> Graph:
        self.graph.outputs = list(outputs)
        verify(self.graph)
        return self.graph


def one_input(shape: Sequence[int], build: Callable[[Net, Value], Value]) -> Graph:
    """A graph with input ``x`` and the result of ``build`` as its output."""
    net = Net(x=shape)
    return net.done(build(net, net.inputs[0]))
