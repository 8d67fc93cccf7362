"""Places requests at offsets so that no two that are alive together touch, unless their overlap is safe.

Greedy placement in several orders, each request at the lowest offset that is free; then a seeded search that swaps
the order of two requests, until the lower bound is met or the tries are used up.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from burnc.memory.lifetimes import Overlap, Overlaps, Request, aligned, by_pair, lower_bound

TRIES = 2000
COMPARISONS = 4_000_000  # of two requests, in all tries together: a second or two


@dataclass(frozen=True)
class ArenaPlan:
    """Offsets in bytes by request name, the arena's size, and the bound that no plan can beat."""

    offsets: dict[str, int]
    bytes: int
    lower_bound: int


def plan_arena(requests: Sequence[Request], overlaps: Sequence[Overlap] = ()) -> ArenaPlan:
    """Plan; equal arguments give equal plans.

    Args:
        requests: what is needed when; names are unique.
        overlaps: pairs that may share bytes at the step where the input dies and the output is made.
    """
    bound = lower_bound(requests, overlaps)
    if not requests:
        return ArenaPlan({}, 0, 0)
    pairs = by_pair(overlaps)
    orders = [
        sorted(requests, key=lambda r: (-r.bytes, r.first, r.name)),
        sorted(requests, key=lambda r: (-(r.last - r.first), -r.bytes, r.name)),
        sorted(requests, key=lambda r: (-r.bytes * (r.last - r.first + 1), r.first, r.name)),
        sorted(requests, key=lambda r: (r.first, -r.bytes, r.name)),
        sorted(requests, key=lambda r: (-r.last, -r.bytes, r.name)),
    ]
    best_order = orders[0]
    best = _place(best_order, pairs)
    for order in orders[1:]:
        plan = _place(order, pairs)
        if _size(plan, requests) < _size(best, requests):
            best, best_order = plan, order
    best = _search(best, best_order, pairs, bound)
    return ArenaPlan(best, _size(best, requests), bound)


def _search(best: dict[str, int], order: Sequence[Request], pairs: Overlaps, bound: int) -> dict[str, int]:
    chance = random.Random(0)
    order, size = list(order), _size(best, order)
    tries = min(TRIES, COMPARISONS // len(order) ** 2) if len(order) > 2 else 0
    for _ in range(tries):
        if size <= bound:
            break
        trial = list(order)
        i, j = chance.sample(range(len(trial)), 2)
        trial.insert(j, trial.pop(i))
        plan = _place(trial, pairs)
        trial_size = _size(plan, order)
        if trial_size <= size:
            best, order, size = plan, trial, trial_size
    return best


def _place(order: Sequence[Request], pairs: Overlaps) -> dict[str, int]:
    offsets: dict[str, int] = {}
    placed: list[Request] = []
    for request in order:
        blocked = sorted(
            _forbidden(request, other, offsets[other.name], pairs) for other in placed if request.meets(other)
        )
        offset = 0
        for low, high in blocked:
            # An offset o is forbidden where low < o < high.
            if low < offset < high:
                offset = aligned(high, request.alignment)
        offsets[request.name] = offset
        placed.append(request)
    return offsets


def _forbidden(request: Request, other: Request, at: int, pairs: Overlaps) -> tuple[int, int]:
    """The open interval of offsets that ``request`` may not take, given where ``other`` lies."""
    low, high = at - request.bytes, at + other.bytes
    overlap = pairs.get(frozenset((request.name, other.name)))
    if overlap is None:
        return low, high
    if overlap.output == request.name:
        return max(low, at - overlap.distance), high
    return low, min(high, at + overlap.distance)


def _size(offsets: dict[str, int], requests: Sequence[Request]) -> int:
    return aligned(max(offsets[r.name] + r.bytes for r in requests), min(r.alignment for r in requests))
