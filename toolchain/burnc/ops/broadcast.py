"""Numpy's broadcasting seen from a result's indices, and its reverse for gradients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from burnc.ir import Builder, Value
from burnc.kernel.expr import Expr


def aligned(indices: Sequence[Expr], shape: tuple[int, ...]) -> tuple[Expr | int, ...]:
    """The indices of an operand of that shape: the last ones, 0 along an axis of size 1."""
    tail = indices[len(indices) - len(shape) :]
    return tuple(0 if extent == 1 else index for index, extent in zip(tail, shape, strict=True))


def summed_to(b: Builder, dy: Value, shape: tuple[int, ...]) -> Value:
    """A gradient summed over the axes along which an operand of that shape was repeated."""
    lead = dy.type.rank - len(shape)
    repeated = [lead + i for i, n in enumerate(shape) if n == 1 and dy.type.shape[lead + i] != 1]
    axes = (*range(lead), *repeated)
    if axes:
        dy = b.node("reduce_sum", [dy], b.operators["reduce_sum"].attrs(axes))
    return dy if dy.type.shape == shape else b.node("reshape", [dy], b.operators["reshape"].attrs(shape))


def negated(b: Builder, x: Value) -> Value:
    return b.node("mul", [x, b.constant("minus_one", np.array(-1.0, x.type.dtype.numpy))])
