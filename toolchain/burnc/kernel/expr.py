"""Expressions of KernelIR: typed, immutable, built with Python's operators."""

from __future__ import annotations

from dataclasses import dataclass

from burnc.errors import GraphError
from burnc.ir import DType
from burnc.kernel.buffer import Buffer

Scalar = int | float

COMPARISONS = ("<", "<=", "==", "!=")
LOGICAL = ("&&", "||")

# name: what every renderer must supply. Integer ones are defined in burnc.numerics.
INTRINSICS = (
    "requantize",  # (acc, multiplier, shift) -> int32, TFLM's two roundings
    "requantize_single",  # the same with one rounding
    "rounding_doubling_high_mul",
    "rounding_divide_by_pot",
    "count_leading_zeros",
    "wrapping_add",  # int32 modulo 2**32
    "wrapping_shift_left",
    "exp",
    "log",
    "sqrt",
    "tanh",
    "erf",
    "floor",
    "round_half_even",
    "round_half_away",
    "fmod",  # exact, with the sign of the dividend
    "bitcast_int32",
    "bitcast_float32",
    "bitcast_int64",
    "bitcast_float64",
)


class Expr:
    """A value of one element type. Integer division and remainder are only for non-negative operands."""

    dtype: DType

    def __add__(self, other: Expr | Scalar) -> Expr:
        return binary("+", self, other)

    def __radd__(self, other: Scalar) -> Expr:
        return binary("+", lift(other, self.dtype), self)

    def __sub__(self, other: Expr | Scalar) -> Expr:
        return binary("-", self, other)

    def __rsub__(self, other: Scalar) -> Expr:
        return binary("-", lift(other, self.dtype), self)

    def __mul__(self, other: Expr | Scalar) -> Expr:
        return binary("*", self, other)

    def __rmul__(self, other: Scalar) -> Expr:
        return binary("*", lift(other, self.dtype), self)

    def __truediv__(self, other: Expr | Scalar) -> Expr:
        return binary("/", self, other)

    def __rtruediv__(self, other: Scalar) -> Expr:
        return binary("/", lift(other, self.dtype), self)

    def __floordiv__(self, other: Expr | Scalar) -> Expr:
        return binary("/", self, other)

    def __mod__(self, other: Expr | Scalar) -> Expr:
        return binary("%", self, other)

    def __lshift__(self, other: Expr | Scalar) -> Expr:
        return binary("<<", self, other)

    def __rshift__(self, other: Expr | Scalar) -> Expr:
        return binary(">>", self, other)

    def __and__(self, other: Expr | Scalar) -> Expr:
        return binary("&&" if self.dtype is DType.BOOL else "&", self, other)

    def __or__(self, other: Expr | Scalar) -> Expr:
        return binary("||" if self.dtype is DType.BOOL else "|", self, other)

    def __xor__(self, other: Expr | Scalar) -> Expr:
        return binary("^", self, other)

    def __neg__(self) -> Expr:
        # 0.0 - 0.0 would lose the sign of zero.
        return binary("*", self, -1.0) if self.dtype.is_float else binary("-", lift(0, self.dtype), self)

    def __lt__(self, other: Expr | Scalar) -> Expr:
        return binary("<", self, other)

    def __le__(self, other: Expr | Scalar) -> Expr:
        return binary("<=", self, other)

    def __gt__(self, other: Expr | Scalar) -> Expr:
        return binary("<", lift(other, self.dtype), self)

    def __ge__(self, other: Expr | Scalar) -> Expr:
        return binary("<=", lift(other, self.dtype), self)

    def eq(self, other: Expr | Scalar) -> Expr:
        """Equality; ``==`` itself stays Python's, so that expressions can be compared and hashed."""
        return binary("==", self, other)

    def ne(self, other: Expr | Scalar) -> Expr:
        return binary("!=", self, other)


@dataclass(frozen=True)
class Literal(Expr):
    """A number of a given type."""

    value: Scalar | bool
    dtype: DType


@dataclass(frozen=True)
class Variable(Expr):
    """A loop index or a local scalar.

    ``extent`` bounds a loop index: 0 .. extent - 1; ``span`` bounds a named index: smallest and largest value.
    """

    name: str
    dtype: DType
    extent: int | None = None
    span: tuple[int, int] | None = None


@dataclass(frozen=True)
class Load(Expr):
    """One element; ``index`` counts elements from the start of the buffer."""

    buffer: Buffer
    index: Expr

    @property
    def dtype(self) -> DType:  # type: ignore[override]
        return self.buffer.dtype


@dataclass(frozen=True)
class Binary(Expr):
    """``op`` in + - * / % << >> & | ^ min max, a comparison, or a logical && ||; C's meaning, int32 never overflows."""

    op: str
    a: Expr
    b: Expr

    @property
    def dtype(self) -> DType:  # type: ignore[override]
        return DType.BOOL if self.op in COMPARISONS or self.op in LOGICAL else self.a.dtype


@dataclass(frozen=True)
class Select(Expr):
    """``a`` where the condition holds, else ``b``; only the chosen side is evaluated."""

    condition: Expr
    a: Expr
    b: Expr

    @property
    def dtype(self) -> DType:  # type: ignore[override]
        return self.a.dtype


@dataclass(frozen=True)
class Cast(Expr):
    """Conversion of a value; float to integer truncates and must be in range."""

    a: Expr
    dtype: DType


@dataclass(frozen=True)
class Call(Expr):
    """One of ``INTRINSICS``."""

    name: str
    args: tuple[Expr, ...]
    dtype: DType


def lift(value: Expr | Scalar, dtype: DType) -> Expr:
    """An expression from a Python number, of the element type it stands beside."""
    if isinstance(value, Expr):
        return value
    return Literal(float(value) if dtype.is_float else int(value), dtype)


def binary(op: str, a: Expr, b: Expr | Scalar) -> Expr:
    """``a op b``, with the arithmetic of literals done now.

    Raises:
        GraphError: the operands are of different element types, or of one that is only stored.
    """
    b = lift(b, a.dtype)
    if DType.FLOAT16 in (a.dtype, b.dtype):
        raise GraphError("float16 is only stored; kernels compute in float32")
    if a.dtype is not b.dtype:
        raise GraphError(f"operands of {op!r} are {a.dtype.value} and {b.dtype.value}")
    return _folded(op, a, b) or Binary(op, a, b)


def _folded(op: str, a: Expr, b: Expr) -> Expr | None:
    if a.dtype is not DType.INT32:
        return None
    left = a.value if isinstance(a, Literal) else None
    right = b.value if isinstance(b, Literal) else None
    if left is not None and right is not None:
        if op in ("+", "-", "*"):
            value = {"+": left + right, "-": left - right, "*": left * right}[op]
            return Literal(value, DType.INT32) if -(2**31) <= value < 2**31 else None
        return None
    if op == "+" and left == 0:
        return b
    if op in ("+", "-", "<<", ">>") and right == 0:
        return a
    if op == "-" and right is not None and -(2**31) < right < 0:
        return Binary("+", a, Literal(-right, DType.INT32))
    if op in ("/", "%") and right:
        span = bounds(a)
        if span is not None and span[0] >= 0 and span[1] < right:
            return Literal(0, DType.INT32) if op == "/" else a
    if op == "*":
        if 0 in (left, right):
            return Literal(0, DType.INT32)
        if left == 1:
            return b
    if op in ("*", "/") and right == 1:
        return a
    return None


def bounds(expr: Expr) -> tuple[int, int] | None:
    """Smallest and largest value of an int32 index expression; None where it cannot be told."""
    match expr:
        case Literal(value=value) if isinstance(value, int):
            return value, value
        case Variable(extent=extent) if extent is not None:
            return 0, extent - 1
        case Variable(span=span):
            return span
        case Binary(op=op, a=a, b=b):
            left, right = bounds(a), bounds(b)
            if left is None or right is None:
                return None
            return _binary_bounds(op, left, right)
    return None


def _binary_bounds(op: str, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int] | None:
    if op == "+":
        return a[0] + b[0], a[1] + b[1]
    if op == "-":
        return a[0] - b[1], a[1] - b[0]
    if op == "*":
        corners = [x * y for x in a for y in b]
        return min(corners), max(corners)
    if op == "/" and a[0] >= 0 and b[0] > 0:
        return a[0] // b[1], a[1] // b[0]
    if op == "%" and a[0] >= 0 and b[0] > 0:
        return 0, min(a[1], b[1] - 1)
    return None
