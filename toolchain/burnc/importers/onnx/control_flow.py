"""If, Loop and Scan whose course is known at import: their bodies' nodes, turn by turn, in place of the node.

What a body reads from outside keeps its name; what it computes itself is named after the node and the turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NoReturn, Protocol

import numpy as np
import onnx
from onnx import helper, numpy_helper

from burnc.importers.onnx.expansion import StandardBody
from burnc.importers.onnx.structure import live_nodes, rename_tensors
from burnc.ir import Array
from burnc.ops.mapping import RefusalError

MOST_NODES = 5000
"""Of one node, unrolled. More would be a program larger than any microcontroller's."""


class Surroundings(Protocol):
    """What a control flow node may ask of the model around it."""

    def known(self, name: str) -> Array | None:
        """The data of a tensor that is constant, or has become so by the turns that were imported already."""

    def shape(self, name: str) -> tuple[int, ...] | None: ...


Turns = Iterator[StandardBody]


def turns(node: onnx.NodeProto, around: Surroundings) -> Turns | None:
    """The nodes that stand for a control flow node, one group after the other; None for any other node.

    Each group is to be imported before the next one is asked for.

    Raises:
        RefusalError: (while turning) its course is only known at run time, or it is too long.
    """
    form = _FORMS.get(node.op_type) if node.domain == "" else None
    return None if form is None else _limited(form(node, around), node)


def _limited(bodies: Turns, node: onnx.NodeProto) -> Turns:
    total = 0
    for body in bodies:
        total += len(body.nodes)
        if total > MOST_NODES:
            _refuse(f"{node.op_type} unrolled has more than {MOST_NODES} nodes")
        yield body


def _refuse(why: str) -> NoReturn:
    raise RefusalError(why)


def _if(node: onnx.NodeProto, around: Surroundings) -> Turns:
    condition = around.known(node.input[0])
    if condition is None:
        _refuse(f"the condition ({node.input[0]!r}) is computed at run time; it must be constant")
    branch = _graph(node, "then_branch" if condition.reshape(-1)[0] else "else_branch")
    body = _Turn(branch, node.name)
    body.hand_out(list(node.output))
    yield body.finished()


def _loop(node: onnx.NodeProto, around: Surroundings) -> Turns:
    graph = _graph(node, "body")
    limit = _trip_count(node, around)
    carried = list(node.input[2:])
    collected: list[list[str]] = [[] for _ in graph.output[1 + len(carried) :]]
    going, turn = _condition(node.input[1] if len(node.input) > 1 else "", around, node), 0
    while going and (limit is None or turn < limit):
        body = _Turn(graph, f"{node.name}/{turn}")
        body.give(graph.input[0].name, np.array(turn, np.int64))
        body.give(graph.input[1].name, np.array(True))
        for inner, outer in zip(graph.input[2:], carried, strict=True):
            body.bind(inner.name, outer)
        yield body.finished()
        after, *results = (body.name(value.name) for value in graph.output)
        carried, scanned = results[: len(carried)], results[len(carried) :]
        for names, name in zip(collected, scanned, strict=True):
            names.append(name)
        going, turn = _condition(after, around, node), turn + 1
    yield _results(node, carried, [(names, 0) for names in collected])


def _trip_count(node: onnx.NodeProto, around: Surroundings) -> int | None:
    if not node.input or not node.input[0]:
        return None
    count = around.known(node.input[0])
    if count is None:
        _refuse(f"the trip count ({node.input[0]!r}) is computed at run time; it must be constant")
    return int(count.reshape(-1)[0])


def _condition(name: str, around: Surroundings, node: onnx.NodeProto) -> bool:
    if not name:
        return True
    value = around.known(name)
    if value is None:
        _refuse(f"the condition of {node.op_type} is computed at run time; it must be constant")
    return bool(value.reshape(-1)[0])


def _scan(node: onnx.NodeProto, around: Surroundings) -> Turns:
    graph = _graph(node, "body")
    given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    if len(node.input) != len(graph.input):  # in opset 8 lengths come first
        _refuse(f"it has {len(node.input)} inputs, its body {len(graph.input)}; Scan is supported from opset 9 on")
    scanned = int(given["num_scan_inputs"])
    states = list(node.input[: len(node.input) - scanned])
    sources = list(node.input[len(states) :])
    results = len(graph.output) - len(states)
    axes, length = _scan_axes(node, sources, given.get("scan_input_axes", [0] * scanned), around)
    backward = given.get("scan_input_directions", [0] * scanned)
    collected: list[list[str]] = [[] for _ in range(results)]
    for turn in range(length):
        body = _Turn(graph, f"{node.name}/{turn}")
        for inner, outer in zip(graph.input, states, strict=False):
            body.bind(inner.name, outer)
        for inner, source, axis, reverse in zip(graph.input[len(states) :], sources, axes, backward, strict=True):
            place = body.constant("place", np.array(length - 1 - turn if reverse else turn, np.int64))
            body.add("Gather", [source, place], body.name(inner.name), axis=axis)
        yield body.finished()
        names = [body.name(value.name) for value in graph.output]
        states = names[: len(states)]
        for row, name in zip(collected, names[len(states) :], strict=True):
            row.append(name)
    directions = given.get("scan_output_directions", [0] * results)
    ordered = [row[::-1] if reverse else row for row, reverse in zip(collected, directions, strict=True)]
    out_axes = given.get("scan_output_axes", [0] * results)
    yield _results(node, states, list(zip(ordered, out_axes, strict=True)))


def _scan_axes(
    node: onnx.NodeProto, sources: Sequence[str], axes: Sequence[int], around: Surroundings
) -> tuple[list[int], int]:
    """The axes that are walked along, counted from 0, and their common length."""
    lengths, counted = set(), []
    for source, axis in zip(sources, axes, strict=True):
        shape = around.shape(source)
        if shape is None or not -len(shape) <= axis < len(shape):
            _refuse(f"axis {axis} of scan input {source!r} is not known at import")
        counted.append(axis % len(shape))
        lengths.add(shape[axis])
    if len(lengths) != 1:
        _refuse(f"the scan inputs of {node.op_type} have lengths {sorted(lengths)}; they must be one")
    return counted, lengths.pop()


def _results(node: onnx.NodeProto, carried: Sequence[str], rows: Sequence[tuple[Sequence[str], int]]) -> StandardBody:
    """The node's own outputs: what the last turn left, and the rows of what each turn gave."""
    last = _Turn(onnx.GraphProto(), node.name)
    for output, name in zip(node.output, carried, strict=False):
        if output:
            last.add("Identity", [name], output)
    for output, (names, axis) in zip(node.output[len(carried) :], rows, strict=True):
        if not output:
            continue
        if not names:
            _refuse(f"output {output!r} of {node.op_type} has no elements: it takes no turn")
        new_axis = last.constant("axis", np.array([axis], np.int64))
        parts = [last.add("Unsqueeze", [name, new_axis], f"{node.name}/{output}/{i}") for i, name in enumerate(names)]
        # Unsqueeze counts a negative axis in its result, as the attribute that it comes from does.
        last.add("Concat", parts, output, axis=axis)
    return last.finished()


class _Turn:
    """The nodes of one turn of a body, all names that it makes prefixed."""

    def __init__(self, graph: onnx.GraphProto, prefix: str) -> None:
        self._prefix = prefix
        self._graph = graph
        made = {v.name for v in graph.input} | {t.name for t in graph.initializer}
        made.update(name for node in graph.node for name in node.output if name)
        self._names = {name: f"{prefix}/{name}" for name in made}
        self._nodes: list[onnx.NodeProto] = []
        self._last: list[onnx.NodeProto] = []

    def name(self, inner: str) -> str:
        return self._names.get(inner, inner)

    def bind(self, inner: str, outer: str) -> None:
        """An input of the body is that tensor."""
        self._names[inner] = outer

    def give(self, inner: str, data: Array) -> None:
        """An input of the body is that constant."""
        self._nodes.append(_constant(self.name(inner), data))

    def constant(self, hint: str, data: Array) -> str:
        name = f"{self._prefix}/{hint}{len(self._nodes)}"
        self._nodes.append(_constant(name, data))
        return name

    def add(self, op_type: str, inputs: Sequence[str], output: str, **attributes: int) -> str:
        node = helper.make_node(op_type, inputs, [output], name=output)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
        self._nodes.append(node)
        return output

    def hand_out(self, outputs: Sequence[str]) -> None:
        """The body's outputs are those tensors outside."""
        for value, output in zip(self._graph.output, outputs, strict=False):
            if output:
                self._last.append(helper.make_node("Identity", [self.name(value.name)], [output], name=output))

    def _renamed(self, node: onnx.NodeProto) -> onnx.NodeProto:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        rename_tensors(copy, self.name)
        copy.name = f"{self._prefix}/{node.name or next((o for o in node.output if o), node.op_type)}"
        return copy

    def finished(self) -> StandardBody:
        nodes = list(self._nodes)
        nodes += [_constant(self.name(t.name), numpy_helper.to_array(t)) for t in self._graph.initializer]
        nodes += [self._renamed(node) for node in live_nodes(self._graph)]
        types = []
        for value in [*self._graph.value_info, *self._graph.output]:
            typed = onnx.ValueInfoProto()
            typed.CopyFrom(value)
            typed.name = self.name(value.name)
            types.append(typed)
        return StandardBody([*nodes, *self._last], types)


def _graph(node: onnx.NodeProto, name: str) -> onnx.GraphProto:
    for attribute in node.attribute:
        if attribute.name == name and attribute.HasField("g"):
            graph: onnx.GraphProto = attribute.g
            return graph
    _refuse(f"{node.op_type} has no {name}")


def _constant(name: str, data: Array) -> onnx.NodeProto:
    tensor = numpy_helper.from_array(np.ascontiguousarray(data).reshape(data.shape), name)
    return helper.make_node("Constant", [], [name], name=name, value=tensor)


_FORMS: Mapping[str, Callable[[onnx.NodeProto, Surroundings], Turns]] = {"If": _if, "Loop": _loop, "Scan": _scan}
