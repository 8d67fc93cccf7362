"""What the renderers of C-like languages share: statements, precedence, parentheses."""

from __future__ import annotations

from abc import ABC, abstractmethod

from burnc.ir import DType
from burnc.kernel.buffer import Buffer
from burnc.kernel.expr import COMPARISONS, Binary, Call, Cast, Expr, Literal, Load, Select, Variable
from burnc.kernel.program import Assign, Barrier, Declare, If, Loop, Statement, Store

PRECEDENCE = {
    "*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, ">>": 8, "<": 7, "<=": 7,
    "==": 6, "!=": 6, "&": 5, "^": 4, "|": 3, "&&": 2, "||": 1,
}  # fmt: skip
UNARY = 11

# Types that C computes as int, and WGSL has not at all.
NARROW = (DType.INT8, DType.INT16, DType.UINT8, DType.UINT16)

# A comparison reads from the variable to the number.
_MIRRORED = {"<": ">", "<=": ">=", "==": "==", "!=": "!="}


class Rendering(ABC):
    """Writes statements and expressions; a target says how it writes what differs.

    ``parent`` is the precedence of the operator that a text will stand under.
    """

    def block(self, statements: list[Statement], depth: int) -> list[str]:
        """Lines of text; a barrier is none, as one thread runs all that it is given in order."""
        pad = "    " * depth
        lines: list[str] = []
        for statement in statements:
            match statement:
                case Loop(body=body):
                    lines += [f"{pad}{self.loop_head(statement)} {{", *self.block(body, depth + 1), f"{pad}}}"]
                case If(condition=condition, body=body):
                    head = f"if ({self.expression(condition)})"
                    lines += [f"{pad}{head} {{", *self.block(body, depth + 1), f"{pad}}}"]
                case Declare():
                    lines.append(f"{pad}{self.declaration(statement)};")
                case Assign(variable=v, value=value):
                    lines.append(f"{pad}{self._assignment(v, value)};")
                case Store(buffer=buffer, index=index, value=value):
                    lines.append(f"{pad}{self.element(buffer, index)} = {self.stored(value)};")
                case Barrier():
                    pass
        return lines

    def _assignment(self, variable: Variable, value: Expr) -> str:
        name = self.name(variable.name)
        if isinstance(value, Binary) and value.op == "+" and value.a == variable and self.is_plain(value):
            return f"{name} += {self.expression(value.b)}"
        return f"{name} = {self.expression(value)}"

    def expression(self, expr: Expr, parent: int = 0) -> str:
        match expr:
            case Literal():
                return self.literal(expr)
            case Variable(name=name):
                return self.name(name)
            case Load():
                return self.load(expr)
            case Cast(a=a, dtype=dtype):
                return self.cast(a, dtype)
            case Select():
                return self.select(expr, parent)
            case Call(name=name, args=args):
                return self.call(name, args)
            case Binary():
                return self.binary(expr, parent)
        raise AssertionError(f"no text for {expr!r}")

    def element(self, buffer: Buffer, index: Expr) -> str:
        return f"{self.name(buffer.name)}[{self.expression(flattened(index))}]"

    def infix(self, expr: Binary, parent: int) -> str:
        """``a op b``, parenthesized where the language or a compiler's warnings ask for it."""
        op, own = expr.op, PRECEDENCE[expr.op]
        if op in _MIRRORED and isinstance(expr.a, Literal):
            text = f"{self.expression(expr.b, 8)} {_MIRRORED[op]} {self.expression(expr.a, 8)}"
            return f"({text})" if parent > own else text
        # Operators that mix with others only in parentheses, as compilers warn otherwise.
        tight = 10 if op in ("<<", ">>", "&", "|", "^") else 7 if op in COMPARISONS else own
        left = self.expression(expr.a, own if op in ("*", "+", "-", "&&", "||") else tight + 1)
        right = self.right_operand(expr, own if op in ("&&", "||") else tight + 1)
        text = f"{left} {op} {right}"
        mixes = op in ("<<", "&", "|", "^") or (op in ("&&", "||") and parent != own)
        return f"({text})" if parent > own or (parent and mixes) else text

    # What a target may write differently.

    def name(self, name: str) -> str:
        return name

    def load(self, load: Load) -> str:
        return self.element(load.buffer, load.index)

    def stored(self, value: Expr) -> str:
        """A value as it stands in memory."""
        return self.expression(value)

    def right_operand(self, expr: Binary, parent: int) -> str:
        return self.expression(expr.b, parent)

    def is_plain(self, expr: Binary) -> bool:
        """Whether the operator alone computes this, without a conversion or a function."""
        return expr.dtype not in NARROW

    # What every target must say.

    @abstractmethod
    def loop_head(self, loop: Loop) -> str: ...

    @abstractmethod
    def declaration(self, statement: Declare) -> str: ...

    @abstractmethod
    def literal(self, literal: Literal) -> str: ...

    @abstractmethod
    def cast(self, a: Expr, dtype: DType) -> str: ...

    @abstractmethod
    def select(self, select: Select, parent: int) -> str: ...

    @abstractmethod
    def call(self, name: str, args: tuple[Expr, ...]) -> str: ...

    @abstractmethod
    def binary(self, expr: Binary, parent: int) -> str: ...


def flattened(index: Expr) -> Expr:
    """An index without needless parentheses: a + (b + c) becomes a + b + c, as no index overflows."""
    match index:
        case Binary(op="+", a=a, b=Binary(op="+" | "-" as inner, a=b, b=c)):
            return flattened(Binary(inner, Binary("+", a, b), c))
        case Binary(op="+" | "-" | "*" as op, a=a, b=b):
            return Binary(op, flattened(a), flattened(b))
    return index
