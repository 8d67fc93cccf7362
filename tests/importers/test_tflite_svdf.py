"""SVDF as a file, step by step, against TFLite Micro: its integer kernel with either state, and floats."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import tflite

import burnc
from burnc.backends import Backend, device
from burnc.backends.numpy_reference import NumpyReference
from burnc.boards import load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.errors import UnsupportedError
from burnc.ir import Array, DType, Graph, QuantParams, TensorType
from conformance.backends import backend_id, host_backends
from conformance.single_node import merged
from oracles.tflite_writer import _Writer
from oracles.tflm import TfliteMicro
from requirements import requires_package

STEPS = 7
RELU, NONE = tflite.ActivationFunctionType.RELU, tflite.ActivationFunctionType.NONE


@dataclass(frozen=True)
class Svdf:
    """One operator: batch, inputs, filters, memory, rank, and how it is quantized (float where ``state`` is)."""

    shape: tuple[int, int, int, int, int] = (1, 5, 6, 4, 1)
    state: DType = DType.INT16
    zeros: tuple[int, int, int] = (-7, 0, -128)  # of x, state, y
    scales: tuple[float, float, float, float, float] = (0.1, 0.01, 0.0005, 0.002, 0.01)  # x, feature, state, time, y
    activation: int = RELU
    largest: int = 0  # magnitude of w_time; 0 for the element type's own

    @property
    def feature(self) -> TensorType:
        return self.type(DType.INT8, (self.shape[2], self.shape[1]), self.scales[1])

    @property
    def time(self) -> TensorType:
        return self.type(self.state, self.shape[2:4], self.scales[3])

    @property
    def bias(self) -> TensorType:
        return self.type(DType.INT32, (self.shape[2] // self.shape[4],), self.scales[2] * self.scales[3])

    def write(self) -> bytes:
        batch, inputs, filters, memory, rank = self.shape
        rng, w = np.random.default_rng(3), _Writer()
        fed = w.new_tensor("x", self.type(DType.INT8, (batch, inputs), self.scales[0], self.zeros[0]))
        result = w.new_tensor("y", self.type(DType.INT8, (batch, filters // rank), self.scales[4], self.zeros[2]))
        state = self.type(self.state, (batch, filters * memory), self.scales[2], self.zeros[1])
        types = (("f", self.feature), ("t", self.time), ("b", self.bias))
        operands = [fed, *(w.new_tensor(n, t, self.numbers(rng, t)) for n, t in types), w.variable_tensor("s", state)]
        options = {"Rank": rank, "FusedActivationFunction": self.activation}
        w.operator("SVDF", operands, [result], "SVDFOptions", **options)
        return w.finish([fed], [result])

    def type(self, dtype: DType, shape: tuple[int, ...], scale: float, zero: int = 0) -> TensorType:
        if self.state is DType.FLOAT32:
            return TensorType(DType.FLOAT32, shape)
        return TensorType(dtype, shape, QuantParams.per_tensor(scale, zero))

    def numbers(self, rng: np.random.Generator, type_: TensorType) -> Array:
        if type_.dtype is DType.FLOAT32:
            return rng.uniform(-1, 1, type_.shape).astype(np.float32)
        reach = {DType.INT8: 127, DType.INT16: 32767, DType.INT32: 5000}[type_.dtype]
        reach = self.largest if self.largest and type_.dtype is self.state else reach
        return rng.integers(-reach, reach + 1, type_.shape).astype(type_.dtype.numpy)


INT8_STATE = (0.1, 0.01, 0.1, 0.004, 0.03)
INTEGERS = {
    "int16 state": Svdf(),
    "rank 2, batch 2": Svdf((2, 3, 6, 3, 2)),
    "no memory": Svdf((1, 3, 2, 1, 1)),
    "one unit": Svdf((1, 4, 3, 5, 3), zeros=(60, 0, 4), scales=(0.1, 0.01, 0.0005, 0.002, 20.0), activation=NONE),
    "activation above the least": Svdf(zeros=(-128, 0, -20)),
    "small time weights": Svdf(largest=900, scales=(0.1, 0.01, 0.0005, 0.01, 0.02)),
    "wrapping sums": Svdf((1, 5, 6, 9, 2), scales=(0.4, 0.03, 0.00002, 0.00002, 0.02)),
    "int8 state": Svdf(state=DType.INT8, scales=INT8_STATE),
    "int8 state, rank 2": Svdf((2, 3, 4, 3, 2), state=DType.INT8, scales=INT8_STATE, zeros=(3, 0, 11)),
}
FLOATS = {
    "floats": Svdf(state=DType.FLOAT32),
    "floats, rank 3, no activation": Svdf((2, 3, 6, 4, 3), state=DType.FLOAT32, activation=NONE),
}


def keyword_spotter() -> bytes:
    """From int16 audio features to int32 scores, as TFLite Micro's own example: SVDF, then softmax into int16."""
    w, svdf = _Writer(), Svdf((1, 5, 6, 4, 1))
    rng = np.random.default_rng(4)

    def tensor(name: str, dtype: DType, size: int, scale: float, zero: int) -> int:
        return w.new_tensor(name, TensorType(dtype, (1, size), QuantParams.per_tensor(scale, zero)))

    fed = tensor("x", DType.INT16, 5, 0.0004, 0)
    state = TensorType(DType.INT16, (1, 24), QuantParams.per_tensor(svdf.scales[2]))
    constants = [svdf.feature, svdf.time, svdf.bias]
    operands = [tensor("x8", DType.INT8, 5, 0.1, -7)]
    operands += [w.new_tensor(f"w{i}", t, svdf.numbers(rng, t)) for i, t in enumerate(constants)]
    w.operator("QUANTIZE", [fed], operands[:1], "QuantizeOptions")
    units, logits = tensor("u", DType.INT8, 6, 2.0, -128), tensor("l", DType.INT8, 3, 0.9, 5)
    options = {"Rank": 1, "FusedActivationFunction": RELU}
    w.operator("SVDF", [*operands, w.variable_tensor("s", state)], [units], "SVDFOptions", **options)
    matrix = w.constant("m", rng.integers(-127, 128, (3, 6)).astype(np.int8), QuantParams.per_tensor(0.01))
    w.operator("FULLY_CONNECTED", [units, matrix, -1], [logits], "FullyConnectedOptions")
    scores = tensor("p", DType.INT16, 3, 1 / 65535, -32768)
    w.operator("SOFTMAX", [logits], [scores], "SoftmaxOptions", Beta=1.0)
    result = tensor("y", DType.INT32, 3, 2 / 65535, 0)
    w.operator("QUANTIZE", [scores], [result], "QuantizeOptions")
    return w.finish([fed], [result])


def load(data: bytes, folder: Path) -> Graph:
    (folder / "m.tflite").write_bytes(data)
    return burnc.load(folder / "m.tflite").graph


def inputs_of(graph: Graph) -> list[Array]:
    type_ = graph.inputs[0].type
    rng = np.random.default_rng(8)
    if type_.dtype is DType.FLOAT32:
        return [rng.uniform(-2, 2, type_.shape).astype(np.float32) for _ in range(STEPS)]
    low, high = type_.dtype.limits
    runs = [rng.integers(low, high + 1, type_.shape).astype(type_.dtype.numpy) for _ in range(STEPS)]
    return runs + [np.full(type_.shape, number, type_.dtype.numpy) for number in (high, low)]


FILES = {**{name: subject.write() for name, subject in INTEGERS.items()}, "keyword spotter": keyword_spotter()}


@requires_package("tflite_micro")
@pytest.mark.parametrize("name", FILES)
def test_integers_equal_tflite_micro(name: str, tmp_path: Path):
    data = FILES[name]
    graph, oracle = load(data, tmp_path), TfliteMicro(data)
    executable, runs = device("numpy").compile(graph), inputs_of(graph)
    wanted = [oracle.run(x)[0].tolist() for x in runs]
    assert len({str(w) for w in wanted}) > STEPS // 2
    for _ in range(2):
        assert [executable.run({"x": x})["y"].tolist() for x in runs] == wanted
        executable.reset()


def test_sums_over_time_do_wrap_around(tmp_path: Path):
    """So that the subject of that name shows it."""
    graph = load(INTEGERS["wrapping sums"].write(), tmp_path)
    (node,) = (n for n in graph.nodes if n.op == "svdf")
    executable = device("numpy").compile(graph, keep=[node.outputs[1]])
    held = [executable.run({"x": x})[node.outputs[1].name] for x in inputs_of(graph)]
    time = node.input(2).data
    assert time is not None
    sums = [(h.astype(np.int64) * time).reshape(1, 3, -1).sum(axis=2) for h in held]
    assert np.abs(sums).max() > 2**31


@pytest.mark.parametrize(
    ("subject", "why"),
    [
        (Svdf(state=DType.INT8, scales=INT8_STATE, zeros=(3, 5, 11)), "the state must have zero point 0"),
        (Svdf((1, 5, 6, 4, 4)), "6 filters do not go with rank 4"),
        (Svdf(scales=(0.1, 0.01, 0.5, 0.5, 0.01)), "it must be below 1"),
        (Svdf(scales=(0.1, 0.1, 1e-9, 0.5, 0.01)), "can overflow int32"),
        (Svdf(state=DType.FLOAT32, activation=tflite.ActivationFunctionType.TANH), "fused activation TANH"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_what_is_refused(subject: Svdf, why: str, tmp_path: Path):
    with pytest.raises(UnsupportedError, match=why):
        load(subject.write(), tmp_path)


@requires_package("tflite_micro")
@pytest.mark.parametrize("name", FLOATS)
def test_floats_equal_tflite_micro(name: str, tmp_path: Path):
    data = FLOATS[name].write()
    graph, oracle = load(data, tmp_path), TfliteMicro(data)
    executable = device("numpy").compile(graph)
    for x in inputs_of(graph):
        np.testing.assert_allclose(executable.run({"x": x})["y"], oracle.run(x)[0], 1e-5, 1e-5)


# No row of C covers it: what is rendered is what runs.
KEEPING = [b for b in host_backends() if b.keeps_state and getattr(b, "variant", "") != "rendered"]


@pytest.mark.parametrize("backend", KEEPING, ids=backend_id)
def test_backends_equal_the_reference(backend: Backend, tmp_path: Path):
    graphs = {str(i): load(data, tmp_path) for i, data in enumerate(FILES.values())}
    joined = merged(graphs)
    reference, executable = NumpyReference().compile(joined), backend.compile(joined)
    for step in range(STEPS):
        feeds = {f"{name}.x": inputs_of(graph)[step] for name, graph in graphs.items()}
        got, wanted = executable.run(feeds), reference.run(feeds)
        assert {name: array.tolist() for name, array in got.items()} == {n: a.tolist() for n, a in wanted.items()}


def test_in_c_the_state_moves_on_where_it_lies(tmp_path: Path):
    """No second copy of it is in the arena, and none is made."""
    graph = load(INTEGERS["int16 state"].write(), tmp_path)
    program = lower(graph, load_board("host"), LowerOptions(name="m"))
    assert [step.node.op for step in program.steps] == ["svdf"]
    assert program.plan.bytes < graph.states[0].read.type.nbytes
