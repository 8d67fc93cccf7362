"""Facts about a kernel that are checked on its KernelIR, not declared."""

from __future__ import annotations

from burnc.kernel.buffer import Buffer, Role
from burnc.kernel.expr import Binary, Call, Cast, Expr, Literal, Load, Select, Variable
from burnc.kernel.program import Assign, Declare, If, Kernel, Loop, Statement, Store, walk


def expressions(kernel: Kernel) -> list[Expr]:
    """Every expression and subexpression that the kernel evaluates."""
    return expressions_of(*walk(kernel.body))


def expressions_of(*statements: Statement) -> list[Expr]:
    """Those of the statements themselves, without what stands inside of loops and conditions."""
    found: list[Expr] = []
    for statement in statements:
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


def parameters(kernel: Kernel) -> list[Buffer]:
    """The buffers that the kernel reads or writes: inputs, outputs, tables, scratch."""
    order = [Role.INPUT, Role.OUTPUT, Role.TABLE, Role.SCRATCH]
    used = used_buffers(kernel)
    return sorted((b for b in kernel.buffers if b in used), key=lambda b: order.index(b.role))


def pointwise_inputs(kernel: Kernel) -> list[Buffer]:
    """Inputs that the kernel reads at index i only before it writes element i of its result, in ascending order.

    Such an input may be overwritten by the result: what is read at an index lies at or after what was written. It takes
    one store, inside loops that each move its index upwards (so that no element is written twice), and loads at that
    same index alone, none of them after the store.
    """
    stores = [s for s in walk(kernel.body) if isinstance(s, Store)]
    if len(stores) != 1 or stores[0].buffer.role is not Role.OUTPUT:
        return []
    (store,) = stores
    if not _ascends(store.index, _enclosing_loops(kernel.body, store) or []):
        return []
    late = _loads(_after(kernel.body, store))
    loads = [e for e in expressions(kernel) if isinstance(e, Load)]
    return [
        buffer
        for buffer in kernel.buffers
        if buffer.role is Role.INPUT
        and all(load.index == store.index for load in loads if load.buffer is buffer)
        and all(load.buffer is not buffer for load in late)
    ]


def _enclosing_loops(statements: list[Statement], store: Store) -> list[Loop] | None:
    """The loops around a statement, outermost first; None where it is not among these."""
    for statement in statements:
        if statement is store:
            return []
        if isinstance(statement, Loop | If):
            inner = _enclosing_loops(statement.body, store)
            if inner is not None:
                return [statement, *inner] if isinstance(statement, Loop) else inner
    return None


def _after(statements: list[Statement], store: Store) -> list[Statement]:
    """What stands behind a statement, nested statements one by one."""
    order = list(walk(statements))
    position = next(i for i, statement in enumerate(order) if statement is store)
    return order[position + 1 :]


def _loads(statements: list[Statement]) -> list[Load]:
    return [e for e in expressions_of(*statements) if isinstance(e, Load)]


def _ascends(index: Expr, loops: list[Loop]) -> bool:
    """Whether an index grows with every turn of the innermost loop and with those around it."""
    form = linear(index)
    if form is None or form.keys() - {None} != {loop.variable.name for loop in loops}:
        return False
    reach = 0
    for loop in reversed(loops):
        step = form[loop.variable.name]
        if step <= reach:
            return False
        reach += step * (loop.extent - 1)
    return True


def linear(expr: Expr) -> dict[str | None, int] | None:
    """The factor of each loop index, and the constant under None; None where an expression is not of that form."""
    match expr:
        case Literal(value=value) if isinstance(value, int):
            return {None: value}
        case Variable(name=name, extent=extent) if extent is not None:
            return {name: 1}
        case Binary(op="+" | "-" as op, a=a, b=b):
            left, right = linear(a), linear(b)
            if left is None or right is None:
                return None
            sign = 1 if op == "+" else -1
            return {name: left.get(name, 0) + sign * right.get(name, 0) for name in left | right}
        case Binary(op="*", a=a, b=b):
            left, right = linear(a), linear(b)
            if left is None or right is None or (left.keys() | {None}) != {None} != (right.keys() | {None}):
                return None
            if left.keys() - {None}:
                left, right = right, left
            return {name: left.get(None, 0) * factor for name, factor in right.items()}
    return None


def safe_distance(input: Buffer, output: Buffer) -> int:
    """Least offset(input) - offset(output), in bytes, at which a pointwise kernel may overwrite its input."""
    return max(0, (output.dtype.bytes - input.dtype.bytes) * (output.size - 1))
