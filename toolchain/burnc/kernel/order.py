"""Whether a kernel may run with an input and an output in one place: found by going through its accesses in order."""

from __future__ import annotations

from collections.abc import Mapping

from burnc.kernel.analysis import expressions_of, linear
from burnc.kernel.buffer import Buffer
from burnc.kernel.expr import Expr, Load
from burnc.kernel.program import If, Kernel, Loop, Statement, Store, walk

MOST_ACCESSES = 2**16


def may_share_place(kernel: Kernel, input: Buffer, output: Buffer) -> bool:
    """Whether no element of ``input`` is read after the one of ``output`` at its place was written, loops run in order.

    False where that cannot be told: an index depends on data, or there are too many accesses to go through. What
    stands under a condition counts as done.
    """
    if (input.size, input.dtype) != (output.size, output.dtype):
        return False
    accesses = _Accesses(input, output)
    if accesses.count(kernel.body) > MOST_ACCESSES:
        return False
    return accesses.follow(kernel.body, {})


class _Accesses:
    def __init__(self, input: Buffer, output: Buffer) -> None:
        self.input = input
        self.output = output
        self.written: set[int] = set()
        # By the identity of statements and expressions, of which loops come back to the same ones.
        self.concerned: dict[int, bool] = {}
        self.loads: dict[int, list[Load]] = {}
        self.forms: dict[int, dict[str | None, int] | None] = {}

    def _concerns(self, statement: Statement) -> bool:
        return bool(self._loads(statement)) or (isinstance(statement, Store) and statement.buffer is self.output)

    def _is_concerned(self, statement: Statement) -> bool:
        """Whether it, or something in it, makes an access."""
        key = id(statement)
        if key not in self.concerned:
            self.concerned[key] = any(map(self._concerns, walk([statement])))
        return self.concerned[key]

    def _loads(self, statement: Statement) -> list[Load]:
        key = id(statement)
        if key not in self.loads:
            found = [e for e in expressions_of(statement) if isinstance(e, Load) and e.buffer is self.input]
            self.loads[key] = found
        return self.loads[key]

    def count(self, statements: list[Statement]) -> int:
        """How many accesses of the two buffers there are; loops without any cost nothing."""
        total = 0
        for statement in statements:
            total += self._concerns(statement)
            if isinstance(statement, Loop):
                total += statement.extent * self.count(statement.body)
            elif isinstance(statement, If):
                total += self.count(statement.body)
        return total

    def follow(self, statements: list[Statement], indices: Mapping[str, int]) -> bool:
        """Go through the statements; False as soon as something is read too late, or cannot be told."""
        for statement in statements:
            if not self._is_concerned(statement):
                continue
            for load in self._loads(statement):
                at = self._at(load.index, indices)
                if at is None or at in self.written:
                    return False
            if isinstance(statement, Store) and statement.buffer is self.output:
                at = self._at(statement.index, indices)
                if at is None:
                    return False
                self.written.add(at)
            if not self._inside(statement, indices):
                return False
        return True

    def _inside(self, statement: Statement, indices: Mapping[str, int]) -> bool:
        if isinstance(statement, If):
            return self.follow(statement.body, indices)
        if isinstance(statement, Loop):
            name = statement.variable.name
            return all(self.follow(statement.body, {**indices, name: i}) for i in range(statement.extent))
        return True

    def _at(self, index: Expr, indices: Mapping[str, int]) -> int | None:
        key = id(index)
        if key not in self.forms:
            self.forms[key] = linear(index)
        form = self.forms[key]
        if form is None or not form.keys() <= {None, *indices}:
            return None
        return sum(factor * (1 if name is None else indices[name]) for name, factor in form.items())
