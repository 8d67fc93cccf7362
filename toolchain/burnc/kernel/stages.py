"""Cuts a kernel into stages for targets with many threads: a parallel loop nest becomes a grid of them.

1. Parallel loops that enclose one another directly are the grid; loops inside run in order within a thread.
2. Stages run one after the other, which is what a barrier asks for. Statements outside parallel loops are a stage of
   one thread.
3. A sequential loop around stages is turned by the host; a stage names those that it stands in.
4. A local that is named outside a stage is computed again inside it. It may not change, and depends on inputs and
   tables alone; what changes and is read by other stages belongs in scratch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from burnc.errors import GraphError
from burnc.kernel.analysis import expressions, parameters
from burnc.kernel.buffer import Buffer, Role
from burnc.kernel.expr import Binary, Expr, Literal, Load, Variable, binary, lift
from burnc.kernel.program import Assign, Barrier, Declare, If, Kernel, Loop, Statement, Store, walk


@dataclass(frozen=True)
class Stage:
    """What each thread of a grid does.

    Attributes:
        kernel: the statements of one thread.
        grid: the loops that became threads, outermost first; none for a single thread.
        turned: the sequential loops around the stage, outermost first.
    """

    kernel: Kernel
    grid: tuple[Loop, ...] = ()
    turned: tuple[Loop, ...] = ()

    @property
    def threads(self) -> int:
        return math.prod(loop.extent for loop in self.grid)

    @property
    def buffers(self) -> list[Buffer]:
        """The buffers that the stage reads or writes, in the order of its parameters."""
        return parameters(self.kernel)

    def indices(self, thread: Variable) -> list[Declare]:
        """The grid's indices from a thread's number."""
        found: list[Declare] = []
        rest = self.threads
        for loop in self.grid:
            outer, rest = rest, rest // loop.extent
            index: Expr = Binary("/", thread, Literal(rest, thread.dtype)) if rest > 1 else thread
            if outer != self.threads:
                index = binary("%", index, lift(loop.extent, thread.dtype))
            found.append(Declare(loop.variable, index, mutable=False))
        return found


def cut_stages(kernel: Kernel) -> list[Stage]:
    """The stages of a kernel in order.

    Raises:
        GraphError: the kernel breaks a rule above.
    """
    return list(_cut(kernel, kernel.body, (), {}))


def in_turn(stages: Sequence[Stage], at: tuple[int, ...] = ()) -> Iterator[tuple[Stage, tuple[int, ...]]]:
    """Every run of every stage in order, with the indices of the sequential loops around it."""
    depth = len(at)
    for _, group in groupby(stages, key=lambda s: id(s.turned[depth]) if len(s.turned) > depth else None):
        members = list(group)
        if len(members[0].turned) == depth:
            yield from ((stage, at) for stage in members)
        else:
            for i in range(members[0].turned[depth].extent):
                yield from in_turn(members, (*at, i))


def _cut(
    kernel: Kernel, statements: list[Statement], turned: tuple[Loop, ...], outer: dict[str, Declare]
) -> Iterator[Stage]:
    named = dict(outer)
    alone: list[Statement] = []  # for one thread

    def close() -> Iterator[Stage]:
        if any(isinstance(s, Store) for s in walk(alone)):
            yield _stage(kernel, [], list(alone), turned, named)
        alone.clear()

    for statement in statements:
        if isinstance(statement, Loop) and statement.parallel:
            yield from close()
            grid, body = _nest(statement)
            yield _stage(kernel, grid, body, turned, named)
        elif isinstance(statement, Loop | If) and _holds_stages(statement):
            if isinstance(statement, If):
                raise GraphError("a parallel loop or a barrier stands under a condition", where=kernel.name)
            yield from close()
            yield from _cut(kernel, statement.body, (*turned, statement), named)
        elif isinstance(statement, Barrier):
            yield from close()
        else:
            alone.append(statement)
            if isinstance(statement, Declare):
                named[statement.variable.name] = statement
    yield from close()


def _holds_stages(statement: Loop | If) -> bool:
    return any(isinstance(s, Barrier) or (isinstance(s, Loop) and s.parallel) for s in walk(statement.body))


def _nest(loop: Loop) -> tuple[list[Loop], list[Statement]]:
    grid = [loop]
    while len(grid[-1].body) == 1 and isinstance(inner := grid[-1].body[0], Loop) and inner.parallel:
        grid.append(inner)
    return grid, grid[-1].body


def _stage(
    kernel: Kernel, grid: list[Loop], body: list[Statement], turned: tuple[Loop, ...], named: dict[str, Declare]
) -> Stage:
    if any(isinstance(s, Barrier) for s in walk(body)):
        raise GraphError("a barrier stands inside a parallel loop", where=kernel.name)
    bound = {loop.variable.name for loop in (*grid, *turned)}
    whole = replace(kernel, body=[*_from_outside(kernel, body, bound, named), *body])
    return Stage(whole, tuple(grid), turned)


def _from_outside(kernel: Kernel, body: list[Statement], bound: set[str], named: dict[str, Declare]) -> list[Statement]:
    """The declarations that a stage's body needs from outside, in their order."""
    wanted = _free(kernel, body) - bound
    found: list[Statement] = []
    for name, declare in reversed(named.items()):
        if name not in wanted:
            continue
        loads = [e for e in expressions(replace(kernel, body=[declare])) if isinstance(e, Load)]
        if declare.mutable or any(load.buffer.role not in (Role.INPUT, Role.TABLE) for load in loads):
            raise GraphError(f"the local {name!r} goes from one stage to another; use scratch", where=kernel.name)
        wanted |= _free(kernel, [declare]) - bound
        found.insert(0, declare)
    return found


def _free(kernel: Kernel, statements: list[Statement]) -> set[str]:
    """Names that statements use and do not declare."""
    inside = list(walk(statements))
    used = {e.name for e in expressions(replace(kernel, body=statements)) if isinstance(e, Variable)}
    used |= {s.variable.name for s in inside if isinstance(s, Assign)}
    return used - {s.variable.name for s in inside if isinstance(s, Declare | Loop)}
