"""onnxruntime as the oracle of quantized nodes: each alone, on the values that burnc's reference hands to it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from burnc.backends.registry import device
from burnc.ir import Array, Graph, Node, Value
from burnc.numerics import dequantize, quantize
from oracles.float_onnx import run_graph


def largest_step(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, int]:
    """How far each quantized node lies from onnxruntime, in steps of its result, by the node's name.

    Equal inputs: the oracle gets what the numpy reference computed up to the node, so errors do not add up.
    """
    made = [value for node in graph.nodes for value in node.outputs]
    values = {**inputs, **device("numpy").compile(graph, keep=made).run(dict(inputs))}
    return {
        node.name: max(int(np.abs(a.astype(np.int64) - b).max(initial=0)) for a, b in _pairs(graph, node, values))
        for node in graph.nodes
        if all(value.type.quant is not None for value in node.outputs)
    }


def _pairs(graph: Graph, node: Node, values: Mapping[str, Array]) -> list[tuple[Array, Array]]:
    alone = single_node(graph, node)
    wanted = run_graph(alone, {value.name: _real(value, values[value.name]) for value in alone.inputs})
    return [(values[value.name], _stored(value, wanted[value.name])) for value in node.outputs]


def _real(value: Value, array: Array) -> Array:
    """What a QDQ file takes at its edges."""
    return array if value.type.quant is None else dequantize(array, value.type)


def _stored(value: Value, array: Array) -> Array:
    return array if value.type.quant is None else quantize(array, value.type)


def single_node(graph: Graph, node: Node) -> Graph:
    """A graph of the one node; what it reads from others becomes inputs, constants stay."""
    copied = graph.copy()
    (alone,) = (n for n in copied.nodes if n.name == node.name)
    read: dict[Value, None] = {v: None for v in alone.inputs if v is not None and not v.is_constant}
    for value in read:
        value.producer = None
    copied.inputs, copied.outputs, copied.nodes, copied.states = list(read), list(alone.outputs), [alone], []
    return copied
