"""Where an int8 graph loses accuracy: signal to quantization noise of every value, float graph against int8 graph."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from burnc.backends import Backend
from burnc.errors import QuantizationError
from burnc.ir import Array, DType, Graph, Node, TensorType, Value
from burnc.numerics import dequantize
from burnc.numerics import quantize as quantize_values
from burnc.ops import spec_of
from burnc.quant.calibrate import activations, runs

THRESHOLD_DB = 15.0


@dataclass(frozen=True)
class ErrorRow:
    """One int8 value beside its float twin.

    Attributes:
        sqnr_db: 10 log10(signal power / error power) of the value as it arises in the int8 graph; infinite without
            error.
        own_sqnr_db: the same for the node alone, fed with its float inputs, quantized; None where an input has no twin.
        weights_sqnr_db: the same for the node's weights, of the output channel that suffers most; None without weights.
            Few strong channels can hide many weak ones in a result, but not here.
        flagged: ``sqnr_db`` or ``weights_sqnr_db`` lies below the threshold.
    """

    node: str
    op: str
    value: str
    sqnr_db: float
    own_sqnr_db: float | None
    weights_sqnr_db: float | None
    flagged: bool


class _Power:
    """Sums of squares of a signal and of its error."""

    def __init__(self) -> None:
        self.signal = 0.0
        self.error = 0.0

    def add(self, real: Array, approximate: NDArray[np.float32]) -> None:
        wanted = real.astype(np.float64)
        self.signal += float(np.sum(wanted * wanted))
        self.error += float(np.sum((wanted - approximate) ** 2))

    @property
    def decibels(self) -> float:
        if self.error == 0:
            return math.inf
        return 10 * math.log10(self.signal / self.error) if self.signal else -math.inf


def twins(float_graph: Graph, int8_graph: Graph) -> dict[Value, Value]:
    """Each quantized activation of the int8 graph -> the float value that it stands for.

    Twins have the same name, or the int8 one's ends in ``.quantized`` (float edges), and the same shape. Values that
    passes made in one graph alone (a requantization, say) have no twin.
    """
    real = {v.name: v for v in activations(float_graph)}
    found: dict[Value, Value] = {}
    for value in int8_graph.values():
        if value.is_constant or value.type.quant is None or value.type.dtype is not DType.INT8:
            continue
        twin = real.get(value.name) or real.get(value.name.removesuffix(".quantized"))
        if twin is not None and twin.type.shape == value.type.shape:
            found[value] = twin
    return found


def error_report(
    float_graph: Graph,
    int8_graph: Graph,
    samples: Mapping[str, Array],
    *,
    threshold_db: float = THRESHOLD_DB,
    backend: Backend | None = None,
) -> list[ErrorRow]:
    """A row for each int8 value that has a float twin, in the int8 graph's order.

    Args:
        float_graph: the prepared graph that ``int8_graph`` was quantized from.
        samples: real inputs, as for ``calibrate``.

    Raises:
        InputError: there are no samples, or they do not fit the graph.
        QuantizationError: the graphs have no value in common.
    """
    pairs = twins(float_graph, int8_graph)
    if not pairs:
        raise QuantizationError("the graphs have no value in common", where=f"graph {int8_graph.name!r}")
    total = {value: _Power() for value in pairs}
    own = {value: _Power() for value in pairs}
    int8_samples = {v.name: _for_input(v, samples) for v in int8_graph.inputs if v.name in samples}
    # Sample by sample, both graphs in step: only one sample's values are held.
    float_runs = runs(float_graph, samples, keep=activations(float_graph), backend=backend, batch=1)
    int8_runs = runs(int8_graph, int8_samples, keep=list(pairs), backend=backend, batch=1)
    for (_, real), (_, approximate) in zip(float_runs, int8_runs, strict=True):
        for value, twin in pairs.items():
            total[value].add(real[twin.name], dequantize(approximate[value.name], value.type))
            alone = _alone(value, pairs, real)
            if alone is not None:
                own[value].add(real[twin.name], alone)
    float_nodes = {node.name: node for node in float_graph.nodes}
    rows = []
    for value in pairs:
        node, decibels = value.producer, total[value].decibels
        weights = None if node is None else _weights_decibels(float_nodes.get(node.name), node)
        rows.append(
            ErrorRow(
                node="" if node is None else node.name,
                op="input" if node is None else node.op,
                value=value.name,
                sqnr_db=decibels,
                own_sqnr_db=own[value].decibels if _has_twins(value, pairs) else None,
                weights_sqnr_db=weights,
                flagged=min(decibels, math.inf if weights is None else weights) < threshold_db,
            )
        )
    return rows


def _weights_decibels(real_node: Node | None, node: Node) -> float | None:
    rule = spec_of(node).quant
    if real_node is None or rule is None or rule.weights is None or real_node.op != node.op:
        return None
    real, held = real_node.input(rule.weights), node.input(rule.weights)
    if real.data is None or held.data is None or real.type.shape != held.type.shape or held.type.quant is None:
        return None
    wanted, got = (np.moveaxis(array, rule.weight_axis, 0) for array in (real.data, dequantize(held.data, held.type)))
    channels = []
    for one, other in zip(wanted, got, strict=True):
        power = _Power()
        power.add(one, other)
        channels.append(power.decibels)
    return min(channels, default=math.inf)


def _for_input(value: Value, samples: Mapping[str, Array]) -> Array:
    array = np.asarray(samples[value.name])
    return quantize_values(array, value.type) if value.type.quant is not None else array


def _has_twins(value: Value, pairs: Mapping[Value, Value]) -> bool:
    node = value.producer
    if node is None:
        return False
    return len(node.outputs) == 1 and all(v.is_constant or v in pairs for v in node.present_inputs)


def _alone(value: Value, pairs: Mapping[Value, Value], real: Mapping[str, Array]) -> NDArray[np.float32] | None:
    """The node's result for its float inputs, quantized."""
    node: Node | None = value.producer
    if node is None or not _has_twins(value, pairs):
        return None
    integer = spec_of(node).integer
    if integer is None:
        return None
    operands = [_operand(v, pairs, real) for v in node.inputs]
    result: Array = np.asarray(integer(node, *operands))
    return dequantize(result, value.type)


def _operand(value: Value | None, pairs: Mapping[Value, Value], real: Mapping[str, Array]) -> Array | None:
    if value is None or value.data is not None:
        return None if value is None else value.data
    array = real[pairs[value].name]
    type_: TensorType = value.type
    return quantize_values(array.reshape(type_.shape), type_)
