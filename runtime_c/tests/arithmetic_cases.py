# SPDX-License-Identifier: 0BSD
"""Recorded cases for the fixed-point functions, and float inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from random import Random

import reference
from recorded import Case, int32s
from reference import INT32_MAX, INT32_MIN

ACCUMULATORS = (
    0,
    1,
    -1,
    2,
    -2,
    100,
    -100,
    2**30,
    -(2**30),
    2**30 - 1,
    INT32_MAX,
    INT32_MAX - 1,
    INT32_MIN,
    INT32_MIN + 1,
)
MULTIPLIERS = (0, 1, 2**30, 2**30 + 1, 1518500250, INT32_MAX - 1, INT32_MAX)


def case(name: str, number: int, function: Callable[[int, int, int], int], inputs: Sequence[tuple[int, ...]]) -> Case:
    triples = [(*values, 0, 0)[:3] for values in inputs]
    arrays = [int32s([triple[i] for triple in triples]) for i in range(3)]
    return Case(name, "fixed_point", [number], arrays, int32s([function(*triple) for triple in triples]))


@cache
def fixed_point_cases() -> list[Case]:
    rng = Random(7)

    def any_int() -> int:
        return rng.randint(INT32_MIN, INT32_MAX) >> rng.randint(0, 30)

    pairs = [*product((*ACCUMULATORS, *MULTIPLIERS), repeat=2), *((any_int(), any_int()) for _ in range(3000))]
    scaled = [
        *product(ACCUMULATORS, MULTIPLIERS, range(-31, 31)),
        *((any_int(), rng.randint(2**30, INT32_MAX), rng.randint(-31, 30)) for _ in range(3000)),
    ]
    near_ties = [
        (sign * ((2 * k + 1) << e) // 2 + d,)
        for k in range(4)
        for e in range(1, 28)
        for d in (-1, 0, 1)
        for sign in (1, -1)
    ]
    divided = [*product((*ACCUMULATORS, *(v for (v,) in near_ties)), range(32))]
    quotients = [(a, b) for a, b in pairs if b > 0]
    r = reference
    return [
        case("doubling_high_multiply", 0, lambda a, b, _: r.doubling_high_multiply(a, b), pairs),
        case("rounding_divide_by_pot", 1, lambda a, b, _: r.rounding_divide_by_pot(a, b), divided),
        case("requantize", 2, r.requantize, scaled),
        case("requantize_single", 3, r.requantize_single, scaled),
        case("clz", 4, lambda a, *_: 32 - (a % 2**32).bit_length(), pairs),
        case("floor_div", 5, lambda a, b, _: a // b, quotients),
        case("asr", 6, lambda a, b, _: a >> b, divided),
        case("clamp", 7, r.clamp, [(any_int(), -128, 127) for _ in range(50)] + [(v, -5, 5) for v in range(-7, 8)]),
    ]
