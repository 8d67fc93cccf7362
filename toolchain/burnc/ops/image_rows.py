"""Which input rows some output rows of an NHWC image are made of, and the attributes that make just those of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from burnc.ir import Node

ROWS = 1  # the axis, of NHWC


@dataclass(frozen=True)
class RowsRead:
    """The rows from ``begin`` up to ``end`` of each input that is no constant, and the attributes for them alone."""

    begin: int
    end: int
    attrs: Any


def same_rows(node: Node, first: int, last: int) -> RowsRead:
    """For operators that make each row of the same row of their inputs."""
    return RowsRead(first, last, node.attrs)
