"""Every int8 case of every operator in every setting: bit for bit what TFLite Micro computes, on every backend."""

from __future__ import annotations

import pytest

from burnc.backends import Backend
from burnc.backends.numpy_reference import NumpyReference
from burnc.ir import verify
from conformance.backends import host_backends
from conformance.check import differences
from conformance.single_node import Subject, int8_inputs, int8_subjects
from oracles.tflite_writer import NotExpressibleError, write_tflite
from oracles.tflm import GraphInTfliteMicro
from requirements import requires_package

SUBJECTS = list(int8_subjects())


def _expressible(subject: Subject) -> bool:
    try:
        write_tflite(subject.graph())
    except NotExpressibleError:
        return False
    return True


IN_TFLITE = [subject for subject in SUBJECTS if _expressible(subject)]

# What TFLite Micro has no form of; all others must be compared with it.
NOT_IN_TFLITE = {"identity"}


def test_every_operator_meets_the_oracle():
    met = {subject.spec.name for subject in IN_TFLITE}
    assert {subject.spec.name for subject in SUBJECTS} - met == NOT_IN_TFLITE


@requires_package("tflite_micro")
@pytest.mark.parametrize("subject", IN_TFLITE, ids=str)
def test_reference_equals_tflite_micro(subject: Subject):
    graph = subject.graph()
    verify(graph)
    assert differences(NumpyReference().compile(graph), GraphInTfliteMicro(graph), int8_inputs(graph)) == []


@pytest.mark.parametrize("backend", host_backends(), ids=lambda b: b.name)
@pytest.mark.parametrize("subject", SUBJECTS, ids=str)
def test_backend_equals_reference(subject: Subject, backend: Backend):
    graph = subject.graph()
    answers = [backend.supports(node) for node in graph.nodes]
    assert all(answers), [a.why for a in answers]
    assert differences(backend.compile(graph), NumpyReference().compile(graph), int8_inputs(graph)) == []


@pytest.mark.parametrize("backend", host_backends(), ids=lambda b: b.name)
@pytest.mark.parametrize(
    "subject",
    [Subject(f"{s}-single", s.spec, s.case, s.setting, "single") for s in SUBJECTS if s.setting.name == "typical"],
    ids=str,
)
def test_single_rounding(subject: Subject, backend: Backend):
    graph = subject.graph()
    assert differences(backend.compile(graph), NumpyReference().compile(graph), int8_inputs(graph)) == []
