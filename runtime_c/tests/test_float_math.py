# SPDX-License-Identifier: 0BSD
"""The float functions against numpy in double precision, over bit patterns spread across all floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from recorded import Case, run

FUNCTIONS = ("expf", "logf", "tanhf", "sqrtf", "floorf", "roundf", "rintf", "erff")
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1.1754944e-38, 3.4028235e38, -3.4028235e38)
HALVES = (*np.arange(-20.5, 21.0, 0.5), 8388607.5, -8388607.5, 8388608.0, 16777217.0, 0.49999997, -0.49999997)
EDGES = (
    88.72283,
    88.72284,
    88.722855,
    -87.33655,
    -103.97207,
    -103.97209,
    -104.0,
    0.625,
    9.5,
    0.92773437,
    3.9999998,
    4.0,
    0.70710677,
    1.0,
    0.99999994,
)
BITS = np.arange(0, 2**32, 40_503, dtype=np.uint64).astype(np.uint32)
INPUTS = np.concatenate([BITS.view(np.float32), np.array(SPECIAL + HALVES + EDGES, np.float32)])


def round_half_away(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


EXACT: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "expf": np.exp,
    "logf": np.log,
    "tanhf": np.tanh,
    "sqrtf": np.sqrt,
    "floorf": np.floor,
    "roundf": round_half_away,
    "rintf": np.rint,
    "erff": np.vectorize(math.erf),
}
# Units in the last place; half a unit is a correctly rounded result.
ALLOWED = {
    "expf": 2.0,
    "logf": 2.0,
    "tanhf": 2.0,
    "sqrtf": 0.5,
    "floorf": 0.0,
    "roundf": 0.0,
    "rintf": 0.0,
    "erff": 2.0,
}


def compute(driver: Path, name: str) -> NDArray[np.float32]:
    zeros = bytes(INPUTS.nbytes)
    case = Case(name, "float_math", [FUNCTIONS.index(name)], [INPUTS.tobytes()], zeros)
    return np.frombuffer(run(driver, [case])[0], np.float32)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_error_and_special_values(build_driver: Callable[[str], Path], name: str) -> None:
    got = compute(build_driver("gcc-O2"), name)
    with np.errstate(all="ignore"):
        exact = EXACT[name](INPUTS.astype(np.float64))
        nearest = exact.astype(np.float32)
        finite = np.isfinite(nearest) & np.isfinite(got)
        ulp = np.spacing(np.abs(nearest[finite])).astype(np.float64)
        error = np.abs(got[finite].astype(np.float64) - exact[finite]) / ulp
    np.testing.assert_array_equal(got[~finite], nearest[~finite])
    assert error.max() <= ALLOWED[name]
    number = ~np.isnan(exact)
    np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(exact[number]))


def test_same_bits_everywhere(driver: Path, build_driver: Callable[[str], Path]) -> None:
    """Compiler, optimisation and language change nothing, NaN's payload aside."""
    for name in FUNCTIONS:
        here, there = compute(driver, name), compute(build_driver("gcc-O2"), name)
        np.testing.assert_array_equal(np.isnan(here), np.isnan(there))
        number = ~np.isnan(here)
        np.testing.assert_array_equal(here[number].view(np.uint32), there[number].view(np.uint32))
