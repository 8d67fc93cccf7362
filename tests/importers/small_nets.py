"""Small ONNX networks, written by hand, that the import tests share."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import BurncError
from burnc.importers import import_model
from burnc.importers.onnx import import_onnx
from burnc.ir import Graph, verify

ROOT = Path(__file__).resolve().parents[2]
FLOAT_MODELS = [
    ROOT / "examples/mnist_pico/mnist8.onnx",
    ROOT / "tests/models/nanguoyu_magicwand.onnx",
    ROOT / "tests/models/onnx2c_atmega_mnist.onnx",
    ROOT / "tests/models/emx_micro_kws_m_static_fp32.onnx",
]
INT8_MODELS = [
    ROOT / "examples/kws_pico/mlperf_kws_dscnn_int8.tflite",
    ROOT / "tests/models/mlperf_ic_resnet8_int8.tflite",
    ROOT / "tests/models/mlperf_vww_mbv1_int8.tflite",
    ROOT / "tests/models/mlperf_ad_int8.tflite",
    ROOT / "tests/models/tflm_hello_world_int8.tflite",
]

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


def run_numpy(graph: Graph, **inputs: np.ndarray) -> dict[str, np.ndarray]:
    """Results by name, computed by the numpy reference."""
    return NumpyReference().compile(graph).run(inputs)


def import_and_run(model: onnx.ModelProto, **inputs: np.ndarray) -> dict[str, np.ndarray]:
    return run_numpy(import_onnx(model), **inputs)


def run_onnxruntime(model: onnx.ModelProto | Path, **inputs: np.ndarray) -> dict[str, np.ndarray]:
    """Results by name, computed by onnxruntime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    source = str(model) if isinstance(model, Path) else model.SerializeToString()
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs), strict=True))


def assert_close(got: np.ndarray, expected: np.ndarray) -> None:
    """The float tolerance of the whole project."""
    assert got.shape == expected.shape
    bound = 1e-5 * np.abs(expected) + 1e-6 * np.max(np.abs(expected), initial=0)
    assert np.all(np.abs(got - expected) <= bound)


def import_calmly(path: Path) -> None:
    """Whatever the file holds, importing ends in a sound graph or in an error that burnc can explain."""
    with contextlib.suppress(BurncError):
        verify(import_model(path))
