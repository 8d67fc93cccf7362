"""Progress on stderr: a bar with rate and estimate on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from burnc.cli.output import for_terminal, say

if TYPE_CHECKING:
    from rich.progress import TaskID

    from burnc.pipeline import Progress

_SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def progress() -> Iterator[Progress]:
    """Gives the callback that long work reports to: what is done, how many of how many."""
    if for_terminal(sys.stderr):
        with _bars() as callback:
            yield callback
    else:
        yield _Lines()


class _Rate:
    """How fast one kind of work goes; a new start is when less is done than before."""

    def __init__(self) -> None:
        self._what = ""
        self._done = self._first = 0
        self._start = 0.0

    def restarted(self, what: str, done: int) -> bool:
        """Note what is done; whether this is other work than before."""
        is_new = what != self._what or done < self._done
        if is_new:
            # What came before the first report, compiling say, does not count.
            self._what, self._first, self._start = what, done, time.monotonic()
        self._done = done
        return is_new

    @property
    def per_second(self) -> float:
        """0 where it is not known yet."""
        seconds = time.monotonic() - self._start
        return (self._done - self._first) / seconds if seconds > 0 else 0.0


class _Lines:
    """Says something only of work that takes long."""

    def __init__(self) -> None:
        self._rate = _Rate()
        self._last = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if self._rate.restarted(what, done):
            self._last = now
        if now - self._last < _SECONDS_BETWEEN_LINES or done == total:
            return
        self._last = now
        rate = self._rate.per_second
        left = f", {(total - done) / rate:.0f} s left" if rate else ""
        say(f"{what}: {done} of {total}, {_short(rate)}/s{left}")


def _short(rate: float) -> str:
    """Three figures, never as a power of ten."""
    return f"{rate:.0f}" if rate >= 100 else f"{rate:.3g}"


@contextmanager
def _bars() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        rate = _Rate()
        task: TaskID | None = None

        def callback(what: str, done: int, total: int) -> None:
            nonlocal task
            if rate.restarted(what, done) or task is None:
                if task is not None:
                    bars.remove_task(task)
                task = bars.add_task(what, total=total, rate="")
            per_second = rate.per_second
            bars.update(task, completed=done, rate=f"{_short(per_second)}/s" if per_second else "")

        yield callback
