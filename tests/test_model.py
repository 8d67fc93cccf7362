"""The Python API where it says more than the pipeline."""

from __future__ import annotations

import numpy as np
import pytest

import burnc
from burnc.backends import registry
from burnc.errors import BurncError, InputError, ToolMissingError
from burnc.ir import Builder, DType, Graph, QuantParams, TensorType
from burnc.ops import operators
from burnc.resources import data_folder
from oracles.tflite_writer import write_tflite

MNIST = data_folder("examples") / "mnist_pico" / "mnist8.onnx"


@pytest.fixture(scope="module")
def model():
    return burnc.load(MNIST)


def test_c_is_named_after_the_file(model, tmp_path):
    files = model.export("pico", tmp_path / "out").files
    assert {"mnist8.h", "mnist8.c", "mnist8_weights.c"} <= set(files)
    noise = {"Input3": np.random.default_rng(0).normal(size=(2, 1, 28, 28)).astype(np.float32)}
    assert model.quantize(noise).export("pico", tmp_path / "int8").model == "mnist8"


def float_at_the_edges(name, tmp_path):
    """A float TFLite input, quantize, an int8 network, dequantize: as converters write it by default."""
    graph = Graph(name)
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (1, 4)))
    quant = QuantParams.per_tensor(0.5, 3)
    q = b.node("quantize", [x], quant=quant, rounding="half_away")
    y = b.node("sigmoid", [q], quant=QuantParams.per_tensor(1 / 256, -128))
    graph.outputs = [b.node("dequantize", [y])]
    path = tmp_path / f"{name}.tflite"
    path.write_bytes(write_tflite(graph))
    return path


def test_tflite_files_keep_the_types_that_they_declare(tmp_path):
    path = float_at_the_edges("edges", tmp_path)
    for edges, dtype in ((None, DType.FLOAT32), (True, DType.FLOAT32), (False, DType.INT8)):
        graph = burnc.load(path, float_edges=edges).graph
        assert [v.type.dtype for v in (*graph.inputs, *graph.outputs)] == [dtype] * 2


def test_a_device_that_cannot_be_had_is_unavailable(model, monkeypatch):
    def missing(name):
        raise ToolMissingError("no GPU was found", hint="use another device")

    real = registry.device
    monkeypatch.setattr("burnc.model.device", lambda name: missing(name) if name == "cuda" else real(name))
    report = model.validate(1, on=["cuda", "numpy"])
    assert [(t.name, t.verdict) for t in report.targets] == [("cuda", "unavailable"), ("numpy", "bit-exact")]
    assert "no GPU was found" in report.targets[0].why
    assert not report.ok


def test_a_device_name_that_means_nothing_is_an_error(model):
    with pytest.raises(BurncError, match="no device 'pcio'"):
        model.validate(1, on=["pcio"])


def test_models_are_saved_under_a_name_that_loads_again(model, tmp_path):
    with pytest.raises(InputError, match=r"does not end in \.onnx"):
        model.save(tmp_path / "model.bin")
    model.save(tmp_path / "model.onnx")
    assert str(burnc.load(tmp_path / "model.onnx")) == str(model)
