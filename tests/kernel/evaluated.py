"""KernelIR expressions evaluated by Python's integers and numpy's float32, and random ones to evaluate."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from burnc.ir import DType
from burnc.kernel.buffer import Buffer, Role
from burnc.kernel.expr import Binary, Cast, Expr, Literal, Load, Select, binary

NARROW = (DType.INT8, DType.UINT8, DType.INT16, DType.UINT16)
UNSIGNED = (DType.UINT32, DType.UINT64)
SIGNED = (DType.INT32, DType.INT64)
INTEGERS = (*NARROW, *UNSIGNED, *SIGNED)


class UndefinedError(Exception):
    """C leaves the result open."""


def evaluate(expr: Expr, row: Mapping[Buffer, Any]) -> Any:
    match expr:
        case Literal(value=value, dtype=dtype):
            return np.float32(value) if dtype.is_float else value
        case Load(buffer=buffer):
            return row[buffer]
        case Select(condition=condition, a=a, b=b):
            return evaluate(a if evaluate(condition, row) else b, row)
        case Cast(a=a, dtype=dtype):
            return _cast(evaluate(a, row), dtype)
        case Binary(op=op, a=a, b=b):
            left, right = evaluate(a, row), evaluate(b, row)
            with np.errstate(all="ignore"):
                return _held(_operation(op, left, right, a.dtype), expr.dtype)
    raise AssertionError(expr)


def _operation(op: str, a: Any, b: Any, dtype: DType) -> Any:
    if op in ("/", "%") and not dtype.is_float:
        if a < 0 or b <= 0:
            raise UndefinedError
        return a // b if op == "/" else a % b
    if op in ("<<", ">>"):
        if not 0 <= b < 8 * max(4, dtype.bytes) or (op == "<<" and a < 0):
            raise UndefinedError
        return a << b if op == "<<" else a >> b
    results = {
        "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b,
        "&": lambda: a & b, "|": lambda: a | b, "^": lambda: a ^ b,
        "min": lambda: min(a, b), "max": lambda: max(a, b),
        "<": lambda: a < b, "<=": lambda: a <= b, "==": lambda: a == b, "!=": lambda: a != b,
        "&&": lambda: a and b, "||": lambda: a or b,
    }  # fmt: skip
    return results[op]()


def _held(value: Any, dtype: DType) -> Any:
    """What a variable of that type holds; signed int and long must not overflow."""
    if not dtype.is_integer:
        return value
    low, high = dtype.limits
    if dtype in NARROW and not -(2**31) <= value < 2**31:
        raise UndefinedError  # C computes it as int
    if dtype in SIGNED and not low <= value <= high:
        raise UndefinedError
    return (value - low) % (high - low + 1) + low


def _cast(value: Any, dtype: DType) -> Any:
    if dtype is DType.BOOL:
        return bool(value)
    if dtype.is_float:
        return np.float32(value)
    low, high = dtype.limits
    if isinstance(value, np.floating):
        if not low <= value <= high:
            raise UndefinedError
        return int(value)
    return (int(value) - low) % (high - low + 1) + low


class RandomExpressions:
    """Draws expressions over one buffer of each type."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.buffers = {d: Buffer(f"x_{d.value}", d, 1, Role.INPUT) for d in (*INTEGERS, DType.FLOAT32, DType.BOOL)}

    def draw(self, dtype: DType, depth: int) -> Expr:
        chance = self.chance
        if depth == 0 or chance.random() < 0.1:
            return self._leaf(dtype)
        kind = chance.random()
        if kind < 0.12:
            return Select(self.draw(DType.BOOL, depth - 1), self.draw(dtype, depth - 1), self.draw(dtype, depth - 1))
        if kind < 0.3:
            # gcc looks through (uint32_t)(int8_t)x and warns about the sign that is already converted.
            hidden = (DType.INT8, DType.INT16) if dtype in UNSIGNED else ()
            source = chance.choice([d for d in self.buffers if d is not dtype and d not in hidden])
            return Cast(self.draw(source, depth - 1), dtype)
        if dtype is DType.BOOL:
            if chance.random() < 0.4:
                return binary(chance.choice(("&&", "||")), self.draw(dtype, depth - 1), self.draw(dtype, depth - 1))
            operands = chance.choice([*INTEGERS, DType.FLOAT32, DType.BOOL])
            ops = ("==", "!=") if operands is DType.BOOL else ("<", "<=", "==", "!=")
            return Binary(chance.choice(ops), self.draw(operands, depth - 1), self.draw(operands, depth - 1))
        if dtype is DType.FLOAT32:
            op = chance.choice(("+", "-", "*", "/", "min", "max"))
        else:
            op = chance.choice(("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "min", "max", "+", "-", "*"))
        right = Literal(chance.randrange(8), dtype) if op in ("<<", ">>") else self.draw(dtype, depth - 1)
        return binary(op, self.draw(dtype, depth - 1), right)

    def _leaf(self, dtype: DType) -> Expr:
        if self.chance.random() < 0.6:
            return Load(self.buffers[dtype], Literal(0, DType.INT32))
        if dtype is DType.BOOL:
            return Literal(self.chance.random() < 0.5, dtype)
        if dtype.is_float:
            return Literal(self.chance.choice((0.0, -0.0, 1.5, -2.25, 0.1, 1e-30, 3e10)), dtype)
        low, high = dtype.limits
        small = self.chance.choice((0, 1, 2, 3, 7, -1, -5, 100, low, high, self.chance.randint(low, high)))
        return Literal(min(max(small, low), high), dtype)

    def row(self) -> dict[Buffer, Any]:
        """A number for each buffer."""
        chance, numbers = self.chance, {}
        for dtype, buffer in self.buffers.items():
            if dtype is DType.BOOL:
                numbers[buffer] = chance.random() < 0.5
            elif dtype.is_float:
                numbers[buffer] = np.float32(
                    chance.choice((0.0, -0.0, 1.0, chance.uniform(-9, 9), chance.uniform(-1e9, 1e9)))
                )
            else:
                low, high = dtype.limits
                numbers[buffer] = min(
                    max(chance.choice((0, 1, -3, chance.randint(-60, 60), chance.randint(low, high))), low), high
                )
        return numbers
