"""The operators' own cases on the ``cuda`` backend without a GPU.

One source holds all cases of an operator, as compilers take their time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import pytest

from burnc.backends.numpy_reference import NumpyReference
from burnc.codegen.cuda_source import cuda_source
from burnc.codegen.launches import plan_launches
from burnc.ir import Array
from conformance.check import differences
from conformance.single_node import (
    Subject,
    float_inputs,
    float_subjects,
    int8_inputs,
    int8_subjects,
    int16_subjects,
    merged,
)
from gpu import cupy_on_cpu
from requirements import requires

pytestmark = requires("nvrtc", "c++ compiler")

# The other settings differ in numbers alone.
SETTINGS = ("crossed", "same", "ties")


def by_operator(subjects: Iterator[Subject]) -> dict[str, dict[str, Subject]]:
    groups = groupby(subjects, key=lambda s: s.spec.name)
    return {name: {subject.name: subject for subject in members} for name, members in groups}


FLOAT = by_operator(float_subjects())
INTEGER = by_operator(s for s in int8_subjects() if s.setting is not None and s.setting.name in SETTINGS)
INTEGER |= {f"{name}-int16": subjects for name, subjects in by_operator(int16_subjects()).items()}


def inputs_of(subjects: Mapping[str, Subject]) -> dict[str, Array]:
    return {
        f"{key}.{name}": array
        for key, subject in subjects.items()
        for name, array in float_inputs(subject.graph(), subject.case).items()
    }


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Any:
    return cupy_on_cpu.install(monkeypatch).CudaBackend()


@pytest.mark.parametrize("operator", FLOAT)
def test_float_cases(operator: str, cuda: Any):
    graph = merged({key: subject.graph() for key, subject in FLOAT[operator].items()})
    executables = cuda.compile(graph), NumpyReference().compile(graph)
    assert differences(*executables, [inputs_of(FLOAT[operator])]) == []


@pytest.mark.parametrize("operator", INTEGER)
def test_integer_cases(operator: str, cuda: Any):
    graph = merged({key: subject.graph() for key, subject in INTEGER[operator].items()})
    assert differences(cuda.compile(graph), NumpyReference().compile(graph), int8_inputs(graph)) == []


@pytest.mark.parametrize("operator", FLOAT)
def test_nvrtc_compiles_float_cases(operator: str):
    from burnc_host.nvrtc import compile_cubin

    graph = merged({key: subject.graph() for key, subject in FLOAT[operator].items()})
    source, _ = cuda_source(plan_launches(graph).order)
    assert compile_cubin(source, "sm_75")
