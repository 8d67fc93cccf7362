"""Where float and int8 meet: quantize and dequantize, every rounding, per tensor and per axis."""

from __future__ import annotations

import numpy as np
import pytest

from burnc.backends import Backend
from burnc.backends.numpy_reference import NumpyReference
from burnc.ir import Array, Builder, DType, Graph, QuantParams, TensorType, verify
from burnc.ops import operators
from burnc.ops.quantize import QuantizeAttrs
from conformance.backends import backend_id, host_backends
from conformance.check import differences
from oracles.float_onnx import run_onnx, single_node_model
from oracles.tflm import GraphInTfliteMicro
from requirements import requires_package

PARAMS = {
    "plain": QuantParams.per_tensor(0.5, 0),
    "lowest": QuantParams.per_tensor(0.03, -128),
    "highest": QuantParams.per_tensor(1e-6, 127),
    "per_axis": QuantParams((0.5, 0.01, 3.0), (0, 0, 0), 1),
}

# Ties of both signs, both ends, and what is no number.
REALS = np.array(
    [[-1.25, -0.75, -0.25], [0.25, 0.75, 1.25], [-64.25, 63.25, 1e30], [-np.inf, np.inf, np.nan], [-0.0, 1e-30, 0.1]],
    np.float32,
)


def quantize_graph(quant: QuantParams, rounding: str) -> Graph:
    graph = Graph("edge")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, REALS.shape))
    graph.outputs = [b.node("quantize", [x], outputs=("y",), quant=quant, rounding=rounding)]
    return graph


def dequantize_graph(quant: QuantParams, dtype: DType = DType.INT8) -> Graph:
    graph = Graph("edge")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(dtype, (256, 3), quant))
    graph.outputs = [b.node("dequantize", [x], outputs=("y",))]
    return graph


EVERY_INT8: Array = np.repeat(np.arange(-128, 128, dtype=np.int8)[:, None], 3, axis=1)


@pytest.mark.parametrize("name", PARAMS)
def test_quantize_rounds_as_onnxruntime(name: str):
    quant = PARAMS[name]
    graph = quantize_graph(quant, "half_even")
    verify(graph)
    shape = () if quant.axis is None else (3,)
    constants = {
        "scale": np.array(quant.scale, np.float32).reshape(shape),
        "zero": np.array(quant.zero_point, np.int8).reshape(shape),
    }
    finite = np.where(np.isfinite(REALS), REALS, 0).astype(np.float32)
    (wanted,) = run_onnx(single_node_model("QuantizeLinear", {"x": finite}, constants, axis=1), {"x": finite})
    np.testing.assert_array_equal(NumpyReference().compile(graph).run({"x": finite})["y"], wanted)


@requires_package("tflite_micro")
@pytest.mark.parametrize("name", ["plain", "lowest", "highest"])
def test_quantize_rounds_as_tflite_micro(name: str):
    graph = quantize_graph(PARAMS[name], "half_away")
    finite = np.where(np.abs(REALS) < 1e3, REALS, 0).astype(np.float32)
    assert differences(NumpyReference().compile(graph), GraphInTfliteMicro(graph), [{"x": finite}]) == []


@requires_package("tflite_micro")
@pytest.mark.parametrize("name", ["plain", "lowest", "highest"])
def test_dequantize_equals_tflite_micro(name: str):
    graph = dequantize_graph(PARAMS[name])
    got, wanted = (m.run({"x": EVERY_INT8})["y"] for m in (NumpyReference().compile(graph), GraphInTfliteMicro(graph)))
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("rounding", ["half_even", "half_away"])
def test_quantize_of_what_is_no_number(rounding: str):
    y = NumpyReference().compile(quantize_graph(PARAMS["lowest"], rounding)).run({"x": REALS})["y"]
    assert y[3].tolist() == [-128, 127, -128]  # -inf, inf, NaN: both ends and the zero point


@pytest.mark.parametrize("backend", host_backends(), ids=backend_id)
@pytest.mark.parametrize("rounding", ["half_even", "half_away"])
@pytest.mark.parametrize("name", PARAMS)
def test_quantize_on_backends(name: str, rounding: str, backend: Backend):
    graph = quantize_graph(PARAMS[name], rounding)
    assert differences(backend.compile(graph), NumpyReference().compile(graph), [{"x": REALS}]) == []


@pytest.mark.parametrize("backend", host_backends(), ids=backend_id)
@pytest.mark.parametrize("name", PARAMS)
def test_dequantize_on_backends(name: str, backend: Backend):
    graph = dequantize_graph(PARAMS[name])
    got, wanted = (m.run({"x": EVERY_INT8})["y"] for m in (backend.compile(graph), NumpyReference().compile(graph)))
    np.testing.assert_array_equal(got, wanted)


def test_dequantize_int32_bias():
    quant = QuantParams((0.5, 0.25, 2.0), (0, 0, 0), 1)
    x = np.resize(np.array([-(2**31), 2**31 - 1, 16777217], np.int32), (256, 3))
    y = NumpyReference().compile(dequantize_graph(quant, DType.INT32)).run({"x": x})["y"]
    assert y[0].tolist() == [-(2.0**30), 2.0**29, 33554432.0]


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32"])
def test_quantize_to_other_integers(dtype: str):
    graph = Graph("edge")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (3,)))
    quant = QuantParams.per_tensor(0.5, 3)
    graph.outputs = [b.node("quantize", [x], QuantizeAttrs(dtype), outputs=("y",), quant=quant, rounding="half_even")]
    y = NumpyReference().compile(graph).run({"x": np.array([-1e9, 1.0, 1e9], np.float32)})["y"]
    low, high = DType(dtype).limits
    assert y.tolist() == [max(low, -(2 * 10**9) + 3), 5, min(high, 2 * 10**9 + 3)]
