from __future__ import annotations

import ctypes

import numpy as np
import pytest

from burnc.errors import GraphError
from burnc.ir import DType
from burnc.kernel.analysis import parameters
from burnc.kernel.buffer import Buffer, Role
from burnc.kernel.c99 import C99, render
from burnc.kernel.expr import Binary, Literal, Variable, binary, bounds
from burnc.kernel.program import Kernel, Store
from kernel.compiled import load_c
from kernel.evaluated import INTEGERS, RandomExpressions, UndefinedError, evaluate

INT32 = DType.INT32
# What constant operands make of a random comparison is not the renderer's business.
SILENT = tuple(
    f"-Wno-{w}"
    for w in (
        "type-limits", "tautological-compare", "div-by-zero", "bool-compare", "overflow", "shift-negative-value",
        "shift-overflow", "sign-compare",
    )
)  # fmt: skip
ROWS = 6


@pytest.mark.parametrize("dtype", [*INTEGERS, DType.FLOAT32, DType.BOOL], ids=lambda d: d.value)
def test_random_expressions_mean_in_c_what_they_mean_here(dtype, tmp_path):
    expressions = RandomExpressions(seed=len(dtype.value) + dtype.bytes)
    kernels = []
    while len(kernels) < 60:
        expr = expressions.draw(dtype, depth=4)
        rows = [expressions.row() for _ in range(ROWS)]
        try:
            expected = [evaluate(expr, row) for row in rows]
        except UndefinedError:
            continue
        y = Buffer("y", dtype, 1, Role.OUTPUT)
        kernel = Kernel(f"k{len(kernels)}", [*expressions.buffers.values(), y], [Store(y, Literal(0, INT32), expr)])
        kernels.append((kernel, rows, expected))
    library = load_c(tmp_path, "".join(render(k, storage="extern ") for k, _, _ in kernels), SILENT)
    for kernel, rows, expected in kernels:
        for row, wanted in zip(rows, expected, strict=True):
            *inputs, y = [b for b in parameters(kernel) if b.role is not Role.OUTPUT] + [kernel.buffers[-1]]
            arrays = {b: np.array([row[b]], b.dtype.numpy) for b in inputs} | {y: np.zeros(1, dtype.numpy)}
            pointers = [arrays[b].ctypes.data_as(ctypes.c_void_p) for b in parameters(kernel)]
            library[kernel.name](*pointers)
            held = np.array([wanted]).astype(dtype.numpy)
            same = np.array_equal(arrays[y].view(np.uint8), held.view(np.uint8)) or (
                dtype.is_float and np.isnan(held).all() and np.isnan(arrays[y]).all()
            )
            assert same, (render(kernel), row, arrays[y], wanted)


def index(name: str, extent: int) -> Variable:
    return Variable(name, INT32, extent)


@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_every_value(seed):
    rng = np.random.default_rng(seed)
    i, j = index("i", 4), index("j", 3)
    for _ in range(200):
        expr = i
        for _ in range(rng.integers(1, 6)):
            op = rng.choice(["+", "-", "*", "/", "%"])
            other = [i, j, Literal(int(rng.integers(-3, 9)), INT32)][rng.integers(3)]
            expr = binary(str(op), expr, other)
        span = bounds(expr)
        if span is None:
            continue
        values = [_value(expr, {"i": a, "j": b}) for a in range(4) for b in range(3)]
        assert span[0] <= min(values)
        assert max(values) <= span[1]


def _value(expr, at):
    match expr:
        case Literal(value=value):
            return value
        case Variable(name=name):
            return at[name]
        case Binary(op=op, a=a, b=b):
            x, y = _value(a, at), _value(b, at)
            return {"+": x + y, "-": x - y, "*": x * y, "/": x // y if y else 0, "%": x % y if y else 0}[op]
    raise AssertionError(expr)


def test_bounds_are_exact_where_it_matters_and_none_where_nothing_is_known():
    i = index("i", 5)
    assert bounds(i * 3 - 2) == (-2, 10)
    assert bounds(i // 2) == (0, 2)
    assert bounds(i % 3) == (0, 2)
    assert bounds((i - 7) * (i - 1)) == (-21, 7)
    assert bounds(binary("/", i - 1, 2)) is None
    assert bounds(Variable("v", INT32)) is None
    assert bounds(Literal(1.5, DType.FLOAT32)) is None


def test_arithmetic_of_literals_is_done_now_unless_it_overflows():
    i, literal = index("i", 5), lambda v: Literal(v, INT32)
    assert binary("*", literal(6), 7) == literal(42)
    assert isinstance(binary("+", literal(2**31 - 1), 1), Binary)
    for expr in (i + 0, 0 + i, i - 0, i * 1, 1 * i, i // 1, i >> 0, i % 5, i % 9):
        assert expr is i
    for expr in (i * 0, 0 * i, i // 5):
        assert expr == literal(0)
    assert isinstance(i % 4, Binary)
    assert isinstance((i - 1) % 9, Binary)
    assert i - (-3) == i + 3
    x = Variable("x", DType.FLOAT32)
    assert isinstance(x * 0.0, Binary)  # NaN and infinity
    assert isinstance(x + 0.0, Binary)  # -0.0


def test_operands_of_different_types_are_refused():
    with pytest.raises(GraphError, match="int32 and float32"):
        binary("+", index("i", 2), Variable("x", DType.FLOAT32))


def test_minus_keeps_the_sign_of_zero():
    x = Variable("x", DType.FLOAT32)
    assert C99().expression(-x) == "x * (-1.0f)"


def test_readable_where_nothing_is_ambiguous():
    a, b, c = (Variable(n, INT32) for n in "abc")
    assert C99().expression(a + b - c) == "a + b - c"
    assert C99().expression(a - (b - c)) == "a - (b - c)"
    assert C99().expression((a + b) * c) == "(a + b) * c"
    assert C99().expression((a >= 0) & (a < b)) == "a >= 0 && a < b"
    assert C99().expression((a < b) & (b < c) | (c < a)) == "(a < b && b < c) || c < a"
