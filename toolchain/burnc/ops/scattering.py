"""What the operators that scatter share: indices, and what becomes of an element that is written to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import TensorType
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.kernel.expr import Expr

REDUCTIONS = ("none", "add", "mul", "max", "min")


def check_operands(x: TensorType, indices: TensorType, updates: TensorType, reduction: str) -> None:
    """Raises: GraphError: element types or the reduction do not go together."""
    if indices.dtype.value not in ("int32", "int64"):
        raise GraphError(f"indices are {indices.dtype.value}, they must be int32 or int64")
    if updates.dtype is not x.dtype:
        raise GraphError(f"updates are {updates.dtype.value}, the data {x.dtype.value}")
    if reduction not in REDUCTIONS or (reduction != "none" and not (x.dtype.is_float or x.dtype.is_integer)):
        raise GraphError(f"reduction {reduction!r} of {x.dtype.value} is not supported")


def counted(k: KernelBuilder, given: Expr, length: int) -> Expr:
    """An index as ``gather`` counts and clamps it."""
    given = k.let("given", given)
    from_end = k.select(given < 0, given + length, given)
    return k.let("index", k.cast(k.minimum(k.maximum(from_end, 0), length - 1), INT32))


def clamped(xp: Any, indices: Any, length: int) -> Any:
    """The same of an array."""
    return xp.clip(xp.where(indices < 0, indices + length, indices), 0, length - 1)


def copied(k: KernelBuilder, x: Tensor, y: Tensor) -> None:
    """The result begins as the data."""
    for i in k.grid(y.shape):
        y[i] = x.raw(*i)
    k.barrier()


def write(k: KernelBuilder, y: Tensor, place: Sequence[Expr], update: Expr, reduction: str) -> None:
    """One element of the result meets one update."""
    if reduction == "none":
        y[tuple(place)] = update
        return
    old = k.let("old", y.raw(*place))
    new = {
        "add": lambda: old + update,
        "mul": lambda: old * update,
        "max": lambda: k.maximum(old, update),
        "min": lambda: k.minimum(old, update),
    }
    y[tuple(place)] = new[reduction]()


def scattered(x: Any, place: tuple[Any, ...], updates: Any, reduction: str) -> Any:
    """A copy of the array that has met the updates in their order; ``place`` as numpy's indices."""
    y = x.copy()
    if reduction == "none":
        y[place] = updates
        return y
    ufunc = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}[reduction]
    ufunc.at(y, place, updates)
    return y
