"""Real int8 models mean to burnc what they mean to TFLite Micro, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from burnc.importers import import_model
from burnc.ir import DType, print_graph
from importers.small_nets import INT8_MODELS, ROOT, run_numpy
from oracles.tflm import TfliteMicro
from requirements import requires_package


def _inputs(graph, rng):
    (x,) = graph.inputs
    yield np.full(x.type.shape, -128, np.int8)
    yield np.full(x.type.shape, 127, np.int8)
    for _ in range(3):
        yield rng.integers(-128, 128, x.type.shape).astype(np.int8)


@requires_package("tflite_micro")
@pytest.mark.parametrize("path", INT8_MODELS, ids=lambda p: p.stem)
def test_model_equals_tflite_micro(path):
    graph = import_model(path)
    oracle = TfliteMicro(path.read_bytes())
    for x in _inputs(graph, np.random.default_rng(0)):
        got = run_numpy(graph, **{graph.inputs[0].name: x})
        (expected,) = oracle.run(x)
        np.testing.assert_array_equal(got[graph.outputs[0].name], expected)


@pytest.mark.parametrize("path", INT8_MODELS, ids=lambda p: p.stem)
def test_import_is_repeatable(path):
    assert print_graph(import_model(path)) == print_graph(import_model(path))


def test_types_of_the_keyword_spotter():
    graph = import_model(ROOT / "examples/kws_pico/mlperf_kws_dscnn_int8.tflite")
    (x,), (y,) = graph.inputs, graph.outputs
    assert (x.type.dtype, x.type.shape, x.type.zero_point) == (DType.INT8, (1, 49, 10, 1), 83)
    assert (y.type.dtype, y.type.shape, y.type.scale, y.type.zero_point) == (DType.INT8, (1, 12), 1 / 256, -128)
    weights = next(n.input(1).type for n in graph.nodes if n.op == "conv2d")
    assert weights.shape == (64, 10, 4, 1)
    assert weights.quant.axis == 0
    assert len(weights.quant.scale) == 64
    assert graph.metadata["source.format"] == "tflite"


def test_operators_are_named_after_their_outputs():
    graph = import_model(ROOT / "tests/models/tflm_hello_world_int8.tflite")
    assert [n.name for n in graph.nodes] == [n.output.name for n in graph.nodes]
