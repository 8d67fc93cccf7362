"""Functions of doubles made of KernelIR's arithmetic, and exact remainders, as C against numpy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from burnc.backends import device
from burnc.ir import DType
from gpu.toy_kernels import elementwise

RNG = np.random.default_rng(5)
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308)
TIES = np.array(
    [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999999999999994, 2**52 + 1, -(2**52) + 0.5, 1e17, 4503599627370495.5]
)
SIGNED = RNG.choice([-1.0, 1.0], 4000) * np.exp2(RNG.uniform(-60, 60, 4000))
NUMBERS = np.concatenate([SPECIAL, TIES, SIGNED])
EXPONENTS = np.concatenate(
    [SPECIAL, RNG.uniform(-746, 710, 4000), RNG.uniform(-1e-3, 1e-3, 100), [709.78, 709.79, -745.1, -745.2]]
)
POSITIVE = np.concatenate([SPECIAL, np.exp2(RNG.uniform(-1074, 1023, 4000)), RNG.uniform(0.9, 1.1, 4000), [-1.0]])


def run(dtype: DType, name: str, *inputs: Any) -> Any:
    graph, arrays = elementwise({f"x{i}": a for i, a in enumerate(inputs)}, dtype, lambda k, *x: k.call(name, *x))
    return device("c").compile(graph).run(arrays)["y"]


def half_away(x: Any) -> Any:
    whole = np.trunc(x)
    return np.copysign(np.where(np.abs(x - whole) >= 0.5, whole + np.sign(x), whole), x)


@pytest.mark.parametrize(
    ("name", "wanted"), [("floor", np.floor), ("round_half_even", np.rint), ("round_half_away", half_away)]
)
def test_roundings_are_exact(name: str, wanted: Any):
    got = run(DType.FLOAT64, name, NUMBERS)
    with np.errstate(invalid="ignore"):
        expected = wanted(NUMBERS)
    np.testing.assert_array_equal(got, expected)
    number = ~np.isnan(NUMBERS)
    np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(expected[number]))


@pytest.mark.parametrize(
    ("name", "function", "x"), [("exp", np.exp, EXPONENTS), ("log", np.log, POSITIVE), ("sqrt", np.sqrt, POSITIVE)]
)
def test_within_two_units_in_the_last_place(name: str, function: Any, x: Any):
    got = run(DType.FLOAT64, name, x)
    with np.errstate(all="ignore"):
        expected = function(x)
        finite = np.isfinite(expected)
        units = np.abs(got - expected)[finite] / np.spacing(np.abs(expected[finite]))
    np.testing.assert_array_equal(got[~finite], expected[~finite])
    assert units.max() <= 2, x[finite][np.argmax(units)]


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT64])
def test_remainders_are_exact(dtype: DType):
    wide = np.finfo(dtype.numpy)
    with np.errstate(all="ignore"):
        x = (RNG.choice([-1.0, 1.0], 6000) * np.exp2(RNG.uniform(wide.minexp - 20, wide.maxexp, 6000))).astype(
            dtype.numpy
        )
        y = np.concatenate([x[3000:], x[:3000] * dtype.numpy.type(0.3)])
        special = np.array([*SPECIAL, 1.0, -3.0, wide.max, wide.tiny, wide.smallest_subnormal], dtype.numpy)
        x = np.concatenate([x, np.repeat(special, special.size), x[:100]])
        y = np.concatenate([y, np.tile(special, special.size), x[:100]])
        expected = np.fmod(x, y)
    got = run(dtype, "fmod", x, y)
    np.testing.assert_array_equal(got, expected)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(expected[number]))


def test_what_there_is_for_float32_alone_is_refused():
    graph, _ = elementwise({"x": NUMBERS}, DType.FLOAT64, lambda k, x: k.call("tanh", x))
    assert device("c").supports(graph.nodes[0]).why == "there is no tanh of float64"
