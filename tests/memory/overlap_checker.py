"""The planner's judge, written apart from it: plays a run step by step and watches whose bytes are whose."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from burnc.memory import Overlap, Request


def clashes(
    requests: Sequence[Request], overlaps: Sequence[Overlap], offsets: Mapping[str, int], size: int
) -> list[str]:
    """What goes wrong when the requests lie at these offsets; empty for a sound plan."""
    found = [f"{r.name} at {offsets[r.name]} is not aligned" for r in requests if offsets[r.name] % r.alignment]
    found += [f"{r.name} leaves the arena" for r in requests if not 0 <= offsets[r.name] <= size - r.bytes]
    if found:
        return found
    by_name = {r.name: r for r in requests}
    owner: list[str | None] = [None] * size
    for step in sorted({r.first for r in requests} | {r.last for r in requests}):
        for request in (r for r in requests if r.first == step):
            start = offsets[request.name]
            for byte in range(start, start + request.bytes):
                held = by_name.get(owner[byte] or "")
                if held is not None and held.last >= step and not _may_cover(held, request, step, overlaps, offsets):
                    found.append(f"{request.name} covers byte {byte} of {held.name} at step {step}")
                owner[byte] = request.name
        for request in (r for r in requests if r.first <= step < r.last):
            start = offsets[request.name]
            if any(owner[b] != request.name for b in range(start, start + request.bytes)):
                found.append(f"{request.name} is damaged after step {step}")
    return found


def _may_cover(held: Request, new: Request, step: int, overlaps: Sequence[Overlap], offsets: Mapping[str, int]) -> bool:
    """Whether every declaration about the pair lets the step write the new bytes over the dying ones."""
    said = [o for o in overlaps if (o.input, o.output) == (held.name, new.name)]
    if not said or held.last != step or new.first != step:
        return False
    return all(_written_behind_reads(o.distance, offsets[held.name] - offsets[new.name]) for o in said)


def _written_behind_reads(distance: int | None, lead: int) -> bool:
    """The input starts ``lead`` bytes above the output; the kernel needs ``distance`` of them, or just none."""
    return lead == 0 if distance is None else lead >= distance


def least_size(requests: Sequence[Request], overlaps: Sequence[Overlap], limit: int) -> int:
    """The smallest arena that holds any sound plan, by trying all offsets below ``limit``."""
    unit = min(r.alignment for r in requests)
    best = limit
    places = [range(0, limit - r.bytes + 1, r.alignment) for r in requests]
    for chosen in itertools.product(*places):
        top = max(o + r.bytes for o, r in zip(chosen, requests, strict=True))
        if -(-top // unit) * unit < best:
            offsets = {r.name: o for r, o in zip(requests, chosen, strict=True)}
            if not clashes(requests, overlaps, offsets, top):
                best = -(-top // unit) * unit
    return best
