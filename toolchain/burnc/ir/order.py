"""An order of nodes that follows from what they read alone, whatever order the graph has them in."""

from __future__ import annotations

from burnc.ir.graph import Graph, Node


def dataflow_order(graph: Graph) -> list[Node]:
    """From each result back to its operands, the first one first; then what no result needs."""
    waits: set[Node | None] = set(graph.nodes)
    ordered: list[Node] = []
    for root in (*(v.producer for v in graph.results), *graph.nodes):
        stack = [root]
        while stack:
            node = stack[-1]
            needed = [] if node is None else [v.producer for v in node.present_inputs if v.producer in waits]
            if node in waits and needed:
                stack += needed[::-1]
                continue
            if node is not None and node in waits:
                waits.discard(node)
                ordered.append(node)
            stack.pop()
    return ordered
