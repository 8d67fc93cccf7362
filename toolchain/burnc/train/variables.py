"""What modules own: arrays that are trained, and state that only follows along."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from burnc.ir import Array, DType, TensorType

Initializer = Callable[[np.random.Generator, tuple[int, ...]], Array]


class Variable:
    """An array that a module owns: a parameter that is trained, or a buffer that only follows along.

    Attributes:
        name: the path through the modules that hold it, ``features.conv2d1.weight``; empty until it is captured.
        data: float32, of the shape that was asked for; zeros until ``Module.initialize``.
    """

    def __init__(self, shape: tuple[int, ...], initializer: Initializer, *, trained: bool = True) -> None:
        self.name = ""
        self.data: Array = np.zeros(shape, np.float32)
        self.initializer = initializer
        self.trained = trained

    @property
    def type(self) -> TensorType:
        return TensorType(DType.FLOAT32, self.data.shape)
