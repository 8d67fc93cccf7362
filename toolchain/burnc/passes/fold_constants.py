"""A node that reads constants alone becomes a constant."""

from __future__ import annotations

from burnc.ir import Builder, Graph, Node
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
    6. A result of more than 2**24 elements stays computed: it fits no microcontroller, and a repeated constant (tile,
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
    results = evaluate(node, [None if v is None else v.data for v in node.inputs])
    if len(results) == 1:
        only = node.inputs[0] if len(node.inputs) == 1 else None
        name = only.name if only is not None else node.output.name
        replace_node(builder, node, builder.constant(name, results[0], node.output.type.quant))
        return
    for old, data in zip(node.outputs, results, strict=True):
        value = builder.constant(old.name, data, old.type.quant)
        builder.take_name(value, old)
        graph.replace_uses(old, value)
    remove_dead_nodes(graph)


def _is_foldable(node: Node) -> bool:
    constants = [v.is_constant for v in node.present_inputs]
    if any(v.type.size > LARGEST_FOLDED for v in node.outputs):
        return False
    return bool(constants) and all(constants)
