"""Kernels for other cores than the host's: their C twins, in every int8 case that they take."""

from __future__ import annotations

import functools

import pytest

from burnc.backends.numpy_reference import NumpyReference
from burnc.boards import load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.program import Program
from burnc.codegen.rows import ROWS
from burnc.ir import Graph
from burnc_host.c import PREFIX, CExecutable
from conformance.check import differences
from conformance.single_node import int8_inputs, int8_subjects, merged
from requirements import requires

HOST = load_board("host")
MODES = ("balanced", "speed")
OWN_ROWS = {row.name: row.on for row in ROWS if row.on}
CORES = sorted({cores[0] for cores in OWN_ROWS.values()})
OPERATORS = sorted({link.op for row in ROWS if row.on for link in row.pattern.links})


@functools.cache
def all_cases(operator: str) -> Graph:
    """Every int8 case of the operator in every setting, side by side."""
    return merged({s.name: s.graph() for s in int8_subjects() if s.spec.name == operator})


@functools.cache
def program_for(core: str, operator: str, optimize: str) -> Program:
    return lower(all_cases(operator), HOST, LowerOptions(name=PREFIX, core=core, optimize=optimize))


def rows_met(core: str, operator: str, optimize: str) -> set[str]:
    steps = program_for(core, operator, optimize).steps
    return {step.row for step in steps if core in OWN_ROWS.get(step.row, ())}


def test_every_row_of_a_core_meets_cases():
    met = [rows_met(core, operator, mode) for core in CORES for operator in OPERATORS for mode in MODES]
    assert set().union(*met) == set(OWN_ROWS)


@requires("host compiler")
@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("operator", OPERATORS)
def test_twins_equal_the_reference(core: str, operator: str):
    graph = all_cases(operator)
    programs = {frozenset(rows): mode for mode in MODES if (rows := rows_met(core, operator, mode))}
    for mode in programs.values():
        executable = CExecutable(graph, program_for(core, operator, mode))
        assert differences(executable, NumpyReference().compile(graph), int8_inputs(graph)) == []
