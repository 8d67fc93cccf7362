"""Kernels for other cores than the host's: their C twins, in every int8 case that they take."""

from __future__ import annotations

import functools

import pytest

from burnc.backends import device
from burnc.backends.numpy_reference import NumpyReference
from burnc.boards import load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.rows import ROWS
from burnc.ir import Graph
from conformance.check import differences
from conformance.single_node import int8_inputs, int8_subjects, merged
from requirements import requires

OWN_ROWS = {row.name: row.on for row in ROWS if row.on}
CORES = sorted({cores[0] for cores in OWN_ROWS.values()})
OPERATORS = sorted({link.op for row in ROWS if row.on for link in row.pattern.links})


@functools.cache
def all_cases(operator: str) -> Graph:
    """Every int8 case of the operator in every setting, side by side."""
    return merged({s.name: s.graph() for s in int8_subjects() if s.spec.name == operator})


@functools.cache
def rows_met(core: str, operator: str) -> frozenset[str]:
    steps = lower(all_cases(operator), load_board("host"), LowerOptions(core=core)).steps
    return frozenset(step.row for step in steps if core in OWN_ROWS.get(step.row, ()))


def test_every_row_of_a_core_meets_cases():
    assert set().union(*(rows_met(core, operator) for core in CORES for operator in OPERATORS)) == set(OWN_ROWS)


@requires("host compiler")
@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("operator", OPERATORS)
def test_twins_equal_the_reference(core: str, operator: str):
    graph = all_cases(operator)
    if rows_met(core, operator):
        executable = device(f"c:{core}").compile(graph)
        assert differences(executable, NumpyReference().compile(graph), int8_inputs(graph)) == []
