"""Numpy's broadcasting seen from a result's indices."""

from __future__ import annotations

from collections.abc import Sequence

from burnc.kernel.expr import Expr


def aligned(indices: Sequence[Expr], shape: tuple[int, ...]) -> tuple[Expr | int, ...]:
    """The indices of an operand of that shape: the last ones, 0 along an axis of size 1."""
    tail = indices[len(indices) - len(shape) :]
    return tuple(0 if extent == 1 else index for index, extent in zip(tail, shape, strict=True))
