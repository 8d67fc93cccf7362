"""Arrays for a run: what a user has becomes what the model takes; random ones where the user has none."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from burnc.errors import InputError
from burnc.ir import Array, Graph, Value
from burnc.numerics import quantize


def model_inputs(graph: Graph, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Arrays for one run: floats for a quantized input are quantized by the model's own parameters.

    Raises:
        InputError: an array does not fit its input's shape or holds NaN.
    """
    found: dict[str, Array] = {}
    for value in graph.inputs:
        if value.name not in arrays:
            names = ", ".join(v.name for v in graph.inputs)
            raise InputError(f"input {value.name!r} is missing", hint=f"the model's inputs are: {names}")
        found[value.name] = model_input(value, arrays[value.name])
    return found


def model_input(value: Value, array: Array) -> Array:
    """One array as the model takes it."""
    type_ = value.type
    if array.size != type_.size:
        raise InputError(
            f"input {value.name!r} takes {list(type_.shape)}, the array is {list(array.shape)}",
        )
    array = array.reshape(type_.shape)
    if array.dtype == type_.dtype.numpy:
        return array
    if type_.quant is not None and array.dtype.kind == "f":
        if not np.isfinite(array).all():
            raise InputError(f"the array for input {value.name!r} holds NaN or infinity")
        return quantize(array, type_)
    if type_.dtype.is_float and array.dtype.kind in "iuf":
        return array.astype(type_.dtype.numpy)
    raise InputError(f"input {value.name!r} takes {type_.dtype.value}, the array is {array.dtype}")


def random_inputs(graph: Graph, count: int, seed: int = 0) -> list[dict[str, Array]]:
    """Deterministic inputs: integers over their whole range, floats uniform in -1 .. 1."""
    rng = np.random.default_rng(seed)
    return [{v.name: _random_array(v, rng) for v in graph.inputs} for _ in range(count)]


def _random_array(value: Value, rng: np.random.Generator) -> Array:
    type_ = value.type
    if type_.dtype.is_float:
        return rng.uniform(-1, 1, type_.shape).astype(type_.dtype.numpy)
    if type_.dtype.value == "bool":
        return rng.integers(0, 2, type_.shape).astype(np.bool_)
    low, high = type_.dtype.limits
    return rng.integers(low, high, type_.shape, dtype=type_.dtype.numpy, endpoint=True)
