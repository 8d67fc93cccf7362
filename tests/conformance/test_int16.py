"""16-bit activations with 8-bit weights: bit for bit what TFLite Micro computes, on every backend."""

from __future__ import annotations

import pytest

from burnc.backends import Backend
from burnc.backends.numpy_reference import NumpyReference
from burnc.ir import verify
from conformance.backends import backend_id, host_backends
from conformance.check import differences
from conformance.single_node import Subject, int8_inputs, int16_subjects, merged
from oracles.tflm import GraphInTfliteMicro
from requirements import requires_package

SUBJECTS = list(int16_subjects())


def test_there_are_subjects():
    found = {subject.spec.name for subject in SUBJECTS}
    assert found >= {"concat", "conv_transpose2d", "fully_connected", "pad", "reduce_mean"}


@requires_package("tflite_micro")
@pytest.mark.parametrize("subject", SUBJECTS, ids=str)
def test_reference_equals_tflite_micro(subject: Subject):
    graph = subject.graph()
    verify(graph)
    assert differences(NumpyReference().compile(graph), GraphInTfliteMicro(graph), int8_inputs(graph)) == []


@pytest.mark.parametrize("backend", host_backends(), ids=backend_id)
def test_backend_equals_reference(backend: Backend):
    graph = merged({subject.name: subject.graph() for subject in SUBJECTS})
    verify(graph)
    answers = [backend.supports(node) for node in graph.nodes]
    assert all(answers), [a.why for a in answers]
    assert differences(backend.compile(graph), NumpyReference().compile(graph), int8_inputs(graph)) == []
