"""Cases from the collection of what went wrong elsewhere, about quantization, by their ids."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import InputError, QuantizationError
from burnc.importers import import_model
from burnc.ir import Builder, DType, Graph, QuantParams, TensorType
from burnc.numerics import dequantize
from burnc.numerics import quantize as quantize_values
from burnc.ops import operators
from burnc.ops.average_pool2d import AveragePool2dAttrs
from burnc.ops.conv2d import Conv2dAttrs
from burnc.ops.transpose import TransposeAttrs
from burnc.passes import AbsorbEdges, AbsorbQdq, canonical_passes, run_passes
from burnc.quant import QuantizeOptions, calibrate, error_report, prepare, quantize
from quant.graphs import one_input


def normal(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def run_both(graph, result, x):
    """Float and dequantized int8 output for one input, and the int8 output's scale."""
    (given,), (real,), (integer,) = result.graph.inputs, graph.outputs, result.graph.outputs
    wanted = NumpyReference().compile(graph).run({given.name: x})[real.name]
    got = NumpyReference().compile(result.graph).run({given.name: quantize_values(x, given.type)})[integer.name]
    return wanted, dequantize(got, integer.type), integer.type.scale


def imported(folder, op, x_shape, constants, **attributes):
    """The prepared graph of a model that consists of one ONNX node."""
    names = [f"c{i}" for i in range(len(constants))]
    node = helper.make_node(op, ["x", *names], ["y"], name="layer", **attributes)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x_shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(c, n) for c, n in zip(constants, names, strict=True)],
    )
    path = folder / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return prepare(import_model(path))


def test_u095_quantize_linear_range_and_ties():
    graph = Graph("g")
    b = Builder(graph, operators())
    x = np.array([-129, -128, -127.5, 0.5, 1.5, 2.5, 128], np.float32)
    value = b.input("x", TensorType(DType.FLOAT32, x.shape))
    graph.outputs = [b.node("quantize", [value], name="y", quant=QuantParams.per_tensor(1.0), rounding="half_even")]
    got = NumpyReference().compile(graph).run({"x": x})["y"]
    assert got.tolist() == [-128, -128, -128, 0, 2, 2, 127]


@pytest.mark.parametrize("op", ["conv2d", "fully_connected"])
def test_u099_bias_that_would_overflow(op):
    weights = normal(2, 3)
    weights[1] *= np.float32(1e-7) / np.abs(weights[1]).max()
    bias = np.array([0.5, 5.0], np.float32)
    shape = (1, 3)
    if op == "conv2d":
        weights, shape = weights.reshape(2, 1, 1, 3), (1, 1, 1, 3)
    graph = prepare(one_input(shape, lambda net, x: net.node(op, x, weights, bias, name="layer")))
    samples = {"x": np.random.default_rng(0).uniform(0, 255e-4, (50, *shape[1:])).astype(np.float32)}
    samples["x"][0] = 255e-4
    result = quantize(graph, calibrate(graph, samples))
    assert result.graph.inputs[0].type.scale == pytest.approx(1e-4)
    assert len(result.warnings) == 1
    assert "node 'layer', channel 1" in result.warnings[0]
    for x in samples["x"]:
        wanted, got, step = run_both(graph, result, x[None])
        assert np.abs(got - wanted).max() <= step


@pytest.mark.parametrize(("inputs", "outputs"), [(4, 1), (1, 3), (1, 1)])
@pytest.mark.parametrize("per_axis", [True, False])
def test_u100_one_unit_or_one_input(tmp_path, inputs, outputs, per_axis):
    graph = imported(tmp_path, "Gemm", [1, inputs], [normal(inputs, outputs), normal(outputs)])
    samples = {"x": normal(30, inputs)}
    result = quantize(graph, calibrate(graph, samples), QuantizeOptions(per_axis=per_axis, require_int8=True))
    wanted, got, step = run_both(graph, result, samples["x"][:1])
    assert np.abs(got - wanted).max() <= 3 * step


def test_u115_average_of_a_mostly_zero_map():
    rng = np.random.default_rng(0)
    maps = np.zeros((20, 16, 16, 4), np.float32)
    for image in maps:
        image[rng.random(image.shape) < 0.025] = 2.0
        image[rng.integers(16), rng.integers(16)] = 6.0
    assert maps.mean() < 0.1
    attrs = AveragePool2dAttrs((16, 16))
    graph = prepare(one_input((1, 16, 16, 4), lambda net, x: net.node("average_pool2d", x, attrs=attrs, name="pool")))
    result = quantize(graph, calibrate(graph, {"x": maps}), QuantizeOptions(require_int8=True))
    (x,), (y,) = result.graph.inputs, result.graph.outputs
    assert y.type.scale < x.type.scale / 10
    assert error_report(graph, result.graph, {"x": maps})[-1].sqnr_db >= 30


def test_u116_depthwise_channels_of_unequal_range():
    weights = normal(8, 3, 3, 1) * np.geomspace(0.01, 10, 8).astype(np.float32).reshape(8, 1, 1, 1)
    attrs = Conv2dAttrs(groups=8)
    graph = prepare(one_input((1, 8, 8, 8), lambda net, x: net.node("conv2d", x, weights, None, attrs=attrs)))
    samples = {"x": normal(10, 8, 8, 8)}
    ranges = calibrate(graph, samples)
    by_default = error_report(graph, quantize(graph, ranges).graph, samples)
    assert not any(row.flagged for row in by_default)
    assert by_default[-1].weights_sqnr_db > 35
    per_tensor = error_report(graph, quantize(graph, ranges, QuantizeOptions(per_axis=False)).graph, samples)
    assert [row.flagged for row in per_tensor] == [False, True]
    assert per_tensor[-1].weights_sqnr_db < 1


def test_u119_scales_follow_a_transposed_axis():
    graph = Graph("g")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (1, 4)))
    integers = np.random.default_rng(0).integers(-127, 128, (3, 4)).astype(np.int8)
    scales = (0.001, 0.1, 10.0)
    held = b.constant("w", integers, QuantParams.per_axis(scales, 0))
    matrix = b.node("transpose", [b.node("dequantize", [held])], TransposeAttrs((1, 0)))
    quantized = b.node("quantize", [x], quant=QuantParams.per_tensor(0.02))
    product = b.node("matmul", [b.node("dequantize", [quantized]), matrix], name="product")
    y = b.node("quantize", [product], quant=QuantParams.per_tensor(20.0))
    graph.outputs = [b.node("dequantize", [y], name="y")]
    values = np.array([[1.0, -0.5, 0.3, 2.0]], np.float32)
    wanted = values @ (integers * np.array(scales)[:, None]).T
    run_passes(graph, [*canonical_passes(), AbsorbQdq(), AbsorbEdges()])
    (node,) = graph.nodes
    assert node.op == "fully_connected"
    weights = node.input(1)
    assert weights.type.quant == QuantParams.per_axis(scales, 0)
    np.testing.assert_array_equal(weights.data, integers)
    got = NumpyReference().compile(graph).run({"x": quantize_values(values, graph.inputs[0].type)})["y"]
    assert np.abs(dequantize(got, graph.outputs[0].type) - wanted).max() <= 20.0


def test_u121_no_samples():
    graph = prepare(one_input((1, 4), lambda net, x: net.node("softmax", x)))
    with pytest.raises(InputError, match="no samples") as caught:
        calibrate(graph, {"x": np.zeros((0, 4), np.float32)})
    assert caught.value.exit_status != 0


def test_u121_float_layers_are_listed():
    def build(net, x):
        gamma = net.builder.input("gamma", TensorType(DType.FLOAT32, (4,)))
        norm = net.node("batch_norm", x, gamma, normal(4), normal(4), np.ones(4, np.float32), name="norm")
        return net.node("fully_connected", norm, normal(2, 4), name="dense")

    graph = prepare(one_input((1, 4), build))
    samples = {"x": normal(5, 4), "gamma": normal(5, 4)}
    ranges = calibrate(graph, samples)
    with pytest.raises(QuantizationError, match="1 operator stays float") as caught:
        quantize(graph, ranges, QuantizeOptions(require_int8=True))
    assert "node 'norm' (batch_norm): the operator has no int8 form" in str(caught.value)
    assert caught.value.exit_status != 0
    result = quantize(graph, ranges)
    assert [(item.node, item.op) for item in result.left_in_float] == [("norm", "batch_norm")]
    assert result.graph.outputs[0].type.dtype is DType.INT8


@pytest.mark.parametrize("kind", ["depthwise", "conv", "gemm", "gemm transposed", "matmul"])
def test_u187_scales_along_output_channels(tmp_path, kind):
    ranges = np.geomspace(1, 1000, 8).astype(np.float32)
    if kind in ("depthwise", "conv"):
        groups = 8 if kind == "depthwise" else 1
        weights = normal(8, 8 // groups, 3, 3)
        weights *= (ranges / np.abs(weights).max(axis=(1, 2, 3))).reshape(8, 1, 1, 1)
        graph = imported(tmp_path, "Conv", [1, 8, 5, 5], [weights], group=groups)
    else:
        weights = normal(6, 8)
        weights *= ranges / np.abs(weights).max(axis=0)
        if kind == "gemm transposed":
            graph = imported(tmp_path, "Gemm", [1, 6], [np.ascontiguousarray(weights.T)], transB=1)
        else:
            graph = imported(tmp_path, "Gemm" if kind == "gemm" else "MatMul", [1, 6], [weights])
    samples = {"x": normal(4, *graph.inputs[0].type.shape[1:])}
    result = quantize(graph, calibrate(graph, samples), QuantizeOptions(require_int8=True))
    (node,) = [n for n in result.graph.nodes if n.op in ("conv2d", "fully_connected")]
    quant = node.input(1).type.quant
    assert quant is not None
    np.testing.assert_allclose(quant.scale, ranges / 127, rtol=1e-5)
    assert (np.abs(node.input(1).data.astype(int)).reshape(8, -1).max(axis=1) == 127).all()
