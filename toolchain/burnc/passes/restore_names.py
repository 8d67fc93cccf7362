"""A graph that burnc wrote itself gets back what ONNX could not carry: names of inner values, roundings, order."""

from __future__ import annotations

import json
from typing import Any

from burnc.ir import ROUNDINGS, Graph, Node
from burnc.ir.metadata import NAMES
from burnc.ir.order import dataflow_order


class RestoreNames:
    """Names, roundings and the order of nodes from the metadata of a file that burnc wrote.

    1. Only where the nodes are, operator by operator in the order of dataflow, those that were written, and the
       constants as many; a file that another tool has changed keeps the names that it has.
    2. Inputs and outputs keep their names, which the file itself carries.
    3. The record leaves the metadata: it is written anew when the graph is.
    """

    name = "restore names"

    def run(self, graph: Graph) -> int:
        record = _record(graph.metadata.pop(NAMES, ""))
        if record is None:
            return 0
        constants, nodes, dataflow = record
        before, graph.nodes = graph.nodes, _as_written(graph, dataflow)
        if not _fits(graph, constants, nodes):
            graph.nodes = before
            return 0
        held = graph.constants()
        values = [v for node in graph.nodes for v in node.outputs] + held
        names = [name for *_, results in nodes for name in results] + constants
        fixed = {v.name for v in graph.given} | {v.name for v in graph.outputs}
        inner = [(v, n) for v, n in zip(values, names, strict=True) if v not in graph.outputs]
        if len({n for _, n in inner} | fixed) != len(inner) + len(fixed):
            graph.nodes = before
            return 0
        for value, name in inner:
            value.name = name
        for node, (_, name, rounding, _) in zip(graph.nodes, nodes, strict=True):
            node.name, node.rounding = name, rounding
        return 1


def is_as_written(graph: Graph, node: Node) -> bool:
    """Whether burnc wrote the graph's file, with this node in it, which was quantized then."""
    record = _record(graph.metadata.get(NAMES, ""))
    return record is not None and any((op, name) == (node.op, node.name) for op, name, *_ in record[1])


_Nodes = list[tuple[str, str, str, list[str]]]
_Record = tuple[list[str], _Nodes, list[int]]


def _as_written(graph: Graph, dataflow: list[int]) -> list[Node]:
    """The nodes in the order that the record has; ``dataflow`` says which of them comes when by dataflow."""
    found = dataflow_order(graph)
    if len(dataflow) != len(found):
        return graph.nodes
    return [node for _, node in sorted(zip(dataflow, found, strict=True), key=lambda pair: pair[0])]


def _fits(graph: Graph, constants: list[str], nodes: _Nodes) -> bool:
    """Rule 1; and no node comes before what it reads."""
    if [(n.op, len(n.outputs)) for n in graph.nodes] != [(op, len(results)) for op, *_, results in nodes]:
        return False
    place = {node: index for index, node in enumerate(graph.nodes)}
    reads = [(place[v.producer], at) for at, n in enumerate(graph.nodes) for v in n.present_inputs if v.producer]
    return all(made < at for made, at in reads) and len(graph.constants()) == len(constants)


def _record(text: str) -> _Record | None:
    """The record, once it is certain that it has the form; anybody may have written the file."""
    try:
        read: Any = json.loads(text)
        constants = [_text(name) for name in read["constants"]]
        dataflow = [int(place) for place in read["dataflow"]]
        nodes = [(_text(op), _text(name), _text(r), [_text(v) for v in vs]) for op, name, r, vs in read["nodes"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if len({name for _, name, _, _ in nodes}) != len(nodes) or any(r not in ROUNDINGS for _, _, r, _ in nodes):
        return None
    if sorted(dataflow) != list(range(len(nodes))):
        return None
    return constants, nodes, dataflow


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError
    return value
