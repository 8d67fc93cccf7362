"""The room that a plan leaves at one step, for scratch that may be larger than it must."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from burnc.memory.lifetimes import Request, aligned
from burnc.memory.planner import ArenaPlan

_ALIGNMENT = 8


def widest_gap(
    plan: ArenaPlan, requests: Sequence[Request], step: int, without: Collection[str] = ()
) -> tuple[int, int]:
    """(offset, bytes) of the widest range that nothing lives in at ``step``; the arena does not grow for it.

    Args:
        without: names of requests that do not count.
    """
    live = [(r, p) for r in requests if r.name not in without for p in r.needed if p.first <= step <= p.last]
    taken = sorted((plan.offsets[r.name] + p.begin, plan.offsets[r.name] + p.end) for r, p in live)
    best, end = (0, 0), 0
    for first, last in [*taken, (plan.bytes, plan.bytes)]:
        begin = aligned(end, _ALIGNMENT)
        if first - begin > best[1]:
            best = begin, first - begin
        end = max(end, last)
    return best
