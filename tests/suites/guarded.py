"""Runs a function in a forked process of its own: what it answers in time, or how it died."""

from __future__ import annotations

import math
import os
import pickle
import resource
import select
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE = 6
"""The machine may be busy with other work."""

Answer = tuple[str, Any]
Say = Callable[[Answer], None]


def guarded(work: Callable[[Say], None], seconds: float, megabytes: int) -> list[Answer]:
    """The answers that ``work`` said, and last, where it did not end well, how it ended.

    Args:
        seconds: of computing that it may take in all; of waiting, ``PATIENCE`` times as many for each answer.
        megabytes: of memory that it may have in use.

    Returns:
        Answers in order; ``("hung" | "died" | "memory", explanation)`` stands for one that never came.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        status = 1
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what others' code complains of there is not asked for
            _limit(seconds, megabytes)
            work(lambda answer: _send(writing, answer))
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    answers = _received(reading, child, PATIENCE * seconds)
    _, status, usage = os.wait4(child, 0)
    os.close(reading)
    if usage.ru_maxrss > megabytes * 1024:
        answers.append(("memory", f"{usage.ru_maxrss // 1024} MB"))
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        answers.append(("hung", f"{seconds:g} s"))
    elif os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGKILL:
        answers.append(("died", signal.Signals(os.WTERMSIG(status)).name))
    return answers


def _limit(seconds: float, megabytes: int) -> None:
    """Twice the memory as address space: what is in use is what is judged, this keeps the machine alive."""
    used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    limit = used + 2 * megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 1))


def _send(pipe: int, answer: Answer) -> None:
    data = pickle.dumps(answer)
    data = len(data).to_bytes(8, "little") + data
    while data:
        data = data[os.write(pipe, data) :]


def _received(pipe: int, child: int, seconds: float) -> list[Answer]:
    answers: list[Answer] = []
    data = b""
    deadline = time.monotonic() + seconds
    while True:
        ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            os.kill(child, signal.SIGKILL)
            return [*answers, ("hung", f"{seconds:g} s")]
        piece = os.read(pipe, 1 << 16)
        if not piece:
            return answers
        data += piece
        while len(data) >= 8 and len(data) >= 8 + (size := int.from_bytes(data[:8], "little")):
            answers.append(pickle.loads(data[8 : 8 + size]))
            data = data[8 + size :]
            deadline = time.monotonic() + seconds
