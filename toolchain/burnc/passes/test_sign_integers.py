from __future__ import annotations

import numpy as np
import pytest

from burnc.ir import Builder, DType, Graph, QuantParams, TensorType, Value, verify
from burnc.ops import operators
from burnc.ops.clip import ClipAttrs
from burnc.ops.quantize import QuantizeAttrs
from burnc.ops.transpose import TransposeAttrs
from burnc.passes.sign_integers import SignIntegers
from passes.rewriting import floats, ops_of, run, started

UINT8 = QuantizeAttrs("uint8")
VALUES = np.array([[-np.inf, -40.0, -1.25, -0.05, 0.0, 0.149], [0.15, 1.0, 12.7, 25.4, 99.0, np.inf]], np.float32)


def quantized(b: Builder, x: Value, quant: QuantParams) -> Value:
    return b.node("quantize", [x], UINT8, quant=quant, rounding="half_even")


@pytest.mark.parametrize("zero_point", [0, 7, 128, 255])
def test_activations_keep_their_real_numbers(zero_point: int) -> None:
    graph, b, x = started(2, 6)
    graph.outputs = [b.node("dequantize", [quantized(b, x, QuantParams.per_tensor(0.1, zero_point))])]
    expected = run(graph, {"x": VALUES})
    assert SignIntegers().run(graph) == 1
    verify(graph)
    inner = graph.nodes[0].output.type
    assert (inner.dtype, inner.quant) == (DType.INT8, QuantParams.per_tensor(0.1, zero_point - 128))
    for name, array in run(graph, {"x": VALUES}).items():
        np.testing.assert_array_equal(array, expected[name])
    assert SignIntegers().run(graph) == 0


def test_constants_keep_theirs_and_their_axis() -> None:
    graph, b, x = started(2, 3)
    held = b.constant("c", np.array([[0, 128, 255], [1, 127, 200]], np.uint8), QuantParams((0.5, 0.25), (128, 3), 0))
    graph.outputs = [b.node("add", [x, b.node("dequantize", [held])])]
    inputs = {"x": floats(2, 3)}
    expected = run(graph, inputs)
    assert SignIntegers().run(graph) == 1
    verify(graph)
    assert held.type == TensorType(DType.INT8, (2, 3), QuantParams((0.5, 0.25), (0, -125), 0))
    for name, array in run(graph, inputs).items():
        np.testing.assert_array_equal(array, expected[name])


def half_wide_constants() -> Graph:
    graph, b, x = started(2)
    symmetric, other = QuantParams((0.5,), (2**15,)), QuantParams((0.5,), (2**15 + 1,))
    data = np.array([0, 65535], np.uint16)
    values = [b.node("dequantize", [b.constant("c", data, quant)]) for quant in (symmetric, other)]
    graph.outputs = [b.node("add", [b.node("add", [x, values[0]]), values[1]])]
    return graph


def test_uint16_is_signed_where_its_zero_point_becomes_0() -> None:
    graph = half_wide_constants()
    inputs = {"x": floats(2)}
    (before,) = run(graph, inputs).values()
    assert SignIntegers().run(graph) == 1
    verify(graph)
    assert sorted(v.type.dtype.value for v in graph.constants()) == ["int16", "uint16"]
    (after,) = run(graph, inputs).values()
    np.testing.assert_array_equal(after, before)


def test_declared_uint8_edges_are_signed_inside() -> None:
    quant, every = QuantParams.per_tensor(0.1, 77), np.arange(256, dtype=np.uint8).reshape(2, 128)
    graph = Graph("net")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.UINT8, every.shape, quant))
    real = b.node("clip", [b.node("dequantize", [x])], ClipAttrs(-3.0, 9.0))
    graph.outputs = [quantized(b, real, QuantParams.per_tensor(0.05, 200))]
    (before,) = run(graph, {"x": every}).values()
    assert SignIntegers().run(graph) == 2
    verify(graph)
    assert ops_of(graph) == ["quantize", "dequantize", "clip", "quantize", "quantize"]
    assert [v.type.dtype for v in (*graph.inputs, *graph.outputs)] == [DType.UINT8] * 2
    (after,) = run(graph, {"x": every}).values()
    np.testing.assert_array_equal(after, before)
    assert SignIntegers().run(graph) == 0


def test_what_only_moves_integers_is_signed_with_them() -> None:
    quant, every = QuantParams.per_tensor(0.1, 77), np.arange(256, dtype=np.uint8).reshape(2, 128)
    graph = Graph("net")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.UINT8, every.shape, quant))
    moved = b.node("transpose", [x], TransposeAttrs((1, 0)), quant=quant)
    graph.outputs = [b.node("clip", [b.node("dequantize", [moved])], ClipAttrs(-3.0, 9.0)), moved]
    before = list(run(graph, {"x": every}).values())
    assert SignIntegers().run(graph) == 2
    verify(graph)
    assert ops_of(graph) == ["quantize", "transpose", "dequantize", "clip", "quantize"]
    assert [v.type.dtype for v in (*graph.inputs, *graph.outputs)] == [DType.UINT8, DType.FLOAT32, DType.UINT8]
    for got, wanted in zip(run(graph, {"x": every}).values(), before, strict=True):
        np.testing.assert_array_equal(got, wanted)


def edges() -> Graph:
    graph, b, x = started(2, 3)
    quant = QuantParams.per_tensor(0.1, 128)
    y = b.input("y", TensorType(DType.UINT8, (2, 3), quant))
    graph.outputs = [quantized(b, x, quant), b.node("dequantize", [y])]
    return graph


def integers_of_another_reader() -> Graph:
    graph, b, x = started(2, 3)
    q = quantized(b, x, QuantParams.per_tensor(0.1, 128))
    graph.outputs = [b.node("dequantize", [q]), b.node("quantize", [q], quant=QuantParams.per_tensor(0.2, 3))]
    return graph


@pytest.mark.parametrize("make", [edges, integers_of_another_reader])
def test_what_is_seen_as_integers_stays(make: object) -> None:
    assert callable(make)
    graph = make()
    assert SignIntegers().run(graph) == 0


def test_an_int8_value_that_becomes_a_uint8_output_is_signed_already() -> None:
    graph = Graph("edges")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.UINT8, (2, 3), QuantParams.per_tensor(0.1, 128)))
    signed = b.node("quantize", [x], QuantizeAttrs("int8"), quant=QuantParams.per_tensor(0.1, 0))
    inner = b.node("clip", [signed], ClipAttrs(0.0), quant=QuantParams.per_tensor(0.1, 0))
    graph.outputs = [b.node("quantize", [inner], UINT8, outputs=("y",), quant=QuantParams.per_tensor(0.1, 128))]
    assert SignIntegers().run(graph) == 0
    assert ops_of(graph) == ["quantize", "clip", "quantize"]
