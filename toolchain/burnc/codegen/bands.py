"""A stage of a network in bands: a few rows of its result at a time, from the rows of its input that they need.

Then only a band of the large maps in between is ever there. What two bands need at their border is computed for each.
Every element is computed as before, from the same elements, so that results stay what they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from burnc.codegen.image_rows import is_image, rows_read
from burnc.ir import Builder, Graph, Node, Value
from burnc.ops import operators, spec_of
from burnc.ops.concat import ConcatAttrs
from burnc.ops.image_rows import RowsRead
from burnc.ops.slice import SliceAttrs
from burnc.passes.rewrite import replace_node

Range = tuple[int, int]
"""Rows, from the first up to the last, which is not among them."""


@dataclass(frozen=True)
class Stage:
    """Operators between some values and one ``result``, each of whose rows is made of a few rows of what it reads."""

    nodes: tuple[Node, ...]

    @property
    def result(self) -> Value:
        return self.nodes[-1].output

    @property
    def rows(self) -> int:
        return self.result.type.shape[1]

    @property
    def macs(self) -> int:
        return sum(spec_of(node).macs(node) for node in self.nodes)


@dataclass(frozen=True)
class Band:
    """The rows of each value of a stage that some rows of its result need, and what each node reads for them."""

    needed: dict[Value, Range]
    reads: dict[Node, RowsRead]

    @property
    def macs(self) -> int:
        found = 0
        for node in self.reads:
            first, last = self.needed[node.output]
            found += spec_of(node).macs(node) * (last - first) // node.output.type.shape[1]
        return found


def find_stages(graph: Graph, within: Sequence[Node]) -> Iterator[Stage]:
    """The stages that hold all nodes of ``within``: those that begin early first, and of them the shorter ones."""
    consumers, place = graph.consumers(), {node: i for i, node in enumerate(graph.nodes)}
    places = [place[node] for node in within]
    starts = [v for node in graph.nodes[: min(places)] for v in node.outputs if is_image(v)]
    for start in [None, *starts]:
        for last in graph.nodes[max(places) :]:
            found = _ancestors(last, start)
            inner = [v for node in found if node is not last for v in node.outputs]
            is_closed = all(v not in graph.results and found.issuperset(consumers.get(v, ())) for v in inner)
            begins = start is None or any(start in node.inputs for node in found)
            if found.issuperset(within) and is_closed and begins:
                yield Stage(tuple(sorted(found, key=lambda node: place[node])))


def _ancestors(last: Node, start: Value | None) -> set[Node]:
    """What makes the node's result out of ``start`` and what operators of other kinds have made."""
    found: set[Node] = set()
    todo = [last]
    while todo:
        node = todo.pop()
        if node not in found and _is_by_rows(node):
            found.add(node)
            todo += [v.producer for v in node.present_inputs if v.producer is not None and v is not start]
    return found


def _is_by_rows(node: Node) -> bool:
    return (
        len(node.outputs) == 1 and is_image(node.output) and rows_read(node, 0, node.output.type.shape[1]) is not None
    )


def _band(stage: Stage, rows: Range) -> Band | None:
    """What a band is made of; None where one of its operators would read nothing but padding."""
    needed: dict[Value, Range] = {stage.result: rows}
    reads: dict[Node, RowsRead] = {}
    for node in reversed(stage.nodes):
        read = rows_read(node, *needed[node.output])
        if read is None:
            return None
        reads[node] = read
        for value in node.present_inputs:
            if not value.is_constant:
                first, last = needed.get(value, (read.begin, read.end))
                needed[value] = min(first, read.begin), max(last, read.end)
    return Band(needed, reads)


def bands_of(stage: Stage, rows: int) -> list[Band] | None:
    """The bands of so many rows of the result each; None where one cannot be."""
    found = []
    for first in range(0, stage.rows, rows):
        band = _band(stage, (first, min(first + rows, stage.rows)))
        if band is None:
            return None
        found.append(band)
    return found


def in_bands(graph: Graph, stage: Stage, bands: Sequence[Band]) -> Graph:
    """A copy of the graph that computes the stage in bands."""
    copy = graph.copy()
    twins: dict[Node, Node] = dict(zip(graph.nodes, copy.nodes, strict=True))
    last = twins[stage.nodes[-1]]
    builder = Builder(copy, operators(), anchor=last)
    parts = [_Maker(builder, stage, band, twins, number).make() for number, band in enumerate(bands)]
    whole = builder.node("concat", parts, ConcatAttrs(1), name=last.name, quant=last.output.type.quant)
    replace_node(builder, last, whole)
    return copy


class _Maker:
    """Makes the nodes of one band in a copy of the graph, whose nodes are ``twins`` of those of the stage."""

    def __init__(self, builder: Builder, stage: Stage, band: Band, twins: dict[Node, Node], number: int) -> None:
        self._builder, self._stage, self._band, self._twins = builder, stage, band, twins
        self._number = number
        self._made: dict[Value, Value] = {}
        self._parts: dict[tuple[Value, Range], Value] = {}

    def make(self) -> Value:
        for node in self._stage.nodes:
            read, twin = self._band.reads[node], self._twins[node]
            inputs: list[Value | None] = []
            for value, its in zip(node.inputs, twin.inputs, strict=True):
                is_map = value is not None and its is not None and not value.is_constant
                inputs.append(self._rows(value, its, (read.begin, read.end)) if is_map else its)  # type: ignore[arg-type]
            name = self._name(node.name, "band")
            quant = node.output.type.quant
            made = self._builder.node(node.op, inputs, read.attrs, name=name, quant=quant, rounding=node.rounding)
            self._made[node.output] = made
        return self._made[self._stage.result]

    def _name(self, whole: str, what: str) -> str:
        """TFLite joins the names of all that was fused; reports show the first."""
        first, joint, others = whole.partition(";")
        return f"{first}.{what}{self._number}{joint}{others}"

    def _rows(self, value: Value, twin: Value, rows: Range) -> Value:
        """Some rows of a value: of its band where that is made here, else of the whole of it."""
        there, first, last = self._made.get(value, twin), 0, value.type.shape[1]
        if value in self._made:
            first, last = self._band.needed[value]
        if rows == (first, last):
            return there
        if (there, rows) not in self._parts:
            starts = (0, rows[0] - first, 0, 0)
            sizes = (1, rows[1] - rows[0], *value.type.shape[2:])
            name = self._name(value.name, "rows")
            attrs = SliceAttrs(starts, sizes)
            part = self._builder.node("slice", [there], attrs, name=name, quant=value.type.quant)
            self._parts[there, rows] = part
        return self._parts[there, rows]
