"""A kernel as data: buffers and structured statements over expressions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from burnc.kernel.buffer import Buffer, Role
from burnc.kernel.expr import Expr, Variable


@dataclass
class Loop:
    """``parallel``: the turns may run in any order or at once; otherwise they run in order."""

    variable: Variable
    extent: int
    parallel: bool
    body: list[Statement] = field(default_factory=list)


@dataclass
class Declare:
    """A local scalar with its first value."""

    variable: Variable
    value: Expr
    mutable: bool


@dataclass
class Assign:
    """A new value for a mutable local."""

    variable: Variable
    value: Expr


@dataclass
class Store:
    """One element written; ``index`` counts elements from the start of the buffer."""

    buffer: Buffer
    index: Expr
    value: Expr


@dataclass
class If:
    """Statements under a condition."""

    condition: Expr
    body: list[Statement] = field(default_factory=list)


@dataclass
class Barrier:
    """Between stages: all that stands before is visible to all that follows."""


Statement = Loop | Declare | Assign | Store | If | Barrier


@dataclass
class Kernel:
    """``buffers`` are the parameters in order: inputs, outputs, then tables and scratch."""

    name: str
    buffers: list[Buffer]
    body: list[Statement]

    def of_role(self, role: Role) -> list[Buffer]:
        return [b for b in self.buffers if b.role is role]

    @property
    def scratch_bytes(self) -> int:
        return sum(b.size * b.dtype.bytes for b in self.of_role(Role.SCRATCH))


def walk(statements: list[Statement]) -> Iterator[Statement]:
    """Every statement, outer before inner."""
    for statement in statements:
        yield statement
        if isinstance(statement, Loop | If):
            yield from walk(statement.body)
