"""A node that reads constants alone becomes a constant."""

from __future__ import annotations

import numpy as np

from burnc.ir import Array, Builder, Graph, Node, Value
from burnc.ops import operators
from burnc.ops.evaluate import evaluate
from burnc.passes.rewrite import remove_dead_nodes, replace_node

LARGEST_FOLDED = 2**24


class FoldConstants:
    """Constant folding.

    1. All inputs are constants, and there is at least one.
    2. The float meaning computes float results, the integer meaning quantized ones; integer tensors without
       quantization (indices, shapes) go by the float meaning, which is exact for them.
    3. ``dequantize`` of a constant stays, for the int8 weights behind it must survive until quantization is absorbed.
       With ``dequantized`` it is folded too: what is left then is read as float, and would be computed in each run.
    4. The constant that takes the place of a reshaped or transposed one keeps that one's name; a graph output keeps
       its own.
    5. Per-axis quantization parameters follow the axes that the node moves, as its result type says.
    6. A tensor without elements is known, whatever makes it; what reads only such and constants is folded too.
    7. A result of more than 2**24 elements stays computed: it fits no microcontroller, and a repeated constant (tile,
       expand) can ask for any amount of memory.
    """

    name = "fold constants"

    def __init__(self, *, dequantized: bool = False) -> None:
        self.dequantized = dequantized

    def run(self, graph: Graph) -> int:
        folded = 0
        for node in list(graph.nodes):
            if _is_foldable(node) and (self.dequantized or node.op != "dequantize"):
                _fold(graph, node)
                folded += 1
        return folded


def _fold(graph: Graph, node: Node) -> None:
    builder = Builder(graph, operators())
    results = [_known(value) for value in node.outputs]
    if any(result is None for result in results):
        results = list(evaluate(node, [None if v is None else _known(v) for v in node.inputs]))
    arrays = [result for result in results if result is not None]
    if len(arrays) == 1:
        only = node.inputs[0] if len(node.inputs) == 1 else None
        name = only.name if only is not None else node.output.name
        replace_node(builder, node, builder.constant(name, arrays[0], node.output.type.quant))
        return
    for old, data in zip(node.outputs, arrays, strict=True):
        value = builder.constant(old.name, data, old.type.quant)
        builder.take_name(value, old)
        graph.replace_uses(old, value)
    remove_dead_nodes(graph)


def _is_foldable(node: Node) -> bool:
    if any(v.type.size > LARGEST_FOLDED for v in node.outputs):
        return False
    if not any(v.type.size for v in node.outputs):
        return True
    return bool(node.present_inputs) and all(_known(v) is not None for v in node.present_inputs)


def _known(value: Value) -> Array | None:
    """The elements of a constant, or of a tensor that has none."""
    if value.is_constant or value.type.size:
        return value.data
    return np.zeros(value.type.shape, value.type.dtype.numpy)
