"""Nodes whose results nothing reads disappear."""

from __future__ import annotations

from burnc.ir import Graph
from burnc.passes.rewrite import remove_dead_nodes


class RemoveDeadCode:
    """Dead code.

    1. A node stays when one of its results is a graph output or is read by a node that stays.
    2. Graph inputs stay, read or not: they are the model's interface.
    """

    name = "remove dead code"

    def run(self, graph: Graph) -> int:
        return remove_dead_nodes(graph)
