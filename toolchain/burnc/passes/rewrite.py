"""What passes are made of: the contract, pattern rewrites to a fixed point, and the order they are run in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from burnc.ir import Builder, Graph, Match, Node, Pattern, Value, verify
from burnc.ops import operators


class Pass(Protocol):
    """Changes a graph in place and keeps its meaning."""

    @property
    def name(self) -> str: ...

    def run(self, graph: Graph) -> int:
        """Returns how many places were changed."""


@dataclass(frozen=True)
class Change:
    """For reports: what a pass did.

    Attributes:
        count: the number of places it changed.
        nodes: names of the nodes that it removed or put something else for, or else of those that it made.
    """

    name: str
    count: int
    nodes: tuple[str, ...] = ()


class RewritePass:
    """Rewrites matches of ``pattern`` until none is left.

    A subclass sets ``name`` and ``pattern`` and writes ``rewrite``.
    """

    name = ""
    pattern: Pattern

    def rewrite(self, m: Match, b: Builder) -> Value | None:
        """The value that takes the place of the match's last result; None to leave the match alone."""
        raise NotImplementedError

    def run(self, graph: Graph) -> int:
        changed = 0
        while self._rewrite_one(graph):
            changed += 1
        return changed

    def _rewrite_one(self, graph: Graph) -> bool:
        consumers = graph.consumers()
        for node in list(graph.nodes):
            match = self.pattern.match(node, graph, consumers)
            if match is None:
                continue
            builder = Builder(graph, operators(), anchor=node)
            value = self.rewrite(match, builder)
            if value is not None:
                replace_node(builder, node, value)
                return True
            builder.take_back()
        return False


def replace_node(builder: Builder, node: Node, value: Value) -> None:
    """Let ``value`` take the place of a node's only result; nodes that nothing reads any more are removed.

    A value that the builder made takes the replaced one's name, so that names of the file outlive rewriting. A graph
    output keeps its declared name in any case: where the value is known by another name already (an input, another
    output), an identity stands between them.
    """
    graph, old = builder.graph, node.output
    if old in graph.outputs:
        if value in graph.given or value in graph.results:
            value = builder.node("identity", [value], quant=value.type.quant)
        builder.take_name(value, old)
    elif builder.has_made(value) and not value.is_constant:
        builder.take_name(value, old)
    graph.replace_uses(old, value)
    remove_dead_nodes(graph)
    builder.settle_names()


def remove_dead_nodes(graph: Graph) -> int:
    """Remove the nodes whose results nothing reads; returns how many."""
    live: set[Value] = set(graph.results)
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if any(v in live for v in node.outputs):
            live.update(node.present_inputs)
            kept.append(node)
    removed = len(graph.nodes) - len(kept)
    graph.nodes = kept[::-1]
    return removed


def run_passes(graph: Graph, passes: Sequence[Pass]) -> list[Change]:
    """Run passes in order, over and over until none changes anything; the graph is verified after each."""
    done: list[Change] = []
    changed = True
    while changed:
        changed = False
        for each in passes:
            before = {node: node.name for node in graph.nodes}
            count = each.run(graph)
            if count:
                verify(graph)
                done.append(Change(each.name, count, _touched(before, graph)))
                changed = True
    return merge_changes(done)


def merge_changes(changes: Sequence[Change]) -> list[Change]:
    """One entry a pass, in the order in which each first did something."""
    merged: dict[str, Change] = {}
    for change in changes:
        known = merged.get(change.name, Change(change.name, 0))
        nodes = tuple(dict.fromkeys((*known.nodes, *change.nodes)))
        merged[change.name] = Change(change.name, known.count + change.count, nodes)
    return list(merged.values())


def _touched(before: Mapping[Node, str], graph: Graph) -> tuple[str, ...]:
    after = set(graph.nodes)
    removed = [name for node, name in before.items() if node not in after or node.name != name]
    return tuple(removed or [node.name for node in graph.nodes if node not in before])
