"""What the planner is given, and the least memory that any plan can do with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Piece:
    """The bytes from ``begin`` up to ``end`` of a request, needed from step ``first`` to step ``last``."""

    begin: int
    end: int
    first: int
    last: int

    def meets(self, other: Piece) -> bool:
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Request:
    """Bytes that are needed from step ``first`` to step ``last``, both included.

    Attributes:
        name: unique among the requests.
        alignment: a power of two that divides the offset.
        pieces: where not all bytes are needed all the time, which are when; they do not overlap.
    """

    name: str
    bytes: int
    first: int
    last: int
    alignment: int = 4
    pieces: tuple[Piece, ...] = ()

    @property
    def needed(self) -> tuple[Piece, ...]:
        """The pieces; the whole as the only one where there are none."""
        return self.pieces or (Piece(0, self.bytes, self.first, self.last),)

    def meets(self, other: Request) -> bool:
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Overlap:
    """A step may write ``output`` over ``input``, which dies there, as long as it starts low enough.

    Safe while offset(input) - offset(output) >= ``distance``: what is written at byte i lies behind every byte that is
    still to be read. 0 is in place. None: both must begin at the same byte. Of requests in pieces, it is said of all
    steps at which a piece of the input dies and one of the output is made.
    """

    input: str
    output: str
    distance: int | None


Overlaps = Mapping[frozenset[str], Overlap]


def by_pair(overlaps: Sequence[Overlap]) -> Overlaps:
    """Overlaps by the names they join; of several for one pair the strictest."""
    by_strictness = sorted(overlaps, key=lambda o: (o.distance is None, o.distance or 0))
    return {frozenset((o.input, o.output)): o for o in by_strictness}


def aligned(bytes: int, alignment: int) -> int:
    return -(-bytes // alignment) * alignment


def lower_bound(requests: Sequence[Request], overlaps: Sequence[Overlap]) -> int:
    """The largest sum of live bytes at one step, less what overlapping pairs can share there; no plan needs less.

    Offsets are multiples of the least alignment, so that each request takes a multiple of that, too.
    """
    unit = min((r.alignment for r in requests), default=1)
    steps = {p.first for r in requests for p in r.needed}  # where something ends, no more is alive than where it began
    live = {s: [r for r in requests if r.first <= s <= r.last] for s in steps}
    return max((_live_bytes(live[s], overlaps, s, unit) for s in steps), default=0)


def _live_bytes(live: Sequence[Request], overlaps: Sequence[Overlap], step: int, unit: int) -> int:
    sizes = {r.name: _bytes_at(r, step, unit) for r in live}
    in_pieces = {r.name for r in live if r.pieces}
    by_input: dict[str, int] = {}
    by_output: dict[str, int] = {}
    for overlap in by_pair(overlaps).values():
        if overlap.input in sizes and overlap.output in sizes:
            apart = 0 if in_pieces & {overlap.input, overlap.output} else overlap.distance or 0
            shared = max(0, min(sizes[overlap.input], sizes[overlap.output] - apart))
            by_input[overlap.input] = by_input.get(overlap.input, 0) + shared
            by_output[overlap.output] = by_output.get(overlap.output, 0) + shared
    # Inputs lie apart and so do outputs, therefore no byte is shared by more than one of each.
    savings = [sum(min(sizes[n], shared) for n, shared in side.items()) for side in (by_input, by_output)]
    return sum(sizes.values()) - min(savings)


def _bytes_at(request: Request, step: int, unit: int) -> int:
    if not request.pieces:
        return aligned(request.bytes, unit)
    return sum(p.end - p.begin for p in request.pieces if p.first <= step <= p.last)
