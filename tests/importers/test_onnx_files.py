"""Damaged, foreign and malicious ONNX files end in one clear error, or in a graph; never in anything else."""

from __future__ import annotations

import random
import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from burnc.errors import BurncError, ModelFileError
from burnc.importers import import_model
from burnc.importers.onnx import import_onnx
from importers.small_nets import FLOAT_MODELS, import_and_run, import_calmly, model_of, small_net, weights


@pytest.mark.parametrize("data", [b"", b"\0" * 64, b"PK\3\4 a zip", b"a text\n" * 10, b"\x80\x04\x95 a pickle"])
def test_foreign_file(tmp_path, data):
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match="no ONNX model"):
        import_model(path)


@pytest.mark.parametrize("name", ["model.pt", "model.h5", "model"])
def test_unknown_format_says_what_is_accepted(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"something else")
    with pytest.raises(ModelFileError, match=r"burnc reads \.onnx and \.tflite"):
        import_model(path)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(ModelFileError, match="cannot be read: No such file"):
        import_model(tmp_path / "none.onnx")
    with pytest.raises(ModelFileError, match="a folder"):
        import_model(tmp_path)


@pytest.mark.parametrize("path", FLOAT_MODELS[:3], ids=lambda p: p.stem)
def test_truncated(tmp_path, path):
    data = path.read_bytes()
    cut = tmp_path / "cut.onnx"
    for size in [0, 1, 2, 7, 64, *range(len(data) // 12, len(data), len(data) // 12), len(data) - 1]:
        cut.write_bytes(data[:size])
        with pytest.raises(ModelFileError):
            import_model(cut)


@pytest.mark.parametrize("opset", [7, 13, 21])
def test_random_damage(tmp_path, opset):
    data = small_net(opset).SerializeToString()
    rng = random.Random(opset)
    path = tmp_path / "damaged.onnx"
    for _ in range(120):
        damaged = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 8])):
            damaged[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(damaged)
        import_calmly(path)


def test_text_that_is_no_utf8(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(small_net(17).SerializeToString().replace(b"relu", b"\xebelu"))
    with pytest.raises(ModelFileError, match="damaged"):
        import_model(path)


def _with_tensor(**fields) -> onnx.ModelProto:
    model = model_of([helper.make_node("Add", ["x", "c"], ["y"])], {"x": [1, 4]}, ["y"], {"c": weights(4)})
    tensor = model.graph.initializer[0]
    for name, value in fields.items():
        if name == "dims":
            del tensor.dims[:]
            tensor.dims.extend(value)
        else:
            setattr(tensor, name, value)
    return model


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"dims": [5]}, "does not go with 16 bytes"),
        ({"dims": [-4]}, "negative"),
        ({"dims": [2**40, 2**40]}, "over 2 GB"),
        ({"dims": [2**31]}, "over 2 GB"),
        ({"data_type": 99}, "element type number 99"),
        ({"data_type": TensorProto.DOUBLE}, "does not go with 16 bytes"),
    ],
)
def test_lying_tensor(fields, message):
    with pytest.raises(ModelFileError, match=re.escape(message)) as caught:
        import_onnx(_with_tensor(**fields))
    assert "'c'" in caught.value.where


@pytest.mark.parametrize("op", ["ConstantOfShape", "Expand", "Tile"])
def test_huge_constant_is_not_computed(op):
    shape = {"shape": np.array([1 << 20, 1 << 20], np.int64), "one": np.ones((1, 1), np.float32)}
    inputs = ["shape"] if op == "ConstantOfShape" else ["one", "shape"]
    nodes = [helper.make_node(op, inputs, ["big"], "big"), helper.make_node("Add", ["x", "big"], ["y"])]
    with pytest.raises(BurncError):
        import_onnx(model_of(nodes, {"x": [1, 4]}, ["y"], shape))


def test_newer_opset_and_ir_version():
    model = small_net(17)
    model.opset_import[0].version = 1000
    with pytest.raises(ModelFileError, match="opset 1000"):
        import_onnx(model)
    model = small_net(17)
    model.ir_version = 1000
    with pytest.raises(ModelFileError, match="IR version 1000"):
        import_onnx(model)


def test_what_is_read_but_never_computed():
    nodes = [helper.make_node("Relu", ["nothing"], ["y"], "relu")]
    with pytest.raises(ModelFileError, match="'nothing' is read but never computed") as caught:
        import_onnx(model_of(nodes, {"x": [1]}, ["y"]))
    assert "'relu'" in caught.value.where


def test_what_is_computed_twice():
    nodes = [helper.make_node("Relu", ["x"], ["y"], "first"), helper.make_node("Relu", ["x"], ["y"], "second")]
    with pytest.raises(ModelFileError, match="'y' is assigned twice") as caught:
        import_onnx(model_of(nodes, {"x": [1]}, ["y"]))
    assert "'second'" in caught.value.where


def test_model_in_memory_stays_as_it_is():
    model = small_net(9)
    before = model.SerializeToString()
    import_and_run(model, x=weights(1, 2, 8, 8))
    assert model.SerializeToString() == before
