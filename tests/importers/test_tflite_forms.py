"""Forms of storage that become others when a TFLite file is read: hybrid and float16 weights, int4, uint8."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import tflite

import burnc
from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import UnsupportedError
from burnc.importers.tflite import import_tflite
from burnc.ir import Array, DType, Graph, QuantParams, TensorType
from burnc.ir.metadata import NOTES
from oracles.tflite_operator import OTHER, Constant, Operator, Q, int8, int32, real
from oracles.tflite_writer import _Writer
from oracles.tflm import TfliteMicro
from requirements import requires_package
from suites.shared_models import FOLDER, kernels_spread

pytestmark = requires_package("tflite_micro")

RNG = np.random.default_rng(5)
WEIGHTS = RNG.integers(-127, 128, (6, 8)).astype(np.int8)
FILTERS = RNG.integers(-127, 128, (4, 3, 3, 2)).astype(np.int8)
BIAS = RNG.normal(size=6).astype(np.float32)
PER_AXIS = QuantParams.per_axis([0.01, 0.02, 0.05, 0.004], 0)
ASYMMETRIC = QuantParams.per_tensor(0.02, 31)


def imported(data: bytes, folder: Path) -> Graph:
    (folder / "m.tflite").write_bytes(data)
    return import_tflite(folder / "m.tflite")


def computed(graph: Graph, *arrays: Array) -> list[Array]:
    feeds = {v.name: array for v, array in zip(graph.inputs, arrays, strict=True)}
    return list(NumpyReference().compile(graph).run(feeds).values())


def hybrid(weights: Array, quant: QuantParams) -> tuple[Operator, Array]:
    """An operator with quantized weights, and the real numbers that they stand for."""
    scale, zero = (np.array(v, np.float64) for v in (quant.scale, quant.zero_point))
    if quant.axis is not None:
        scale, zero = (v.reshape([-1 if i == quant.axis else 1 for i in range(weights.ndim)]) for v in (scale, zero))
    stands_for = ((weights - zero) * scale).astype(np.float32)
    if weights.ndim == 2:
        inputs = [real(3, 8), Constant(weights, quant), BIAS]
        return Operator("FULLY_CONNECTED", inputs, [real(3, 6)], "FullyConnectedOptions"), stands_for
    fields = {"Padding": tflite.Padding.SAME, "StrideH": 1, "StrideW": 1}
    inputs = [real(1, 5, 5, 2), Constant(weights, quant), None]
    return Operator("CONV_2D", inputs, [real(1, 5, 5, 4)], "Conv2DOptions", fields), stands_for


@pytest.mark.parametrize(
    ("weights", "quant"),
    [(WEIGHTS, Q), (FILTERS, QuantParams.per_tensor(0.3)), (FILTERS, PER_AXIS)],
    ids=["per tensor", "convolution", "per axis"],
)
def test_hybrid_weights_are_real_numbers(weights: Array, quant: QuantParams, tmp_path: Path):
    operator, stands_for = hybrid(weights, quant)
    graph = imported(operator.write(), tmp_path)
    assert graph.metadata[NOTES].startswith("integer weights beside float activations became float32 (1 tensors)")
    twin = dataclasses.replace(operator, inputs=[operator.inputs[0], stands_for, operator.inputs[2]])
    x = RNG.normal(size=operator.fed[0].shape).astype(np.float32)
    (wanted,) = TfliteMicro(twin.write()).run(x)
    np.testing.assert_allclose(computed(graph, x)[0], wanted, rtol=1e-5, atol=1e-5)


def test_float16_weights_are_float32(tmp_path: Path):
    half = WEIGHTS.astype(np.float16) / np.float16(3)
    w = _Writer()
    x, y, wide = (w.new_tensor(n, t) for n, t in (("x", real(3, 8)), ("y", real(3, 6)), ("wide", real(6, 8))))
    w.operator("DEQUANTIZE", [w.constant("half", half)], [wide], "DequantizeOptions")
    w.operator("FULLY_CONNECTED", [x, wide, -1], [y], "FullyConnectedOptions")
    graph = imported(w.finish([x], [y]), tmp_path)
    assert graph.metadata[NOTES] == "float16 constants became float32 (1 tensors)"
    assert [node.op for node in graph.nodes] == ["fully_connected"]
    twin = Operator("FULLY_CONNECTED", [real(3, 8), half.astype(np.float32), None], [real(3, 6)])
    array = RNG.normal(size=(3, 8)).astype(np.float32)
    (wanted,) = TfliteMicro(dataclasses.replace(twin, options="FullyConnectedOptions").write()).run(array)
    np.testing.assert_allclose(computed(graph, array)[0], wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("code", ["FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D"])
def test_weights_of_four_bits(code: str, tmp_path: Path):
    shape, axis, x, y = {
        "FULLY_CONNECTED": ((5, 7), None, int8(3, 7), int8(3, 5, quant=OTHER)),
        "CONV_2D": ((4, 3, 3, 2), 0, int8(1, 4, 4, 2), int8(1, 4, 4, 4, quant=OTHER)),
        "DEPTHWISE_CONV_2D": ((1, 3, 3, 6), 3, int8(1, 4, 4, 6), int8(1, 4, 4, 6, quant=OTHER)),
    }[code]
    scales = RNG.uniform(0.05, 0.2, 1 if axis is None else shape[axis]).tolist()
    zeros = (0,) * len(scales)
    sums = tuple(float(np.float32(0.1) * np.float32(s)) for s in scales)
    w = _Writer()
    fed, got = w.new_tensor("x", x), w.new_tensor("y", y)
    weights = RNG.integers(-7, 8, shape).astype(np.int8)
    bias = RNG.integers(-99, 99, y.shape[-1]).astype(np.int32)
    operands = [
        fed,
        w.four_bits("w", weights, QuantParams(tuple(scales), zeros, axis)),
        w.constant("b", bias, QuantParams(sums, zeros, None if axis is None else 0)),
    ]
    options = {"FULLY_CONNECTED": "FullyConnectedOptions", "CONV_2D": "Conv2DOptions"}
    given = {} if axis is None else {**WINDOW, **({"DepthMultiplier": 1} if axis == 3 else {})}
    w.operator(code, operands, [got], options.get(code, "DepthwiseConv2DOptions"), **given)
    data = w.finish([fed], [got])
    graph = imported(data, tmp_path)
    assert graph.metadata[NOTES] == "int4 constants became int8 (1 tensors)"
    array = RNG.integers(-128, 128, x.shape).astype(np.int8)
    np.testing.assert_array_equal(computed(graph, array)[0], TfliteMicro(data).run(array)[0])


def test_activations_of_float16_are_refused(tmp_path: Path):
    halves = TensorType(DType.FLOAT16, (2, 3))
    with pytest.raises(UnsupportedError, match="is FLOAT16, which only constants may be"):
        imported(Operator("RELU", [halves], [halves]).write(), tmp_path)


UINT8 = QuantParams.per_tensor(0.1, 121)  # as Q, 128 higher
UINT8_OTHER = QuantParams.per_tensor(0.13, 140)  # as OTHER


def raised(given: object) -> object:
    """What is int8 as uint8; all else as it is."""
    if isinstance(given, TensorType) and given.dtype is DType.INT8:
        assert given.quant is not None
        zero = tuple(z + 128 for z in given.quant.zero_point)
        return TensorType(DType.UINT8, given.shape, dataclasses.replace(given.quant, zero_point=zero))
    if isinstance(given, Constant) and given.data.dtype == np.int8:
        assert given.quant is not None
        zero = tuple(z + 128 for z in given.quant.zero_point)
        data = (given.data.astype(np.int16) + 128).astype(np.uint8)
        return Constant(data, dataclasses.replace(given.quant, zero_point=zero))
    return given


SYMMETRIC = QuantParams.per_tensor(0.02)
SMALL = RNG.integers(-100, 100, (4, 3, 3, 2)).astype(np.int8)
WINDOW = {"Padding": tflite.Padding.SAME, "StrideH": 1, "StrideW": 1}
POOL = {**WINDOW, "FilterHeight": 2, "FilterWidth": 2}
UNIT = QuantParams.per_tensor(1 / 256, -128)
SUMS = QuantParams.per_tensor(0.1 * 0.02)
AS_INT8 = (
    Operator(
        "CONV_2D",
        [int8(1, 5, 5, 2), Constant(SMALL, SYMMETRIC), Constant(int32(5, -900, 77, 0), SUMS)],
        [int8(1, 5, 5, 4, quant=OTHER)],
        "Conv2DOptions",
        {**WINDOW, "FusedActivationFunction": tflite.ActivationFunctionType.RELU6},
    ),
    Operator(
        "FULLY_CONNECTED",
        [int8(3, 8), Constant(WEIGHTS, ASYMMETRIC), None],
        [int8(3, 6, quant=OTHER)],
        "FullyConnectedOptions",
    ),
    Operator("ADD", [int8(2, 3), int8(2, 3, quant=OTHER)], [int8(2, 3)], "AddOptions"),
    Operator("MUL", [int8(2, 3), Constant(SMALL[0, 0, :1, :1], OTHER)], [int8(2, 3)], "MulOptions"),
    Operator("AVERAGE_POOL_2D", [int8(1, 4, 4, 2)], [int8(1, 4, 4, 2)], "Pool2DOptions", POOL),
    Operator("PAD", [int8(2, 3), int32((1, 0), (0, 2))], [int8(3, 5)], "PadOptions"),
    Operator("CONCATENATION", [int8(2, 3), int8(2, 1)], [int8(2, 4)], "ConcatenationOptions", {"Axis": 1}),
    Operator("SOFTMAX", [int8(2, 9)], [int8(2, 9, quant=UNIT)], "SoftmaxOptions", {"Beta": 1.0}),
    Operator("LOGISTIC", [int8(2, 9)], [int8(2, 9, quant=UNIT)]),
    Operator("DEQUANTIZE", [int8(2, 9)], [real(2, 9)], "DequantizeOptions"),
    Operator("RESHAPE", [int8(2, 9), int32(3, 6)], [int8(3, 6)]),
)


def as_uint8(operator: Operator) -> Operator:
    inputs: Sequence[object] = [raised(v) for v in operator.inputs]
    outputs = [raised(v) for v in operator.outputs]
    return dataclasses.replace(operator, inputs=inputs, outputs=outputs)


@pytest.mark.parametrize("operator", AS_INT8, ids=str)
def test_uint8_means_what_int8_does(operator: Operator, tmp_path: Path):
    graph = imported(as_uint8(operator).write(), tmp_path)
    assert {v.type.dtype for v in graph.inputs} == {DType.UINT8}
    arrays = [RNG.integers(0, 256, t.shape).astype(np.uint8) for t in operator.fed]
    (wanted,) = TfliteMicro(operator.write()).run(*[(a ^ np.uint8(128)).view(np.int8) for a in arrays])
    (got,) = computed(graph, *arrays)
    if wanted.dtype == np.int8:
        assert got.dtype == np.uint8
        wanted = wanted.view(np.uint8) ^ np.uint8(128)
    np.testing.assert_array_equal(got, wanted.reshape(got.shape))


def test_uint8_filters_may_have_any_zero_point(tmp_path: Path):
    """TFLite Micro has no such int8 convolution; one of a single tap is its FULLY_CONNECTED, which does."""
    x, filters = int8(1, 4, 3, 8), Constant(WEIGHTS.reshape(6, 1, 1, 8), ASYMMETRIC)
    pointwise = Operator("CONV_2D", [x, filters, None], [int8(1, 4, 3, 6, quant=OTHER)], "Conv2DOptions", WINDOW)
    graph = imported(as_uint8(pointwise).write(), tmp_path)
    array = RNG.integers(0, 256, x.shape).astype(np.uint8)
    rows = [int8(12, 8), Constant(WEIGHTS, ASYMMETRIC), None]
    twin = Operator("FULLY_CONNECTED", rows, [int8(12, 6, quant=OTHER)], "FullyConnectedOptions")
    (wanted,) = TfliteMicro(twin.write()).run((array ^ np.uint8(128)).view(np.int8).reshape(12, 8))
    (got,) = computed(graph, array)
    np.testing.assert_array_equal(got.reshape(12, 6) ^ np.uint8(128), wanted.view(np.uint8))
    with pytest.raises(UnsupportedError, match="weights with a zero point other than 0"):
        imported(pointwise.write(), tmp_path)


ZEROS = {"uint8": (121, 140), "int8": (-7, 12), "int16": (0, 0), "int32": (0, 0)}
PAIRS = [
    ("uint8", "int8"), ("int8", "uint8"), ("int8", "int16"), ("int16", "int8"), ("int16", "int16"), ("int8", "int32"),
    ("int16", "int32"), ("int32", "int8"), ("int32", "int16"), ("float32", "int8"), ("float32", "int16"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "result"), PAIRS)
def test_quantize_between_types(source: str, result: str, tmp_path: Path):
    for scales in ((0.1, 0.13), (0.01, 0.3), (1.0, 0.001)):
        quants = [QuantParams.per_tensor(s, ZEROS[t][i]) if t in ZEROS else None
                  for i, (s, t) in enumerate(zip(scales, (source, result), strict=True))]  # fmt: skip
        x, y = (TensorType(DType(t), (2, 200), q) for t, q in zip((source, result), quants, strict=True))
        operator = Operator("QUANTIZE", [x], [y], "QuantizeOptions")
        graph = imported(operator.write(), tmp_path)
        low, high = (-100_000, 100_000) if source == "int32" else (-128, 127) if source == "float32" else x.dtype.limits
        array = RNG.integers(low, high + 1, x.shape).astype(source)
        (got,) = computed(graph, array)
        assert got.dtype == result
        np.testing.assert_array_equal(got, TfliteMicro(operator.write()).run(array)[0])


def test_real_numbers_as_uint8(tmp_path: Path):
    """TFLite Micro quantizes floats to signed integers alone."""
    y = TensorType(DType.UINT8, (2, 40), UINT8_OTHER)
    graph = imported(Operator("QUANTIZE", [real(2, 40)], [y], "QuantizeOptions").write(), tmp_path)
    x = RNG.normal(0, 12, (2, 40)).astype(np.float32)
    wanted = np.clip(np.floor(x / np.float32(0.13) + 0.5) + 140, 0, 255).astype(np.uint8)
    np.testing.assert_array_equal(computed(graph, x)[0], wanted)


@pytest.mark.parametrize("code", ["MAXIMUM", "MUL", "LOGISTIC"])
def test_floats_between_integers_are_computed_as_floats(code: str, tmp_path: Path):
    """In a QDQ file the same nodes would say how an integer operator is quantized."""
    w = _Writer()
    count, unary = 4000, code == "LOGISTIC"
    given = [int8(1, count), int8(1, count, quant=QuantParams.per_tensor(0.037, 11))][: 1 if unary else 2]
    fed = [w.new_tensor(f"x{i}", t) for i, t in enumerate(given)]
    reals = [w.new_tensor(f"r{i}", real(1, count)) for i in range(len(given))]
    for x, r in zip(fed, reals, strict=True):
        w.operator("DEQUANTIZE", [x], [r], "DequantizeOptions")
    y, stored = w.new_tensor("y", real(1, count)), w.new_tensor("stored", int8(1, count, quant=OTHER))
    w.operator(code, reals, [y], {"MUL": "MulOptions", "MAXIMUM": "MaximumMinimumOptions"}.get(code, ""))
    w.operator("QUANTIZE", [y], [stored], "QuantizeOptions")
    data = w.finish(fed, [stored])
    (tmp_path / "m.tflite").write_bytes(data)
    arrays = [RNG.integers(-128, 128, t.shape).astype(np.int8) for t in given]
    (wanted,) = TfliteMicro(data).run(*arrays)
    (got,) = computed(burnc.load(tmp_path / "m.tflite").graph, *arrays)
    np.testing.assert_array_equal(got, wanted)


def test_convolutions_between_uint8_edges(tmp_path: Path):
    """U092: QUANTIZE from and to uint8, scales of weights along axis 0, and 3 of depthwise ones."""
    w = _Writer()
    x, y = (w.new_tensor(n, TensorType(DType.UINT8, (1, 5, 5, 2), UINT8)) for n in ("x", "y"))
    inner = [w.new_tensor(f"t{i}", t) for i, t in enumerate((int8(1, 5, 5, 2), int8(1, 5, 5, 4), int8(1, 5, 5, 4)))]
    last = w.new_tensor("last", int8(1, 5, 5, 2, quant=OTHER))
    pointwise = RNG.integers(-127, 128, (2, 1, 1, 4)).astype(np.int8)
    layers = (
        ("CONV_2D", FILTERS, PER_AXIS, "Conv2DOptions"),
        ("DEPTHWISE_CONV_2D", FILTERS[:1].repeat(2, 3), PER_AXIS.with_axis(3), "DepthwiseConv2DOptions"),
        ("CONV_2D", pointwise, QuantParams.per_axis([0.02, 0.007], 0), "Conv2DOptions"),
    )
    w.operator("QUANTIZE", [x], [inner[0]], "QuantizeOptions")
    for (code, filters, quant, options), source, result in zip(layers, inner, [*inner[1:], last], strict=True):
        given = {**WINDOW, "DepthMultiplier": 1} if code.startswith("DEPTH") else WINDOW
        operands = [source, w.constant(f"w{source}", filters, quant)]
        w.operator(code, [*operands, -1] if code == "CONV_2D" else operands, [result], options, **given)
    w.operator("QUANTIZE", [last], [y], "QuantizeOptions")
    data = w.finish([x], [y])
    (tmp_path / "m.tflite").write_bytes(data)
    graph = burnc.load(tmp_path / "m.tflite").graph
    assert [v.type.dtype for v in (*graph.inputs, *graph.outputs)] == [DType.UINT8] * 2
    oracle = TfliteMicro(data)
    for _ in range(3):
        array = RNG.integers(0, 256, (1, 5, 5, 2)).astype(np.uint8)
        np.testing.assert_array_equal(computed(graph, array)[0], oracle.run(array)[0])


def shared(name: str) -> list[Path]:
    """A network that is not shipped, where its folder is."""
    return [FOLDER / name] if FOLDER.is_dir() else []


def test_the_hybrid_keyword_spotter():
    """LiteRT's two sets of kernels differ by what dynamic quantization of activations costs; burnc lies nearer."""
    for path in shared("mlperf_kws_dscnn_f32.tflite"):
        model, golden = burnc.load(path), np.load(FOLDER / "golden" / f"{path.name}.npz")
        (got,) = computed(model.graph, golden["s0_in0"])
        assert np.abs(got - golden["s0_out0"]).max() <= kernels_spread(path)
        assert any("became float32 (5 tensors)" in note for note in model.notes)


def test_the_segmentation_net_lacks_one_operator():
    for path in shared("mp_selfie_segmentation.tflite"):
        with pytest.raises(UnsupportedError, match="1 operator is not supported") as raised_error:
            burnc.load(path)
        assert [item.op for item in raised_error.value.items] == ["Convolution2DTransposeBias"]


def test_the_net_between_uint8_edges():
    for path in shared("coral_keras_lstm_mnist_ptq.tflite"):
        model, rng = burnc.load(path), np.random.default_rng(0)
        for _ in range(3):
            x = rng.integers(0, 256, (1, 28, 28)).astype(np.uint8)
            (wanted,) = TfliteMicro(path.read_bytes()).run(x)
            np.testing.assert_array_equal(computed(model.graph, x)[0], wanted)
