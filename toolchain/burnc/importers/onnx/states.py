"""Inputs and outputs of an ONNX model that are state: ONNX itself keeps nothing between runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from burnc.errors import GraphError, InputError
from burnc.ir import Graph, State, verify
from burnc.ir.metadata import STATES

Pairs = Mapping[str, tuple[str, Any]]
"""Input name -> (output name, what the state begins as: a number, or a flat list of them)."""


def states_of_file(model: onnx.ModelProto) -> dict[str, tuple[str, Any]]:
    """The states of a model that burnc wrote; none where the record is damaged or missing."""
    try:
        read: Any = json.loads(next((p.value for p in model.metadata_props if p.key == STATES), "[]"))
        found = {str(e["input"]): (str(e["output"]), np.array(e["initial"])) for e in read}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    edges = {v.name for v in [*model.graph.input, *model.graph.output]}
    whole = all({name, output} <= edges and array.dtype.kind in "iufb" for name, (output, array) in found.items())
    return found if whole else {}


def keep_states(graph: Graph, pairs: Pairs, outputs: Sequence[str], where: str) -> None:
    """Turn inputs and outputs into state, in place.

    Args:
        outputs: the file's names of the graph's outputs.

    Raises:
        InputError: there is no such input or output, or the two are not of one type.
    """
    inputs = {value.name: value for value in graph.inputs}
    results = dict(zip(outputs, graph.outputs, strict=True))
    for name, (output, initial) in pairs.items():
        if name not in inputs or output not in results:
            kind, missing, known = ("input", name, inputs) if name not in inputs else ("output", output, results)
            hint = f"the {kind}s are {', '.join(known)}"
            raise InputError(f"there is no {kind} {missing!r} to be state", where=where, hint=hint)
        read, type_ = inputs[name], inputs[name].type
        try:
            begin = np.broadcast_to(np.asarray(initial, type_.dtype.numpy).reshape(-1), (type_.size,))
        except ValueError:
            raise InputError(f"state {name!r} begins as a tensor of another size", where=where) from None
        graph.states.append(State(read, results[output], begin.reshape(type_.shape).copy()))
    kept = {output for output, _ in pairs.values()}
    graph.inputs = [value for name, value in inputs.items() if name not in pairs]
    graph.outputs = [value for name, value in zip(outputs, graph.outputs, strict=True) if name not in kept]
    try:
        verify(graph)
    except GraphError as error:
        raise InputError(error.what, where=f"{where}, {error.where}") from None
