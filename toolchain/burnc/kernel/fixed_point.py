"""Fixed-point functions of ``burnc.numerics`` written in KernelIR, for every renderer."""

from __future__ import annotations

from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.kernel.expr import Expr, lift
from burnc.numerics import HALF_ROOT_OF_TWO, SIGMOID_TABLE, tanh_scaling

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


def in_steps(k: KernelBuilder, x: Expr, multiplier: int, shift: int) -> Expr:
    """An int32 in the range of int16 times multiplier / 2**shift, rounded, halves up."""
    return (x * multiplier + ((1 << shift) >> 1)) >> shift


def sigmoid_int16(k: KernelBuilder, x: Expr) -> Expr:
    """Sigmoid of Q3.12 (int32 in the range of int16) as Q0.15."""
    return sigmoid_of_steps(k, x * 3)


def sigmoid_of_steps(k: KernelBuilder, x: Expr) -> Expr:
    """Sigmoid of x / 3 in Q3.12 as Q0.15."""
    x = k.let("steps", x)
    result = k.let("result", _interpolated(k, x, 9, 0x7FFF << 10))
    return k.select(x >= 0, result + 512, (1 << 25) + 511 - result) >> 10


def tanh_int16(k: KernelBuilder, x: Expr, power: int) -> Expr:
    """Tanh of numbers of scale 2**power (int32 in the range of int16) as Q0.15."""
    return tanh_of_steps(k, in_steps(k, x, *tanh_scaling(power)))


def tanh_of_steps(k: KernelBuilder, x: Expr) -> Expr:
    """Tanh of x / 3 in Q3.12 as Q0.15."""
    x = k.let("steps", x)
    result = k.let("result", _interpolated(k, x, 8, 0xFFFF << 8))
    return k.select(x >= 0, result - (1 << 23) + 128, (1 << 23) + 127 - result) >> 8


def inverse_square_root(k: KernelBuilder, x: Expr) -> tuple[Expr, Expr]:
    """(multiplier, shift) of 1 / sqrt(x) for x in 2 .. 2**29 - 1: five Newton steps in Q3.28, where none saturates."""

    def product(a: Expr | int, b: Expr) -> Expr:
        return k.call("rounding_doubling_high_mul", b, a)

    pairs = k.let("pairs", (k.call("count_leading_zeros", x) - 1) // 2 - 1)
    lifted = k.call("wrapping_shift_left", x, pairs * 2)
    half = k.let("half", k.call("rounding_divide_by_pot", lifted >> 1, 1))
    estimate: Expr = lift(1 << 28, INT32)
    for _ in range(5):
        cube = k.let("cube", product(k.let("square", product(estimate, estimate)), estimate) * 64)
        estimate = k.let("estimate", (product(3 << 27, estimate) - product(half, cube)) * 8)
    multiplier = k.let("multiplier", product(HALF_ROOT_OF_TWO, estimate))
    shift = k.let("shift", 11 - pairs)
    # What would be a shift to the right of the result goes into the multiplier.
    raised = k.call("wrapping_shift_left", multiplier, k.maximum(-shift, 0))
    return raised, -k.maximum(shift, 0)


def look_up_int16(k: KernelBuilder, x: Expr, table: Tensor) -> Expr:
    """Between two of the 513 int16 entries of ``numerics.function_table``; x in -32768 .. 32767 runs over its range.

    No two neighbours may differ by more than int16 holds.
    """
    x = k.let("place", x)
    index = k.let("index", (x >> 7) + 256)
    base = k.let("base", k.cast(table.raw(index), INT32))
    return base + (((k.cast(table.raw(index + 1), INT32) - base) * (x & 127) + 64) >> 7)


def _interpolated(k: KernelBuilder, x: Expr, bits: int, beyond: int) -> Expr:
    """Between two entries of the table at |x|; ``beyond`` where it ends."""
    table = k.table("sigmoid", SIGMOID_TABLE)
    magnitude = k.let("magnitude", k.select(x < 0, 0 - x, x))
    place = k.let("place", k.minimum(magnitude >> bits, 254))
    low = k.let("low", k.cast(table.raw(place), INT32))
    slope = k.cast(table.raw(place + 1), INT32) - low
    between = (low << bits) + (magnitude & ((1 << bits) - 1)) * slope
    return k.select((magnitude >> bits) >= 255, beyond, between)
