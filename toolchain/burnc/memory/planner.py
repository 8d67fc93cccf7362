"""Places requests at offsets so that no two that are alive together touch, unless their overlap is safe.

Greedy placement in several orders, each request at the lowest offset that is free; then a seeded search that swaps
the order of two requests, until the lower bound is met or the tries are used up.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from burnc.memory.lifetimes import Overlap, Overlaps, Piece, Request, aligned, by_pair, lower_bound

TRIES = 2000
COMPARISONS = 4_000_000  # of two requests, in all tries together: a second at most

Forbidden = tuple[int, int, int]
"""(other, low, high): with the other at offset a, no offset o with a + low < o < a + high may be taken."""


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
    forbidden = _forbidden_ranges(requests, by_pair(overlaps))
    orders = _orders(requests)
    best, best_order = min(((_place(o, requests, forbidden), o) for o in orders), key=lambda p: _size(p[0], requests))
    best = _search(best, best_order, requests, forbidden, bound)
    return ArenaPlan({r.name: at for r, at in zip(requests, best, strict=True)}, _size(best, requests), bound)


def _orders(requests: Sequence[Request]) -> list[list[int]]:
    """Orders worth a try, of the requests' indices."""
    keys: tuple[Callable[[Request], tuple[int, int, str]], ...] = (
        lambda r: (-r.bytes, r.first, r.name),
        lambda r: (-(r.last - r.first), -r.bytes, r.name),
        lambda r: (-r.bytes * (r.last - r.first + 1), r.first, r.name),
        lambda r: (r.first, -r.bytes, r.name),
        lambda r: (-r.last, -r.bytes, r.name),
    )

    def sorted_by(key: Callable[[Request], tuple[int, int, str]]) -> list[int]:
        return sorted(range(len(requests)), key=lambda i: key(requests[i]))

    return [sorted_by(key) for key in keys]


def _forbidden_ranges(requests: Sequence[Request], pairs: Overlaps) -> list[list[Forbidden]]:
    """For each request, those that are alive with it, and the offsets from theirs that it may not take."""
    found: list[list[Forbidden]] = [[] for _ in requests]
    for i, request in enumerate(requests):
        for j, other in enumerate(requests):
            if i != j and request.meets(other):
                overlap = pairs.get(frozenset((request.name, other.name)))
                found[i] += [(j, low, high) for low, high in _forbidden(request, other, overlap)]
    return found


def _forbidden(request: Request, other: Request, overlap: Overlap | None) -> list[tuple[int, int]]:
    """The open intervals of offsets from the other's that the request may not take."""
    is_output = overlap is not None and overlap.output == request.name
    found = [
        interval
        for mine in request.needed
        for piece in other.needed
        if mine.meets(piece)
        for interval in _apart(mine, piece, overlap, is_output=is_output)
    ]
    return _joined(found)


def _apart(mine: Piece, other: Piece, overlap: Overlap | None, *, is_output: bool) -> list[tuple[int, int]]:
    low, high = other.begin - mine.end, other.end - mine.begin
    if overlap is None or not (other.last == mine.first if is_output else mine.last == other.first):
        return [(low, high)]
    if overlap.distance is None:
        return [(low, 0), (0, high)]
    if is_output:
        return [(max(low, -overlap.distance), high)]
    return [(low, min(high, overlap.distance))]


def _joined(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Fewer intervals with the same numbers in them."""
    if len(intervals) < 2:
        return intervals
    joined: list[tuple[int, int]] = []
    for low, high in sorted(pair for pair in intervals if pair[0] < pair[1]):
        if joined and low < joined[-1][1]:
            joined[-1] = joined[-1][0], max(high, joined[-1][1])
        else:
            joined.append((low, high))
    return joined


def _search(
    best: list[int], order: list[int], requests: Sequence[Request], forbidden: Sequence[Sequence[Forbidden]], bound: int
) -> list[int]:
    chance = random.Random(0)
    size = _size(best, requests)
    tries = min(TRIES, COMPARISONS // max(1, sum(map(len, forbidden)))) if len(order) > 2 else 0
    for _ in range(tries):
        if size <= bound:
            break
        trial = list(order)
        i, j = chance.sample(range(len(trial)), 2)
        trial.insert(j, trial.pop(i))
        plan = _place(trial, requests, forbidden)
        trial_size = _size(plan, requests)
        if trial_size <= size:
            best, order, size = plan, trial, trial_size
    return best


def _place(order: Sequence[int], requests: Sequence[Request], forbidden: Sequence[Sequence[Forbidden]]) -> list[int]:
    """The offset of each request, placed in that order, each at the lowest that is free."""
    offsets = [-1] * len(requests)
    for i in order:
        blocked = sorted((offsets[j] + low, offsets[j] + high) for j, low, high in forbidden[i] if offsets[j] >= 0)
        offset, alignment = 0, requests[i].alignment
        for low, high in blocked:
            if low < offset < high:
                offset = aligned(high, alignment)
        offsets[i] = offset
    return offsets


def _size(offsets: Sequence[int], requests: Sequence[Request]) -> int:
    end = max(at + r.bytes for r, at in zip(requests, offsets, strict=True))
    return aligned(end, min(r.alignment for r in requests))
