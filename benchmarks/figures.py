"""Figures beside their thresholds: what every benchmark prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Figure:
    """A measured value; ``limit`` is what it may be at most (``at_most``) or must be at least."""

    name: str
    value: float
    limit: float
    unit: str = ""
    at_most: bool = True

    @property
    def ok(self) -> bool:
        return self.value <= self.limit if self.at_most else self.value >= self.limit


def report(figures: Iterable[Figure], *, as_json: bool) -> int:
    """Print the figures as they come; the exit status is 1 when one misses its threshold."""
    seen: list[Figure] = []
    for figure in figures:
        seen.append(figure)
        stream = sys.stderr if as_json else sys.stdout
        sign = "<=" if figure.at_most else ">="
        verdict = "ok" if figure.ok else "MISSED"
        print(
            f"{verdict:6} {figure.name:58} {figure.value:12,.3f} {sign} {figure.limit:,.3f} {figure.unit}",
            file=stream,
            flush=True,
        )
    if as_json:
        print(json.dumps({"schema": 1, "figures": [{**asdict(f), "ok": f.ok} for f in seen]}, indent=2))
    return 0 if all(f.ok for f in seen) else 1
