"""A fixed part of the damaged files."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from requirements import requires, requires_package
from suites.guarded import Say, guarded
from suites.mutations import damaged, judge_chunk

pytestmark = [requires_package("onnxruntime", "tflite_micro"), requires("gcc")]


def test_fixed_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BURNC_MODELS", "nothing there")  # the numbers mean other files where there are more
    found = judge_chunk(0, 80)
    assert [e for e in found if e.verdict not in ("refused", "right")] == []
    assert {e.verdict for e in found} == {"refused", "right"}


def test_damage_of_a_number_is_always_the_same() -> None:
    assert damaged(5) == damaged(5)


def hangs(say: Say) -> None:
    say(("loaded", None))
    signal.pause()


def works_on(say: Say) -> None:
    while True:
        pass


def dies(say: Say) -> None:
    say(("loaded", None))
    os.kill(os.getpid(), signal.SIGSEGV)


def devours(say: Say) -> None:
    held = b"x" * (300 * 2**20)
    say(("loaded", len(held)))


@pytest.mark.parametrize(("work", "how"), [(hangs, "hung"), (works_on, "hung"), (dies, "died"), (devours, "memory")])
def test_what_does_not_end_well_is_seen(work: Callable[[Say], None], how: str) -> None:
    answers = guarded(work, seconds=0.3, megabytes=200)
    assert how in [kind for kind, _ in answers]
