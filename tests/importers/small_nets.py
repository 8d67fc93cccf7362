"""Small ONNX networks, written by hand, that the import tests share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def model_of(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Sequence[int | str | None]],
    outputs: Sequence[str],
    constants: Mapping[str, np.ndarray] | None = None,
    opset: int = 17,
    ir_version: int = 8,
    domains: Sequence[str] = (),
    functions: Sequence[onnx.FunctionProto] = (),
) -> onnx.ModelProto:
    """A model of float inputs; the shapes of its outputs are not declared, but for their existence."""
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()],
    )
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir_version, functions=functions)


def weights(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.5, 0.5, shape).astype(np.float32)


def small_net(opset: int) -> onnx.ModelProto:
    """Conv, BatchNormalization, Relu, MaxPool, Dropout, Flatten, Gemm, Softmax: each as that opset writes it."""
    batch_norm = {"spatial": 1} if opset < 9 else {}
    dropout_inputs = ["pooled"] if opset < 12 else ["pooled", "ratio"]
    dropout = {"ratio": 0.5} if opset < 12 else {}
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["conv"], "conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node(
            "BatchNormalization", ["conv", "gamma", "beta", "mean", "var"], ["normed"], "norm", **batch_norm
        ),
        helper.make_node("Relu", ["normed"], ["active"], "relu"),
        helper.make_node("MaxPool", ["active"], ["pooled"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Dropout", dropout_inputs, ["kept"], "dropout", **dropout),
        helper.make_node("Flatten", ["kept"], ["flat"], "flatten"),
        helper.make_node("Gemm", ["flat", "fc", "fcb"], ["scores"], "gemm", transB=1),
        helper.make_node("Softmax", ["scores"], ["y"], "softmax", axis=1),
    ]
    constants = {
        "w": weights(4, 2, 3, 3, seed=1),
        "b": weights(4, seed=2),
        "gamma": weights(4, seed=3) + 1,
        "beta": weights(4, seed=4),
        "mean": weights(4, seed=5),
        "var": weights(4, seed=6) + 1,
        "fc": weights(3, 64, seed=7),
        "fcb": weights(3, seed=8),
    }
    if opset >= 12:
        constants["ratio"] = np.array(0.5, np.float32)
    return model_of(nodes, {"x": [1, 2, 8, 8]}, ["y"], constants, opset)
