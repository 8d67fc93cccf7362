# SPDX-License-Identifier: 0BSD
"""Every kernel gives the reference model's bytes, however it is compiled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from arithmetic_cases import fixed_point_cases
from kernel_cases import all_kernel_cases
from recorded import Case, differences, int32s


def test_kernels(driver: Path) -> None:
    assert differences(driver, all_kernel_cases()) == []


def test_fixed_point(driver: Path) -> None:
    assert differences(driver, fixed_point_cases()) == []


def test_requantize_at_the_ends(build_driver: Callable[[str], Path]) -> None:
    """Numbers worked out by hand, so that C and model cannot be wrong together."""
    accumulators, multipliers, shifts, results = zip(
        (2**31 - 1, 2**31 - 1, 0, 2**31 - 2),
        (-(2**31), 2**31 - 1, 0, -(2**31) + 1),
        (1, 2**30, 0, 1),  # one half rounds up
        (-1, 2**30, 0, 0),
        (-3, 2**31 - 1, -1, -2),  # the second rounding takes halves away from zero
        (2**30, 2**30, -31, 0),
        (100, 2**30, 1, 100),
        (2**30, 2**30, 2, 0),  # the left shift wraps around
        strict=True,
    )
    arrays = [int32s(accumulators), int32s(multipliers), int32s(shifts)]
    case = Case("requantize", "fixed_point", [2], arrays, int32s(results))
    assert differences(build_driver("gcc-O2"), [case]) == []
    assert differences(build_driver("gcc-small-core"), [case]) == []
