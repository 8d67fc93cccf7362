"""Damaged and foreign TFLite files, and what is not supported in sound ones."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import numpy as np
import pytest
import tflite

from burnc.errors import InputError, ModelFileError, UnsupportedError
from burnc.importers import import_model
from burnc.importers.tflite import import_tflite
from burnc.importers.tflite.reading import FileTensor, read_tflite
from burnc.importers.tflite.tensors import tensor_type
from burnc.ir import DType
from importers.small_nets import INT8_MODELS, import_calmly
from importers.tflite_files import chain_file
from suites.mutated_tflite import sites

SMALL = INT8_MODELS[-1]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def written(tmp_path):
    """Write bytes as a model file."""
    path = tmp_path / "model.tflite"

    def write(data):
        path.write_bytes(data)
        return path

    return write


@pytest.mark.parametrize("data", [b"", b"TFL3", b"\0" * 100, b"\x1c\0\0\0TFL2" + b"\0" * 40, b"ONNX\n" * 9])
def test_foreign_file(written, data):
    with pytest.raises(ModelFileError, match="identifier is not TFL3"):
        import_model(written(data))


def test_file_of_another_suffix_goes_by_its_content(tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(SMALL.read_bytes())
    assert import_model(path).metadata["source.format"] == "tflite"


@pytest.mark.parametrize("path", INT8_MODELS, ids=lambda p: p.stem)
def test_truncated(written, path):
    data = path.read_bytes()
    for size in [8, 9, 12, 40, *range(len(data) // 12, len(data), len(data) // 12)]:
        with pytest.raises(ModelFileError):
            import_tflite(written(data[:size]))


@pytest.mark.parametrize("seed", range(4))
def test_random_damage(written, seed):
    """Flips among the tables (they lie before and after the weights) as well as anywhere."""
    data = SMALL.read_bytes()
    rng = random.Random(seed)
    for _ in range(200):
        damaged = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 8])):
            damaged[rng.randrange(len(data))] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
        import_calmly(written(damaged))


@pytest.mark.parametrize("value", [0x7FFFFFFF, 0xFFFFFFFF, 0x10000])
def test_every_word_damaged(written, value):
    """Offsets and lengths that lead nowhere, each in its turn: never a hang, never another exception."""
    data = chain_file(["x", "h", "y"])
    for at in [0, *range(8, len(data) - 4, 4)]:
        damaged = bytearray(data)
        struct.pack_into("<I", damaged, at, value)
        import_calmly(written(damaged))


@pytest.mark.parametrize("type_", ["INT4", "COMPLEX64"])
def test_types_that_are_not_carried(written, type_):
    number = getattr(tflite.TensorType, type_)
    with pytest.raises(UnsupportedError) as caught:
        import_tflite(written(chain_file(["x", "y"], type_=number)))
    first = caught.value.items[0]
    assert f"tensor 'x' is {type_}" in first.why


def test_the_first_subgraph_is_the_model(written):
    graph = import_tflite(written(chain_file(["x", "y"], subgraphs=2)))
    assert [v.name for v in graph.values()] == ["x", "y"]


def test_a_file_without_subgraph(written):
    with pytest.raises(ModelFileError, match="the model has no subgraph"):
        import_tflite(written(chain_file(["x", "y"], subgraphs=0)))


def test_every_unsupported_operator_is_listed(written):
    with pytest.raises(UnsupportedError) as caught:
        import_tflite(written(chain_file(["x", "a", "b", "y"], tflite.BuiltinOperator.FLOOR_MOD)))
    assert [(i.node, i.op) for i in caught.value.items] == [("a", "FLOOR_MOD"), ("b", "FLOOR_MOD"), ("y", "FLOOR_MOD")]


def test_operator_that_the_schema_does_not_know(written):
    with pytest.raises(UnsupportedError) as caught:
        import_tflite(written(chain_file(["x", "y"], 9999)))
    assert caught.value.items[0].op == "BUILTIN_9999"


def test_fixed_batch_cannot_be_changed(written):
    path = written(chain_file(["x", "y"]))
    assert import_tflite(path, batch=1).inputs[0].type.shape == (1, 4)
    with pytest.raises(InputError, match="fixes input 'x' at \\[1, 4\\]"):
        import_tflite(path, batch=3)


def test_dynamic_batch_can_be_chosen():
    graph = import_tflite(INT8_MODELS[3])
    assert graph.inputs[0].type.shape == (1, 640)
    assert "import.notes" in graph.metadata
    graph = import_tflite(INT8_MODELS[3], batch=4)
    assert graph.outputs[0].type.shape == (4, 640)


def test_dimensions_by_name_are_an_onnx_matter():
    with pytest.raises(InputError, match="an ONNX matter"):
        import_model(SMALL, dims={"N": 1})


def test_options_are_read_by_their_schema_names():
    operators = read_tflite(INT8_MODELS[0]).subgraphs[0].operators
    conv = next(o for o in operators if o.code == "CONV_2D")
    assert conv.options["padding"] == "SAME"
    assert conv.options["fused_activation_function"] == "RELU"
    assert (conv.options["stride_h"], conv.options["dilation_w_factor"]) == (2, 1)
    softmax = next(o for o in operators if o.code == "SOFTMAX")
    assert softmax.options["beta"] == 1.0


@pytest.mark.parametrize("path", INT8_MODELS, ids=lambda p: p.stem)
def test_bias_scale_is_input_scale_times_weight_scale(path):
    for node in import_tflite(path).nodes:
        if node.op in ("conv2d", "fully_connected"):
            x, w, bias = (node.input(i).type for i in range(3))
            assert bias.dtype is DType.INT32
            np.testing.assert_allclose(bias.quant.scale, x.scale * np.array(w.quant.scale), rtol=1e-3)


def scaled_tensor(shape, axis):
    scale = tuple(0.1 * (i + 1) for i in range(8))
    return FileTensor("t", "INT32", shape, (), scale, (0,) * 8, axis, False, False, None)


def test_a_vector_varies_along_its_only_axis():
    # Converters of old wrote the weights' axis beside the bias of a depthwise convolution.
    quant = tensor_type(scaled_tensor((8,), 3), "file").quant
    assert quant is not None
    assert (quant.axis, len(quant.scale)) == (0, 8)


def test_scales_along_an_axis_that_is_not_there_are_refused():
    with pytest.raises(ModelFileError, match="8 scales along axis 3 do not go with shape"):
        tensor_type(scaled_tensor((8, 2), 3), "file")


def test_options_of_another_operator_are_refused(tmp_path):
    data = bytearray(SMALL.read_bytes())
    place = next(site.at for site in sites(bytes(data)) if site.kind == "option kind")
    data[place] = tflite.BuiltinOptions.Conv2DOptions
    (tmp_path / "model.tflite").write_bytes(data)
    with pytest.raises(ModelFileError, match="FULLY_CONNECTED has the options of another one \\(Conv2DOptions\\)"):
        import_model(tmp_path / "model.tflite")


def test_variables_with_constant_data_are_refused(written):
    """TFLite Micro clears them before the first run, other interpreters read the data."""
    data = bytearray((ROOT / "tests/models/tflm_hello_world_int8.tflite").read_bytes())
    data[2384] ^= 1  # in this file the table of fields of several weights: where is_variable lies
    path = written(data)
    assert any(t.is_variable and t.data is not None for t in read_tflite(path).subgraphs[0].tensors)
    with pytest.raises(ModelFileError, match="is a variable, and has constant data"):
        import_model(path)
