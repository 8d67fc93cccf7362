"""Checks the arrays that a graph is run with."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from burnc.errors import InputError
from burnc.ir import Array, Graph


def checked_inputs(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The inputs in the graph's order, as arrays.

    Raises:
        InputError: one is missing, unknown, or of another element type or shape.
    """
    where = f"graph {graph.name!r}"
    declared = {value.name: value.type for value in graph.inputs}
    listed = ", ".join(f"{name}: {type_.dtype.value}{list(type_.shape)}" for name, type_ in declared.items())
    hint = f"the inputs are {listed}" if listed else "the graph has no inputs"
    missing = [name for name in declared if name not in inputs]
    unknown = [name for name in inputs if name not in declared]
    if missing or unknown:
        parts = [f"input {missing[0]!r} is missing"] if missing else []
        parts += [f"there is no input {unknown[0]!r}"] if unknown else []
        raise InputError(" and ".join(parts), where=where, hint=hint)
    arrays: dict[str, Array] = {}
    for name, type_ in declared.items():
        array = np.asarray(inputs[name])
        if array.dtype != type_.dtype.numpy:
            raise InputError(f"input {name!r} is {array.dtype}, it must be {type_.dtype.value}", where=where, hint=hint)
        if array.shape != type_.shape:
            raise InputError(
                f"input {name!r} has shape {list(array.shape)}, it must be {list(type_.shape)}", where=where, hint=hint
            )
        arrays[name] = array
    return arrays
