"""Tensors in files beside the model, and models that try to reach other files."""

from __future__ import annotations

import os

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from burnc.errors import ModelFileError
from burnc.importers import import_model
from burnc.importers.onnx import import_onnx
from importers.small_nets import model_of, run_numpy, weights


def _model(**entries) -> onnx.ModelProto:
    model = model_of([helper.make_node("Add", ["x", "c"], ["y"])], {"x": [1, 4]}, ["y"], {"c": weights(4)})
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=str(value))
    return model


@pytest.fixture
def folder(tmp_path):
    """A folder with a model's data, and a secret beside the folder."""
    inside = tmp_path / "model"
    (inside / "sub").mkdir(parents=True)
    data = b"\0" * 16 + weights(4).tobytes()
    (inside / "data.bin").write_bytes(data)
    (inside / "sub" / "data.bin").write_bytes(data)
    (tmp_path / "secret").write_bytes(b"secret secret secret secret")
    return inside


def _save(folder, model):
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize("location", ["data.bin", "sub/data.bin", "./data.bin"])
def test_data_beside_the_model(folder, location):
    graph = import_model(_save(folder, _model(location=location, offset=16, length=16)))
    x = np.ones((1, 4), np.float32)
    np.testing.assert_array_equal(run_numpy(graph, x=x)["y"], x + weights(4))


def test_length_is_the_rest_of_the_file(folder):
    import_model(_save(folder, _model(location="data.bin", offset=16)))


@pytest.mark.parametrize(
    "location",
    ["../secret", "sub/../../secret", "/etc/passwd", "..", "", "..\\secret", "data.bin\0", "sub/../data.bin"],
)
def test_escape_is_refused(folder, location):
    with pytest.raises(ModelFileError, match="outside the model's folder"):
        import_model(_save(folder, _model(location=location, length=16)))


def test_link_out_of_the_folder_is_refused(folder):
    (folder / "link.bin").symlink_to(folder.parent / "secret")
    (folder / "linked").symlink_to(folder.parent, target_is_directory=True)
    for location in ("link.bin", "linked/secret"):
        with pytest.raises(ModelFileError, match="outside the model's folder"):
            import_model(_save(folder, _model(location=location, length=16)))


def test_special_file_is_refused(folder):
    os.mkfifo(folder / "pipe")
    with pytest.raises(ModelFileError, match="missing"):
        import_model(_save(folder, _model(location="pipe", length=16)))


def test_missing_file_is_named(folder):
    with pytest.raises(ModelFileError, match=r"'gone\.bin' is missing"):
        import_model(_save(folder, _model(location="gone.bin")))


@pytest.mark.parametrize("entries", [{"offset": 20}, {"offset": 0, "length": 99}, {"offset": 1 << 60, "length": 16}])
def test_file_that_is_too_short(folder, entries):
    with pytest.raises(ModelFileError):
        import_model(_save(folder, _model(location="data.bin", **entries)))


@pytest.mark.parametrize("text", ["-1", "1e3", "0x10", "²", "9" * 40])
def test_number_that_is_none(folder, text):
    with pytest.raises(ModelFileError, match="offset"):
        import_model(_save(folder, _model(location="data.bin", offset=text)))


def test_model_in_memory_has_no_folder():
    with pytest.raises(ModelFileError, match="no folder"):
        import_onnx(_model(location="data.bin"))
