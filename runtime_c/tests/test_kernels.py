# SPDX-License-Identifier: 0BSD
"""Every kernel gives the reference model's bytes, however it is compiled."""

from __future__ import annotations

from pathlib import Path

from arithmetic_cases import fixed_point_cases
from kernel_cases import all_kernel_cases
from recorded import differences


def test_kernels(driver: Path) -> None:
    assert differences(driver, all_kernel_cases()) == []


def test_fixed_point(driver: Path) -> None:
    assert differences(driver, fixed_point_cases()) == []
