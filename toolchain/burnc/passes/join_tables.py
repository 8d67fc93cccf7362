"""Chains of int8 operators of one operand become one table."""

from __future__ import annotations

import numpy as np

from burnc.ir import Builder, DType, Graph, Node
from burnc.ops import operators, spec_of
from burnc.ops.lookup import LookupAttrs
from burnc.ops.table import table_of
from burnc.passes.rewrite import replace_node


class JoinTables:
    """Tables.

    1. Two int8 nodes of operators of one operand (``OpSpec.unary``) follow each other, and nothing else reads what lies
       between them.
    2. They become one ``lookup`` with the second's table of the first's, and the second's parameters; a lookup is such
       an operator itself, so that chains of any length join.
    """

    name = "join tables"

    def run(self, graph: Graph) -> int:
        changed = 0
        while self._join_one(graph):
            changed += 1
        return changed

    def _join_one(self, graph: Graph) -> bool:
        consumers = graph.consumers()
        for second in graph.nodes:
            first = second.input(0).producer if _is_table(second) else None
            if first is None or not _is_table(first) or first.output in graph.results:
                continue
            if len(consumers[first.output]) > 1:
                continue
            joined = table_of(second)[table_of(first).astype(np.int64) + 128]
            builder = Builder(graph, operators(), anchor=second)
            attrs = LookupAttrs(tuple(joined.tolist()))
            value = builder.node("lookup", [first.input(0)], attrs, name=second.name, quant=second.output.type.quant)
            replace_node(builder, second, value)
            return True
        return False


def _is_table(node: Node) -> bool:
    spec = spec_of(node)
    if not spec.unary or spec.integer is None or len(node.outputs) != 1:
        return False
    types = (node.input(0).type, node.output.type)
    return all(t.dtype is DType.INT8 and t.quant is not None for t in types)
