"""The one family of errors that burnc raises on purpose.

Every error says what happened, where it happened and what to do next; the command line prints it without a
traceback and exits with ``exit_status``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class BurncError(Exception):
    """Something burnc can explain.

    Args:
        what: one sentence that says what happened, without a full stop.
        where: the file, node, operator, attribute or shape concerned; empty when ``what`` says it all.
        hint: the next step the user can take; empty when there is none.
    """

    exit_status = 2

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        self.what = what
        self.where = where
        self.hint = hint
        super().__init__(what)

    def __str__(self) -> str:
        lines = [self.what]
        if self.where:
            lines.append(f"  where: {self.where}")
        if self.hint:
            lines.append(f"  next:  {self.hint}")
        return "\n".join(lines)


class InputError(BurncError):
    """An argument, a file or a data set that cannot be used."""


class ModelFileError(InputError):
    """A model file that is damaged, foreign or breaks its own standard."""


@dataclass(frozen=True)
class Unsupported:
    """One node that burnc cannot carry: its name, its operator and the reason."""

    node: str
    op: str
    why: str


class UnsupportedError(BurncError):
    """A model that holds nodes burnc cannot carry; all of them are listed at once."""

    def __init__(self, items: Sequence[Unsupported], *, where: str = "") -> None:
        self.items = tuple(items)
        count = len(self.items)
        noun = "operator is" if count == 1 else "operators are"
        super().__init__(
            f"{count} {noun} not supported",
            where=where,
            hint="`burnc operators` lists what is supported; docs/adding_an_operator.md shows how to add one",
        )

    def __str__(self) -> str:
        rows = [f"  node {item.node!r}  {item.op}  {item.why}" for item in self.items]
        head, *tail = super().__str__().split("\n")
        return "\n".join([head, *rows, *tail])


class GraphError(BurncError):
    """A graph that breaks a rule of the IR; where a user's file did not cause it, it is a fault in burnc."""


class QuantizationError(BurncError):
    """A graph or tensor that cannot be quantized without losing its meaning."""


class BoardError(InputError):
    """A board that is unknown or whose description is wrong."""


class DoesNotFitError(BurncError):
    """A model that is too large for the board's flash or RAM."""

    exit_status = 1


class ToolMissingError(BurncError):
    """A compiler, Node.js or an optional package that is needed and was not found."""


class CompileError(BurncError):
    """A compiler or linker that was run and failed."""


class ProtocolError(BurncError):
    """A device that answered out of turn, damaged or not at all."""


class PortError(BurncError):
    """A serial port or USB drive that is missing, taken by another program, not permitted or gone."""


class SimulationError(BurncError):
    """An emulated board that faulted or stopped before it had answered."""
