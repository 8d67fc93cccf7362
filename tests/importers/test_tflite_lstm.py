"""UNIDIRECTIONAL_SEQUENCE_LSTM as a file, against TFLite Micro: element types, layouts, zero points of either sign."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import tflite

import burnc
from burnc.backends import Backend
from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import UnsupportedError
from burnc.ir import Array, DType, Graph, QuantParams, TensorType
from burnc.numerics import dequantize
from conformance.backends import backend_id, host_backends
from conformance.single_node import merged
from oracles.tflite_writer import _Writer
from oracles.tflm import TfliteMicro
from requirements import requires_package

STEPS, RUNS = 4, 5


@dataclass(frozen=True)
class Lstm:
    """One operator: batch, inputs, hidden; ``dtype`` of x and h, zero points of x and h, scale of c as a power of two.

    ``real``: its integers are written as the real numbers that they stand for.
    """

    shape: tuple[int, int, int] = (1, 3, 4)
    dtype: DType = DType.INT8
    zeros: tuple[int, int] = (5, -20)
    power: int = -12
    time_major: bool = False
    clip: float = 0.0
    weights: float = 0.02
    activation: int = tflite.ActivationFunctionType.TANH
    real: bool = False

    def write(self) -> bytes:
        batch, inputs, hidden = self.shape
        rng, w = np.random.default_rng(6), _Writer()
        first = (STEPS, batch) if self.time_major else (batch, STEPS)
        scales = {DType.INT16: (1 / 16000, 1 / 32768)}.get(self.dtype, (0.03, 1 / 120))
        x, y = (
            w.new_tensor(name, self._written(self._type(self.dtype, (*first, size), scale, zero)))
            for name, size, scale, zero in zip("xy", (inputs, hidden), scales, self.zeros, strict=True)
        )
        bias = DType.INT64 if self.dtype is DType.INT16 else DType.INT32
        shapes = [*[(hidden, inputs)] * 4, *[(hidden, hidden)] * 4, *[(hidden,)] * 4]
        kinds = [*[DType.INT8] * 8, *[bias] * 4]
        constants = []
        for number, (shape, kind) in enumerate(zip(shapes, kinds, strict=True)):
            scale = self.weights * (1 + number % 8 / 8) * (1 if kind is DType.INT8 else scales[0])
            type_ = self._type(kind, shape, scale)
            constants.append(self._constant(w, f"w{number}", type_, self._numbers(rng, type_)))
        h, c = (
            w.variable_tensor(name, self._written(self._type(kind, (batch, hidden), scale, zero)))
            for name, kind, scale, zero in (
                ("h", self.dtype, scales[1], self.zeros[1]),
                ("c", DType.INT16, 2.0**self.power, 0),
            )
        )
        operands = [x, *constants[:8], *[-1] * 3, *constants[8:], -1, -1, h, c, *[-1] * 4]
        options = {"FusedActivationFunction": self.activation, "CellClip": self.clip, "TimeMajor": self.time_major}
        code = "UNIDIRECTIONAL_SEQUENCE_LSTM"
        w.operator(code, operands, [y], "UnidirectionalSequenceLSTMOptions", **options)
        return w.finish([x], [y])

    def _type(self, dtype: DType, shape: tuple[int, ...], scale: float, zero: int = 0) -> TensorType:
        if self.dtype is DType.FLOAT32:
            return TensorType(DType.FLOAT32, shape)
        return TensorType(dtype, shape, QuantParams.per_tensor(scale, zero))

    def _written(self, type_: TensorType) -> TensorType:
        return TensorType(DType.FLOAT32, type_.shape) if self.real else type_

    def _constant(self, w: _Writer, name: str, type_: TensorType, data: Array) -> int:
        return w.new_tensor(name, self._written(type_), dequantize(data, type_) if self.real else data)

    @staticmethod
    def _numbers(rng: np.random.Generator, type_: TensorType) -> Array:
        if type_.dtype is DType.FLOAT32:
            return rng.uniform(-1, 1, type_.shape).astype(np.float32)
        reach = 127 if type_.dtype is DType.INT8 else 3000
        return rng.integers(-reach, reach + 1, type_.shape).astype(type_.dtype.numpy)


INTEGERS = {
    "zero point below": Lstm(),
    "zero point above": Lstm(zeros=(-100, 20)),
    "zero point 0": Lstm(zeros=(0, 0)),
    "least zero points": Lstm((2, 3, 4), zeros=(-128, -128)),
    "batch, time first": Lstm((2, 3, 4), time_major=True, power=-11),
    "clipped cell": Lstm(clip=0.4, power=-13),
    "large weights": Lstm((2, 5, 3), weights=0.2, power=-10),
    "int16": Lstm(dtype=DType.INT16, zeros=(0, 0)),
    "int16, batch, clipped cell": Lstm((2, 3, 4), dtype=DType.INT16, zeros=(0, 0), clip=0.5, weights=0.05),
}
FLOATS = {
    "floats": Lstm(dtype=DType.FLOAT32),
    "floats, time first, clipped": Lstm((2, 3, 4), dtype=DType.FLOAT32, time_major=True, clip=0.5),
}


def load(data: bytes, folder: Path) -> Graph:
    (folder / "m.tflite").write_bytes(data)
    return burnc.load(folder / "m.tflite").graph


def inputs_of(graph: Graph) -> list[Array]:
    type_ = graph.inputs[0].type
    rng = np.random.default_rng(8)
    if type_.dtype is DType.FLOAT32:
        return [rng.uniform(-3, 3, type_.shape).astype(np.float32) for _ in range(RUNS)]
    low, high = type_.dtype.limits
    runs = [rng.integers(low, high + 1, type_.shape).astype(type_.dtype.numpy) for _ in range(RUNS)]
    return runs + [np.full(type_.shape, number, type_.dtype.numpy) for number in (high, low)]


@requires_package("tflite_micro")
@pytest.mark.parametrize("name", INTEGERS)
def test_u087_integers_equal_tflite_micro(name: str, tmp_path: Path):
    """U087: the zero point of the result is added, whatever its sign."""
    data = INTEGERS[name].write()
    graph, oracle = load(data, tmp_path), TfliteMicro(data)
    executable, runs = NumpyReference().compile(graph), inputs_of(graph)
    wanted = [oracle.run(x)[0].tolist() for x in runs]
    for _ in range(2):
        assert [executable.run({"x": x})["y"].tolist() for x in runs] == wanted
        executable.reset()


@requires_package("tflite_micro")
@pytest.mark.parametrize("name", FLOATS)
def test_floats_equal_tflite_micro(name: str, tmp_path: Path):
    data = FLOATS[name].write()
    graph, oracle = load(data, tmp_path), TfliteMicro(data)
    executable = NumpyReference().compile(graph)
    for x in inputs_of(graph):
        np.testing.assert_allclose(executable.run({"x": x})["y"], oracle.run(x)[0], 1e-5, 1e-5)


@pytest.mark.parametrize("name", sorted(set(INTEGERS) - {"least zero points"}))  # holds no negative numbers
def test_u087_integers_are_near_the_real_network(name: str, tmp_path: Path):
    """U087: within what its scales can tell, whatever the zero points; TFLite Micro is not asked."""
    subject = replace(INTEGERS[name], weights=0.002)  # no gate is saturated
    graph, real = load(subject.write(), tmp_path), load(replace(subject, real=True).write(), tmp_path)
    executable, twin = NumpyReference().compile(graph), NumpyReference().compile(real)
    (x,), (y,) = graph.inputs, graph.outputs
    for array in inputs_of(graph):
        got = dequantize(executable.run({"x": array})["y"], y.type)
        np.testing.assert_allclose(got, twin.run({"x": dequantize(array, x.type)})["y"], 0, 0.02)


# No row of C covers it: what is rendered is what runs.
KEEPING = [b for b in host_backends() if b.keeps_state and getattr(b, "variant", "") != "rendered"]


@pytest.mark.parametrize("backend", KEEPING, ids=backend_id)
def test_backends_equal_the_reference(backend: Backend, tmp_path: Path):
    graphs = {str(i): load(subject.write(), tmp_path) for i, subject in enumerate(INTEGERS.values())}
    if backend.name == "webgpu":  # has no integers of 64 bits
        graphs = {name: graph for name, graph in graphs.items() if graph.inputs[0].type.dtype is DType.INT8}
    joined = merged(graphs)
    reference, executable = NumpyReference().compile(joined), backend.compile(joined)
    for step in range(RUNS):
        feeds = {f"{name}.x": inputs_of(graph)[step] for name, graph in graphs.items()}
        got, wanted = executable.run(feeds), reference.run(feeds)
        assert {name: array.tolist() for name, array in got.items()} == {n: a.tolist() for n, a in wanted.items()}


@pytest.mark.parametrize(
    ("subject", "why"),
    [
        (Lstm(activation=tflite.ActivationFunctionType.RELU), "only tanh"),
        (Lstm(dtype=DType.INT16, zeros=(3, 0)), "int16 tensors must have zero point 0"),
    ],
    ids=["activation", "zero point"],
)
def test_what_is_refused(subject: Lstm, why: str, tmp_path: Path):
    with pytest.raises(UnsupportedError, match=why):
        load(subject.write(), tmp_path)
