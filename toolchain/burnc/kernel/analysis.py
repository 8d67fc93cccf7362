"""Facts about a kernel that are checked on its KernelIR, not declared."""

from __future__ import annotations

from burnc.kernel.buffer import Buffer, Role
from burnc.kernel.expr import Binary, Call, Cast, Expr, Load, Select
from burnc.kernel.program import Assign, Declare, If, Kernel, Store, walk


def expressions(kernel: Kernel) -> list[Expr]:
    """Every expression and subexpression that the kernel evaluates."""
    found: list[Expr] = []
    for statement in walk(kernel.body):
        match statement:
            case Declare(value=value) | Assign(value=value):
                _collect(value, found)
            case Store(index=index, value=value):
                _collect(index, found)
                _collect(value, found)
            case If(condition=condition):
                _collect(condition, found)
    return found


def _collect(expr: Expr, found: list[Expr]) -> None:
    found.append(expr)
    for operand in operands(expr):
        _collect(operand, found)


def operands(expr: Expr) -> tuple[Expr, ...]:
    match expr:
        case Load(index=index):
            return (index,)
        case Binary(a=a, b=b):
            return a, b
        case Select(condition=condition, a=a, b=b):
            return condition, a, b
        case Cast(a=a):
            return (a,)
        case Call(args=args):
            return args
    return ()


def used_buffers(kernel: Kernel) -> set[Buffer]:
    """Buffers that are read or written."""
    loaded = {e.buffer for e in expressions(kernel) if isinstance(e, Load)}
    return loaded | {s.buffer for s in walk(kernel.body) if isinstance(s, Store)}


def pointwise_inputs(kernel: Kernel) -> list[Buffer]:
    """Inputs whose element i is read for result element i alone, by a kernel that writes elements in ascending order.

    Such an input may be overwritten by the result: what is read at an index lies at or after what was written.
    """
    stores = [s for s in walk(kernel.body) if isinstance(s, Store)]
    if len(stores) != 1 or stores[0].buffer.role is not Role.OUTPUT:
        return []
    index = stores[0].index
    loads = [e for e in expressions(kernel) if isinstance(e, Load)]
    return [
        buffer
        for buffer in kernel.buffers
        if buffer.role is Role.INPUT and all(load.index == index for load in loads if load.buffer is buffer)
    ]


def safe_distance(input: Buffer, output: Buffer) -> int:
    """Least offset(input) - offset(output), in bytes, at which a pointwise kernel may overwrite its input."""
    return max(0, (output.dtype.bytes - input.dtype.bytes) * (output.size - 1))
