"""Int8 operators that work element by element, from TFLite files and back from QDQ: the same operator and bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import GraphError
from burnc.exporters.onnx import export_onnx
from burnc.importers.onnx import import_onnx
from burnc.importers.tflite import import_tflite
from burnc.ir import Array, Graph
from burnc.ops import operators
from burnc.passes import AbsorbEdges, AbsorbQdq, RestoreNames, canonical_passes, run_passes
from conformance.single_node import Subject, int8_inputs, int8_subjects
from oracles.tflite_elementwise import ELEMENTWISE
from oracles.tflite_writer import NotExpressibleError, write_tflite


def _expressible(subject: Subject) -> bool:
    try:
        write_tflite(subject.graph())
    except NotExpressibleError:
        return False
    return True


def _has_qdq_form(subject: Subject) -> bool:
    try:
        export_onnx(subject.graph())
    except GraphError as error:
        return "ONNX has no quantized form" not in str(error)
    return True


TYPICAL = [s for s in int8_subjects() if s.setting is not None and s.setting.name == "typical"]
IN_TFLITE = [s for s in TYPICAL if s.spec.name in ELEMENTWISE and _expressible(s)]
UNARY_TOO = [s for s in TYPICAL if s.spec.name in ELEMENTWISE or operators()[s.spec.name].unary]
IN_ONNX = [s for s in UNARY_TOO if _has_qdq_form(s)]


def results(graph: Graph, inputs: dict[str, Array]) -> Array:
    renamed = {v.name: array for v, array in zip(graph.inputs, inputs.values(), strict=True)}
    (result,) = NumpyReference().compile(graph).run(renamed).values()
    return result


@pytest.mark.parametrize("subject", IN_TFLITE, ids=str)
def test_a_tflite_file_means_what_it_was_written_from(subject: Subject, tmp_path: Path):
    graph = subject.graph()
    path = tmp_path / "node.tflite"
    path.write_bytes(write_tflite(graph))
    inputs = next(int8_inputs(graph))
    np.testing.assert_array_equal(results(import_tflite(path), inputs), results(graph, inputs))


@pytest.mark.parametrize("subject", IN_ONNX, ids=str)
def test_a_qdq_file_comes_back_as_the_same_operator(subject: Subject):
    graph = subject.graph()
    back = import_onnx(export_onnx(graph))
    run_passes(back, [*canonical_passes(), AbsorbQdq()])
    run_passes(back, [AbsorbEdges(), *canonical_passes(), AbsorbQdq(), RestoreNames()])
    assert [node.op for node in back.nodes] == [subject.spec.name]
    inputs = next(int8_inputs(graph))
    np.testing.assert_array_equal(results(back, inputs), results(graph, inputs))
