"""Values whose bytes are those of another one: reshapes, parts of a tensor, and what a tensor is joined of.

A part of a tensor whose elements lie side by side is a pointer further in. What is joined along the outermost axis is
written where it belongs in the first place, and no code joins it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from burnc.ir import Builder, Graph, Node, Value
from burnc.ops import operators, spec_of
from burnc.ops.reshape import ReshapeAttrs

# Kernels may read words from where a tensor begins.
ALIGNMENT = 4


@dataclass
class Views:
    """``steps``: the nodes that no code is needed for."""

    steps: set[Node] = field(default_factory=set)
    _links: dict[Value, tuple[Value, int]] = field(default_factory=dict)

    def place(self, value: Value) -> tuple[Value, int]:
        """The value whose bytes it is, and from which of them on."""
        begin = 0
        while value in self._links:
            value, offset = self._links[value]
            begin += offset
        return value, begin

    def root(self, value: Value) -> Value:
        return self.place(value)[0]

    def link(self, value: Value, to: Value, offset: int = 0) -> None:
        self._links[value] = to, offset


def find_views(graph: Graph, copies: Collection[Node]) -> Views:
    """The views of a graph, to which copies are added of operands that cannot be made in place.

    One that would join two ports is none, nor is one of ``copies``.
    """
    views = Views()
    ports: dict[Value, Value] = {v: v for v in graph.given}  # root -> the port that lives there
    for node in list(graph.nodes):
        if node in copies:
            continue
        if spec_of(node).view:
            _reshaped(node, graph, views, ports)
        elif (offset := spec_of(node).part(node)) is not None:
            _part(node, offset, graph, views)
        elif spec_of(node).joins(node):
            _joined(node, graph, views, ports)
    return views


def _reshaped(node: Node, graph: Graph, views: Views, ports: dict[Value, Value]) -> None:
    source = node.input(0)
    if source.is_constant:
        return
    base, begin = views.place(source)
    if base in graph.outputs:
        ports.setdefault(base, base)
    if node.output in graph.outputs:
        if base in ports or begin or base.type.nbytes != node.output.type.nbytes:
            return
        ports[base] = node.output
    views.link(node.output, source)
    views.steps.add(node)


def _part(node: Node, offset: int, graph: Graph, views: Views) -> None:
    source = node.input(0)
    if source.is_constant or node.output in graph.results or not node.output.type.size:
        return
    _, begin = views.place(source)
    if (begin + offset) % _alignment(node.output):
        return
    views.link(node.output, source, offset)
    views.steps.add(node)


def _joined(node: Node, graph: Graph, views: Views, ports: dict[Value, Value]) -> None:
    y = node.output
    offset, places = 0, []
    for x in node.present_inputs:
        places.append(offset)
        if offset % _alignment(x):
            return
        offset += x.type.nbytes
    made: list[Value] = []
    for x in node.present_inputs:
        base, _ = views.place(x)
        is_free = not (base in ports or base in graph.results or base.is_constant or base in made or not x.type.size)
        if is_free and base.type.nbytes == x.type.nbytes:
            made.append(base)
    if not made:
        return
    for index, (x, place) in enumerate(zip(node.present_inputs, places, strict=True)):
        base, _ = views.place(x)
        if base in made:
            made.remove(base)  # the second time it is copied
        elif x.type.size:
            base = _copy(graph, node, index)
        else:
            continue
        views.link(base, y, place)
    views.steps.add(node)


def _copy(graph: Graph, node: Node, index: int) -> Value:
    """Let the node read a copy of that input."""
    x = node.input(index)
    copy = Builder(graph, operators(), anchor=node).node("reshape", [x], ReshapeAttrs(x.type.shape), name=x.name)
    copy.type = x.type
    node.inputs[index] = copy
    return copy


def _alignment(value: Value) -> int:
    return max(ALIGNMENT, value.type.dtype.bytes)
