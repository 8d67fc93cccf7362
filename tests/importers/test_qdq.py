"""A QDQ file as other quantizers write it (NCHW, per-channel weights, float edges) becomes an int8 graph."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

import burnc
from burnc.backends import device
from burnc.importers.onnx import import_onnx
from burnc.ir import DType, verify
from burnc.numerics import dequantize, quantize
from burnc.passes import AbsorbEdges, AbsorbQdq, canonical_passes, run_passes
from importers.small_nets import import_and_run, model_of, run_numpy, run_onnxruntime, weights
from requirements import requires_package


def _qdq_net(unsigned=False):
    """Q DQ Conv Relu Q DQ MaxPool Q DQ Flatten Q DQ Gemm Q DQ; if unsigned, every int8 is the uint8 128 above it."""
    rng = np.random.default_rng(0)
    constants = {
        "w": rng.integers(-127, 128, (4, 2, 3, 3)).astype(np.int8),
        "w_scale": np.array([0.01, 0.02, 0.005, 0.03], np.float32),
        "w_zero": np.zeros(4, np.int8),
        "b": rng.integers(-500, 500, 4).astype(np.int32),
        "b_scale": np.array([0.01, 0.02, 0.005, 0.03], np.float32) * np.float32(0.02),
        "fc": rng.integers(-127, 128, (3, 64)).astype(np.int8),
        "fc_scale": np.array(0.01, np.float32),
        "fc_zero": np.array(0, np.int8),
        "in_scale": np.array(0.02, np.float32),
        "in_zero": np.array(5, np.int8),
        "mid_scale": np.array(0.05, np.float32),
        "mid_zero": np.array(-128, np.int8),
        "out_scale": np.array(0.3, np.float32),
        "out_zero": np.array(7, np.int8),
    }
    if unsigned:
        for name, array in constants.items():
            if array.dtype == np.int8:
                constants[name] = (array.astype(np.int16) + 128).astype(np.uint8)
    nodes = []

    def qdq(x, y, kind):
        parameters = [f"{kind}_scale", f"{kind}_zero"]
        nodes.append(helper.make_node("QuantizeLinear", [x, *parameters], [f"{y}_q"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"{y}_q", *parameters], [y]))

    qdq("x", "x1", "in")
    nodes.append(helper.make_node("DequantizeLinear", ["w", "w_scale", "w_zero"], ["w1"], axis=0))
    nodes.append(helper.make_node("DequantizeLinear", ["b", "b_scale"], ["b1"], axis=0))
    nodes.append(helper.make_node("Conv", ["x1", "w1", "b1"], ["c"], "conv", pads=[1, 1, 1, 1]))
    nodes.append(helper.make_node("Relu", ["c"], ["r"], "relu"))
    qdq("r", "r1", "mid")
    nodes.append(helper.make_node("MaxPool", ["r1"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2]))
    qdq("p", "p1", "mid")
    nodes.append(helper.make_node("Flatten", ["p1"], ["f"], "flatten"))
    qdq("f", "f1", "mid")
    nodes.append(helper.make_node("DequantizeLinear", ["fc", "fc_scale", "fc_zero"], ["fc1"]))
    nodes.append(helper.make_node("Gemm", ["f1", "fc1"], ["g"], "gemm", transB=1))
    qdq("g", "y", "out")
    return model_of(nodes, {"x": [1, 2, 8, 8]}, ["y"], constants)


@requires_package("onnxruntime")
@pytest.mark.parametrize("unsigned", [False, True])
def test_as_imported_it_equals_onnxruntime(unsigned):
    model = _qdq_net(unsigned)
    x = weights(1, 2, 8, 8)
    np.testing.assert_array_equal(import_and_run(model, x=x)["y"], run_onnxruntime(model, x=x)["y"])


def test_a_quantized_padding_value():
    quant = {"scale": np.array(0.5, np.float32), "zero": np.array(3, np.int8)}
    constants = {"pads": np.array([1, 0]), "held": np.array(7, np.int8), "real": np.array(2.1, np.float32), **quant}
    for nodes, expected in (
        ([helper.make_node("DequantizeLinear", ["held", "scale", "zero"], ["value"])], 2.0),
        (
            [
                helper.make_node("QuantizeLinear", ["real", "scale", "zero"], ["q"]),
                helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["value"]),
            ],
            2.0,
        ),
    ):
        model = model_of([*nodes, helper.make_node("Pad", ["x", "pads", "value"], ["y"])], {"x": [2]}, ["y"], constants)
        x = np.array([5.0, -1.0], np.float32)
        np.testing.assert_array_equal(import_and_run(model, x=x)["y"], np.array([expected, 5.0, -1.0], np.float32))


@requires_package("onnxruntime")
@pytest.mark.parametrize("unsigned", [False, True])
def test_passes_make_it_an_int8_graph(unsigned):
    model = _qdq_net(unsigned)
    graph = import_onnx(model)
    run_passes(graph, [*canonical_passes(), AbsorbQdq(), AbsorbEdges(), *canonical_passes()])
    verify(graph)
    assert all(v.type.dtype is DType.INT8 for node in graph.nodes for v in node.outputs)
    assert not {n.op for n in graph.nodes} & {"quantize", "dequantize"}
    assert [n.name for n in graph.nodes if n.op in ("conv2d", "fully_connected")] == ["conv", "gemm"]
    (x_edge,), (y_edge,) = graph.inputs, graph.outputs
    assert (x_edge.name, y_edge.name) == ("x", "y")
    for seed in range(5):
        x = weights(1, 2, 8, 8, seed=seed)
        got = dequantize(run_numpy(graph, x=quantize(x, x_edge.type))["y"], y_edge.type)
        steps = (got - run_onnxruntime(model, x=x)["y"]) / y_edge.type.scale
        assert np.max(np.abs(steps)) < 1.5


@requires_package("onnxruntime")
@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_quantized_operands_are_compared_as_the_numbers_they_stand_for(backend):
    constants = {
        "x_scale": np.array(0.0011, np.float32), "x_zero": np.array(-3, np.int8),
        "y_scale": np.array(0.0017, np.float32), "y_zero": np.array(4, np.int8),
    }  # fmt: skip
    nodes = []
    for name in ("x", "y"):
        parameters = [f"{name}_scale", f"{name}_zero"]
        nodes.append(helper.make_node("QuantizeLinear", [name, *parameters], [f"{name}_q"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}_q", *parameters], [f"{name}_dq"]))
    nodes.append(helper.make_node("Less", ["x_dq", "y_dq"], ["z"]))
    model = model_of(nodes, {"x": [8, 1], "y": [1, 9]}, ["z"], constants)
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.BOOL
    x, y = weights(8, 1) * 0.02, weights(1, 9) * 0.02
    graph = import_onnx(model)
    run_passes(graph, [*canonical_passes(), AbsorbQdq(), AbsorbEdges()])
    assert [node.op for node in graph.nodes] == ["compare"]
    inputs = {v.name: quantize(data, v.type) for v, data in zip(graph.inputs, (x, y), strict=True)}
    got = device(backend).compile(graph).run(inputs)["z"]
    np.testing.assert_array_equal(got, run_onnxruntime(model, x=x, y=y)["z"])


@requires_package("onnxruntime")
@pytest.mark.parametrize(("result_scale", "op"), [(0.01, "dequantize"), (0.03, "resize")])
def test_no_element_saturates_before_it_is_mixed(result_scale, op):
    constants = {
        "scale": np.array(0.02, np.float32), "zero": np.array(3, np.int8), "sizes": np.array([1, 1, 3, 5], np.int64),
        "result_scale": np.array(result_scale, np.float32), "result_zero": np.array(-5, np.int8),
    }  # fmt: skip
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["x_q"]),
        helper.make_node("DequantizeLinear", ["x_q", "scale", "zero"], ["x_dq"]),
        helper.make_node("Resize", ["x_dq", "", "", "sizes"], ["r"], mode="linear"),
        helper.make_node("QuantizeLinear", ["r", "result_scale", "result_zero"], ["y_q"]),
        helper.make_node("DequantizeLinear", ["y_q", "result_scale", "result_zero"], ["y"]),
    ]
    model = model_of(nodes, {"x": [1, 1, 6, 4]}, ["y"], constants)
    x = weights(1, 1, 6, 4) * 9
    graph = import_onnx(model)
    run_passes(graph, [*canonical_passes(), AbsorbQdq(), AbsorbEdges()])
    assert graph.nodes[0].op == op or graph.nodes[1].op == op
    (y,) = run_numpy(graph, x=quantize(x, graph.inputs[0].type)).values()
    steps = (dequantize(y, graph.outputs[0].type) - run_onnxruntime(model, x=x)["y"]) / result_scale
    assert np.abs(steps).max() < 1.01


@requires_package("onnxruntime")
@pytest.mark.parametrize("coordinates", ["half_pixel", "asymmetric", "align_corners"])
@pytest.mark.parametrize("size", [96, 257, 23])
def test_long_axes_do_not_drift(coordinates, size, tmp_path):
    """Places in whole steps of 1/1024, which TFLite counts, lie several points apart at the end of such an axis."""
    constants = {"s": np.array(0.02, np.float32), "z": np.array(3, np.int8), "sizes": np.array([1, 1, 3, size])}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["x_q"]),
        helper.make_node("DequantizeLinear", ["x_q", "s", "z"], ["x_dq"]),
        helper.make_node(
            "Resize", ["x_dq", "", "", "sizes"], ["r"], mode="linear", coordinate_transformation_mode=coordinates
        ),
        helper.make_node("QuantizeLinear", ["r", "s", "z"], ["r_q"]),
        helper.make_node("DequantizeLinear", ["r_q", "s", "z"], ["y"]),
    ]
    model = model_of(nodes, {"x": [1, 1, 2, 32]}, ["y"], constants)
    path = tmp_path / "net.onnx"
    onnx.save(model, path)
    loaded = burnc.load(path)
    assert [n.op for n in loaded.graph.nodes] == ["resize"]
    x = np.random.default_rng(0).uniform(-2.5, 2.5, (1, 1, 2, 32)).astype(np.float32)
    result = loaded.run({"x": x})["y"]
    wanted = quantize(run_onnxruntime(model, x=x)["y"], loaded.graph.outputs[0].type)
    assert np.abs(result.astype(int) - wanted).max() <= 1
    loaded.save(tmp_path / "again.onnx")
    np.testing.assert_array_equal(burnc.load(tmp_path / "again.onnx").run({"x": x})["y"], result)
