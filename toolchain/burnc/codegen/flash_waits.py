"""What a run waits for flash behind a cache, from how often it reads how many bytes."""

from __future__ import annotations

from dataclasses import dataclass

from burnc.boards import Cache

# Of a kernel's code, what it runs again in each sweep: neither the beginning nor what other layers need.
_SHARE_RUN_AGAIN = 1 / 3


@dataclass(frozen=True)
class Sweeps:
    """How a kernel goes through its constants and its straight-line code.

    Attributes:
        times: from the first to the last of them, in one run.
        part: bytes that it reads again and again before it goes on, where they may be more than a cache holds ...
        repeats: ... and how often.
    """

    times: int = 1
    part: int = 0
    repeats: int = 1


def run_again(kernel_bytes: int) -> int:
    """Bytes of a kernel's code that are read in each sweep."""
    return int(kernel_bytes * _SHARE_RUN_AGAIN)


def missing_share(size: int, beside: int, cache: Cache) -> float:
    """The share of ``size`` bytes in a row that a cache lacks when they are read once more, with others in between.

    A set with more lines than ways, read in turn, misses each of them: the least recently used has always just gone.
    Where the ``beside`` other bytes lie is not known; they are expected in any set alike.
    """
    a_way = cache.size // cache.ways
    missing = sum(
        lines * share * other_share
        for lines, share in _lines_of_sets(size, a_way)
        for others, other_share in _lines_of_sets(beside, a_way)
        if lines + others > cache.ways
    )
    return missing * a_way / size if size else 0.0


def _lines_of_sets(size: int, a_way: int) -> list[tuple[int, float]]:
    """(lines, share of the sets that hold so many) of bytes in a row."""
    lines, rest = divmod(size, a_way)
    return [(lines, 1 - rest / a_way), (lines + 1, rest / a_way)]


def sweep_waits(size: int, beside: int, sweeps: Sweeps, cache: Cache | None, first: float = 1.0) -> float:
    """Cycles that a run waits for ``size`` bytes in flash.

    Args:
        beside: bytes that are read from flash in each sweep, too.
        first: the share of them that the cache lacks when the kernel begins.
    """
    if cache is None or size == 0:
        return 0.0
    sweep = size / cache.line * cache.miss_cycles
    again = (sweeps.times - 1) * missing_share(size, beside, cache)
    inner = sweeps.times * (sweeps.repeats - 1) * missing_share(sweeps.part, 0, cache)
    return sweep * (first + again + inner)
