"""Networks as onnxruntime's quantizer writes them: QDQ, QOperator and dynamic, signed and unsigned, 8 and 16 bits."""

from __future__ import annotations

import logging

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import burnc
from burnc.backends.registry import device
from burnc.ir import DType
from burnc.numerics import dequantize, quantize
from oracles.float_onnx import run_onnx
from oracles.quantized_nodes import largest_step
from requirements import requires, requires_package

pytestmark = requires_package("onnxruntime")
FORMATS = {
    "qdq int8": {"activation_type": "QInt8"},
    "qdq uint8, int8 weights a channel": {"activation_type": "QUInt8", "per_channel": True},
    "qdq uint8 weights": {"activation_type": "QUInt8", "weight_type": "QUInt8", "reduce_range": True},
    "qdq symmetric": {"activation_type": "QInt8", "per_channel": True, "extra": {"ActivationSymmetric": True}},
    "qdq float biases, each its own pair": {"extra": {"QuantizeBias": False, "DedicatedQDQPair": True}},
    "qdq with activations kept": {"activation_type": "QInt8", "extra": {"QDQKeepRemovableActivations": True}},
    "qdq int16": {"activation_type": "QInt16", "extra": {"ActivationSymmetric": True}},
    "qdq uint16": {"activation_type": "QUInt16"},
    "qdq convolutions alone": {"op_types_to_quantize": ["Conv"]},
    "qoperator uint8": {"activation_type": "QUInt8", "format": "QOperator"},
    "qoperator uint8 weights a channel": {
        "format": "QOperator",
        "activation_type": "QUInt8",
        "weight_type": "QUInt8",
        "per_channel": True,
    },
    "qoperator int8": {"format": "QOperator", "activation_type": "QInt8", "per_channel": True},
    "dynamic": {"format": "dynamic"},
    "dynamic uint8 weights": {"format": "dynamic", "weight_type": "QUInt8"},
}
IN_FLOAT = {"qdq uint16", "qdq convolutions alone", "dynamic", "dynamic uint8 weights"}
NOT_IN_INT16 = {"sigmoid", "softmax"}
END_STEPS = 4.5


def network():
    """Every operator that the quantizer knows and that small networks have, with branches."""
    rng = np.random.default_rng(0)
    nodes, constants = [], []

    def held(*shape, data=None):
        array = rng.normal(0, 0.3, shape).astype(np.float32) if data is None else data
        constants.append(numpy_helper.from_array(array, f"c{len(constants)}"))
        return f"c{len(constants) - 1}"

    def node(op, *inputs, **attributes):
        nodes.append(helper.make_node(op, inputs, [f"v{len(nodes)}"], f"{op.lower()}{len(nodes)}", **attributes))
        return f"v{len(nodes) - 1}"

    y = node("Relu", node("Conv", "x", held(6, 3, 3, 3), held(6), pads=[1, 1, 1, 1]))
    y = node("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    gate = node("Sigmoid", node("Conv", y, held(6, 1, 3, 3), held(6), group=6, pads=[1, 1, 1, 1]))
    y = node("Mul", y, gate)
    y = node("Concat", node("LeakyRelu", y, alpha=0.2), node("Add", y, gate), axis=1)
    y = node("AveragePool", node("Pad", y, held(data=np.array([0, 0, 1, 1, 0, 0, 1, 1]))), kernel_shape=[2, 2])
    y = node("Resize", y, "", held(data=np.array([1, 1, 2, 1], np.float32)), mode="nearest")
    y = node("Reshape", node("Transpose", y, perm=[0, 2, 3, 1]), held(data=np.array([1, -1, 12])))
    scores = node("MatMul", y, node("Transpose", node("MatMul", y, held(12, 12)), perm=[0, 2, 1]))
    y = node("MatMul", node("Softmax", scores, axis=-1), y)
    y = node("Reshape", y, held(data=np.array([1, 12, -1, 1])))
    y = node("Flatten", node("GlobalAveragePool", y))
    nodes.append(helper.make_node("Gemm", [y, held(5, 12), held(5)], ["y"], "gemm", transB=1))
    float_type = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", float_type, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", float_type, [1, 5])],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def samples():
    rng = np.random.default_rng(1)
    return [{"x": rng.normal(0, 1, (1, 3, 8, 8)).astype(np.float32)} for _ in range(4)]


def quantized(folder, options):
    """The file that onnxruntime makes of the network."""
    from onnxruntime import quantization
    from onnxruntime.quantization import QuantFormat, QuantType

    class Reader(quantization.CalibrationDataReader):
        def __init__(self):
            self.left = samples()

        def get_next(self):
            return self.left.pop() if self.left else None

    rest = dict(options)
    kind, extra = rest.pop("format", "QDQ"), rest.pop("extra", {})
    types = {name: getattr(QuantType, rest.pop(name)) for name in ("activation_type", "weight_type") if name in rest}
    logging.disable(logging.WARNING)
    try:
        onnx.save(network(), folder / "float.onnx")
        if kind == "dynamic":
            quantization.quantize_dynamic(folder / "float.onnx", folder / "q.onnx", **types)
        else:
            how = {"quant_format": QuantFormat[kind], "extra_options": extra, **types, **rest}
            quantization.quantize_static(folder / "float.onnx", folder / "q.onnx", Reader(), **how)
    finally:
        logging.disable(logging.NOTSET)
    return folder / "q.onnx"


@requires("host compiler")
@pytest.mark.parametrize("name", FORMATS)
def test_a_network_as_onnxruntime_quantizes_it(name, tmp_path):
    path = quantized(tmp_path, FORMATS[name])
    graph = burnc.load(path).graph
    in_float = {n.op for n in graph.nodes if n.op != "dequantize" and any(v.type.dtype.is_float for v in n.outputs)}
    assert in_float == NOT_IN_INT16 if name == "qdq int16" else bool(in_float) == (name in IN_FLOAT), in_float
    (x,), (y,) = graph.inputs, graph.outputs
    reference = device("numpy").compile(graph)
    for sample in samples()[:2]:
        given = sample["x"] if x.type.quant is None else quantize(sample["x"], x.type)
        got = reference.run({"x": given})["y"]
        (wanted,) = run_onnx(onnx.load(path), sample)
        if y.type.quant is not None:
            assert np.abs(dequantize(got, y.type) - wanted).max() <= END_STEPS * y.type.scale
        else:
            # A convolution that rounds otherwise moves what float operators behind it make of it.
            assert np.abs(got - wanted).max() <= (0.01 if "alone" in name else 1e-4) * np.abs(wanted).max()
    if x.type.dtype is DType.INT8 and y.type.dtype is DType.INT8:
        assert max(largest_step(graph, {"x": given}).values()) <= 1
    if name not in ("qdq int8", "qoperator int8", "dynamic"):  # whose kernels the others have as well
        in_c = device("c").compile(graph).run({"x": given})["y"]
        slack = 1e-5 if y.type.quant is None else 0
        np.testing.assert_allclose(in_c, got, rtol=slack, atol=slack)
