"""What the planner is given, and the least memory that any plan can do with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    """Bytes that are needed from step ``first`` to step ``last``, both included.

    Attributes:
        name: unique among the requests.
        alignment: a power of two that divides the offset.
    """

    name: str
    bytes: int
    first: int
    last: int
    alignment: int = 4

    def meets(self, other: Request) -> bool:
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Overlap:
    """A step may write ``output`` over ``input``, which dies there, as long as it starts low enough.

    Safe while offset(input) - offset(output) >= ``distance``: what is written at byte i lies behind every byte that is
    still to be read. 0 is in place.
    """

    input: str
    output: str
    distance: int


Overlaps = Mapping[frozenset[str], Overlap]


def by_pair(overlaps: Sequence[Overlap]) -> Overlaps:
    return {frozenset((o.input, o.output)): o for o in overlaps}


def aligned(bytes: int, alignment: int) -> int:
    return -(-bytes // alignment) * alignment


def lower_bound(requests: Sequence[Request], overlaps: Sequence[Overlap]) -> int:
    """The largest sum of live bytes at one step, where overlapping pairs count as what both span together."""
    pairs = by_pair(overlaps)
    steps = {r.first for r in requests} | {r.last for r in requests}
    return max((_live_bytes([r for r in requests if r.first <= step <= r.last], pairs) for step in steps), default=0)


def _live_bytes(live: Sequence[Request], pairs: Overlaps) -> int:
    total = 0
    paired: set[str] = set()
    sizes = {r.name: aligned(r.bytes, r.alignment) for r in live}
    savings: list[tuple[int, Overlap]] = []
    for overlap in pairs.values():
        if overlap.input in sizes and overlap.output in sizes:
            together = max(sizes[overlap.output], overlap.distance + sizes[overlap.input])
            savings.append((sizes[overlap.input] + sizes[overlap.output] - together, overlap))
    total = sum(sizes.values())
    for saving, overlap in sorted(savings, key=lambda s: -s[0]):
        if saving > 0 and overlap.output not in paired and overlap.input not in paired:
            paired.update((overlap.input, overlap.output))
            total -= saving
    return total
