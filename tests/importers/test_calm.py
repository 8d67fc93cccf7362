"""Small files that ask for endless work are refused, or done, in a moment."""

from __future__ import annotations

import time

import numpy as np
import pytest
import tflite
from flatbuffers import Builder
from onnx import helper

from burnc.errors import BurncError, ModelFileError
from burnc.importers.onnx import import_onnx
from burnc.importers.tflite import import_tflite
from importers.small_nets import model_of, weights


@pytest.fixture(autouse=True)
def _in_a_moment():
    start = time.monotonic()
    yield
    assert time.monotonic() - start < 20


def test_tensors_that_share_one_huge_shape(tmp_path):
    """Thirty thousand tensors, all of them one table, whose shape has thirty thousand axes."""
    b = Builder(1 << 20)
    shape = b.CreateNumpyVector(np.ones(30_000, np.int32))
    tflite.TensorStart(b)
    tflite.TensorAddShape(b, shape)
    tensor = tflite.TensorEnd(b)
    tflite.SubGraphStartTensorsVector(b, 30_000)
    for _ in range(30_000):
        b.PrependUOffsetTRelative(tensor)
    tensors = b.EndVector()
    tflite.SubGraphStart(b)
    tflite.SubGraphAddTensors(b, tensors)
    subgraph = tflite.SubGraphEnd(b)
    tflite.BufferStart(b)
    buffer = tflite.BufferEnd(b)
    tflite.ModelStartBuffersVector(b, 1)
    b.PrependUOffsetTRelative(buffer)
    buffers = b.EndVector()
    tflite.ModelStartSubgraphsVector(b, 1)
    b.PrependUOffsetTRelative(subgraph)
    subgraphs = b.EndVector()
    tflite.ModelStart(b)
    tflite.ModelAddBuffers(b, buffers)
    tflite.ModelAddSubgraphs(b, subgraphs)
    b.Finish(tflite.ModelEnd(b), b"TFL3")
    path = tmp_path / "shared.tflite"
    path.write_bytes(b.Output())
    with pytest.raises(ModelFileError, match="damaged"):
        import_tflite(path)


def test_constants_that_double():
    """Each Concat doubles a constant; forty of them would be a terabyte."""
    nodes = [helper.make_node("Concat", [f"c{i}", f"c{i}"], [f"c{i + 1}"], axis=0) for i in range(40)]
    nodes.append(helper.make_node("Add", ["x", "c40"], ["y"]))
    with pytest.raises(BurncError):
        import_onnx(model_of(nodes, {"x": [1]}, ["y"], {"c0": weights(1)}))


def test_thousands_of_nodes_of_one_name():
    nodes = [helper.make_node("Relu", [f"t{i}"], [f"t{i + 1}"], "relu") for i in range(3000)]
    assert len(import_onnx(model_of(nodes, {"t0": [1]}, ["t3000"])).nodes) == 3000


def test_deeply_nested_subgraphs():
    output = helper.make_empty_tensor_value_info("z")
    body = helper.make_graph([helper.make_node("Relu", ["x"], ["z"])], "body", [], [output])
    for _ in range(15):
        node = helper.make_node("If", ["x"], ["z"])
        node.attribute.append(helper.make_attribute("then_branch", body))
        body = helper.make_graph([node], "body", [], [output])
    with pytest.raises(BurncError):
        import_onnx(model_of(body.node, {"x": [1]}, ["z"]))
