"""The layout of quantized weights in a QDQ file is undone once, in the integers themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from burnc.ir import Builder, Graph, Node, QuantParams, Value
from burnc.ops import operators
from burnc.passes.rewrite import replace_node
from burnc.passes.sink_transposes import MOVERS


class MoveDequantizedConstants:
    """Transposed or reshaped quantized constants.

    1. transpose or reshape of dequantize of a constant becomes dequantize of a constant that is moved now.
    2. Per-axis parameters follow their axis; a reshape that splits or joins that axis is left alone.
    3. A constant that others read, too, stays for them as it is.
    """

    name = "move dequantized constants"

    def run(self, graph: Graph) -> int:
        changed = 0
        while any(_moved(graph, node) for node in graph.nodes):
            changed += 1
        return changed


def _moved(graph: Graph, node: Node) -> bool:
    if node.op not in MOVERS:
        return False
    source = node.input(0).producer
    if source is None or source.op != "dequantize" or source.input(0).data is None:
        return False
    constant = source.input(0)
    shape = node.output.type.shape
    if node.op == "transpose":
        axis = _transposed_axis(constant.type.quant, node.attrs.permutation)
        data = np.ascontiguousarray(np.asarray(constant.data).transpose(node.attrs.permutation))
    else:
        axis = _reshaped_axis(constant, shape)
        data = np.asarray(constant.data).reshape(shape)
    quant = constant.type.quant
    assert quant is not None
    if quant.axis is not None and axis is None:
        return False
    builder = Builder(graph, operators(), anchor=node)
    moved = builder.constant(constant.name, data, quant.with_axis(axis))
    replace_node(builder, node, builder.node("dequantize", [moved], source.attrs, name=source.name))
    return True


def _transposed_axis(quant: QuantParams | None, permutation: Sequence[int]) -> int | None:
    if quant is None or quant.axis is None:
        return None
    return list(permutation).index(quant.axis)


def _reshaped_axis(constant: Value, shape: Sequence[int]) -> int | None:
    """The axis of the new shape that is the quantized one: as long, with as many elements before it."""
    quant = constant.type.quant
    if quant is None or quant.axis is None:
        return None
    before = math.prod(constant.type.shape[: quant.axis])
    fitting = [i for i, n in enumerate(shape) if n == len(quant.scale) and math.prod(shape[:i]) == before]
    return fitting[0] if fitting else None
