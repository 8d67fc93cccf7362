"""Every int8 case of every operator in every setting: bit for bit what TFLite Micro computes, on every backend."""

from __future__ import annotations

import dataclasses

import pytest

from burnc.backends import Backend
from burnc.backends.numpy_reference import NumpyReference
from burnc.ir import verify
from conformance.backends import COMPILES_SLOWLY, backend_id, host_backends
from conformance.check import differences
from conformance.single_node import Subject, int8_inputs, int8_subjects, merged
from oracles.tflite_writer import expressible
from oracles.tflm import GraphInTfliteMicro
from requirements import requires_package

SUBJECTS = list(int8_subjects())


IN_TFLITE = [subject for subject in SUBJECTS if expressible(subject.graph())]

# What TFLite Micro has no form of; all others must be compared with it.
NOT_IN_TFLITE = {
    "gather_elements",
    "identity",
    "reverse_sequence",
    "scatter_elements",
    "scatter_nd",
    "tile",
    "top_k",
    "trilu",
}
# Defined by their real function: TFLite Micro has them for floats alone, if at all.
BY_REAL_FUNCTION = {
    "acosh", "atan", "ceil", "cos", "erf", "exp", "floor", "gelu",
    "hard_sigmoid", "log", "mish", "neg", "power", "reciprocal", "round", "sign", "sin", "softplus", "softsign",
    "sqrt", "tan",
}  # fmt: skip


def test_every_operator_meets_the_oracle():
    met = {subject.spec.name for subject in IN_TFLITE}
    assert {subject.spec.name for subject in SUBJECTS} - met == NOT_IN_TFLITE | BY_REAL_FUNCTION


@requires_package("tflite_micro")
@pytest.mark.parametrize("subject", IN_TFLITE, ids=str)
def test_reference_equals_tflite_micro(subject: Subject):
    graph = subject.graph()
    verify(graph)
    assert differences(NumpyReference().compile(graph), GraphInTfliteMicro(graph), int8_inputs(graph)) == []


BY_CASE: dict[str, dict[str, Subject]] = {}
for _subject in SUBJECTS:
    for _rounding in ("tflm", "single"):
        _name, _, _setting = _subject.name.rpartition("-")
        _parts = BY_CASE.setdefault(_name, {})
        _parts[f"{_setting}.{_rounding}"] = dataclasses.replace(_subject, rounding=_rounding)


@pytest.mark.parametrize("backend", host_backends(), ids=backend_id)
@pytest.mark.parametrize("name", BY_CASE)
def test_backend_equals_reference(name: str, backend: Backend):
    # One graph holds all settings and both roundings of a case: compilers take their time.
    parts = BY_CASE[name]
    if backend.name in COMPILES_SLOWLY:
        parts = {key: parts[key] for key in parts if key.endswith(".tflm") or key in ("typical.single", "ties.single")}
    graph = merged({key: subject.graph() for key, subject in parts.items()})
    verify(graph)
    answers = [backend.supports(node) for node in graph.nodes]
    assert all(answers), [a.why for a in answers]
    assert differences(backend.compile(graph), NumpyReference().compile(graph), int8_inputs(graph)) == []
