from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnc.memory import Overlap, Request, lower_bound, plan_arena, planner
from memory.overlap_checker import clashes, least_size

Problem = tuple[list[Request], list[Overlap]]


@pytest.fixture(autouse=True, scope="module")
def _a_short_search() -> Iterator[None]:
    """Soundness does not hang on how long better orders are looked for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planner, "TRIES", 100)
        yield


@st.composite
def problems(draw: st.DrawFn, largest: int = 60, most: int = 12, alignments: tuple[int, ...] = (1, 4, 8)) -> Problem:
    """Values and scratch of a run; each step makes one value, which may lie over inputs that die there."""
    steps = draw(st.integers(1, most))
    requests, overlaps = [], []
    for step in range(steps):
        last = draw(st.integers(step, steps))
        requests.append(
            Request(f"v{step}", draw(st.integers(0, largest)), step, last, draw(st.sampled_from(alignments)))
        )
        if draw(st.booleans()):
            requests.append(Request(f"s{step}", draw(st.integers(1, largest)), step, step, 8))
        dying = [r.name for r in requests if r.last == step and r.first < step and r.name[0] == "v"]
        covered = [name for name in dying if draw(st.booleans())]
        distances = st.none() | st.integers(0, 9)
        overlaps += [Overlap(name, f"v{step}", draw(distances)) for name in covered]
    return requests, overlaps


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(problems())
def test_no_live_byte_is_ever_overwritten(problem: Problem) -> None:
    requests, overlaps = problem
    plan = plan_arena(requests, overlaps)
    assert clashes(requests, overlaps, plan.offsets, plan.bytes) == []
    assert plan.lower_bound <= plan.bytes


@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(problems())
def test_equal_problems_get_equal_plans_whatever_the_order(problem: Problem) -> None:
    requests, overlaps = problem
    first = plan_arena(requests, overlaps)
    assert plan_arena(requests, overlaps) == first
    assert plan_arena(requests, overlaps[::-1]) == first
    assert plan_arena([Request(**vars(r)) for r in requests], [Overlap(**vars(o)) for o in overlaps]) == first


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(problems(largest=3, most=3, alignments=(1, 2)))
def test_the_lower_bound_is_one(problem: Problem) -> None:
    requests, overlaps = problem
    requests = [Request(r.name, r.bytes, r.first, r.last, min(r.alignment, 2)) for r in requests][:4]
    overlaps = [o for o in overlaps if {o.input, o.output} <= {r.name for r in requests}]
    limit = sum(r.bytes + 1 for r in requests) + 1
    if requests and limit <= 18:
        assert lower_bound(requests, overlaps) <= least_size(requests, overlaps, limit)


def test_in_place_takes_the_bytes_of_both_once() -> None:
    requests = [Request("x", 100, 0, 1), Request("y", 100, 1, 2)]
    assert plan_arena(requests).bytes == 200
    plan = plan_arena(requests, [Overlap("x", "y", 0)])
    assert (plan.bytes, plan.lower_bound) == (100, 100)


def test_a_distance_pushes_the_input_up() -> None:
    requests = [Request("x", 40, 0, 1), Request("y", 160, 1, 2)]
    plan = plan_arena(requests, [Overlap("x", "y", 117)])
    assert plan.offsets["x"] - plan.offsets["y"] >= 117
    assert plan.bytes == plan.lower_bound == 160


def test_what_must_lie_in_place_does_so_or_elsewhere() -> None:
    requests = [Request("x", 40, 0, 1), Request("w", 8, 0, 3), Request("y", 32, 1, 2)]
    plan = plan_arena(requests, [Overlap("x", "y", None)])
    assert plan.offsets["x"] == plan.offsets["y"]
    assert plan.bytes == plan.lower_bound == 48


def test_of_two_distances_for_one_pair_the_stricter_counts() -> None:
    requests = [Request("x", 40, 0, 1), Request("y", 40, 1, 2)]
    for overlaps in ([Overlap("x", "y", 0), Overlap("x", "y", 8)], [Overlap("x", "y", 8), Overlap("x", "y", 0)]):
        plan = plan_arena(requests, overlaps)
        assert clashes(requests, overlaps, plan.offsets, plan.bytes) == []


def test_a_result_over_both_of_its_inputs_is_within_the_bound() -> None:
    requests = [Request("a", 40, 0, 2), Request("b", 40, 1, 2), Request("y", 80, 2, 3)]
    overlaps = [Overlap("a", "y", 0), Overlap("b", "y", 0)]
    assert lower_bound(requests, overlaps) == 80


def test_an_input_under_two_results_is_saved_once() -> None:
    requests = [Request("x", 40, 0, 1), Request("a", 40, 1, 2), Request("b", 40, 1, 2)]
    assert lower_bound(requests, [Overlap("x", "a", 0), Overlap("x", "b", 0)]) == 80


def test_scratch_shares_no_byte_with_the_step_it_serves() -> None:
    requests = [Request("x", 64, 0, 1), Request("y", 64, 1, 2), Request("scratch", 24, 1, 1, 8)]
    plan = plan_arena(requests, [Overlap("x", "y", 0)])
    assert plan.bytes == plan.lower_bound == 88


def test_alignments_of_different_size_do_not_raise_the_bound() -> None:
    requests = [Request("a", 12, 0, 0, 8), Request("b", 4, 0, 0, 4)]
    plan = plan_arena(requests)
    assert plan.bytes == plan.lower_bound == 16


def test_nothing_needs_nothing() -> None:
    assert plan_arena([]).bytes == 0


@pytest.mark.parametrize("seed", range(3))
def test_the_judge_sees_a_damaged_plan(seed: int) -> None:
    requests = [Request("x", 8, 0, 2), Request("y", 8, 1, 2)]
    overlap = [Overlap("x", "y", 4)]
    bad = [{"x": 0, "y": 4}, {"x": 2, "y": 10}, {"x": 0, "y": 16}][seed]
    assert clashes(requests, overlap, bad, 20)
    assert clashes([Request("x", 8, 0, 1), Request("y", 8, 1, 2)], overlap, {"x": 0, "y": 0}, 8)
    assert not clashes([Request("x", 8, 0, 1), Request("y", 8, 1, 2)], overlap, {"x": 4, "y": 0}, 12)
