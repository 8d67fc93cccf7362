"""WGSL's arithmetic, in two limbs where it needs 64 bits, against ``burnc.numerics`` and numpy on hostile numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from burnc import numerics
from burnc.backends import device
from burnc.ir import DType
from conformance.check import disagreement
from gpu.toy_kernels import elementwise
from requirements import requires, requires_package

pytestmark = [requires_package("wgpu"), requires("vulkan")]

RNG = np.random.default_rng(3)
EDGES = [
    -(2**31),
    -(2**31) + 1,
    -(2**30),
    -65537,
    -65536,
    -65535,
    -3,
    -2,
    -1,
    0,
    1,
    2,
    3,
    65535,
    65536,
    2**30,
    2**31 - 1,
]
A = np.concatenate([np.repeat(EDGES, len(EDGES)), RNG.integers(-(2**31), 2**31, 4096)]).astype(np.int32)
B = np.concatenate([np.tile(EDGES, len(EDGES)), RNG.integers(-(2**31), 2**31, 4096)]).astype(np.int32)
MULTIPLIER = RNG.integers(2**30, 2**31, A.size, dtype=np.int32)
MULTIPLIER[:8] = [0, 2**30, 2**31 - 1, 0, 2**30, 2**31 - 1, 2**30 + 1, 0]
SHIFT = RNG.integers(-31, 31, A.size, dtype=np.int32)
POT = RNG.integers(0, 32, A.size, dtype=np.int32)

INTEGER: dict[str, tuple[tuple[Any, ...], Callable[..., Any]]] = {
    "requantize": ((A, MULTIPLIER, SHIFT), numerics.multiply_by_quantized_multiplier),
    "requantize_single": ((A, MULTIPLIER, SHIFT), lambda *a: numerics.multiply_by_quantized_multiplier(*a, "single")),
    "rounding_doubling_high_mul": ((A, B), numerics.rounding_doubling_high_mul),
    "rounding_divide_by_pot": ((A, POT), numerics.rounding_divide_by_pot),
    "count_leading_zeros": ((A,), numerics.count_leading_zeros),
    "wrapping_add": ((A, B), lambda a, b: a.astype(np.int64) + b),
    "wrapping_shift_left": ((A, POT), lambda a, n: a.astype(np.int64) << n),
    "bitcast_float32": ((A,), lambda a: a),
}


def run(inputs: Any, dtype: DType, expression: Callable[..., Any]) -> Any:
    graph, arrays = elementwise({f"x{i}": a for i, a in enumerate(inputs)}, dtype, expression)
    return device("webgpu").compile(graph).run(arrays)["y"]


@pytest.mark.parametrize("name", INTEGER)
def test_integer_intrinsics(name: str):
    inputs, wanted = INTEGER[name]

    def expression(k: Any, *args: Any) -> Any:
        if name == "bitcast_float32":  # there and back
            return k.call("bitcast_int32", k.call(name, *args, dtype=DType.FLOAT32), dtype=DType.INT32)
        return k.call(name, *args)

    expected = wanted(*inputs).astype(np.int32)
    if name == "bitcast_float32":  # what is no number may change its bits when it is moved
        kept = (A & 0x7FFFFFFF) <= 0x7F800000
        np.testing.assert_array_equal(run(inputs, DType.INT32, expression)[kept], expected[kept])
    else:
        np.testing.assert_array_equal(run(inputs, DType.INT32, expression), expected)


WIDE_A = (A.astype(np.int64) << 32) + B
WIDE_B = np.roll(WIDE_A, 17) >> RNG.integers(0, 64, A.size)
COUNTS = RNG.integers(0, 64, A.size)
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@pytest.mark.parametrize("dtype", [DType.INT64, DType.UINT64, DType.INT32, DType.UINT32, DType.INT8, DType.UINT16])
def test_operators(dtype: DType):
    # Narrow types from the same bits, so that they wrap around.
    a, b = (np.asarray(v.astype(dtype.numpy)) for v in (WIDE_A, WIDE_B))
    for op, meaning in BINARY.items():
        with np.errstate(over="ignore"):
            expected = meaning(a, b)
        got = run((a, b), DType.of(expected), lambda _, x, y, meaning=meaning: meaning(x, y))
        np.testing.assert_array_equal(got, expected, err_msg=op)
    for op, expected in (("min", np.minimum(a, b)), ("max", np.maximum(a, b)), ("==", a == b), ("!=", a != b)):
        calls = {
            "min": lambda k, x, y: k.minimum(x, y),
            "max": lambda k, x, y: k.maximum(x, y),
            "==": lambda _, x, y: x.eq(y),
            "!=": lambda _, x, y: x.ne(y),
        }
        np.testing.assert_array_equal(run((a, b), DType.of(expected), calls[op]), expected, err_msg=op)


@pytest.mark.parametrize("dtype", [DType.INT8, DType.UINT8, DType.INT16, DType.UINT16])
def test_narrow_sums_wrap_around_at_once(dtype: DType):
    a, b = A.astype(dtype.numpy), B.astype(dtype.numpy)
    with np.errstate(over="ignore"):
        expected = np.maximum((a + b).astype(np.int32), (a * b).astype(np.int32))

    def expression(k: Any, x: Any, y: Any) -> Any:
        return k.maximum(k.cast(x + y, DType.INT32), k.cast(x * y, DType.INT32))

    np.testing.assert_array_equal(run((a, b), DType.INT32, expression), expected)


@pytest.mark.parametrize("dtype", [DType.INT32, DType.INT64, DType.FLOAT32, DType.BOOL])
def test_select(dtype: DType):
    a, b = ((v % 2 if dtype is DType.BOOL else v).astype(dtype.numpy) for v in (A, B))
    got = run((A, a, b), dtype, lambda k, c, x, y: k.select(c < 5, x, y))
    np.testing.assert_array_equal(got, np.where(A < 5, a, b))


@pytest.mark.parametrize("dtype", [DType.INT64, DType.UINT64, DType.INT32, DType.UINT32])
def test_shifts(dtype: DType):
    a, n = WIDE_A.astype(dtype.numpy), (COUNTS % (8 * dtype.bytes)).astype(dtype.numpy)
    np.testing.assert_array_equal(run((a, n), dtype, lambda _, x, y: x << y), a << n)
    np.testing.assert_array_equal(run((a, n), dtype, lambda _, x, y: x >> y), a >> n)


INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("source", INTEGERS)
def test_casts(source: str):
    x = WIDE_A.astype(source)
    for target in [*INTEGERS, "bool"]:
        got = run((x,), DType(target), lambda k, v, target=target: k.cast(v, DType(target)))
        np.testing.assert_array_equal(got, x.astype(target), err_msg=target)
    got = run((x,), DType.FLOAT32, lambda k, v: k.cast(v, DType.FLOAT32))
    np.testing.assert_array_equal(got, x.astype(np.float32), err_msg="float32")


def test_float_to_wide():
    x = np.array([0.0, -0.5, 1.5, -7.75, 2.0**31, -(2.0**31), 3e15, -3e15, 2.0**62, -(2.0**63)], np.float32)
    got = run((x,), DType.INT64, lambda k, v: k.cast(v, DType.INT64))
    np.testing.assert_array_equal(got, np.trunc(x).astype(np.int64))


REALS = np.concatenate(
    [
        np.array(
            [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, 8388609.0, np.inf, -np.inf, np.nan, 88.7, -87]
        ),
        RNG.uniform(-20, 20, 500),
        RNG.uniform(-1, 1, 500),
        np.exp(RNG.uniform(-60, 60, 500)),
    ]
).astype(np.float32)
FLOAT: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "floor": np.floor,
    "round_half_even": np.rint,
    "round_half_away": lambda x: np.copysign(np.floor(np.abs(x.astype(np.float64)) + 0.5), x),
}


@pytest.mark.parametrize("name", FLOAT)
def test_float_intrinsics(name: str):
    with np.errstate(all="ignore"):
        wanted = FLOAT[name](REALS.astype(np.float64)).astype(np.float32)
    got = run((REALS,), DType.FLOAT32, lambda k, x: k.call(name, x))
    # One number at a time: the tolerance is relative to the largest of an array.
    found = [(x, line) for x, a, b in zip(REALS, got, wanted, strict=True) for line in disagreement(a[None], b[None])]
    assert found == []


def test_log_of_a_denormal():
    x = np.array([1e-39, 1e-40, 1e-45], np.float32)
    got = run((x,), DType.FLOAT32, lambda k, v: k.call("log", v))
    # A GPU may take denormals for zero.
    assert np.all(np.isneginf(got) | (np.abs(got - np.log(x)) < 1e-5 * np.abs(np.log(x))))


def test_division_is_correctly_rounded():
    a = np.concatenate([REALS, RNG.uniform(1, 2, 20000), np.arange(-50, 50) + 0.5]).astype(np.float32)
    b = np.concatenate([np.roll(REALS, 7), RNG.uniform(1, 2, 20000), np.full(100, 3)]).astype(np.float32)
    with np.errstate(all="ignore"):
        expected = a / b
    kept = ~((np.abs(expected) < np.finfo(np.float32).tiny) & (expected != 0))  # GPUs may flush denormal results
    np.testing.assert_array_equal(run((a, b), DType.FLOAT32, lambda _, x, y: x / y)[kept], expected[kept])
