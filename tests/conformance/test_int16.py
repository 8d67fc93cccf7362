"""16-bit activations with 8-bit weights: bit for bit what TFLite Micro computes, on every backend."""

from __future__ import annotations

import pytest

from burnc.backends import Backend
from burnc.backends.numpy_reference import NumpyReference
from burnc.ir import DType, verify
from burnc.ops import operators
from conformance.backends import backend_id, host_backends
from conformance.check import differences
from conformance.single_node import Subject, int8_inputs, int16_subjects, merged
from oracles.tflite_writer import expressible
from oracles.tflm import GraphInTfliteMicro
from requirements import requires_package

SUBJECTS = list(int16_subjects())
# What is compiled: numbers differ more in the first of them; others are the reference's alone.
SETTINGS = ("narrow", "ties")
# Moves of elements that TFLite Micro has no int16 kernel for; rsqrt stops at negative numbers there (the importer's
# tests ask it). Operators that TFLite does not have are not asked.
NOT_COMPARED = {"arg_max", "gather", "gather_nd", "reverse_sequence", "rsqrt", "tile"}
IN_TFLITE = [s for s in SUBJECTS if s.spec.name not in NOT_COMPARED and expressible(s.graph())]


def test_every_operator_that_takes_int16_meets_the_oracle():
    met = {subject.spec.name for subject in IN_TFLITE}
    taking = {n for n, spec in operators().items() if spec.quant is not None and DType.INT16 in spec.quant.dtypes}
    in_tflite = {name for name in taking if operators()[name].tflite}
    assert in_tflite - met == NOT_COMPARED
    assert met - taking == {"quantize"}  # its rule is its own


@requires_package("tflite_micro")
@pytest.mark.parametrize("subject", IN_TFLITE, ids=str)
def test_reference_equals_tflite_micro(subject: Subject):
    graph = subject.graph()
    verify(graph)
    assert differences(NumpyReference().compile(graph), GraphInTfliteMicro(graph), int8_inputs(graph)) == []


@pytest.mark.parametrize("backend", host_backends(), ids=backend_id)
def test_backend_equals_reference(backend: Backend):
    settings = SETTINGS if backend_id(backend) == "c" else SETTINGS[:1]
    chosen = [s for s in SUBJECTS if s.setting is not None and s.setting.name in settings]
    graph = merged({subject.name: subject.graph() for subject in chosen})
    verify(graph)
    answers = [backend.supports(node) for node in graph.nodes]
    assert all(answers), [a.why for a in answers]
    assert differences(backend.compile(graph), NumpyReference().compile(graph), int8_inputs(graph)) == []
