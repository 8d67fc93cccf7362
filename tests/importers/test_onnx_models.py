"""Real float models mean to burnc what they mean to onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest

from burnc.importers import import_model
from burnc.ir import print_graph
from importers.small_nets import FLOAT_MODELS, ROOT, assert_close, run_numpy, run_onnxruntime
from requirements import requires_package


@requires_package("onnxruntime")
@pytest.mark.parametrize("path", FLOAT_MODELS, ids=lambda p: p.stem)
def test_model_equals_onnxruntime(path):
    graph = import_model(path)
    rng = np.random.default_rng(0)
    for _ in range(3):
        inputs = {v.name: rng.uniform(-1, 1, v.type.shape).astype(np.float32) for v in graph.inputs}
        expected = run_onnxruntime(path, **inputs)
        got = run_numpy(graph, **inputs)
        assert list(got) == list(expected)
        for name in expected:
            assert_close(got[name], expected[name])


@pytest.mark.parametrize("path", FLOAT_MODELS, ids=lambda p: p.stem)
def test_import_is_repeatable(path):
    assert print_graph(import_model(path)) == print_graph(import_model(path))


def test_mnist8_has_one_input_and_its_own_facts():
    graph = import_model(ROOT / "examples/mnist_pico/mnist8.onnx")
    assert [(v.name, v.type.shape) for v in graph.inputs] == [("Input3", (1, 1, 28, 28))]
    assert [(v.name, v.type.shape) for v in graph.outputs] == [("Plus214_Output_0", (1, 10))]
    assert graph.metadata["source.format"] == "onnx"
    assert graph.metadata["source.opset"] == "8"
    assert graph.metadata["source.ir_version"] == "3"
    assert graph.metadata["source.producer"] == "CNTK 2.5.1"
    assert len(graph.metadata["source.sha256"]) == 64


def test_nodes_keep_their_names():
    graph = import_model(ROOT / "examples/mnist_pico/mnist8.onnx")
    by_op = {op: [n.name for n in graph.nodes if n.op == op] for op in ("conv2d", "max_pool2d")}
    assert by_op == {"conv2d": ["Convolution28", "Convolution110"], "max_pool2d": ["Pooling66", "Pooling160"]}
