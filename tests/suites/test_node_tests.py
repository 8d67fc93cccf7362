"""What passes of ONNX's node tests keeps passing: all by numpy, a fixed sample through generated C.

``benchmarks/operators.py node_tests`` runs every case through C.
"""

from __future__ import annotations

import pytest

from requirements import requires
from suites.node_tests import PASSING, Case, cases, in_c, in_numpy, with_constants

LISTED = PASSING.read_text(encoding="utf-8").split()
EVERY = 25


@pytest.fixture(scope="module")
def listed() -> list[Case]:
    found = {case.name: case for case in cases()}
    return [found[name] for name in LISTED if name in found]


def test_all_that_are_listed_exist_once(listed):
    assert [case.name for case in listed] == LISTED
    assert len(set(LISTED)) == len(LISTED)


def test_listed_cases_pass_in_numpy(listed):
    ended = [in_numpy(case) for case in listed]
    assert [ending for ending in ended if ending.verdict != "passed"] == []


def test_listed_cases_pass_with_constants(listed):
    ended = [in_numpy(with_constants(case)) for case in listed]
    assert [ending for ending in ended if ending.verdict not in ("passed", "refused")] == []
    assert sum(ending.verdict == "passed" for ending in ended) > 0.98 * len(ended)


@requires("gcc")
def test_a_sample_passes_in_c(listed):
    assert [ending for ending in in_c(listed[::EVERY]) if ending.verdict != "passed"] == []
