"""Element types, quantization parameters and tensor types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnc.errors import GraphError

Array = NDArray[Any]


class DType(Enum):
    """An element type; the value is numpy's name for it."""

    BOOL = "bool"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    UINT64 = "uint64"
    FLOAT16 = "float16"
    FLOAT32 = "float32"
    FLOAT64 = "float64"

    @classmethod
    def of(cls, array: Array) -> DType:
        """The element type of a numpy array.

        Raises:
            GraphError: the IR has no such element type.
        """
        try:
            return cls(array.dtype.name)
        except ValueError:
            raise GraphError(f"element type {array.dtype.name} is not known to the IR") from None

    @property
    def numpy(self) -> np.dtype[np.generic]:
        return np.dtype(self.value)

    @property
    def bytes(self) -> int:
        return self.numpy.itemsize

    @property
    def is_float(self) -> bool:
        return self.numpy.kind == "f"

    @property
    def is_integer(self) -> bool:
        return self.numpy.kind in "iu"

    @property
    def limits(self) -> tuple[int, int]:
        """Smallest and largest value of an integer type."""
        info = np.iinfo(self.value)
        return int(info.min), int(info.max)


@dataclass(frozen=True)
class QuantParams:
    """real = scale * (quantized - zero_point).

    Attributes:
        scale: one positive float32 value for a whole tensor, or one for each index along ``axis``.
        zero_point: as many integers as ``scale`` has values.
        axis: the axis along which the parameters differ; None for per-tensor parameters, which a single value is.
    """

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", tuple(float(np.float32(s)) for s in self.scale))
        object.__setattr__(self, "zero_point", tuple(int(z) for z in self.zero_point))
        if len(self.scale) == 1:  # one value for all there is, whatever the axis
            object.__setattr__(self, "axis", None)
        if len(self.scale) != len(self.zero_point):
            raise GraphError(f"{len(self.scale)} scales but {len(self.zero_point)} zero points")
        if self.axis is None and len(self.scale) != 1:
            raise GraphError(f"{len(self.scale)} scales but no axis they belong to")
        if not all(math.isfinite(s) and s > 0 for s in self.scale):
            raise GraphError("a quantization scale is not a positive finite float32")

    @classmethod
    def per_tensor(cls, scale: float, zero_point: int = 0) -> QuantParams:
        return cls((scale,), (zero_point,))

    @classmethod
    def per_axis(cls, scale: Sequence[float], axis: int) -> QuantParams:
        """Symmetric parameters (zero point 0) along ``axis``."""
        return cls(tuple(scale), (0,) * len(scale), axis)

    def with_axis(self, axis: int | None) -> QuantParams:
        return replace(self, axis=axis)

    def broadcast(self, rank: int) -> tuple[Array, Array]:
        """Scale (float32) and zero point (int32), shaped to broadcast over a tensor of that rank."""
        shape = [1] * rank
        if self.axis is not None:
            shape[self.axis] = len(self.scale)
        scale = np.array(self.scale, np.float32).reshape(shape)
        return scale, np.array(self.zero_point, np.int32).reshape(shape)


@dataclass(frozen=True)
class TensorType:
    """Element type, static shape and, for a quantized tensor, its parameters."""

    dtype: DType
    shape: tuple[int, ...]
    quant: QuantParams | None = None

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.bytes

    @property
    def scale(self) -> float:
        """The per-tensor scale.

        Raises:
            GraphError: the tensor is not quantized per tensor.
        """
        return self._per_tensor().scale[0]

    @property
    def zero_point(self) -> int:
        """The per-tensor zero point.

        Raises:
            GraphError: the tensor is not quantized per tensor.
        """
        return self._per_tensor().zero_point[0]

    def _per_tensor(self) -> QuantParams:
        if self.quant is None or self.quant.axis is not None:
            raise GraphError(f"type {self} is not quantized per tensor")
        return self.quant

    def with_shape(self, shape: Sequence[int]) -> TensorType:
        return replace(self, shape=tuple(int(n) for n in shape))

    def with_quant(self, quant: QuantParams | None) -> TensorType:
        return replace(self, quant=quant)

    def with_dtype(self, dtype: DType) -> TensorType:
        return replace(self, dtype=dtype)

    def __str__(self) -> str:
        text = f"{self.dtype.value}[{','.join(map(str, self.shape))}]"
        if self.quant is None:
            return text
        scales = ",".join(format_float(s) for s in self.quant.scale)
        zeros = ",".join(map(str, self.quant.zero_point))
        if self.quant.axis is None:
            return f"{text} q(scale={scales}, zero_point={zeros})"
        if not any(self.quant.zero_point):
            zeros = "0"
        return f"{text} q(axis={self.quant.axis}, scale=[{scales}], zero_point={zeros})"


def format_float(value: float) -> str:
    """The shortest text that reads back as the same float32."""
    return str(np.float32(value))
