"""Fixed-point functions of ``burnc.numerics`` written in KernelIR, for every renderer."""

from __future__ import annotations

from burnc.kernel.builder import KernelBuilder
from burnc.kernel.expr import Expr

INT32_MAX = 2**31 - 1


def one_over_one_plus_x(k: KernelBuilder, x: Expr) -> Expr:
    """1 / (1 + x) for x in [0, 1), Q0.31. gemmlowp ``one_over_one_plus_x_for_x_in_0_1``."""
    half_denominator = k.let("half_denominator", x // 2 + 2**30)
    estimate = k.let("estimate", k.call("rounding_doubling_high_mul", half_denominator, -1010580540) + 1515870810)
    for _ in range(3):
        product = k.call("rounding_doubling_high_mul", half_denominator, estimate)
        error = k.call("rounding_doubling_high_mul", estimate, 2**29 - product)
        # The error is below 1/17, so that four times it never saturates.
        estimate = k.let("estimate", estimate + error * 4)
    return k.select(estimate >= 2**30, INT32_MAX, estimate * 2)
