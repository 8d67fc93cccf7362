"""Cases of the conformance suite: the inputs and attributes of one node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.ir import Array

EDGES = (-np.inf, -1e30, -8.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.5, 1e30, np.inf)


ALL_KINDS = ("float32", "int8", "int16")


@dataclass(frozen=True)
class Operand:
    """One input. ``constant`` ones are weights, biases and the like; ``values`` replaces random numbers."""

    shape: tuple[int, ...]
    constant: bool = False
    dtype: str = "float32"
    values: tuple[float, ...] | None = None
    low: float = -1.0
    high: float = 1.0

    def sample(self, rng: np.random.Generator) -> Array:
        """Numbers for this operand: its values repeated, or uniform ones between ``low`` and ``high``."""
        if self.values is not None:
            return np.resize(np.array(self.values, self.dtype), self.shape)
        if self.dtype.startswith("float"):
            return rng.uniform(self.low, self.high, self.shape).astype(self.dtype)
        return rng.integers(int(self.low), int(self.high) + 1, self.shape).astype(self.dtype)


@dataclass(frozen=True)
class Case:
    """``kinds`` names the forms to test: float32, int8, int16 (16-bit activations, 8-bit weights)."""

    operands: tuple[Operand | None, ...]
    attrs: Any
    kinds: tuple[str, ...] = ("float32", "int8")


def case(
    *operands: Operand | tuple[int, ...] | None, attrs: Any = None, kinds: Sequence[str] = ("float32", "int8")
) -> Case:
    """A case; a bare shape is a random activation, None an absent input, ``attrs`` None the defaults."""
    made = tuple(Operand(o) if isinstance(o, tuple) else o for o in operands)
    return Case(made, attrs, tuple(kinds))


def weights(*shape: int, scale: float = 0.5, **rest: Any) -> Operand:
    """A constant, uniform in -scale .. scale."""
    return Operand(shape, constant=True, low=-scale, high=scale, **rest)
