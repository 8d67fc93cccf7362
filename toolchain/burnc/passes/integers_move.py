"""In QDQ graphs, transposes and reshapes are done to the integers, where they meet their inverses or are done once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from burnc.ir import Builder, Graph, Node, QuantParams, TensorType
from burnc.ops import operators, spec_of
from burnc.passes.rewrite import replace_node
from burnc.passes.sink_transposes import MOVERS


class IntegersMove:
    """Transposes and reshapes of dequantized values.

    1. transpose or reshape of dequantize becomes dequantize of the transposed or reshaped integers.
    2. A constant is moved now, and stays as it is for others that read it.
    3. Per-axis parameters follow their axis; a reshape that splits or joins that axis is left alone.
    """

    name = "move integers"

    def run(self, graph: Graph) -> int:
        changed = 0
        while any(_moved(graph, node) for node in graph.nodes):
            changed += 1
        return changed


def _moved(graph: Graph, node: Node) -> bool:
    source = node.input(0).producer if node.op in MOVERS else None
    if source is None or source.op != "dequantize":
        return False
    held = source.input(0)
    quant = _moved_quant(held.type, node)
    if quant is None or (held.data is None and not _may_move(held.type, node)):
        return False
    builder = Builder(graph, operators(), anchor=node)
    if held.data is None:
        moved = builder.node(node.op, [held], node.attrs, name=node.name, quant=quant)
    elif node.op == "transpose":
        data = np.ascontiguousarray(held.data.transpose(node.attrs.permutation))
        moved = builder.constant(held.name, data, quant)
    else:
        moved = builder.constant(held.name, held.data.reshape(node.output.type.shape), quant)
    replace_node(builder, node, builder.node("dequantize", [moved], source.attrs, name=source.name))
    return True


def _may_move(type: TensorType, node: Node) -> bool:
    """Whether the operator takes these integers of an activation: they have one scale, and a type that it knows."""
    rule = spec_of(node).quant
    return rule is not None and type.quant is not None and type.quant.axis is None and type.dtype in rule.dtypes


def _moved_quant(type: TensorType, node: Node) -> QuantParams | None:
    """The parameters after the move; None where they cannot follow."""
    quant = type.quant
    assert quant is not None
    if quant.axis is None:
        return quant
    if node.op == "transpose":
        return quant.with_axis(list(node.attrs.permutation).index(quant.axis))
    axis = _reshaped_axis(type.shape, quant.axis, node.output.type.shape)
    return None if axis is None else quant.with_axis(axis)


def _reshaped_axis(before: Sequence[int], axis: int, after: Sequence[int]) -> int | None:
    """The axis of the new shape that is the old one: as long, with as many elements before it."""
    outer = math.prod(before[:axis])
    fitting = [i for i, n in enumerate(after) if n == before[axis] and math.prod(after[:i]) == outer]
    return fitting[0] if fitting else None
