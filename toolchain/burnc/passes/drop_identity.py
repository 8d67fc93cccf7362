"""An identity disappears where the value that it copies can have the name that is wanted."""

from __future__ import annotations

from burnc.ir import Builder, Graph, Value
from burnc.ops import operators
from burnc.passes.rewrite import replace_node


class DropIdentity:
    """identity.

    1. An identity of which no result of the graph depends on the name is replaced by what it reads.
    2. So is one that is a graph output or is written to a state; what it reads takes its name, unless that is an
       input, a state, a constant or another such result, which have names of their own.
    3. Where it stays for that, nodes that read it read what it reads.
    """

    name = "drop identity"

    def run(self, graph: Graph) -> int:
        changed = 0
        for node in list(graph.nodes):
            if node.op != "identity":
                continue
            source = node.input(0)
            has_own_name = source.is_constant or source in graph.given or source in graph.results
            if node.output in graph.results and has_own_name:
                changed += _readers_read(graph, source, node.output)
                continue
            replace_node(Builder(graph, operators(), anchor=node), node, source)
            changed += 1
        return changed


def _readers_read(graph: Graph, source: Value, copy: Value) -> int:
    """Let nodes read the source in place of its copy; returns how many do."""
    readers = [node for node in graph.nodes if copy in node.present_inputs]
    for node in readers:
        node.inputs = [source if v is copy else v for v in node.inputs]
    return len(readers)
