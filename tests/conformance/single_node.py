"""Graphs of one node, made from the operators' cases: float, and int8 with parameters chosen to hurt."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.ir import Array, Builder, DType, Graph, QuantParams, TensorType, Value
from burnc.numerics import quantize
from burnc.ops import OpSpec, operators
from burnc.ops.case import Case, Operand
from burnc.ops.spec import QuantRule


@dataclass(frozen=True)
class Setting:
    """How the activations of an int8 graph are quantized.

    Attributes:
        input_zero: zero point of inputs; the k-th input after the first has the next one in a fixed row.
        output_zero: zero point of the result.
        stretch: factor on the scales that fit the data.
        same: the result has the first input's parameters, also where the operator could have its own.
        per_tensor: weights have one scale.
        dtype: element type of the activations.
        bias: element type of a bias over int16 activations.
        ties: scales are powers of two and the result's is four times what fits, so that exact halves occur.
    """

    name: str
    input_zero: int = -5
    output_zero: int = 11
    stretch: float = 1.0
    same: bool = False
    per_tensor: bool = False
    ties: bool = False
    dtype: DType = DType.INT8
    bias: DType = DType.INT64


SETTINGS = (
    Setting("typical"),
    Setting("lowest", -128, -128),
    Setting("highest", 127, 127),
    Setting("crossed", -128, 127, per_tensor=True),
    Setting("narrow", 3, -7, stretch=0.05),
    Setting("wide", -60, 100, stretch=30.0),
    Setting("same", -17, -17, same=True),
    Setting("ties", -3, 5, ties=True),
)
SETTINGS_INT16 = (
    Setting("typical", 0, 0, dtype=DType.INT16),
    Setting("narrow", 0, 0, stretch=0.05, dtype=DType.INT16, bias=DType.INT32),
    Setting("wide", 0, 0, stretch=30.0, dtype=DType.INT16, per_tensor=True),
    Setting("same", 0, 0, same=True, dtype=DType.INT16),
    Setting("ties", 0, 0, ties=True, dtype=DType.INT16),
)
FURTHER_ZERO_POINTS = (40, -128, 127, 0)


@dataclass(frozen=True)
class Subject:
    """One graph to test and a name for the report."""

    name: str
    spec: OpSpec
    case: Case
    setting: Setting | None = None
    rounding: str = "tflm"

    def __str__(self) -> str:
        return self.name

    def graph(self) -> Graph:
        if self.setting is None:
            return float_graph(self.spec, self.case)
        return int8_graph(self.spec, self.case, self.setting, self.rounding)


def float_subjects() -> Iterator[Subject]:
    """Every float case of every operator."""
    for name, spec in sorted(operators().items()):
        for number, case in enumerate(spec.cases):
            if "float32" in case.kinds:
                yield Subject(f"{name}-{number}", spec, case)


def int8_subjects() -> Iterator[Subject]:
    """Every int8 case of every operator in every setting."""
    for name, spec in sorted(operators().items()):
        for number, case in enumerate(spec.cases):
            if "int8" in case.kinds and spec.quant is not None:
                for setting in SETTINGS:
                    yield Subject(f"{name}-{number}-{setting.name}", spec, case, setting)


def int16_subjects() -> Iterator[Subject]:
    """Every case with 16-bit activations of every operator in every setting."""
    for name, spec in sorted(operators().items()):
        for number, case in enumerate(spec.cases):
            if "int16" in case.kinds:
                for setting in SETTINGS_INT16:
                    yield Subject(f"{name}-{number}-{setting.name}", spec, case, setting)


def seed_of(case: Case) -> int:
    return 1 + sum(sum(o.shape) for o in case.operands if o is not None)


def float_graph(spec: OpSpec, case: Case) -> Graph:
    graph = Graph(spec.name)
    b = Builder(graph, operators())
    rng = np.random.default_rng(seed_of(case))
    values: list[Value | None] = []
    for index, operand in enumerate(case.operands):
        if operand is None:
            values.append(None)
            continue
        data = operand.sample(rng)
        values.append(_operand(b, operand, f"x{index}", data))
    graph.outputs = b.nodes(spec.name, values, case.attrs, name="node", outputs=("y",))
    return graph


def _operand(b: Builder, operand: Operand, name: str, data: Array, quant: QuantParams | None = None) -> Value:
    if operand.constant:
        return b.constant(name, data, quant)
    return b.input(name, TensorType(DType.of(data), data.shape, quant))


def float_inputs(graph: Graph, case: Case, seed: int = 0) -> dict[str, Array]:
    """Numbers for the inputs of ``float_graph(case)``, by the case's own ranges."""
    rng = np.random.default_rng(1000 + seed)
    samples = {f"x{i}": o.sample(rng) for i, o in enumerate(case.operands) if o is not None}
    return {v.name: samples[v.name] for v in graph.inputs}


def int8_graph(spec: OpSpec, case: Case, setting: Setting, rounding: str = "tflm") -> Graph:
    rule = spec.quant
    assert rule is not None
    rng = np.random.default_rng(seed_of(case))
    samples = [None if o is None else o.sample(rng) for o in case.operands]
    attrs = spec.attrs() if case.attrs is None else case.attrs
    with np.errstate(all="ignore"):
        results = spec.forward(np, attrs, *samples)
    result = np.asarray(results[0] if isinstance(results, tuple) else results)
    shared = _fitting(samples[0], setting.input_zero, setting)
    graph = Graph(spec.name)
    b = Builder(graph, operators())
    values: list[Value | None] = []
    activations = 0
    for index, (operand, data) in enumerate(zip(case.operands, samples, strict=True)):
        if operand is None or data is None:
            values.append(None)
        elif index in rule.integer_inputs:
            values.append(_operand(b, operand, f"x{index}", data))
        elif index == rule.weights:
            values.append(_weights(b, f"x{index}", data, rule.weight_axis, setting))
        elif index == rule.bias:
            first, weights = values[0], values[rule.weights or 1]
            assert first is not None
            assert weights is not None
            values.append(_bias(b, f"x{index}", data, first, weights, setting))
        else:
            further = activations > 0 and setting.dtype is DType.INT8
            zero = FURTHER_ZERO_POINTS[activations - 1] if further else setting.input_zero
            quant = shared if rule.result == "same" else _fitting(data, zero, setting)
            activations += 1
            values.append(_operand(b, operand, f"x{index}", _quantized(data, quant, setting.dtype), quant))
    kind = spec.infer(attrs, [None if v is None else v.type for v in values])[0].dtype
    quant = None if 0 in rule.integer_outputs else _result_params(rule, shared, result, setting, kind)
    graph.outputs = b.nodes(spec.name, values, attrs, name="node", outputs=("y",), quant=quant, rounding=rounding)
    return graph


def _result_params(rule: QuantRule, shared: QuantParams, result: Array, setting: Setting, kind: DType) -> QuantParams:
    if isinstance(rule.result, QuantParams):
        return rule.fixed.get((setting.dtype, kind), rule.result)
    output_zero = 0 if kind is DType.INT32 else setting.output_zero
    setting = dataclasses.replace(setting, dtype=kind, output_zero=output_zero)
    if rule.result == "same" or setting.same:
        return shared
    fitting = _fitting(result, setting.output_zero, setting)
    return QuantParams.per_tensor(fitting.scale[0] * 4, setting.output_zero) if setting.ties else fitting


def _fitting(data: Any, zero_point: int, setting: Setting) -> QuantParams:
    """Parameters whose range reaches the largest magnitude on the side that has more room."""
    largest = float(np.max(np.abs(data), initial=1e-3, where=np.isfinite(data)))
    low, high = setting.dtype.limits
    room = max(high - zero_point, zero_point - low)
    scale = largest * setting.stretch / room
    return QuantParams.per_tensor(_power_of_two(scale) if setting.ties else scale, zero_point)


def _power_of_two(scale: Any) -> Any:
    return np.exp2(np.ceil(np.log2(scale)))


def _quantized(data: Any, quant: QuantParams, dtype: DType = DType.INT8) -> Array:
    return quantize(data, TensorType(dtype, np.shape(data), quant))


def _weights(b: Builder, name: str, data: Any, weight_axis: int, setting: Setting) -> Value:
    axis = None if setting.per_tensor else weight_axis
    others = None if axis is None else tuple(i for i in range(data.ndim) if i != axis)
    scale = np.ravel(np.max(np.abs(data), axis=others)).astype(np.float32) / np.float32(127)
    scale = _power_of_two(scale) if setting.ties else scale
    quant = QuantParams.per_tensor(float(scale[0])) if axis is None else QuantParams.per_axis(scale.tolist(), axis)
    return b.constant(name, _quantized(data, quant), quant)


def _bias(b: Builder, name: str, data: Any, x: Value, weights: Value, setting: Setting) -> Value:
    quant = weights.type.quant
    assert quant is not None
    scale = np.float32(x.type.scale) * np.array(quant.scale, np.float32)
    stored = np.rint(data / scale).astype(setting.bias.numpy if x.type.dtype is DType.INT16 else np.int32)
    axis = None if quant.axis is None else 0
    return b.constant(name, stored, QuantParams(tuple(scale.tolist()), (0,) * len(scale), axis))


def merged(graphs: Mapping[str, Graph]) -> Graph:
    """Independent graphs side by side, so that they are compiled at once; names are prefixed by the keys."""
    result = Graph("merged")
    for key, graph in graphs.items():
        part = graph.copy()
        for value in part.values():
            value.name = f"{key}.{value.name}"
        for node in part.nodes:
            node.name = f"{key}.{node.name}"
        result.inputs += part.inputs
        result.outputs += part.outputs
        result.states += part.states
        result.nodes += part.nodes
    return result


def int8_inputs(graph: Graph) -> Iterator[dict[str, Array]]:
    """Full-range random numbers, then all the least, all the largest, and the two against each other.

    Inputs without parameters are indices: they hold 0 to 3, which every case has.
    """
    rng = np.random.default_rng(7)

    def random(v: Value) -> Array:
        low, high = v.type.dtype.limits if v.type.quant else (0, 3)
        return rng.integers(low, high + 1, v.type.shape).astype(v.type.dtype.numpy)

    def filled(*highest: bool) -> dict[str, Array]:
        return {v.name: full(v, highest[i % len(highest)]) for i, v in enumerate(graph.inputs)}

    def full(v: Value, highest: bool) -> Array:
        low, high = v.type.dtype.limits if v.type.quant else (0, 3)
        return np.full(v.type.shape, high if highest else low, v.type.dtype.numpy)

    for _ in range(3):
        yield {v.name: random(v) for v in graph.inputs}
    yield filled(False)
    yield filled(True)
    yield filled(False, True)
