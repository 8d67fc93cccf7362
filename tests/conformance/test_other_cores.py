"""Kernels for other cores than the host's: their C twins, in every int8 case that they take."""

from __future__ import annotations

import pytest

from burnc.backends import device
from burnc.backends.numpy_reference import NumpyReference
from burnc.boards import load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.rows import ROWS
from conformance.check import differences
from conformance.single_node import Subject, int8_inputs, int8_subjects
from requirements import requires

OWN_ROWS = {row.name: row.on for row in ROWS if row.on}


def _takes(core: str, subject: Subject) -> list[str]:
    steps = lower(subject.graph(), load_board("host"), LowerOptions(core=core)).steps
    return [step.row for step in steps if core in OWN_ROWS.get(step.row, ())]


CORES = sorted({cores[0] for cores in OWN_ROWS.values()})
MET = [(core, subject) for core in CORES for subject in int8_subjects() if _takes(core, subject)]


def test_every_row_of_a_core_meets_cases():
    assert {row for core, subject in MET for row in _takes(core, subject)} == set(OWN_ROWS)


@requires("host compiler")
@pytest.mark.parametrize(("core", "subject"), MET, ids=str)
def test_twins_equal_the_reference(core: str, subject: Subject):
    graph = subject.graph()
    assert differences(device(f"c:{core}").compile(graph), NumpyReference().compile(graph), int8_inputs(graph)) == []
