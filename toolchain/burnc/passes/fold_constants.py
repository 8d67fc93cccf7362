"""A node that reads constants alone becomes a constant."""

from __future__ import annotations

from burnc.ir import Array, Builder, Graph, Node
from burnc.ops import operators
from burnc.ops.evaluate import evaluate
from burnc.passes.rewrite import replace_node

LARGEST_FOLDED = 2**24


class FoldConstants:
    """Constant folding.

    1. All inputs are constants, at least one, and there is one result.
    2. The float meaning computes float results, the integer meaning quantized ones; integer tensors without
       quantization (indices, shapes) go by the float meaning, which is exact for them.
    3. ``dequantize`` of a constant stays: the int8 weights behind it must survive.
    4. The constant that takes the place of a reshaped or transposed one keeps that one's name; a graph output keeps
       its own.
    5. Per-axis quantization parameters follow the axes that the node moves, as its result type says.
    6. A result of more than 2**24 elements stays computed: it fits no microcontroller, and a repeated constant (tile,
       expand) can ask for any amount of memory.
    """

    name = "fold constants"

    def run(self, graph: Graph) -> int:
        folded = 0
        for node in list(graph.nodes):
            if _is_foldable(node):
                builder = Builder(graph, operators())
                only = node.inputs[0] if len(node.inputs) == 1 else None
                name = only.name if only is not None else node.output.name
                replace_node(builder, node, builder.constant(name, _evaluated(node), node.output.type.quant))
                folded += 1
        return folded


def _is_foldable(node: Node) -> bool:
    constants = [v.is_constant for v in node.present_inputs]
    if node.op == "dequantize" or len(node.outputs) != 1 or node.output.type.size > LARGEST_FOLDED:
        return False
    return bool(constants) and all(constants)


def _evaluated(node: Node) -> Array:
    (result,) = evaluate(node, [None if v is None else v.data for v in node.inputs])
    return result
