"""Rebatch: the same graph for several inputs at once, for host runs."""

from __future__ import annotations

import dataclasses
from typing import Any

from burnc.errors import GraphError
from burnc.ir import Graph, Node, TensorType


def rebatch(graph: Graph, batch: int) -> Graph:
    """A copy of ``graph`` whose inputs hold ``batch`` samples instead of one.

    1. The leading axis of every input, which must be 1, becomes ``batch``; types are inferred anew.
    2. An attribute ``shape`` that starts with 1 (reshape, resize) keeps samples apart: the 1 becomes ``batch``.
    3. No node works along the leading axis (softmax, concat).
    4. The graph keeps no state, which would belong to one sample.
    5. Every graph output must have followed: its leading axis is ``batch``, the rest of its shape as before.

    Raises:
        GraphError: an input has no leading axis of 1, or some node mixes or fixes the batch; run it in a loop instead.
    """
    if graph.states:
        raise GraphError(f"state %{graph.states[0].name} belongs to one sample", where=f"graph {graph.name!r}")
    result = graph.copy()
    for value in result.inputs:
        if value.type.shape[:1] != (1,):
            raise GraphError(f"input %{value.name} {list(value.type.shape)} has no leading axis of 1")
        value.type = _widened(value.type, batch)
    inputs = set(result.inputs)
    follows = set(inputs)
    for node in result.nodes:
        if not any(v in follows for v in node.present_inputs):
            continue
        if getattr(node.attrs, "axis", None) in (0, -node.output.type.rank):
            raise _refusal(node, "it works along the leading axis")
        before = [v.type for v in node.outputs]
        node.attrs = _attrs(node, batch)
        try:
            types = node.operator.infer(node.attrs, [None if v is None else v.type for v in node.inputs])
        except GraphError as error:
            raise _refusal(node, error.what) from None
        for value, old, new in zip(node.outputs, before, types, strict=True):
            if new.shape != _widened(old, batch).shape or old.shape[:1] != (1,):
                raise _refusal(node, f"its result becomes {list(new.shape)} instead of a batch of {list(old.shape)}")
            value.type = old.with_shape(new.shape)
            follows.add(value)
    for value in result.outputs:
        if value not in follows:
            raise GraphError(f"output %{value.name} does not depend on the inputs", where=f"graph {graph.name!r}")
    return result


def _widened(type_: TensorType, batch: int) -> TensorType:
    return type_.with_shape((batch, *type_.shape[1:]))


def _attrs(node: Node, batch: int) -> Any:
    shape = getattr(node.attrs, "shape", ())
    return dataclasses.replace(node.attrs, shape=(batch, *shape[1:])) if shape[:1] == (1,) else node.attrs


def _refusal(node: Node, why: str) -> GraphError:
    where = f"node {node.name!r}, operator {node.op}"
    return GraphError(f"the graph cannot take a batch: {why}", where=where, hint="run it in a loop")
