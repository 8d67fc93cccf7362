"""Faults that users of comparable tools reported, as far as importing is concerned; each test is named by its case."""

from __future__ import annotations

import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from burnc.boards import load_board
from burnc.codegen.emit_c import emit_c
from burnc.codegen.lower import lower
from burnc.errors import ModelFileError, UnsupportedError
from burnc.importers.onnx import import_onnx
from burnc.importers.tflite import import_tflite
from burnc.ir import DType, print_graph
from importers.small_nets import assert_close, import_and_run, model_of, run_numpy, run_onnxruntime, small_net, weights
from importers.tflite_files import custom_operator_file, named_tensors_file
from requirements import requires_package

X234 = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def _node(op, inputs, name="y", **attributes):
    return helper.make_node(op, inputs, [name], name, **attributes)


def _one(op, inputs, size, constants=None, opset=17, **attributes):
    return model_of([_node(op, inputs, **attributes)], {"x": size}, ["y"], constants, opset)


# U033: Reshape with 0 and -1, its attribute form, a shape from a Constant node, allowzero.


def test_u033_reshape_forms():
    wanted = np.array([0, -1], np.int64)
    from_constant = [
        helper.make_node("Constant", [], ["shape"], value=onnx.numpy_helper.from_array(wanted)),
        _node("Reshape", ["x", "shape"]),
    ]
    models = [
        _one("Reshape", ["x", "shape"], [2, 3, 4], {"shape": wanted}),
        _one("Reshape", ["x"], [2, 3, 4], opset=1, shape=[0, -1]),
        model_of(from_constant, {"x": [2, 3, 4]}, ["y"]),
    ]
    for model in models:
        np.testing.assert_array_equal(import_and_run(model, x=X234)["y"], X234.reshape(2, 12))


def test_u033_allowzero_on_a_tensor_with_elements():
    model = _one("Reshape", ["x", "shape"], [2, 3, 4], {"shape": np.array([0, 12])}, allowzero=1)
    with pytest.raises(UnsupportedError) as caught:
        import_onnx(model)
    assert caught.value.items[0].node == "y"


# U048: tensors without elements.


def test_u048_unused_empty_tensors_are_dropped():
    nodes = [
        _node("Slice", ["x", "two", "two"], "unused"),
        helper.make_node("Constant", [], ["empty"], value=onnx.numpy_helper.from_array(np.zeros(0, np.float32))),
        _node("Relu", ["x"]),
    ]
    constants = {"two": np.array([2]), "roi": np.zeros(0, np.float32)}
    graph = import_onnx(model_of(nodes, {"x": [2, 4]}, ["y"], constants))
    assert [n.op for n in graph.nodes] == ["clip"]
    assert graph.constants() == []


def test_u048_used_empty_tensor_is_refused_by_name():
    nodes = [_node("Pad", ["x", "pads"], "nothing"), _node("Relu", ["nothing"])]
    with pytest.raises(UnsupportedError) as caught:
        import_onnx(model_of(nodes, {"x": [2, 4]}, ["y"], {"pads": np.array([0, 0, -2, 0])}))
    assert "nothing" in [item.node for item in caught.value.items]


def test_u048_empty_input_is_noted_and_its_c_has_no_array_of_nothing():
    model = _one("Relu", ["x"], [1, 4])
    del model.graph.input[0].type.tensor_type.shape.dim[1]
    model.graph.input[0].type.tensor_type.shape.dim.add(dim_value=0)
    graph = import_onnx(model)
    assert "input 'x' has no elements" in graph.metadata["import.notes"]
    text = "".join(emit_c(lower(graph, load_board("host"))).values())
    assert not re.search(r"\[0u?\]\s*[;=]", text)


# U049: Pad whose value is absent, '', [] or one element; pads as an attribute.


def _pad_models():
    pads = np.array([0, 1, 0, 2])
    value = {"pads": pads, "value": np.zeros(1, np.float32)}
    scalar = {"pads": pads, "value": np.zeros((), np.float32)}
    yield _one("Pad", ["x", "pads"], [1, 3], {"pads": pads})
    yield _one("Pad", ["x", "pads", ""], [1, 3], {"pads": pads})
    yield _one("Pad", ["x", "pads", "value"], [1, 3], value)
    yield _one("Pad", ["x", "pads", "value"], [1, 3], scalar)
    yield _one("Pad", ["x"], [1, 3], opset=2, pads=[0, 1, 0, 2])


@pytest.mark.parametrize("model", list(_pad_models()))
def test_u049_pad_forms(model):
    x = np.array([[1, 2, 3]], np.float32)
    np.testing.assert_array_equal(import_and_run(model, x=x)["y"], [[0, 1, 2, 3, 0, 0]])


# U062: Clip with limits as attributes, inputs, '' or absent.


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (_one("Clip", ["x", "", "max"], [4], {"max": np.array(6, np.float32)}), [-9, 0, 5, 6]),
        (_one("Clip", ["x", "min"], [4], {"min": np.array(0, np.float32)}), [0, 0, 5, 9]),
        (_one("Clip", ["x"], [4], opset=6, min=0.0, max=6.0), [0, 0, 5, 6]),
        (_one("Clip", ["x"], [4]), [-9, 0, 5, 9]),
    ],
)
def test_u062_clip_forms(model, expected):
    x = np.array([-9, 0, 5, 9], np.float32)
    np.testing.assert_array_equal(import_and_run(model, x=x)["y"], expected)


# U066: BatchNormalization parameters from a chain of nodes, and from an input.


def _batch_norm(scale_from):
    nodes = [*scale_from, _node("BatchNormalization", ["x", "scale", "b", "m", "v"])]
    constants = {"s": weights(2, seed=1), "b": weights(2, seed=2), "m": weights(2, seed=3), "v": np.ones(2, np.float32)}
    return model_of(nodes, {"x": [1, 2, 3, 3]}, ["y"], constants)


def test_u066_batch_norm_parameters_from_a_chain():
    chain = [_node("Identity", ["s"], "s1"), _node("Identity", ["s1"], "scale")]
    model = _batch_norm(chain)
    x = weights(1, 2, 3, 3)
    assert_close(import_and_run(model, x=x)["y"], run_onnxruntime(model, x=x)["y"])


def test_u066_batch_norm_parameters_at_run_time():
    model = _batch_norm([_node("ReduceMean", ["x"], "scale", axes=[0, 2, 3], keepdims=0)])
    x = weights(1, 2, 3, 3)
    assert_close(import_and_run(model, x=x)["y"], run_onnxruntime(model, x=x)["y"])


# U070: nodes out of order, and a cycle.


def test_u070_nodes_out_of_order():
    nodes = [_node("Relu", ["c"], "y"), _node("Conv", ["x", "w"], "c")]
    graph = import_onnx(model_of(nodes, {"x": [1, 2, 4, 4]}, ["y"], {"w": weights(3, 2, 2, 2)}))
    assert [n.name for n in graph.nodes if n.op in ("conv2d", "clip")] == ["c", "y"]


def test_u070_cycle_is_refused():
    nodes = [_node("Add", ["x", "b"], "a"), _node("Relu", ["a"], "b"), _node("Relu", ["b"], "y")]
    with pytest.raises(ModelFileError, match="cycle") as caught:
        import_onnx(model_of(nodes, {"x": [1]}, ["y"]))
    assert "'a'" in caught.value.where


# U073: tensors without dimensions.


def test_u073_scalar_operand():
    model = _one("Mul", ["x", "half"], [2, 2], {"half": np.array(0.5, np.float32)})
    x = np.array([[1, 2], [3, 4]], np.float32)
    np.testing.assert_array_equal(import_and_run(model, x=x)["y"], [[0.5, 1], [1.5, 2]])


def test_u073_scalar_scale_and_zero_point():
    nodes = [_node("QuantizeLinear", ["x", "s", "z"], "q"), _node("DequantizeLinear", ["q", "s", "z"])]
    constants = {"s": np.array(0.5, np.float32), "z": np.array(3, np.int8)}
    model = model_of(nodes, {"x": [4]}, ["y"], constants)
    x = np.array([-100, -0.25, 0.3, 100], np.float32)
    np.testing.assert_array_equal(import_and_run(model, x=x)["y"], run_onnxruntime(model, x=x)["y"])


# U076: weights that are inputs, too.


def test_u076_initializers_are_no_inputs():
    model = _one("Conv", ["x", "w", "b"], [1, 2, 4, 4], {"w": weights(3, 2, 2, 2), "b": weights(3)}, opset=8)
    model.ir_version = 3
    for name, shape in (("w", [3, 2, 2, 2]), ("b", [3])):
        model.graph.input.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
    assert [v.name for v in import_onnx(model).inputs] == ["x"]


# U077: outputs that are inputs, constants, or an Identity of one.


def test_u077_outputs_keep_order_and_names():
    nodes = [_node("Relu", ["x"], "y"), _node("Identity", ["x"], "z"), _node("Identity", ["c"], "d")]
    graph = import_onnx(model_of(nodes, {"x": [3]}, ["y", "x", "c", "z", "d"], {"c": weights(2)}))
    assert [v.name for v in graph.outputs] == ["y", "x", "c", "z", "d"]
    x = np.array([-1, 0, 1], np.float32)
    got = run_numpy(graph, x=x)
    assert list(got) == ["y", "x", "c", "z", "d"]
    for name, expected in {"y": [0, 0, 1], "x": x, "c": weights(2), "z": x, "d": weights(2)}.items():
        np.testing.assert_array_equal(got[name], expected)


def test_u077_one_value_under_two_names():
    nodes = [_node("Relu", ["x"], "h"), _node("Identity", ["h"], "a"), _node("Identity", ["h"], "b")]
    graph = import_onnx(model_of(nodes, {"x": [3]}, ["a", "b", "h"]))
    assert [v.name for v in graph.outputs] == ["a", "b", "h"]


# U080: a batch that is dynamic in every way there is.


@pytest.mark.parametrize("batch", ["N", -1, 0, None])
def test_u080_dynamic_batch_becomes_one(batch):
    model = _one("Conv", ["x", "w"], [1, 3, 8, 8], {"w": weights(2, 3, 3, 3)})
    dim = model.graph.input[0].type.tensor_type.shape.dim[0]
    dim.Clear()
    if isinstance(batch, str):
        dim.dim_param = batch
    elif batch is not None:
        dim.dim_value = batch
    partial = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 2, None, 6])
    model.graph.output[0].CopyFrom(partial)
    graph = import_onnx(model)
    assert graph.inputs[0].type.shape == (1, 3, 8, 8)
    assert graph.outputs[0].type.shape == (1, 2, 6, 6)
    assert "became 1" in graph.metadata["import.notes"]


# U094: TFLite names with ';' and ':'.


def test_u094_tflite_names_are_kept(tmp_path):
    names = ["serving_default_x:0", "model/dense/MatMul;model/dense/BiasAdd", "a*/b", "", "twice", "twice"]
    path = tmp_path / "names.tflite"
    path.write_bytes(named_tensors_file(names))
    graph = import_tflite(path)
    assert [v.name for v in graph.values()] == [*names[:3], "tensor_3", "twice", "twice_2"]


# U105: int8 weights behind a Reshape.


def test_u105_negative_int8_weights_behind_a_reshape():
    nodes = [
        _node("DequantizeLinear", ["q", "s"], "w", axis=0),
        _node("Reshape", ["w", "shape"], "flat"),
        _node("Add", ["x", "flat"]),
    ]
    constants = {
        "q": np.array([[-30], [10]], np.int8),
        "s": np.array([0.01, 0.02], np.float32),
        "shape": np.array([1, 2]),
    }
    got = import_and_run(model_of(nodes, {"x": [1, 2]}, ["y"], constants), x=np.zeros((1, 2), np.float32))
    np.testing.assert_allclose(got["y"], [[-0.3, 0.2]], rtol=1e-6)


# U182: custom operators are named.


@pytest.mark.parametrize(("custom", "why"), [("FlexErf", "SELECT_TF_OPS"), ("MyOp", "allow_custom_ops")])
def test_u182_custom_operator_is_named(tmp_path, custom, why):
    path = tmp_path / "custom.tflite"
    path.write_bytes(custom_operator_file(custom))
    with pytest.raises(UnsupportedError) as caught:
        import_tflite(path)
    (item,) = caught.value.items
    assert (item.node, item.op) == ("y", custom)
    assert why in item.why


# U192: several inputs and outputs.


def test_u192_order_and_names():
    nodes = [_node("Mul", ["y", "k"], "minus_y"), _node("Add", ["x", "y"], "s"), _node("Add", ["x", "minus_y"], "d")]
    model = model_of(nodes, {"x": [1, 4], "y": [1, 4]}, ["d", "s"], {"k": np.array(-1, np.float32)})
    graph = import_onnx(model)
    assert [v.name for v in graph.inputs] == ["x", "y"]
    assert [v.name for v in graph.outputs] == ["d", "s"]
    x, y = np.array([[1, 2, 3, 4]], np.float32), np.array([[4, 3, 2, 2]], np.float32)
    got = run_numpy(graph, x=x, y=y)
    np.testing.assert_array_equal(got["d"], x - y)
    np.testing.assert_array_equal(got["s"], x + y)


def test_u192_inputs_of_different_types():
    nodes = [_node("Relu", ["x"], "y"), _node("Cast", ["i"], "z", to=TensorProto.FLOAT)]
    model = model_of(nodes, {"x": [2], "i": [2]}, ["y", "z"])
    model.graph.input[1].type.tensor_type.elem_type = TensorProto.INT32
    assert [v.type.dtype for v in import_onnx(model).inputs] == [DType.FLOAT32, DType.INT32]


# U195: the same network at every opset.


@requires_package("onnxruntime")
@pytest.mark.parametrize("opset", [7, 9, 11, 13, 15, 17, 18, 21])
def test_u195_small_network_at_every_opset(opset):
    model = small_net(opset)
    x = weights(1, 2, 8, 8, seed=9)
    got = import_and_run(model, x=x)["y"]
    assert_close(got, import_and_run(small_net(13), x=x)["y"])
    assert_close(got, run_onnxruntime(model, x=x)["y"])


def test_u195_graphs_are_the_same_at_every_opset():
    assert len({print_graph(import_onnx(small_net(opset))) for opset in (7, 9, 11, 13, 15, 17, 18, 21)}) == 1


def test_u195_newest_opset():
    assert import_and_run(small_net(onnx.defs.onnx_opset_version()), x=weights(1, 2, 8, 8))["y"].shape == (1, 3)


def test_u195_per_activation_batch_norm_is_refused():
    model = small_net(7)
    model.graph.node[1].attribute[0].i = 0
    with pytest.raises(ModelFileError, match="spatial=0") as caught:
        import_onnx(model)
    assert "opset 7 and later" in caught.value.hint
