"""Checks what every pass must leave true."""

from __future__ import annotations

from burnc.errors import GraphError
from burnc.ir.graph import ROUNDINGS, Graph, Node, State, Value


def verify(graph: Graph) -> None:
    """Check single assignment, order, names, types, shapes, states and the quantization rules.

    Raises:
        GraphError: names the node and the rule it breaks.
    """
    defined: set[Value] = set(graph.given)
    if len(defined) != len(graph.given):
        raise GraphError("an input or state is listed twice", where=f"graph {graph.name!r}")
    for value in graph.given:
        if value.is_constant or value.producer is not None:
            raise GraphError(f"input or state %{value.name} is constant or computed", where=f"graph {graph.name!r}")
    node_names: set[str] = set()
    for node in graph.nodes:
        if node.name in node_names:
            raise GraphError("two nodes share a name", where=_where(node))
        node_names.add(node.name)
        _check_node(node, defined)
        defined.update(node.outputs)
    for value in graph.outputs:
        if value not in defined and not value.is_constant:
            raise GraphError(f"output %{value.name} is never computed", where=f"graph {graph.name!r}")
    for state in graph.states:
        _check_state(state, defined)
    _check_values(graph)


def _check_state(state: State, defined: set[Value]) -> None:
    where = f"state %{state.name}"
    if state.write not in defined and not state.write.is_constant:
        raise GraphError(f"%{state.write.name}, which it is to hold, is never computed", where=where)
    if state.write.type != state.read.type:
        raise GraphError(f"it is {state.read.type}, but {state.write.type} is written to it", where=where)
    if state.initial.shape != state.read.type.shape or state.initial.dtype != state.read.type.dtype.numpy:
        found = f"{state.initial.dtype}{list(state.initial.shape)}"
        raise GraphError(f"it is {state.read.type}, but begins as {found}", where=where)


def _check_node(node: Node, defined: set[Value]) -> None:
    where = _where(node)
    for value in node.present_inputs:
        if value not in defined and not value.is_constant:
            raise GraphError(f"reads %{value.name} before it is computed", where=where)
    for position, value in enumerate(node.outputs):
        if value in defined or value.is_constant or value in node.outputs[:position]:
            raise GraphError(f"%{value.name} is assigned twice", where=where)
        if value.producer is not node:
            raise GraphError(f"%{value.name} names another producer", where=where)
    if node.rounding not in ROUNDINGS:
        raise GraphError(f"rounding {node.rounding!r} is unknown", where=where)
    if not isinstance(node.attrs, node.operator.attrs):
        raise GraphError("attributes are of another operator", where=where)
    try:
        inferred = node.operator.infer(node.attrs, [None if v is None else v.type for v in node.inputs])
    except GraphError as error:
        raise GraphError(error.what, where=where, hint=error.hint) from None
    held = [(v.type.dtype, v.type.shape) for v in node.outputs]
    if held != [(t.dtype, t.shape) for t in inferred]:
        raise GraphError(f"outputs are {held}, inference says {[str(t) for t in inferred]}", where=where)
    node.operator.check_quantization(node)


def _check_values(graph: Graph) -> None:
    names: set[str] = set()
    for value in graph.values():
        where = f"value %{value.name}"
        if value.name in names:
            raise GraphError("two values share a name", where=where)
        names.add(value.name)
        data, type_ = value.data, value.type
        if data is not None and (data.shape != type_.shape or data.dtype != type_.dtype.numpy):
            raise GraphError(f"data is {data.dtype}{list(data.shape)}, type is {type_}", where=where)
        quant = type_.quant
        if quant is None:
            continue
        if not type_.dtype.is_integer:
            raise GraphError(f"a {type_.dtype.value} tensor holds quantization parameters", where=where)
        if quant.axis is not None and not (
            0 <= quant.axis < type_.rank and type_.shape[quant.axis] == len(quant.scale)
        ):
            raise GraphError(f"axis {quant.axis} does not go with shape {list(type_.shape)}", where=where)
        low, high = type_.dtype.limits
        if not all(low <= z <= high for z in quant.zero_point):
            raise GraphError(f"a zero point lies outside {type_.dtype.value}", where=where)


def _where(node: Node) -> str:
    return f"node {node.name!r}, operator {node.op}"
