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


class _Lines:
    """Says something only of work that takes long."""

    def __init__(self) -> None:
        self._what = ""
        self._start = self._last = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what != self._what:
            self._what, self._start, self._last = what, now, now
        if now - self._last < _SECONDS_BETWEEN_LINES or done == total:
            return
        self._last = now
        rate = done / (now - self._start)
        left = f", {(total - done) / rate:.0f} s left" if rate else ""
        say(f"{what}: {done} of {total}, {rate:.3g}/s{left}")


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
        tasks: dict[str, tuple[TaskID, float]] = {}

        def callback(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = (bars.add_task(what, total=total, rate=""), time.monotonic())
            task, start = tasks[what]
            seconds = time.monotonic() - start
            bars.update(task, completed=done, total=total, rate=f"{done / seconds:.3g}/s" if seconds else "")

        yield callback
