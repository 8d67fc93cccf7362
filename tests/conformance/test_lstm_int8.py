"""The quantized LSTM: a real network bit for bit as TFLite Micro runs it, state included; odd ones on all backends."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import numpy as np
import pytest
import tflite

import burnc
from burnc.backends import Backend, device
from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import GraphError
from burnc.exporters.onnx import onnx_bytes
from burnc.importers.onnx.beyond import attributes_beyond
from burnc.ir import Builder, DType, Graph, QuantParams, TensorType, print_graph, verify
from burnc.numerics import SIGMOID_TABLE
from burnc.ops import operators
from burnc.ops.lstm import LstmAttrs
from conformance.backends import backend_id, host_backends
from conformance.check import differences
from conformance.single_node import int8_inputs
from oracles.tflm import TfliteMicro
from requirements import requires, requires_package

MODEL = Path(__file__).parents[1] / "models" / "tflm_mnist_lstm_int8.tflite"
ON = [
    "numpy",
    pytest.param("c", marks=requires("host compiler")),
    pytest.param("c:rendered", marks=requires("host compiler")),
    pytest.param("pico", marks=requires("arm compiler", "node", "rp2040js")),
]


def cut_after_lstm() -> bytes:
    """The file with the LSTM's own result as its output: a softmax hides much."""
    data = bytearray(MODEL.read_bytes())
    graph = tflite.Model.GetRootAs(data, 0).Subgraphs(0)
    place = graph._tab.Vector(graph._tab.Offset(8))  # of the outputs
    struct.pack_into("<i", data, place, graph.Operators(0).Outputs(0))
    return bytes(data)


@requires_package("tflite_micro")
@pytest.mark.parametrize("name", ON)
def test_a_real_network_keeps_its_state_as_tflite_micro_does(name: str, tmp_path: Path):
    (tmp_path / "cut.tflite").write_bytes(cut_after_lstm())
    graph = burnc.load(tmp_path / "cut.tflite").graph
    assert [state.read.type.dtype for state in graph.states] == [DType.INT8, DType.INT16]
    (x,), (y,) = graph.inputs, graph.outputs
    rng = np.random.default_rng(2)
    runs = [rng.integers(-128, 128, x.type.shape).astype(np.int8) for _ in range(3)]
    runs += [np.full(x.type.shape, number, np.int8) for number in (127, -128)]
    oracle, executable = TfliteMicro(cut_after_lstm()), device(name).compile(graph)
    wanted = [oracle.run(array)[0] for array in runs]
    assert [executable.run({x.name: array})[y.name].tolist() for array in runs] == [w.tolist() for w in wanted]
    executable.reset()
    assert executable.run({x.name: runs[0]})[y.name].tolist() == wanted[0].tolist()


@requires("host compiler")
@requires_package("tflite_micro")
def test_the_whole_network():
    graph, oracle = burnc.load(MODEL).graph, TfliteMicro(MODEL.read_bytes())
    (x,), (y,) = graph.inputs, graph.outputs
    executable, rng = device("c").compile(graph), np.random.default_rng(3)
    for spread in (20, 60, 128):
        array = rng.integers(-spread, spread, x.type.shape).astype(np.int8)
        assert executable.run({x.name: array})[y.name].tolist() == oracle.run(array)[0].tolist()


def test_the_whole_network_saved_as_onnx_is_the_same(tmp_path: Path):
    """With its int16 state, and the bound on its cell, which ONNX has no place for."""
    graph = burnc.load(MODEL).graph
    (tmp_path / "saved.onnx").write_bytes(onnx_bytes(graph))
    again = burnc.load(tmp_path / "saved.onnx").graph
    assert print_graph(again) == print_graph(graph)
    assert "cell_clip=10.0" in print_graph(again)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"node": 3}', '{"node": {"cell_clip": "x"}}', '{"n": {"c": NaN}}'])
def test_other_texts_say_nothing_of_attributes(text: str):
    assert attributes_beyond(text) == {}


def quantized(direction: str, clip: float, power: int, zero: int) -> Graph:
    a = LstmAttrs(direction, cell_clip=clip)
    directions, batch, size, hidden = len(a.backward), 2, 3, 4
    rng = np.random.default_rng(11)
    h = TensorType(DType.INT8, (directions, batch, hidden), QuantParams.per_tensor(1 / 120, zero))
    c = TensorType(DType.INT16, h.shape, QuantParams.per_tensor(2.0**power))
    graph = Graph("quantized_lstm")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.INT8, (5, batch, size), QuantParams.per_tensor(0.03, -7)))
    rows = rng.uniform(0.002, 0.03, 4 * hidden).tolist()
    operands = [x]
    for name, columns in (("w", size), ("r", hidden)):
        data = rng.integers(-127, 128, (directions, 4 * hidden, columns)).astype(np.int8)
        operands.append(b.constant(name, data, QuantParams.per_axis(rows, 1)))
    operands.append(b.constant("b", rng.integers(-3000, 3000, (directions, 8 * hidden)).astype(np.int32)))
    lengths = b.constant("lengths", np.array([5, 3], np.int32)) if direction == "bidirectional" else None
    states = [b.state("h", h), b.state("c", c)]
    made = b.nodes("lstm", [*operands, lengths, *(s.read for s in states), None], a, outputs=["y", "h_next", "c_next"])
    for value, type_ in zip(made, (h, h, c), strict=True):
        value.type = value.type.with_quant(type_.quant)
    for state, value in zip(states, made[1:], strict=True):
        state.write = value
    graph.outputs = [made[0], made[2]]
    return graph


SETTINGS = [("forward", 0.0, -12, 0), ("reverse", 1.5, -11, 12), ("bidirectional", 0.0, -13, -128)]


@pytest.mark.parametrize("backend", [b for b in host_backends() if b.keeps_state], ids=backend_id)
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s[0])
def test_backend_equals_reference(setting: tuple[str, float, int, int], backend: Backend):
    graph = quantized(*setting)
    verify(graph)
    assert differences(backend.compile(graph), NumpyReference().compile(graph), int8_inputs(graph)) == []


@pytest.mark.parametrize("scale", [0.0003, 2.0**60, 2.0**-60])
def test_a_cell_whose_scale_is_no_power_of_two_or_out_of_reach_is_refused(scale):
    graph = quantized(*SETTINGS[0])
    graph.states[1].read.type = graph.states[1].write.type = TensorType(
        DType.INT16, (1, 2, 4), QuantParams.per_tensor(scale)
    )
    with pytest.raises(GraphError, match="power of two"):
        verify(graph)


def test_the_table_is_the_one_of_tflite():
    assert SIGMOID_TABLE[:6].tolist() == [32768, 33451, 34133, 34813, 35493, 36169]
    assert SIGMOID_TABLE[-3:].tolist() == [65534, 65534, 65535]
    digest = hashlib.sha256(SIGMOID_TABLE.astype("<u2").tobytes()).hexdigest()
    assert digest == "c79a34d2c8c6e794fbb0207601538fe0169e968cd6d9d5ca65fff859dcd55183"
