"""QDQ networks become int8 graphs whose results lie within one step of onnxruntime's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from burnc.importers.onnx import import_onnx
from burnc.ir import Array, Builder, DType, Graph, QuantParams, TensorType
from burnc.ops import operators
from burnc.ops.clip import ClipAttrs
from burnc.ops.quantize import QuantizeAttrs
from burnc.passes import AbsorbEdges, AbsorbQdq, canonical_passes, run_passes
from passes.rewriting import changed, floats, inputs_of, onnx_model, ops_of, run, run_onnxruntime, started

pytest.importorskip("onnxruntime")
X_SCALE, X_ZERO = 0.02, -5


class QdqNet:
    """Writes a QDQ network; x is its float input, 1 x 4 x 6 x 6."""

    def __init__(self, shape: tuple[int, ...] = (1, 4, 6, 6)) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, Array] = {}
        self.shape = shape

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [f"{name}_out"], name, **attributes))
        return f"{name}_out"

    def constant(self, array: Array) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = array
        return name

    def params(self, scale: float, zero_point: int) -> tuple[str, str]:
        return self.constant(np.array(scale, np.float32)), self.constant(np.array(zero_point, np.int8))

    def q(self, x: str, scale: float, zero_point: int) -> str:
        return self.node("QuantizeLinear", x, *self.params(scale, zero_point))

    def dq(self, x: str, scale: float, zero_point: int) -> str:
        return self.node("DequantizeLinear", x, *self.params(scale, zero_point))

    def qdq(self, x: str, scale: float = X_SCALE, zero_point: int = X_ZERO) -> str:
        return self.dq(self.q(x, scale, zero_point), scale, zero_point)

    def weights(self, *shape: int, per_axis: int | None = 0) -> str:
        data = np.random.default_rng(len(self.constants)).integers(-127, 128, shape).astype(np.int8)
        if per_axis is None:
            return self.dq(self.constant(data), 0.004, 0)
        scale = floats(shape[per_axis], seed=1, low=0.002, high=0.006)
        zero = np.zeros(shape[per_axis], np.int8)
        return self.node(
            "DequantizeLinear",
            self.constant(data),
            self.constant(scale),
            self.constant(zero),
            axis=per_axis,
        )

    def conv(self, x: str, filters: int = 4, channels: int = 4, **rest: Any) -> str:
        w = self.weights(filters, channels, 3, 3)
        return self.node("Conv", x, w, self.constant(floats(filters, seed=3)), pads=[1, 1, 1, 1], **rest)

    def imported(self, *outputs: str, edges: bool = True, off_by_one: float = 0.1) -> Graph:
        """The int8 graph, checked against onnxruntime on the file."""
        model = onnx_model(self.nodes, {"x": self.shape}, outputs, self.constants)
        graph = import_onnx(model)
        run_passes(graph, [*canonical_passes(), AbsorbQdq()])
        check(graph, model, {"x": floats(*self.shape, seed=9, low=-2.4, high=2.7)}, off_by_one)
        if edges:
            run_passes(graph, [AbsorbEdges(), *canonical_passes(), AbsorbQdq()])
        return graph


def check(graph: Graph, model: onnx.ModelProto, inputs: Mapping[str, Array], off_by_one: float = 0.1) -> None:
    """Each result within one quantization step, and no more of them even that far than this share."""
    expected, got = run_onnxruntime(model, inputs), run(graph, inputs)
    assert list(got) == list(expected)
    for value in graph.outputs:
        quantized = value if value.producer is None or value.producer.op != "dequantize" else value.producer.input(0)
        quant = quantized.type.quant
        step = 1.0 if value is quantized and quant is not None else 1e-4 if quant is None else quant.scale[0]
        difference = np.abs(got[value.name].astype(np.float64) - expected[value.name])
        assert difference.max() <= step * 1.0001
        assert (difference > step / 2).mean() <= off_by_one


def assert_all_int8(graph: Graph, *ops: str) -> None:
    inner = [n for n in graph.nodes if n.op not in ("transpose", "reshape")]
    assert [n.op for n in inner] == list(ops)
    assert all(n.output.type.dtype is DType.INT8 for n in inner)


def test_convolution_with_fused_relu() -> None:
    net = QdqNet()
    graph = net.imported(net.qdq(net.node("Relu", net.conv(net.qdq("x"))), 0.03, -128))
    assert_all_int8(graph, "conv2d")
    assert graph.nodes[1].attrs.activation_min == 0.0


def test_relu_of_its_own() -> None:
    net = QdqNet()
    x = net.qdq(net.conv(net.qdq("x")), 0.05, 10)
    graph = net.imported(net.qdq(net.node("Relu", x), 0.03, -128))
    assert_all_int8(graph, "conv2d", "clip")


def test_residual_add() -> None:
    net = QdqNet()
    x = net.qdq(net.conv(net.qdq("x")), 0.05, 10)
    graph = net.imported(net.qdq(net.node("Add", net.qdq(net.conv(x), 0.07, 3), x), 0.06, -9))
    assert_all_int8(graph, "conv2d", "conv2d", "add")


def test_concat_of_different_scales_is_requantized() -> None:
    net = QdqNet()
    x = net.qdq("x")
    parts = [net.qdq(net.conv(x), 0.05, 10), net.qdq(net.conv(x), 0.04, 0)]
    graph = net.imported(net.qdq(net.node("Concat", *parts, axis=1), 0.05, 10))
    assert_all_int8(graph, "conv2d", "conv2d", "quantize", "concat")


def test_max_pool_reshape_and_fully_connected() -> None:
    net = QdqNet()
    x = net.qdq(net.conv(net.qdq("x")), 0.05, 10)
    x = net.qdq(net.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), 0.05, 10)
    x = net.qdq(net.node("Reshape", x, net.constant(np.array([1, -1]))), 0.05, 10)
    graph = net.imported(net.qdq(net.node("Gemm", x, net.weights(5, 36), net.constant(floats(5)), transB=1), 0.1, 0))
    assert_all_int8(graph, "conv2d", "max_pool2d", "fully_connected")


def test_max_pool_between_different_parameters_is_requantized() -> None:
    net = QdqNet()
    graph = net.imported(net.qdq(net.node("MaxPool", net.qdq("x"), kernel_shape=[2, 2]), 0.03, 4))
    assert_all_int8(graph, "quantize", "max_pool2d")


@pytest.mark.parametrize(("scale", "zero"), [(1 / 256, -128), (1 / 255, -128), (0.009, 0), (0.0003, -100)])
@pytest.mark.parametrize("axis", [-1, 0])
def test_softmax_with_its_own_and_with_other_parameters(scale: float, zero: int, axis: int) -> None:
    net = QdqNet((6, 10))
    graph = net.imported(net.qdq(net.node("Softmax", net.qdq("x"), axis=axis), scale, zero), off_by_one=0.3)
    assert_all_int8(graph, "softmax")


def test_log_softmax_with_finer_steps_than_its_integer_form_stays_float() -> None:
    net = QdqNet((2, 10))
    graph = net.imported(net.qdq(net.node("LogSoftmax", net.qdq("x"), axis=-1), 0.02, 127))
    assert ops_of(graph) == ["dequantize", "log_softmax", "quantize"]


def test_softmax_that_is_too_long_for_its_integer_form_stays_float() -> None:
    net = QdqNet((1, 5000))
    graph = net.imported(net.qdq(net.node("Softmax", net.qdq("x"), axis=-1), 1 / 256, -128))
    assert ops_of(graph) == ["dequantize", "softmax", "quantize"]


@pytest.mark.parametrize(("op", "scale", "zero"), [("Sigmoid", 0.0011, -140 + 12), ("Tanh", 0.0041, 17)])
def test_bounded_functions_with_parameters_of_the_file(op: str, scale: float, zero: int) -> None:
    net = QdqNet()
    graph = net.imported(net.qdq(net.node(op, net.qdq("x")), scale, zero))
    assert_all_int8(graph, op.lower())


@pytest.mark.parametrize("per_axis", [None, 1])
def test_matmul_with_quantized_weights(per_axis: int | None) -> None:
    net = QdqNet((2, 10))
    graph = net.imported(net.qdq(net.node("MatMul", net.qdq("x"), net.weights(10, 3, per_axis=per_axis)), 0.05, 1))
    assert_all_int8(graph, "fully_connected")


def test_a_bias_of_dequantized_int32_is_taken_as_it_is() -> None:
    net = QdqNet()
    data = np.array([900, -7, 0, 12345], np.int32)
    scale = np.array(np.float32(X_SCALE) * np.float32(0.004))
    bias = net.node("DequantizeLinear", net.constant(data), net.constant(scale))
    x = net.node("Conv", net.qdq("x"), net.weights(4, 4, 1, 1, per_axis=None), bias)
    graph = net.imported(net.qdq(x, 0.05, 10))
    assert_all_int8(graph, "conv2d")
    assert any(v.data is not None and np.array_equal(v.data, data) for v in graph.constants())


def test_a_bias_of_another_scale_is_quantized_anew() -> None:
    net = QdqNet()
    bias = net.node(
        "DequantizeLinear", net.constant(np.array([90, -70, 0, 55], np.int32)), net.constant(np.array(0.01, np.float32))
    )
    x = net.node("Conv", net.qdq("x"), net.weights(4, 4, 1, 1), bias)
    assert_all_int8(net.imported(net.qdq(x, 0.05, 10)), "conv2d")


def test_shared_weights_are_read_by_both() -> None:
    net = QdqNet()
    w = net.weights(4, 4, 3, 3)
    x = net.qdq(net.node("Conv", net.qdq("x"), w, pads=[1, 1, 1, 1]), 0.05, 10)
    graph = net.imported(net.qdq(net.node("Conv", x, w, pads=[1, 1, 1, 1]), 0.2, 0))
    assert_all_int8(graph, "conv2d", "conv2d")


def test_weights_that_the_file_quantizes_from_float() -> None:
    net = QdqNet()
    w = net.qdq(net.constant(floats(4, 4, 3, 3)), 0.01, 0)
    assert_all_int8(net.imported(net.qdq(net.node("Conv", net.qdq("x"), w), 0.05, 10)), "conv2d")


def test_an_operator_without_qdq_stays_float_between_int8_ones() -> None:
    net = QdqNet()
    x = net.node("Relu", net.node("Mul", net.qdq("x"), net.constant(floats(4, 1, 1))))
    graph = net.imported(net.qdq(net.conv(net.qdq(x, 0.03, -128)), 0.05, 10))
    types = {n.op: n.output.type.dtype for n in graph.nodes}
    assert (types["mul"], types["conv2d"]) == (DType.FLOAT32, DType.INT8)


def test_one_value_quantized_in_two_ways_stays_float_where_it_is_made() -> None:
    net = QdqNet()
    y = net.conv(net.qdq("x"))
    graph = net.imported(net.qdq(y, 0.05, 10), net.qdq(y, 0.03, 0))
    assert [n.output.type.dtype for n in graph.nodes if n.op == "conv2d"] == [DType.FLOAT32]


def test_one_value_read_through_two_equal_pairs_is_one_result() -> None:
    net = QdqNet()
    y = net.conv(net.qdq("x"))
    parts = [net.node("Relu", net.qdq(y, 0.05, 10)), net.node("MaxPool", net.qdq(y, 0.05, 10), kernel_shape=[1, 1])]
    graph = net.imported(net.qdq(parts[0], 0.05, 10), net.qdq(parts[1], 0.05, 10))
    assert ops_of(graph).count("conv2d") == 1
    assert [v.name for v in graph.outputs] == [n.output[0] for n in net.nodes if n.op_type == "DequantizeLinear"][-2:]


def test_indices_need_no_parameters() -> None:
    net = QdqNet()
    x = net.qdq(net.conv(net.qdq("x")), 0.05, 10)
    graph = net.imported(net.node("Cast", net.node("ArgMax", x, axis=1, keepdims=0), to=1))
    (node,) = [n for n in graph.nodes if n.op == "arg_max"]
    assert [v.type.dtype for v in (node.input(0), node.output)] == [DType.INT8, DType.INT64]
    assert node.attrs.axis == 3


def test_an_output_that_is_also_read() -> None:
    net = QdqNet()
    x = net.qdq(net.conv(net.qdq("x")), 0.05, 10)
    graph = net.imported(x, net.qdq(net.conv(x), 0.07, 3))
    assert_all_int8(graph, "conv2d", "conv2d")
    assert [v.name for v in graph.outputs] == [x, net.nodes[-1].output[0]]
    assert [v.type.dtype for v in graph.outputs] == [DType.INT8] * 2


def test_a_float_output_that_is_also_quantized_stays_float() -> None:
    net = QdqNet()
    y = net.conv(net.qdq("x"))
    graph = net.imported(y, net.qdq(y, 0.05, 10))
    assert [v.type.dtype for v in graph.outputs] == [DType.FLOAT32, DType.INT8]
    assert [n.output.type.dtype for n in graph.nodes if n.op == "conv2d"] == [DType.FLOAT32]


def test_the_integers_themselves_as_output() -> None:
    net = QdqNet()
    y = net.conv(net.qdq("x"))
    first, second = net.q(y, 0.05, 10), net.q(y, 0.05, 10)
    model = onnx_model(net.nodes, {"x": net.shape}, [], net.constants)
    model.graph.output.extend(helper.make_tensor_value_info(n, onnx.TensorProto.INT8, None) for n in (first, second))
    graph = import_onnx(model)
    run_passes(graph, [*canonical_passes(), AbsorbQdq()])
    assert [v.name for v in graph.outputs] == [first, second]
    check(graph, model, {"x": floats(*net.shape, seed=9)})
    assert ops_of(graph).count("conv2d") == 1


def test_activations_scaled_along_an_axis_stay_float() -> None:
    net = QdqNet((2, 4))
    scale, zero = floats(4, low=0.01, high=0.02), np.zeros(4, np.int8)
    c = np.arange(8, dtype=np.int8).reshape(2, 4)
    term = net.node("DequantizeLinear", net.constant(c), net.constant(scale), net.constant(zero), axis=1)
    graph = net.imported(net.qdq(net.node("Mul", net.qdq("x"), term), 0.05, 1))
    assert [n.output.type.dtype for n in graph.nodes if n.op == "mul"] == [DType.FLOAT32]


def test_weights_along_a_foreign_axis_stay_float() -> None:
    net = QdqNet((2, 4))
    graph = net.imported(net.qdq(net.node("MatMul", net.qdq("x"), net.weights(4, 3, per_axis=0)), 0.05, 1))
    assert [n.output.type.dtype for n in graph.nodes if n.op == "fully_connected"] == [DType.FLOAT32]


@pytest.mark.parametrize("op", ["Conv", "ConvTranspose"])
@pytest.mark.parametrize("zeros", [(9,), (9, -128, 0, 127)])
def test_weights_with_zero_points(op: str, zeros: tuple[int, ...]) -> None:
    net = QdqNet()
    axis = 0 if op == "Conv" else 1
    data = np.random.default_rng(3).integers(-128, 128, (4, 4, 3, 3)).astype(np.int8)
    scale, zero = floats(len(zeros), seed=1, low=0.002, high=0.006), np.array(zeros, np.int8)
    if len(zeros) == 1:
        scale, zero = scale.reshape(()), zero.reshape(())
    parameters = [net.constant(array) for array in (data, scale, zero)]
    y = net.node(op, net.qdq("x"), net.node("DequantizeLinear", *parameters, axis=axis), net.constant(floats(4)))
    graph = net.imported(net.qdq(y, 0.08, 3))
    (node,) = (n for n in graph.nodes if n.op.startswith("conv"))
    assert node.output.type.dtype is DType.INT8
    quant = node.input(1).type.quant
    assert quant is not None
    assert sorted(set(quant.zero_point)) == sorted(zeros)


@pytest.mark.parametrize("scale", [1e-10, 1e-20, 1e-35])
@pytest.mark.parametrize("op", ["Conv", "Add", "Mul", "MaxPool", "Relu", ""])
def test_scales_so_far_apart_that_sums_would_overflow_stay_float(op: str, scale: float) -> None:
    net = QdqNet()
    x = net.qdq("x")
    makers = {
        "Conv": lambda: net.conv(x),
        "MaxPool": lambda: net.node("MaxPool", x, kernel_shape=[2, 2]),
        "Relu": lambda: net.node("Relu", x),
        "": lambda: x,
    }
    y = makers[op]() if op in makers else net.node(op, x, x)
    graph = net.imported(net.qdq(y, scale, 3), edges=False)
    last = [node for node in graph.nodes if node.op == "quantize"][-1]
    assert last.output.type.scale == np.float32(scale)
    assert last.input(0).type.dtype is DType.FLOAT32


def test_edges_become_integers_under_their_names() -> None:
    net = QdqNet()
    y = net.qdq(net.conv(net.qdq("x")), 0.05, 10)
    graph = net.imported(y)
    assert [(v.name, v.type.dtype) for v in (*graph.inputs, *graph.outputs)] == [("x", DType.INT8), (y, DType.INT8)]
    assert graph.inputs[0].type.quant == QuantParams.per_tensor(X_SCALE, X_ZERO)
    float_edges = net.imported(y, edges=False)
    assert [v.type.dtype for v in (*float_edges.inputs, *float_edges.outputs)] == [DType.FLOAT32] * 2


def test_an_input_that_is_read_as_float_too_stays_float() -> None:
    net = QdqNet()
    y = net.node("Add", net.node("Relu", "x"), net.qdq("x"))
    assert [v.type.dtype for v in net.imported(y).inputs] == [DType.FLOAT32]
    net = QdqNet()
    graph = net.imported(net.qdq("x", 0.02, 0), net.qdq("x", 0.03, 0))
    assert [v.type.dtype for v in graph.inputs] == [DType.FLOAT32]


def test_quantize_after_dequantize_is_nothing_or_one_requantization() -> None:
    quant, other = QuantParams.per_tensor(0.1, 3), QuantParams.per_tensor(0.2, -3)
    graph, b, x = started(2, 3, quant=quant)
    same = b.node("quantize", [b.node("dequantize", [x])], quant=quant)
    y = b.node("clip", [same], ClipAttrs(0.0), quant=quant)
    assert changed(AbsorbQdq(), graph, [y]) == 1
    assert ops_of(graph) == ["clip"]
    graph, b, x = started(2, 3, quant=quant)
    graph.outputs = [b.node("quantize", [b.node("dequantize", [x])], quant=other)]
    run_passes(graph, [AbsorbQdq()])
    assert ops_of(graph) == ["quantize"]
    assert graph.nodes[0].input(0) is x


def test_other_integer_types_stay_as_they_are() -> None:
    graph, b, x = started(2, 3)
    q = b.node("quantize", [x], QuantizeAttrs("uint8"), quant=QuantParams.per_tensor(0.1, 3))
    y = b.node("clip", [b.node("dequantize", [q])], ClipAttrs(0.0))
    y = b.node("quantize", [y], QuantizeAttrs("uint8"), quant=QuantParams.per_tensor(0.1, 3))
    graph.outputs = [b.node("dequantize", [y])]
    assert run_passes(graph, [AbsorbQdq()]) == []
    assert run(graph, inputs_of(graph))


def test_a_bias_that_is_not_finite_keeps_the_operator_float() -> None:
    graph, b, x = started(2, 3, quant=QuantParams.per_tensor(0.1))
    w = b.constant("w", np.ones((2, 3), np.int8), QuantParams.per_tensor(0.1))
    bias = b.constant("b", np.array([1, np.nan], np.float32))
    y = b.node("fully_connected", [b.node("dequantize", [x]), b.node("dequantize", [w]), bias])
    graph.outputs = [b.node("quantize", [y], quant=QuantParams.per_tensor(0.1))]
    assert run_passes(graph, [AbsorbQdq()]) == []


def test_a_layer_with_memory_that_an_operator_of_several_results_reads_stays() -> None:
    graph = Graph("net")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (3, 1, 2)))
    held = [b.constant(name, np.ones((1, 4, 2 if name == "w" else 4), np.float32)) for name in ("w", "r")]
    y, _ = b.nodes("rnn", [x, *held, None, None, None])
    graph.outputs = b.nodes("top_k", [y])
    assert AbsorbQdq().run(graph) == 0
