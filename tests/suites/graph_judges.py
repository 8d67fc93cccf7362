"""Judges of a whole graph, node by node on equal inputs, so that no rounding of one node is blamed on another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import permutations
from typing import Any

import numpy as np
from onnxruntime.capi.onnxruntime_pybind11_state import Fail

from burnc.backends.numpy_reference import evaluate
from burnc.exporters.onnx import export_onnx
from burnc.ir import Array, DType, Graph, Node, QuantParams, Value
from burnc.ir.graph import constant
from burnc.numerics import dequantize, quantize
from conformance.check import ABSOLUTE, RELATIVE, disagreement
from oracles.tflite_writer import expressible
from oracles.tflm import GraphInTfliteMicro
from suites.guarded import Say, guarded
from suites.onnx_graphs import run_model

_SECONDS, _MEGABYTES = 20.0, 4096
ABSOLUTE_ERROR = {"sigmoid": 2.0**-23}
"""onnxruntime's float kernels that are exact to so much, however small the result.

Its sigmoid is 1/2 plus an odd rational function: off by up to 1.15e-7 on [-30, 30] (measured against float64), and 0
below -18, where the relative error is 1.
"""


def against_truth(graph: Graph, inputs: Mapping[str, Array], truth: Mapping[str, Array]) -> Iterator[str]:
    """The numpy reference against another tool's values of the tensors that both know by name.

    What a node reads is the other tool's value where there is one. The tolerance (1 LSB for quantized tensors) grows
    with the number of nodes between two such tensors; ``ABSOLUTE_ERROR`` is the other tool's own. What is no number
    has no integer in ONNX: ``truth_of`` has the zero point for it.
    """
    held: dict[Value, Array] = {v: inputs[v.name] for v in graph.given}
    depth: dict[Value, int] = dict.fromkeys(held, 0)
    inexact: dict[Value, float] = {}
    for node in graph.nodes:
        operands = [None if v is None else held[v] if v.data is None else v.data for v in node.inputs]
        steps = _operators_in(node) + max((depth.get(v, 0) for v in node.present_inputs), default=0)
        least = max((inexact.get(v, 0.0) for v in node.present_inputs), default=0.0)
        least = max(least, ABSOLUTE_ERROR.get(node.op, 0.0))
        for value, result in zip(node.outputs, evaluate(node, operands), strict=True):
            held[value], depth[value], inexact[value] = result, steps, least
            wanted = truth.get(value.name)
            if wanted is not None and value.type.quant is not None:
                wanted = _stored(wanted, value)
            if wanted is not None and value not in graph.outputs:
                wanted = _in_layout(wanted, result, value, steps)
            if wanted is None:
                continue
            lines = _apart_from(_forgiven(result, wanted, least), wanted, value, steps)
            yield from (f"%{value.name} of {node.op}: {line}" for line in lines)
            held[value], depth[value], inexact[value] = wanted, 0, 0.0


def _forgiven(got: Array, wanted: Array, least: float) -> Array:
    """Floats that are no further from the wanted ones than an absolute error of the oracle become those."""
    if not least or got.shape != wanted.shape or got.dtype != wanted.dtype or wanted.dtype.kind != "f":
        return got
    near: Array = np.where(np.abs(got - wanted) <= least, wanted, got)
    return near


def _stored(wanted: Array, value: Value) -> Array:
    """Another tool's numbers as this quantized value holds them: real ones rounded, unsigned ones moved."""
    if wanted.dtype.kind == "f":
        return quantize(wanted, value.type)
    if wanted.dtype == np.uint8 and value.type.dtype is DType.INT8:
        return (wanted.astype(np.int16) - 128).astype(np.int8)
    return wanted


def _in_layout(wanted: Array, result: Array, value: Value, steps: int) -> Array | None:
    """An inner tensor in the layout that it has here, NHWC for one; None where no layout makes the two agree."""
    if wanted.size != result.size or wanted.dtype != result.dtype:
        return None
    for axes in permutations(range(wanted.ndim)):
        laid_out = wanted.transpose(axes).reshape(result.shape)
        if not _apart_from(result, laid_out, value, steps):
            return laid_out
    return None


def _apart_from(got: Array, wanted: Array, value: Value, steps: int) -> list[str]:
    if value.type.quant is None or got.shape != wanted.shape or got.dtype != wanted.dtype:
        return beyond(got, wanted, steps)
    near = np.abs(got.astype(np.int64) - wanted) <= steps
    return disagreement(np.where(near, wanted, got), wanted)


def beyond(got: Array, wanted: Array, steps: int = 1) -> list[str]:
    """Like ``disagreement``, with a tolerance for so many float operators in a row."""
    if wanted.dtype.kind != "f" or steps == 1:
        return disagreement(got, wanted)
    if got.shape != wanted.shape:
        return disagreement(got, wanted)
    finite = np.isfinite(wanted)
    largest = np.max(np.abs(wanted), initial=0.0, where=finite)
    allowed = steps * (RELATIVE * np.abs(np.where(finite, wanted, 0)) + ABSOLUTE * largest)
    near = np.abs(got - wanted) <= allowed
    return disagreement(np.where(near & finite, wanted, got), wanted)


def against_reference(graph: Graph, tapped: Mapping[str, Array]) -> Iterator[str]:
    """A backend's values of every tensor against the numpy reference, each node on the backend's own operands."""
    for node in graph.nodes:
        operands = [None if v is None else tapped[v.name] if v.data is None else v.data for v in node.inputs]
        for value, wanted in zip(node.outputs, evaluate(node, operands), strict=True):
            lines = beyond(tapped[value.name], wanted, _operators_in(node))
            yield from (f"%{value.name} of {node.op}: {line}" for line in lines)


def all_values(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Every tensor of a graph as the numpy reference computes it."""
    held: dict[str, Array] = dict(inputs)
    for node in graph.nodes:
        operands = [None if v is None else held[v.name] if v.data is None else v.data for v in node.inputs]
        held |= zip((v.name for v in node.outputs), evaluate(node, operands), strict=True)
    return held


def against_onnxruntime(graph: Graph, values: Mapping[str, Array]) -> Iterator[str]:
    """Each node, written as ONNX for itself, against onnxruntime on equal inputs: 1 LSB where it is quantized."""
    nodes = [n for n in graph.nodes if n.op not in ("quantize", "dequantize") and _is_real(n)]
    try:
        yield from _differing_from_onnxruntime(nodes, values)
    except Fail:  # it does not take one of them, as Resize by cubics along channels
        for node in nodes:
            with suppress(Fail):
                yield from _differing_from_onnxruntime([node], values)


def _differing_from_onnxruntime(nodes: list[Node], values: Mapping[str, Array]) -> Iterator[str]:
    apart = _apart(nodes)
    feeds = {v.name: _real(values[v.name.partition(".")[2]], v) for v in apart.inputs}
    results = run_model(export_onnx(apart), feeds) if nodes else {}
    for index, node in enumerate(nodes):
        for value in node.outputs:
            yield from (
                f"%{value.name} of {node.op} against onnxruntime: {line}"
                for line in _within_lsb(node, values, results[f"{index}.{value.name}"], value)
            )


def against_tflite_micro(graph: Graph, values: Mapping[str, Array]) -> Iterator[str]:
    """Each quantized node that TFLite has, bit for bit against TFLite Micro on equal inputs.

    It runs in a process of its own, for TFLite Micro ends its process where it does not like a model.
    """
    nodes = [n for n in graph.nodes if n.outputs[0].type.quant is not None and _is_as_tflite_has_it(n)]
    if not nodes:
        return
    lines = _said_by_tflite_micro(nodes, values)
    if lines is None and len(nodes) > 1:  # one of them is not taken
        for node in nodes:
            yield from _said_by_tflite_micro([node], values) or ()
    yield from lines or ()


def _is_as_tflite_has_it(node: Node) -> bool:
    """TFLite Micro takes fixed parameters (tanh, softmax) for granted."""
    spec: Any = node.operator
    fixed = spec.quant.result if spec.quant is not None and isinstance(spec.quant.result, QuantParams) else None
    return fixed in (None, node.outputs[0].type.quant) and expressible(_apart([node]))


def _said_by_tflite_micro(nodes: list[Node], values: Mapping[str, Array]) -> list[str] | None:
    def work(say: Say) -> None:
        say(("lines", list(_differing(nodes, values))))

    answers = guarded(work, _SECONDS, _MEGABYTES)
    lines: list[str] | None = answers[0][1] if answers and answers[0][0] == "lines" else None
    return lines


def _differing(nodes: list[Node], values: Mapping[str, Array]) -> Iterator[str]:
    apart = _apart(nodes)
    feeds = {v.name: values[v.name.partition(".")[2]] for v in apart.inputs}
    for name, wanted in GraphInTfliteMicro(apart).run(feeds).items():
        number, _, value = name.partition(".")
        for line in disagreement(values[value], wanted):
            yield f"%{value} of {nodes[int(number)].op} against tflite-micro: {line}"


def _within_lsb(node: Node, values: Mapping[str, Array], result: Array, value: Value) -> list[str]:
    """What is no number (0 / 0) has no integer that is right; ``_after_saturation`` is not counted either."""
    got = values[value.name]
    if value.type.quant is None:
        return disagreement(_forgiven(got, result, ABSOLUTE_ERROR.get(node.op, 0.0)), result)
    wanted = quantize(result, value.type)
    near = np.abs(got.astype(np.int64) - wanted) <= _allowed(node, value)
    if not near.all():
        index, real = node.outputs.index(value), _real_results(node, values)
        near |= np.isnan(real[index])
        if _operators_in(node) > 1:
            near |= _after_saturation(node, real[0], index)
    return disagreement(np.where(near, wanted, got), wanted)


def _after_saturation(node: Node, real: Array, index: int) -> Array:
    """Where a layer with memory has gone on from a state that left its integers' range, and floats hold.

    Args:
        real: its first result, [steps, directions, batch, features], in floats.
        index: of the result that is asked about.
    """
    type_ = node.outputs[0].type
    if type_.quant is None or real.ndim != 4:
        return np.zeros(node.outputs[index].type.shape, np.bool_)
    low, high = type_.dtype.limits
    stored = real / type_.scale + type_.zero_point
    lost = np.asarray(((stored < low - 0.5) | (stored > high + 0.5)).any(axis=-1, keepdims=True))
    after, ended = np.zeros_like(lost), np.zeros_like(lost[0])
    for way in range(lost.shape[1]):
        order = slice(None, None, -1 if way == 1 or node.attrs.direction == "reverse" else 1)
        before = np.logical_or.accumulate(lost[order, way], axis=0)[:-1]
        after[order, way][1:] = before
        ended[way] = before[-1] if len(before) else False
    return np.broadcast_to(ended if index else after, node.outputs[index].type.shape)


def _is_real(node: Node) -> bool:
    """Whole numbers are whole numbers everywhere, and products of wide ones have no ONNX form."""
    return any(v.type.quant is not None or v.type.dtype.is_float for v in [*node.present_inputs, *node.outputs])


def _allowed(node: Node, value: Value) -> int:
    """Steps of the result. A layer with memory is two operators in a row for each step in time."""
    return _operators_in(node) * (256 if value.type.dtype is DType.INT16 and _operators_in(node) > 1 else 1)


def _operators_in(node: Node) -> int:
    spec: Any = node.operator
    return 2 * node.input(0).type.shape[0] if spec.recurrent else 1


def _real_results(node: Node, values: Mapping[str, Array]) -> list[Array]:
    """The node's results in floats, from the real numbers that its operands stand for."""
    spec: Any = node.operator
    held = [None if v is None else _real(values[v.name] if v.data is None else v.data, v) for v in node.inputs]
    with np.errstate(all="ignore"):
        results = spec.forward(np, node.attrs, *held)
    return [np.asarray(r) for r in (results if isinstance(results, tuple) else (results,))]


def _real(array: Array, value: Value) -> Array:
    return array if value.type.quant is None else dequantize(array, value.type)


def _apart(nodes: list[Node]) -> Graph:
    """The nodes side by side, each with inputs of its own; names are prefixed by the node's number."""
    result = Graph("apart")
    for index, node in enumerate(nodes):
        twin: dict[Value, Value] = {}
        for value in node.present_inputs:
            if value in twin:
                continue
            name = f"{index}.{value.name}"
            if value.data is None:
                twin[value] = Value(name, value.type)
                result.inputs.append(twin[value])
            else:
                twin[value] = constant(name, value.data, value.type.quant)
        inputs = [None if v is None else twin[v] for v in node.inputs]
        outputs = [Value(f"{index}.{v.name}", v.type) for v in node.outputs]
        result.nodes.append(Node(node.operator, node.attrs, inputs, outputs, f"{index}.{node.name}", node.rounding))
        result.outputs += outputs
    return result
