"""Every float case of every operator: the numpy reference against onnxruntime, every backend against both."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from burnc.backends import Backend
from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import GraphError
from burnc.exporters.onnx import export_onnx
from burnc.ir import Array, Graph, verify
from burnc.ops import operators
from conformance.backends import backend_id, host_backends
from conformance.check import differences
from conformance.single_node import Subject, float_inputs, float_subjects, merged
from oracles.float_onnx import run_graph

SUBJECTS = list(float_subjects())
BACKENDS = host_backends()

# ONNX has these since an opset that burnc does not write yet; the standard's own node tests judge them.
NOT_WRITTEN = {"bit_cast"}


class OnnxRuntime:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        return run_graph(self._graph, inputs)


def test_every_operator_has_cases():
    without = [name for name, spec in operators().items() if not spec.cases]
    assert without == ["dequantize"]  # it starts from a quantized input: test_edges.py


@pytest.mark.parametrize("name", sorted(NOT_WRITTEN))
def test_what_is_not_written_is_refused(name: str):
    with pytest.raises(GraphError, match="opset"):
        export_onnx(next(subject for subject in SUBJECTS if subject.spec.name == name).graph())


@pytest.mark.parametrize("subject", [s for s in SUBJECTS if s.spec.name not in NOT_WRITTEN], ids=str)
def test_reference_equals_onnxruntime(subject: Subject):
    graph = subject.graph()
    verify(graph)
    inputs = [float_inputs(graph, subject.case, seed) for seed in range(2)]
    assert differences(NumpyReference().compile(graph), OnnxRuntime(graph), inputs) == []


BY_OPERATOR: dict[str, dict[str, Subject]] = {}
for _subject in SUBJECTS:
    BY_OPERATOR.setdefault(_subject.spec.name, {})[_subject.name.rpartition("-")[2]] = _subject


@pytest.mark.parametrize("backend", BACKENDS, ids=backend_id)
@pytest.mark.parametrize("name", BY_OPERATOR)
def test_backend_equals_reference(name: str, backend: Backend):
    # One graph holds all cases of an operator: compilers take their time.
    graphs = {key: subject.graph() for key, subject in BY_OPERATOR[name].items()}
    inputs = [
        {
            f"{key}.{operand}": array
            for key, subject in BY_OPERATOR[name].items()
            for operand, array in float_inputs(graphs[key], subject.case, seed).items()
        }
        for seed in range(2)
    ]
    graph = merged(graphs)
    verify(graph)
    answers = [backend.supports(node) for node in graph.nodes]
    assert all(answers), [a.why for a in answers]
    assert differences(backend.compile(graph), NumpyReference().compile(graph), inputs) == []
