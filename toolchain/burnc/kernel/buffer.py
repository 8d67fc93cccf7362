"""The flat arrays that a kernel reads and writes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from burnc.ir import Array, DType


class Role(Enum):
    """What a buffer is to its kernel."""

    INPUT = "input"
    OUTPUT = "output"
    TABLE = "table"  # constants that the kernel brings with it
    SCRATCH = "scratch"


@dataclass(frozen=True, eq=False)
class Buffer:
    """A flat array. ``data`` is set for tables."""

    name: str
    dtype: DType
    size: int
    role: Role
    data: Array | None = None
