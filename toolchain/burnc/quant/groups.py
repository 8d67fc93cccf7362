"""Which nodes can become int8, and which values must share their parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from burnc.errors import GraphError, QuantizationError
from burnc.ir import DType, Graph, Node, QuantParams, TensorType, Value
from burnc.ops import spec_of
from burnc.quant.observers import Range, params

SOME_PARAMS = QuantParams.per_tensor(1.0)


def why_not_int8(node: Node) -> str:
    """Why a float node has no int8 form; empty where it has one."""
    spec, rule = spec_of(node), spec_of(node).quant
    if rule is None or spec.integer is None:
        return "the operator has no int8 form"
    if rule.own is not None:
        floats = [v for i, v in enumerate(node.inputs) if v is not None and i not in rule.integer_inputs]
        is_float = all(v.type.dtype is DType.FLOAT32 for v in [*floats, *node.outputs])
        return rule.own.why_not(node) if is_float else "its tensors are not all float32"
    if len(node.outputs) != 1:
        return "it has several results"
    inputs = rule.activations(node)
    if any(v.type.dtype is not DType.FLOAT32 for v in [*inputs, node.output]):
        return "its tensors are not all float32"
    for index, what in ((rule.weights, "weights"), (rule.bias, "bias")):
        value = node.inputs[index] if index is not None and index < len(node.inputs) else None
        if value is not None and value.data is None:
            return f"its {what} %{value.name} are computed at run time"
    types = [_int8_type(node, index) for index in range(len(node.inputs))]
    try:
        spec.infer(node.attrs, types)
    except GraphError as error:
        return error.what
    return ""


def _int8_type(node: Node, index: int) -> TensorType | None:
    value, rule = node.inputs[index], spec_of(node).quant
    if value is None or rule is None or index in rule.integer_inputs:
        return None if value is None else value.type
    dtype = DType.INT32 if index == rule.bias else DType.INT8
    return TensorType(dtype, value.type.shape, SOME_PARAMS)


def activation_params(
    graph: Graph, nodes: Iterable[Node], ranges: Mapping[str, Range]
) -> tuple[dict[Value, QuantParams], dict[Value, Value]]:
    """Parameters of every value that the given nodes read or make, and a member that stands for its group.

    Values that a node joins, moves or selects from without arithmetic (rule ``same``) form a group with one range, the
    union of all of theirs; so do what a state holds and what is written to it. Results with fixed parameters keep
    those; a group that holds nothing else takes them over.

    Raises:
        QuantizationError: a value has no range.
    """
    every = list(nodes)
    nodes = [node for node in every if not _says_itself(node)]
    states = [(s.read, s.write) for s in graph.states]
    groups = _grouped(every, states, apart=frozenset())
    mixed = _mixed(groups, nodes)
    if mixed:
        groups = _grouped(every, states, apart=mixed)
    fixed = {node.output: _fixed(node) for node in nodes}
    chosen: dict[Value, QuantParams] = {}
    constants = _constant_ranges(nodes, groups)
    for representative in dict.fromkeys(groups.values()):
        members = [v for v, r in groups.items() if r is representative]
        given = next((q for v in members if (q := fixed.get(v)) is not None), None)
        if given is None:
            total = constants.get(representative)
            for value in members:
                found = _range(graph, value, ranges)
                total = found if total is None else total | found
            assert total is not None
            given = params(total.low, total.high)
        chosen.update(dict.fromkeys(members, given))
    return chosen, groups


def wide_params(
    graph: Graph, nodes: Iterable[Node], ranges: Mapping[str, Range], chosen: Mapping[Value, QuantParams]
) -> dict[Value, QuantParams]:
    """Parameters of the values that become int16 (``OwnQuantization.wide``), unless another node makes them int8."""

    def largest(value: Value) -> float:
        if value.data is not None:
            return float(np.abs(value.data).max(initial=0.0))
        found = _range(graph, value, ranges)
        return max(abs(found.low), abs(found.high))

    wide: dict[Value, QuantParams] = {}
    for node in nodes:
        rule = spec_of(node).quant
        if rule is not None and rule.own is not None:
            wide |= {v: quant for v, quant in rule.own.wide(node, largest).items() if v not in chosen}
    return wide


def _range(graph: Graph, value: Value, ranges: Mapping[str, Range]) -> Range:
    if value.data is not None:
        return Range(float(value.data.min(initial=0.0)), float(value.data.max(initial=0.0)))
    if value.name not in ranges:
        raise QuantizationError(
            f"%{value.name} has no calibrated range",
            where=f"graph {graph.name!r}",
            hint="calibrate the graph that `prepare` returns",
        )
    return ranges[value.name]


def _says_itself(node: Node) -> bool:
    rule = spec_of(node).quant
    return rule is not None and rule.own is not None


def _fixed(node: Node) -> QuantParams | None:
    rule = spec_of(node).quant
    return rule.result if rule is not None and isinstance(rule.result, QuantParams) else None


def _shares(node: Node) -> bool:
    rule = spec_of(node).quant
    return rule is not None and rule.result == "same"


def _activations(node: Node) -> list[Value]:
    rule = spec_of(node).quant
    assert rule is not None
    return rule.activations(node)


def _own_groups(node: Node) -> list[list[Value]]:
    """The activations of a node, those that share parameters together."""
    rule = spec_of(node).quant
    assert rule is not None
    if rule.own is not None:
        return [group for group in rule.own.groups(node) if group]
    values = [v for v in [*rule.activations(node), node.output] if not v.is_constant]
    return [values] if rule.result == "same" else [[value] for value in values]


def _grouped(
    nodes: Iterable[Node], states: Iterable[tuple[Value, Value]], apart: frozenset[Value]
) -> dict[Value, Value]:
    """Union-find: each value -> the value that stands for its group; ``apart`` are joined with nothing."""
    parent: dict[Value, Value] = {}

    def find(value: Value) -> Value:
        parent.setdefault(value, value)
        while parent[value] is not value:
            parent[value] = parent[parent[value]]
            value = parent[value]
        return value

    for node in nodes:
        for group in _own_groups(node):
            for value in group:
                find(value)
                if value not in apart:
                    parent[find(value)] = find(group[-1])
    for read, write in states:
        if read in parent and not write.is_constant and write not in apart:
            parent[find(write)] = find(read)
    return {value: find(value) for value in parent}


def _mixed(groups: Mapping[Value, Value], nodes: Iterable[Node]) -> frozenset[Value]:
    """Results with fixed parameters that would share a group with others."""
    nodes = list(nodes)
    moved = {node.output for node in nodes if _shares(node)}
    fixed = {node.output: q for node in nodes if (q := _fixed(node)) is not None}
    sources: dict[Value, set[QuantParams | None]] = {}
    for value, representative in groups.items():
        if value not in moved:
            sources.setdefault(representative, set()).add(fixed.get(value))
    for representative in _constant_ranges(nodes, groups):
        sources.setdefault(representative, set()).add(None)
    return frozenset(v for v in fixed if len(sources[groups[v]]) > 1)


def _constant_ranges(nodes: Iterable[Node], groups: Mapping[Value, Value]) -> dict[Value, Range]:
    """By group: the range of the constants that nodes with the rule ``same`` put into it."""
    found: dict[Value, Range] = {}
    for node in nodes:
        for value in _activations(node) if _shares(node) else []:
            if value.data is None or not value.data.size:
                continue
            data = value.data.astype(np.float64)
            here, representative = Range(float(data.min()), float(data.max())), groups[node.output]
            found[representative] = found[representative] | here if representative in found else here
    return found
