"""What a suite of many cases prints: how each ended, counted, with the reason of those that are not well."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ending:
    """How one case ended; ``why`` is the message where it is not a success."""

    name: str
    verdict: str
    why: str = ""


def count(endings: Iterable[Ending], verdicts: tuple[str, ...]) -> dict[str, int]:
    """Cases a verdict; all of ``verdicts`` appear, also at 0."""
    counts = dict.fromkeys(verdicts, 0)
    for ending in endings:
        counts[ending.verdict] += 1
    return counts
