"""A graph that burnc wrote itself gets back what ONNX could not carry: names of inner values, and roundings."""

from __future__ import annotations

import json
from typing import Any

from burnc.ir import ROUNDINGS, Graph
from burnc.ir.metadata import NAMES


class RestoreNames:
    """Names and roundings from the metadata of a file that burnc wrote.

    1. Only where the nodes are, operator by operator, those that were written, and the constants as many; a file that
       another tool has changed keeps the names that it has.
    2. Inputs and outputs keep their names, which the file itself carries.
    3. The record leaves the metadata: it is written anew when the graph is.
    """

    name = "restore names"

    def run(self, graph: Graph) -> int:
        record = _record(graph.metadata.pop(NAMES, ""))
        if record is None:
            return 0
        constants, nodes = record
        held = graph.constants()
        if [node.op for node in graph.nodes] != [op for op, *_ in nodes] or len(held) != len(constants):
            return 0
        if any(len(node.outputs) != len(results) for node, (*_, results) in zip(graph.nodes, nodes, strict=True)):
            return 0
        values = [v for node in graph.nodes for v in node.outputs] + held
        names = [name for *_, results in nodes for name in results] + constants
        fixed = {v.name for v in graph.given} | {v.name for v in graph.outputs}
        inner = [(v, n) for v, n in zip(values, names, strict=True) if v not in graph.outputs]
        if len({n for _, n in inner} | fixed) != len(inner) + len(fixed):
            return 0
        for value, name in inner:
            value.name = name
        for node, (_, name, rounding, _) in zip(graph.nodes, nodes, strict=True):
            node.name, node.rounding = name, rounding
        return 1


_Record = tuple[list[str], list[tuple[str, str, str, list[str]]]]


def _record(text: str) -> _Record | None:
    """The record, once it is certain that it has the form; anybody may have written the file."""
    try:
        read: Any = json.loads(text)
        constants = [_text(name) for name in read["constants"]]
        nodes = [(_text(op), _text(name), _text(r), [_text(v) for v in vs]) for op, name, r, vs in read["nodes"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if len({name for _, name, _, _ in nodes}) != len(nodes) or any(r not in ROUNDINGS for _, _, r, _ in nodes):
        return None
    return constants, nodes


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError
    return value
