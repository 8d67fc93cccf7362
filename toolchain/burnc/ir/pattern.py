"""Small chains of nodes that passes rewrite and kernel rows match.

``op("conv2d", "x", const("w"), maybe(const("b"))) >> op("batch_norm")`` matches a batch_norm whose first input is a
conv2d with constant weights; between links of a chain a value has exactly one reader and is no graph output. A name
that stands twice must meet the same value twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from burnc.ir.graph import Graph, Node, Value


@dataclass(frozen=True)
class Operand:
    """What one input of a node must be; the value it meets is captured under ``name``."""

    name: str
    constant: bool = False
    optional: bool = False

    def accepts(self, value: Value | None) -> bool:
        if value is None:
            return self.optional
        return value.is_constant or not self.constant


def anything(name: str) -> Operand:
    return Operand(name)


def const(name: str) -> Operand:
    return Operand(name, constant=True)


def maybe(operand: Operand) -> Operand:
    return Operand(operand.name, operand.constant, optional=True)


@dataclass
class Match:
    """What a pattern met: the chain of nodes, first to last, and the captured values."""

    nodes: list[Node]
    values: dict[str, Value | None] = field(default_factory=dict)

    @property
    def last(self) -> Node:
        return self.nodes[-1]

    def __getitem__(self, name: str) -> Value:
        value = self.values[name]
        assert value is not None, f"operand {name} is absent"
        return value


@dataclass(frozen=True)
class Link:
    """One node of a chain: its operator and what its inputs must be."""

    op: str
    operands: tuple[Operand, ...]


@dataclass(frozen=True)
class Pattern:
    """A chain of links, first to last."""

    links: tuple[Link, ...]

    def __rshift__(self, other: Pattern) -> Pattern:
        return Pattern(self.links + other.links)

    def match(self, last: Node, graph: Graph, consumers: Mapping[Value, Sequence[Node]]) -> Match | None:
        """Match the chain that ends in ``last``; ``consumers`` is ``graph.consumers()``."""
        nodes: list[Node] = []
        values: dict[str, Value | None] = {}
        node: Node | None = last
        for position, link in enumerate(reversed(self.links)):
            if node is None or node.op != link.op:
                return None
            if position and not _flows_only_on(node, nodes[-1], graph, consumers):
                return None
            has_predecessor = position + 1 < len(self.links)
            if not _capture(node, link, has_predecessor, values):
                return None
            nodes.append(node)
            first = node.inputs[0] if node.inputs else None
            node = first.producer if first is not None else None
        return Match(nodes[::-1], values)


def _flows_only_on(node: Node, reader: Node, graph: Graph, consumers: Mapping[Value, Sequence[Node]]) -> bool:
    if len(node.outputs) != 1 or node.output is not reader.inputs[0]:
        return False
    return len(consumers.get(node.output, ())) == 1 and node.output not in graph.results


def _capture(node: Node, link: Link, skip_first: bool, values: dict[str, Value | None]) -> bool:
    for index, operand in enumerate(link.operands, start=1 if skip_first else 0):
        value = node.inputs[index] if index < len(node.inputs) else None
        if not operand.accepts(value) or values.get(operand.name, value) is not value:
            return False
        values[operand.name] = value
    return True


def op(name: str, *operands: str | Operand) -> Pattern:
    """One link. In a chain, the first input of a later link is the one before; its operands start at input 1."""
    return Pattern((Link(name, tuple(anything(o) if isinstance(o, str) else o for o in operands)),))
