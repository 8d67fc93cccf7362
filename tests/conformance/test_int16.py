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
# Numbers differ most in these. Of C's two variants, which share all int16 kernels as yet, each takes one.
SETTINGS = {"c": "narrow"}
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
    wanted = SETTINGS.get(backend_id(backend), "ties")
    chosen = [s for s in SUBJECTS if s.setting is not None and s.setting.name == wanted]
    # Compilers begin slowly, and planning memory takes the square of the number of tensors.
    for part in (chosen[i : i + 18] for i in range(0, len(chosen), 18)):
        graph = merged({subject.name: subject.graph() for subject in part})
        verify(graph)
        answers = [backend.supports(node) for node in graph.nodes]
        assert all(answers), [a.why for a in answers]
        assert differences(backend.compile(graph), NumpyReference().compile(graph), int8_inputs(graph)) == []
