"""What a kernel computes for nobody is left out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from burnc.kernel.analysis import expressions, expressions_of
from burnc.kernel.buffer import Buffer, Role
from burnc.kernel.expr import Load, Variable
from burnc.kernel.program import Assign, Declare, If, Kernel, Loop, Statement, Store, walk


def without(kernel: Kernel, unread: Collection[Buffer]) -> tuple[Kernel, set[Buffer]]:
    """The kernel without those outputs that nothing reads, and the outputs that are gone.

    1. An output that the kernel itself reads (what it remembers) stays.
    2. Scratch and locals that only those outputs needed go with them, and loops and conditions that are empty then.
    """
    gone: set[Buffer] = set()
    while True:
        loaded = {e.buffer for e in expressions(kernel) if isinstance(e, Load)}
        idle = {b for b in kernel.buffers if b in unread or (gone and b.role is Role.SCRATCH)} - loaded
        body = _kept(kernel.body, idle, _used(kernel.body) if gone else None)
        if idle == gone and _size(body) == _size(kernel.body):
            return kernel, {b for b in gone if b.role is Role.OUTPUT}
        kernel, gone = replace(kernel, body=body), idle


def _kept(statements: list[Statement], idle: Collection[Buffer], used: Collection[str] | None) -> list[Statement]:
    """The statements that still do something; ``used`` None: locals are not looked at."""
    found: list[Statement] = []
    for statement in statements:
        match statement:
            case Store(buffer=buffer) if buffer in idle:
                continue
            case Declare(variable=variable) | Assign(variable=variable) if used is not None:
                if variable.name in used:
                    found.append(statement)
            case Loop() | If():
                body = _kept(statement.body, idle, used)
                if body or not statement.body:
                    found.append(replace(statement, body=body))
            case _:
                found.append(statement)
    return found


def _used(statements: list[Statement]) -> set[str]:
    """Names of the locals that anything but their own assignments needs."""
    used: set[str] = set()
    for statement in walk(statements):
        own = statement.variable.name if isinstance(statement, Assign) else ""
        used |= {e.name for e in expressions_of(statement) if isinstance(e, Variable) and e.name != own}
    return used


def _size(statements: list[Statement]) -> int:
    return sum(1 for _ in walk(statements))
