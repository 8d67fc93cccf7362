"""Quantized rnn, gru and lstm: every backend bit for bit, near to the float layer, the same from a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burnc
from burnc.backends import Backend
from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import GraphError, QuantizationError
from burnc.exporters.onnx import onnx_bytes
from burnc.ir import Array, Builder, DType, Graph, QuantParams, TensorType, print_graph, verify
from burnc.numerics import dequantize, quantize
from burnc.ops import operators
from burnc.ops.gru import GruAttrs
from burnc.ops.lstm import LstmAttrs
from burnc.ops.recurrent import RecurrentAttrs
from burnc.passes import KeepState
from burnc.quant import QuantizeOptions, calibrate, prepare
from burnc.quant import quantize as quantize_graph
from burnc.quant.observers import Range
from conformance.backends import backend_id, host_backends
from conformance.check import differences
from conformance.single_node import int8_inputs, merged
from importers.small_nets import run_onnxruntime

STEPS, BATCH, SIZE, HIDDEN = 6, 2, 3, 4
FORMS: dict[str, tuple[str, Any, int, int]] = {
    "rnn": ("rnn", RecurrentAttrs, 1, 1),
    "gru": ("gru", GruAttrs, 3, 1),
    "gru_linear": ("gru", lambda direction: GruAttrs(direction, linear_before_reset=1), 3, 1),
    "lstm": ("lstm", LstmAttrs, 4, 2),
}
DIRECTIONS = ("forward", "reverse", "bidirectional")


def layer(form: str, direction: str, *, given: bool, ends: bool = False, seed: int = 1) -> Graph:
    """A float layer; ``given``: with initial states, ``ends``: with sequences of different lengths."""
    op, attrs, gates, states = FORMS[form]
    rng, count = np.random.default_rng(seed), 2 if direction == "bidirectional" else 1
    graph = Graph(f"{form}_{direction}")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (STEPS, BATCH, SIZE)))
    shapes = {"w": (gates * HIDDEN, SIZE), "r": (gates * HIDDEN, HIDDEN), "b": (2 * gates * HIDDEN,)}
    constants = [b.constant(n, rng.normal(0, 0.6, (count, *s)).astype(np.float32)) for n, s in shapes.items()]
    state = TensorType(DType.FLOAT32, (count, BATCH, HIDDEN))
    begin = [b.input(name, state) if given else None for name in ("h", "c")[:states]]
    lengths = b.constant("ends", np.array([STEPS, 2], np.int32)) if ends else None
    rest = [None] if op == "lstm" else []
    operands = [x, *constants, lengths, *begin, *rest]
    results = ["y", "h_last", "c_last"][: states + 1]
    graph.outputs = b.nodes(op, operands, attrs(direction), name="layer", outputs=results)
    verify(graph)
    return graph


def samples(graph: Graph, number: int) -> dict[str, Array]:
    rng = np.random.default_rng(5)
    spread = {"x": 1.0, "h": 0.4, "c": 1.0}
    return {v.name: rng.normal(0, spread[v.name], (number, *v.type.shape)).astype(np.float32) for v in graph.inputs}


def int8_form(graph: Graph, data: dict[str, Array]) -> Graph:
    prepared = prepare(graph)
    return quantize_graph(prepared, calibrate(prepared, data), QuantizeOptions(require_int8=True)).graph


def all_forms() -> Iterator[tuple[str, Graph]]:
    for form in FORMS:
        for direction in ("forward", "bidirectional"):
            is_both = direction == "bidirectional"
            graph = layer(form, direction, given=is_both, ends=is_both)
            yield graph.name, int8_form(graph, samples(graph, 40))


# No kernel is written by hand, so plain "c" would be the same program.
BACKENDS = [backend for backend in host_backends() if backend_id(backend) != "c"]


@pytest.mark.parametrize("backend", BACKENDS, ids=backend_id)
def test_backends_are_bit_exact(backend: Backend):
    graph = merged(dict(all_forms()))
    verify(graph)
    assert differences(backend.compile(graph), NumpyReference().compile(graph), int8_inputs(graph)) == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_near_to_the_float_layer(form: str, direction: str):
    graph = layer(form, direction, given=True, ends=True)
    data = samples(graph, 40)
    small = int8_form(graph, data)
    assert {v.type.dtype for v in small.outputs} <= {DType.INT8, DType.INT16}
    real, stored = NumpyReference().compile(graph), NumpyReference().compile(small)
    for sample in range(20):
        inputs = {name: array[sample] for name, array in data.items()}
        wanted = real.run(inputs)
        found = stored.run({v.name: quantize(inputs[v.name], v.type, "half_even") for v in small.inputs})
        for value in small.outputs:
            largest = np.abs(wanted[value.name]).max()
            np.testing.assert_allclose(
                dequantize(found[value.name], value.type), wanted[value.name], rtol=0, atol=0.05 * largest
            )


@pytest.mark.parametrize("zero", [-20, 0, 31])
def test_u087_the_sign_of_the_zero_point(zero: int):
    """h of a quantized lstm, whose zero point TFLite's files may have on either side."""
    graph = layer("lstm", "forward", given=False)
    data = samples(graph, 40)
    prepared = prepare(graph)
    ranges = calibrate(prepared, data)
    lowest = -(zero + 128) * 2 / 255
    for name in ("y", "h_last"):
        ranges[name] = Range(lowest, lowest + 2)
    small = quantize_graph(prepared, ranges, QuantizeOptions(require_int8=True)).graph
    y = small.outputs[0]
    assert y.type.zero_point == zero
    inputs = {"x": data["x"][0]}
    wanted = NumpyReference().compile(graph).run(inputs)["y"]
    (x,) = small.inputs
    found = NumpyReference().compile(small).run({"x": quantize(inputs["x"], x.type, "half_even")})["y"]
    np.testing.assert_allclose(dequantize(found, y.type), wanted, rtol=0, atol=0.03)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("given", [False, True])
def test_the_same_from_a_file(form: str, given: bool, tmp_path: Path):
    graph = layer(form, "bidirectional", given=given)
    if not given:
        graph.outputs = graph.outputs[:1]  # the file then says nothing of c
    data = samples(graph, 20)
    small = int8_form(graph, data)
    (tmp_path / "small.onnx").write_bytes(onnx_bytes(small))
    assert print_graph(burnc.load(tmp_path / "small.onnx").graph) == print_graph(small)
    inputs = {name: array[0] for name, array in data.items()}
    wanted = NumpyReference().compile(graph).run(inputs)
    for name, array in run_onnxruntime(tmp_path / "small.onnx", **inputs).items():
        np.testing.assert_allclose(array, wanted[name], rtol=0, atol=0.05)


def test_a_unit_that_changes_slowly_does_not_stand_still():
    """An update gate near 1 lets h move by a tenth of a step of int8 at a time."""
    graph = Graph("slow")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (200, 1, 1)))
    w, r = (b.constant(n, np.array(v, np.float32).reshape(1, 3, 1)) for n, v in (("w", [0, 0, 2]), ("r", [0, 0, 0])))
    bias = b.constant("b", np.array([[7, 0, 0, 0, 0, 0]], np.float32))
    graph.outputs = b.nodes("gru", [x, w, r, bias, None, None], name="layer", outputs=["y", "h"])
    data = {"x": np.ones((2, 200, 1, 1), np.float32)}
    small = int8_form(graph, data)
    wanted = NumpyReference().compile(graph).run({"x": data["x"][0]})["y"]
    (x,) = small.inputs
    found = NumpyReference().compile(small).run({"x": quantize(data["x"][0], x.type, "half_even")})["y"]
    assert wanted[-1].item() > 0.1
    np.testing.assert_allclose(dequantize(found, small.outputs[0].type), wanted, rtol=0, atol=0.01)


def test_pieces_of_a_stream_are_the_whole():
    """Bit for bit, as an lstm keeps all that it remembers; in integers a state begins as its zero point."""
    small = int8_form(whole := layer("lstm", "forward", given=False), samples(whole, 20))
    shorter = small.copy()
    for value in (*shorter.inputs, shorter.nodes[0].outputs[0]):
        value.type = value.type.with_shape((2, *value.type.shape[1:]))
    assert KeepState().run(shorter) == 2
    verify(shorter)
    (x,) = small.inputs
    array = np.random.default_rng(3).integers(-128, 128, x.type.shape).astype(np.int8)
    wanted = NumpyReference().compile(small).run({"x": array})["y"]
    executable = NumpyReference().compile(shorter)
    pieces = [executable.run({"x": array[i : i + 2]})["y"] for i in range(0, STEPS, 2)]
    np.testing.assert_array_equal(np.concatenate(pieces), wanted)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_streams(form: str, tmp_path: Path):
    """What an int8 layer keeps is integers, whether it was asked to before it was quantized, or when it is loaded."""
    graph = layer(form, "forward", given=False)
    graph.outputs = graph.outputs[:1]
    data = samples(graph, 20)
    kinds = [DType.INT8, DType.INT16][: FORMS[form][3]]
    (tmp_path / "small.onnx").write_bytes(onnx_bytes(int8_form(graph, data)))
    later = burnc.load(tmp_path / "small.onnx", streaming=True).graph
    assert [state.read.type.dtype for state in later.states] == kinds
    assert KeepState().run(graph) == len(kinds)
    earlier = int8_form(graph, data)
    assert [state.read.type.dtype for state in earlier.states] == kinds
    (tmp_path / "stream.onnx").write_bytes(onnx_bytes(earlier))
    assert print_graph(burnc.load(tmp_path / "stream.onnx").graph) == print_graph(earlier)
    real, stored = (NumpyReference().compile(g) for g in (graph, earlier))
    (x,), (y,) = earlier.inputs, earlier.outputs
    for sample in data["x"][:4]:
        found = stored.run({"x": quantize(sample, x.type, "half_even")})["y"]
        np.testing.assert_allclose(dequantize(found, y.type), real.run({"x": sample})["y"], rtol=0, atol=0.05)


def test_what_stays_float_is_named():
    graph = layer("rnn", "forward", given=False)
    graph.nodes[0].attrs = RecurrentAttrs(activations=("relu",), alphas=(0.0,), betas=(0.0,))
    with pytest.raises(QuantizationError, match=r"'layer' \(rnn\): only its own activations"):
        int8_form(graph, samples(graph, 4))


def test_a_sum_that_could_overflow_is_refused():
    graph = int8_form(layer("gru", "forward", given=False), samples(layer("gru", "forward", given=False), 4))
    r = graph.nodes[0].input(2)
    assert r.type.quant is not None
    r.type = r.type.with_quant(QuantParams(tuple(s * 2.0**14 for s in r.type.quant.scale), r.type.quant.zero_point, 1))
    with pytest.raises(GraphError, match="overflow"):
        verify(graph)
