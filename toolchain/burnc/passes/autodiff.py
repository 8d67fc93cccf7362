"""Automatic differentiation: the gradients of a scalar, in the same operators as everything else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Builder, Graph, Node, Value
from burnc.ops import operators, spec_of


def differentiate(graph: Graph, loss: Value, values: Sequence[Value]) -> list[Value]:
    """Add the gradients of ``loss`` with respect to ``values`` to the graph.

    1. The nodes are walked backwards; each hands the gradients of its results to ``OpSpec.gradient``, which answers
       with those of its inputs. A value that several nodes read gets the sum.
    2. Only nodes that lie between ``values`` and the loss are asked, so the way to an input image costs nothing.
    3. A value that the loss does not depend on has the gradient 0.
    4. The graph's outputs stay as they are; what was added and serves none of the gradients is removed again.

    Args:
        loss: a float value of one element that the graph computes.
        values: float inputs, constants or results of the graph, at most once each.

    Returns:
        The gradients, in the order, types and shapes of ``values``.

    Raises:
        GraphError: the loss is no float scalar, or a node on the way has no gradient.
    """
    if loss.type.size != 1 or not loss.type.dtype.is_float:
        raise GraphError(f"a loss must be one float, %{loss.name} is {loss.type}", where=f"graph {graph.name!r}")
    own = list(graph.nodes)
    builder = Builder(graph, operators())
    needed = _dependent(own, values)
    gradients: dict[Value, Value] = {
        loss: builder.constant(f"{loss.name}.gradient", np.ones(loss.type.shape, loss.type.dtype.numpy))
    }
    for node in reversed(own):
        results = [gradients.get(v) for v in node.outputs]
        if all(g is None for g in results) or not any(v in needed for v in node.present_inputs):
            continue
        for value, found in zip(node.inputs, _input_gradients(builder, node, results), strict=True):
            if value is None or found is None or value not in needed:
                continue
            held = gradients.get(value)
            gradients[value] = found if held is None else builder.node("add", [held, found])
    wanted = []
    for value in values:
        zero = np.zeros(value.type.shape, value.type.dtype.numpy)
        found = gradients.get(value)
        wanted.append(builder.constant(f"{value.name}.gradient", zero) if found is None else found)
    _remove_unused(graph, own, wanted)
    return wanted


def _dependent(nodes: Sequence[Node], values: Sequence[Value]) -> set[Value]:
    """The values and all that is computed from them."""
    found = set(values)
    for node in nodes:
        if any(v in found for v in node.present_inputs):
            found.update(node.outputs)
    return found


def _input_gradients(builder: Builder, node: Node, results: list[Value | None]) -> Sequence[Value | None]:
    where = f"node {node.name!r}, operator {node.op}"
    gradient = spec_of(node).gradient
    if gradient is None:
        raise GraphError("the operator has no gradient", where=where, hint="give its OpSpec a gradient")
    found: Sequence[Value | None] = gradient(builder, node, *results)
    if len(found) != len(node.inputs):
        raise GraphError(f"{len(found)} gradients for {len(node.inputs)} inputs", where=where)
    for value, given in zip(node.inputs, found, strict=True):
        if value is not None and given is not None and given.type != value.type:
            raise GraphError(f"the gradient of %{value.name} is {given.type}, the value {value.type}", where=where)
    return found


def _remove_unused(graph: Graph, own: Sequence[Node], wanted: Sequence[Value]) -> None:
    live, kept, given = set(wanted), [], set(own)
    for node in reversed(graph.nodes):
        if node in given:
            kept.append(node)
        elif any(v in live for v in node.outputs):
            live.update(node.present_inputs)
            kept.append(node)
    graph.nodes = kept[::-1]
