"""Models that hold every quantized operator of ONNX and onnxruntime once, beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from burnc.ir import Array

MICROSOFT = "com.microsoft"


class Writer:
    """Adds nodes on fresh inputs and constants; every node's result is an output named ``label``."""

    def __init__(self, dtype: type, seed: int = 0) -> None:
        self.dtype = np.dtype(dtype)
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.declared: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []
        self.inputs: dict[str, Array] = {}

    def integers(self, *shape: int, dtype: Any = None) -> Array:
        kind = np.dtype(dtype or self.dtype)
        info = np.iinfo(kind)
        return self.rng.integers(info.min, info.max + 1, shape).astype(kind)

    def constant(self, array: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def given(self, array: Array) -> str:
        name = f"x{len(self.inputs)}"
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.declared.append(helper.make_tensor_value_info(name, kind, array.shape))
        self.inputs[name] = array
        return name

    def params(self, scale: Any, zero: Any) -> list[str]:
        """The zero point is given as that of int8."""
        shift = 128 if self.dtype == np.uint8 else 0
        return [self.constant(np.float32(scale)), self.constant((np.asarray(zero) + shift).astype(self.dtype))]

    def tensor(self, *shape: int, scale: float = 0.03, zero: int = 9) -> list[str]:
        """A quantized input, its scale and zero point."""
        return [self.given(self.integers(*shape)), *self.params(scale, zero)]

    def weights(self, *shape: int, scale: Any = 0.01, zero: Any = 0) -> list[str]:
        return [self.constant(self.integers(*shape)), *self.params(scale, zero)]

    def bias(self, size: int, limit: int = 3000) -> str:
        return self.constant(self.rng.integers(-limit, limit, size).astype(np.int32))

    def node(
        self, label: str, op: str, inputs: Sequence[str], domain: str = "", out: Any = None, **attributes: Any
    ) -> None:
        self.nodes.append(helper.make_node(op, inputs, [label], f"{label}.node", domain=domain, **attributes))
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(out or self.dtype))
        self.outputs.append(helper.make_tensor_value_info(label, kind, None))

    def model(self) -> onnx.ModelProto:
        graph = helper.make_graph(self.nodes, "operators", self.declared, self.outputs, self.constants)
        opsets = [helper.make_opsetid("", 19), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def qlinear_operators(dtype: type) -> Writer:
    """Results that are quantized."""
    w = Writer(dtype)
    several = [0.01, 0.003, 0.02, 0.007]
    pads = {"pads": [1, 1, 1, 1]}
    result = w.params(0.9, -20)
    w.node(
        "conv",
        "QLinearConv",
        [*w.tensor(1, 3, 6, 5), *w.weights(4, 3, 3, 3, scale=several, zero=[0] * 4), *result, w.bias(4)],
        **pads,
    )
    w.node(
        "conv_skewed",
        "QLinearConv",
        [*w.tensor(2, 4, 5, 5), *w.weights(6, 2, 3, 2, zero=17), *result],
        group=2,
        strides=[2, 1],
    )
    w.node("conv_1d", "QLinearConv", [*w.tensor(1, 3, 9), *w.weights(2, 3, 3), *result, w.bias(2)], dilations=[2])
    w.node(
        "depthwise",
        "QLinearConv",
        [
            *w.tensor(1, 4, 5, 5),
            *w.weights(4, 1, 3, 3, scale=several, zero=[3, 0, -9, 100]),
            *w.params(0.3, 0),
            w.bias(4),
        ],
        group=4,
    )
    w.node("matmul", "QLinearMatMul", [*w.tensor(2, 3, 8), *w.weights(8, 5), *w.params(0.7, 4)])
    w.node(
        "matmul_columns",
        "QLinearMatMul",
        [*w.tensor(3, 8), *w.weights(8, 4, scale=several, zero=[0] * 4), *w.params(0.3, 4)],
    )
    w.node(
        "matmul_activations", "QLinearMatMul", [*w.tensor(2, 3, 8), *w.tensor(2, 8, 2, scale=0.01), *w.params(0.5, 4)]
    )
    w.node("gemm", "QGemm", [*w.tensor(3, 8), *w.weights(5, 8), w.bias(5), *w.params(0.7, 4)], MICROSOFT, transB=1)
    w.node(
        "gemm_alpha",
        "QGemm",
        [*w.tensor(3, 8), *w.weights(8, 4, scale=several, zero=[0] * 4), w.bias(4), *w.params(0.2, 4)],
        MICROSOFT,
        alpha=0.5,
    )
    w.node("gemm_float", "QGemm", [*w.tensor(3, 8), *w.weights(8, 4), w.bias(4)], MICROSOFT, out=np.float32)
    for op in ("Add", "Mul"):
        scale = {"Add": 0.06, "Mul": 0.09}[op]
        w.node(
            op.lower(),
            f"QLinear{op}",
            [*w.tensor(2, 3, 4), *w.tensor(3, 1, scale=0.05, zero=-30), *w.params(scale, 7)],
            MICROSOFT,
        )
        w.node(
            f"{op.lower()}_constant",
            f"QLinear{op}",
            [*w.tensor(2, 3), *w.weights(3, zero=5), *w.params(scale, 7)],
            MICROSOFT,
        )
    w.node("sigmoid", "QLinearSigmoid", [*w.tensor(4, 90, scale=0.05), *w.params(1 / 256, -128)], MICROSOFT)
    w.node("sigmoid_finer", "QLinearSigmoid", [*w.tensor(4, 90), *w.params(0.0037, -120)], MICROSOFT)
    w.node("leaky", "QLinearLeakyRelu", [*w.tensor(4, 90), *w.params(0.02, -40)], MICROSOFT, alpha=0.3)
    w.node(
        "average",
        "QLinearAveragePool",
        [*w.tensor(1, 2, 6, 6), *w.params(0.02, -4)],
        MICROSOFT,
        kernel_shape=[2, 3],
        strides=[2, 1],
    )
    w.node("global", "QLinearGlobalAveragePool", [*w.tensor(1, 2, 6, 6), *w.params(0.01, -4)], MICROSOFT)
    w.node(
        "concat",
        "QLinearConcat",
        [*w.params(0.04, -4), *w.tensor(2, 3), *w.tensor(2, 2, scale=0.02, zero=-8)],
        MICROSOFT,
        axis=1,
    )
    w.node("softmax", "QLinearSoftmax", [*w.tensor(3, 10), *w.params(1 / 256, -128)], MICROSOFT, axis=1, opset=13)
    w.node("softmax_old", "QLinearSoftmax", [*w.tensor(3, 10), *w.params(1 / 255, -128)], MICROSOFT, axis=1, opset=12)
    for label, op, rest, attributes in (
        ("pooled", "MaxPool", [], {"kernel_shape": [2, 2], "pads": [1, 1, 0, 0]}),
        ("turned", "Transpose", [], {"perm": [0, 2, 3, 1]}),
        ("chosen", "Gather", [w.constant(np.array([2, 0, -1]))], {"axis": 2}),
    ):
        # On integers whose meaning the operator behind says.
        w.nodes.append(helper.make_node(op, [w.given(w.integers(1, 2, 5, 5)), *rest], [f"{label}.moved"], **attributes))
        w.node(label, "QLinearLeakyRelu", [f"{label}.moved", *w.params(0.03, 9), *w.params(0.02, -4)], MICROSOFT)
    w.node("padded", "Pad", ["leaky", w.constant(np.array([1, 0, 0, 2]))])  # with the integer 0, whatever it stands for
    mask = w.given(np.arange(12).reshape(3, 4) % 3 == 0)
    w.node(
        "where",
        "QLinearWhere",
        [mask, *w.tensor(3, 4), *w.tensor(1, 4, scale=0.02, zero=-8), *w.params(0.05, 1)],
        MICROSOFT,
    )
    w.node(
        "quantize",
        "QuantizeLinear",
        [w.given(w.rng.normal(0, 2, (3, 7)).astype(np.float32)), *w.params(0.03, 5)],
        MICROSOFT,
    )
    return w


def integer_operators() -> Writer:
    """Results that are int32 or float, and equal whatever computes them."""
    w = Writer(np.uint8, 1)
    x, zero = w.integers(2, 5, 7), w.given(np.array(113, np.uint8))
    w.node(
        "conv",
        "ConvInteger",
        [w.given(w.integers(1, 3, 5, 5)), w.constant(w.integers(4, 3, 3, 3, dtype=np.int8)), zero],
        out=np.int32,
        pads=[1, 0, 1, 2],
    )
    w.node(
        "conv_skewed",
        "ConvInteger",
        [
            w.given(w.integers(1, 2, 5, 5)),
            w.constant(w.integers(2, 1, 2, 2)),
            w.constant(np.uint8(3)),
            w.constant(np.uint8(200)),
        ],
        out=np.int32,
        group=2,
    )
    w.node(
        "conv_plain",
        "ConvInteger",
        [w.given(w.integers(1, 2, 9)), w.constant(w.integers(3, 2, 3))],
        out=np.int32,
        strides=[2],
    )
    w.node(
        "matmul",
        "MatMulInteger",
        [w.given(x), w.constant(w.integers(7, 4, dtype=np.int8)), zero, w.constant(np.int8(0))],
        out=np.int32,
    )
    w.node(
        "matmul_skewed",
        "MatMulInteger",
        [w.given(x[0]), w.constant(w.integers(7, 4)), zero, w.constant(np.array([1, 255, 128, 9], np.uint8))],
        out=np.int32,
    )
    w.node("matmul_plain", "MatMulInteger", [w.given(x[0]), w.given(w.integers(7, 3, dtype=np.int8))], out=np.int32)
    w.node(
        "dequantize", "DequantizeLinear", [w.given(x[1]), w.given(np.array(0.017, np.float32)), zero], out=np.float32
    )
    w.node(
        "dequantize_rows",
        "DequantizeLinear",
        [w.given(x[1]), w.given(np.linspace(0.01, 0.3, 5, dtype=np.float32)), w.constant(w.integers(5))],
        out=np.float32,
        axis=0,
    )
    w.node("dequantize_known", "DequantizeLinear", [w.given(x[0]), *w.params(0.017, 4)], MICROSOFT, out=np.float32)
    scales = [w.given(np.array(0.02, np.float32)), w.constant(np.array([0.1, 0.2, 0.4, 0.05], np.float32))]
    for label, rest in (
        ("to_float", []),
        ("to_float_biased", [zero, w.constant(np.uint8(7)), w.constant(np.ones(4, np.float32))]),
    ):
        factors = [w.given(x), w.constant(w.integers(7, 4)), *scales]
        w.node(label, "MatMulIntegerToFloat", [*factors, *rest], MICROSOFT, out=np.float32)
    floats = w.given(w.rng.normal(1, 3, (5, 7)).astype(np.float32))
    weights = [w.constant(w.integers(7, 4)), w.constant(np.array(0.1, np.float32)), w.constant(np.uint8(99))]
    w.node("dynamic", "DynamicQuantizeMatMul", [floats, *weights], MICROSOFT, out=np.float32)
    for label, axis, params in (
        ("plain", 0, w.params(0.1, 9)),
        ("plain_rows", 0, w.params([0.1, 0.2, 0.3, 0.4, 0.5], range(5))),
    ):
        # Integers that others than dequantize read as they are.
        w.nodes.append(
            helper.make_node("QuantizeLinear", [floats, *params], [f"{label}.q"], f"{label}.quantize", axis=axis)
        )
        w.node(f"{label}_cast", "Cast", [f"{label}.q"], out=np.int32, to=onnx.TensorProto.INT32)
        w.node(f"{label}_clipped", "Clip", [f"{label}.q", w.constant(np.uint8(100))], out=np.uint8)
    w.node(
        "plain_product", "MatMulInteger", ["plain.q", w.constant(w.integers(7, 2, dtype=np.int8)), zero], out=np.int32
    )
    half = [w.constant(np.array(0.25, np.float16)), w.constant(np.uint8(7))]
    w.node("dequantize_half", "DequantizeLinear", [w.given(x[0]), *half], out=np.float16)
    return w
