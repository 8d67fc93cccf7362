"""A calibrated float graph becomes an int8 graph: parameters are chosen, and quantize and dequantize nodes inserted.

``burnc.passes.absorb_qdq`` turns those into int8 operators, as it does for QDQ files and trained graphs.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from burnc.errors import QuantizationError, Unsupported
from burnc.ir import Array, Builder, DType, Graph, Node, QuantParams, TensorType, Value
from burnc.ir.metadata import IO
from burnc.numerics import quantize as quantize_values
from burnc.ops import operators, spec_of
from burnc.ops.quantize import QuantizeAttrs
from burnc.ops.spec import QuantRule
from burnc.passes import (
    AbsorbEdges,
    AbsorbQdq,
    DropIdentity,
    FoldConstants,
    RemoveDeadCode,
    canonical_passes,
    run_passes,
)
from burnc.passes.lower_batch_norm import LowerBatchNorm
from burnc.quant.accumulators import check_accumulators
from burnc.quant.groups import activation_params, why_not_int8, wide_params
from burnc.quant.masks import bound_masks, hold_masks
from burnc.quant.observers import Range, params
from burnc.quant.weights import LARGEST_OPERAND, QuantizedWeights, check_finite, quantize_weights

QDQ = ("quantize", "dequantize")


@dataclass(frozen=True)
class QuantizeOptions:
    """How to quantize.

    Attributes:
        per_axis: one weight scale an output channel; else one a tensor.
        io_type: ``int8`` inputs and outputs, or ``float`` ones with quantize and dequantize nodes inside.
        require_int8: refuse a graph in which an operator would stay float.
    """

    per_axis: bool = True
    io_type: Literal["int8", "float"] = "int8"
    require_int8: bool = False


@dataclass(frozen=True)
class QuantizedResult:
    """The int8 graph, what the user should know, and the nodes that stayed float with the reason."""

    graph: Graph
    warnings: list[str] = field(default_factory=list)
    left_in_float: list[Unsupported] = field(default_factory=list)


def prepare(graph: Graph) -> Graph:
    """A copy in the form that is calibrated and quantized: canonical, and no batch_norm left to itself.

    Raises:
        QuantizationError: the graph is quantized already.
    """
    if any(v.type.quant is not None for v in graph.values()):
        raise QuantizationError("the graph is quantized already", where=f"graph {graph.name!r}")
    result = graph.copy()
    run_passes(result, canonical_passes())
    run_passes(result, [*canonical_passes(), LowerBatchNorm()])
    hold_masks(result)
    return result


def quantize(
    graph: Graph, ranges: Mapping[str, Range], options: QuantizeOptions = QuantizeOptions()
) -> QuantizedResult:
    """The int8 form of a float graph, which stays as it is.

    Args:
        graph: as ``prepare`` returns it.
        ranges: as ``calibrate`` returns them for that graph.

    Raises:
        QuantizationError: a weight is NaN or infinite, a range is missing, a sum could overflow, or operators would
            stay float although the options forbid it.
    """
    result = graph.copy()
    result.metadata.pop(IO, None)
    ranges = bound_masks(result, ranges)
    reasons = {node.name: why_not_int8(node) for node in result.nodes}
    nodes = [node for node in result.nodes if not reasons[node.name]]
    _check_constants(result)
    chosen, groups = activation_params(result, nodes, ranges)
    wide = wide_params(result, nodes, ranges, chosen)
    plain = [node for node in nodes if _rule(node).own is None]
    weights = _fitted(plain, chosen, groups, options)
    warnings = [_warning(node, channel) for node in nodes if node in weights for channel in weights[node].widened]
    _insert_constants(result, plain, chosen, weights)
    _insert_own_weights(result, nodes, chosen, options)
    _insert_activations(result, nodes, {**chosen, **wide}, wide)
    edges = [AbsorbEdges()] if options.io_type == "int8" else []
    run_passes(result, [AbsorbQdq(), *edges, DropIdentity(), RemoveDeadCode()])
    # A constant that a float neighbour reads, or that was quantized as an activation, would be computed in each run.
    run_passes(result, [FoldConstants(dequantized=True), DropIdentity(), RemoveDeadCode()])
    left = [
        Unsupported(node.name, node.op, reasons.get(node.name) or "its neighbours are float")
        for node in result.nodes
        if node.op not in QDQ and any(v.type.dtype.is_float for v in node.outputs)
    ]
    if left and options.require_int8:
        listed = "; ".join(f"node {item.node!r} ({item.op}): {item.why}" for item in left)
        noun = "operator stays" if len(left) == 1 else "operators stay"
        raise QuantizationError(
            f"{len(left)} {noun} float", where=listed, hint="replace these operators, or allow them (--allow-float)"
        )
    check_accumulators(result)
    return QuantizedResult(result, warnings, left)


def _check_constants(graph: Graph) -> None:
    for node in graph.nodes:
        for value in node.present_inputs:
            if value.data is not None and value.type.dtype.is_float:
                check_finite(value.data, node=node.name, tensor=value.name)


def _warning(node: Node, channel: int) -> str:
    return (
        f"node {node.name!r}, channel {channel}: the weight scale was widened, for the bias would not have fitted "
        "int32; the weights of this channel are coarser than int8 could hold them"
    )


def _fitted(
    nodes: list[Node], chosen: dict[Value, QuantParams], groups: Mapping[Value, Value], options: QuantizeOptions
) -> dict[Node, QuantizedWeights]:
    """Quantized weights, and ``chosen`` with scales widened where a requantization would overflow int32.

    A result whose range is tiny beside what could arise (a dead channel, say) asks for a factor above 1, which shifts
    the accumulator to the left. Scales only grow, so this ends.
    """
    while True:
        weights = {node: _weights(node, chosen, options) for node in nodes if _rule(node).weights is not None}
        grown = False
        for node in nodes:
            least, held = _least_output_scale(node, chosen, weights), chosen[node.output]
            if _rule(node).result == "own" and held.scale[0] < least:
                wider = QuantParams.per_tensor(least * (1 + 1e-6), held.zero_point[0])
                group = groups[node.output]
                chosen.update({v: wider for v, g in groups.items() if g is group})
                grown = True
        if not grown:
            return weights


def _rule(node: Node) -> QuantRule:
    rule = spec_of(node).quant
    assert rule is not None
    return rule


def _weights(node: Node, chosen: Mapping[Value, QuantParams], options: QuantizeOptions) -> QuantizedWeights:
    rule, bias = _rule(node), _bias(node)
    assert rule.weights is not None
    return quantize_weights(
        _data(node.input(rule.weights)),
        rule.weight_axis if options.per_axis else None,
        input_scale=chosen[node.input(0)].scale[0],
        bias=None if bias is None else bias.data,
    )


def _bias(node: Node) -> Value | None:
    index = _rule(node).bias
    return node.inputs[index] if index is not None and index < len(node.inputs) else None


def _data(value: Value) -> Array:
    assert value.data is not None
    return value.data


def _least_output_scale(
    node: Node, chosen: Mapping[Value, QuantParams], weights: Mapping[Node, QuantizedWeights]
) -> float:
    """The least scale for which 2 * factor * largest accumulator stays below 2**31, where the factor is above 1."""
    scales = [(chosen[v] if v.data is None else _constant_params(v)).scale[0] for v in _rule(node).activations(node)]
    if node in weights:
        held = weights[node]
        rows = np.moveaxis(held.data.astype(np.float64), _rule(node).weight_axis, 0)
        sums = LARGEST_OPERAND * np.abs(rows.reshape(len(rows), -1)).sum(axis=1)
        products = np.broadcast_to(scales[0] * np.array(held.quant.scale), sums.shape)
        bias = _bias(node)
        if bias is not None:
            sums = sums + np.abs(_data(bias)) / products + 1
    elif node.op in ("matmul", "mul"):
        terms = node.input(0).type.shape[-1] if node.op == "matmul" else 1
        products, sums = np.array([np.prod(scales)]), np.array([255.0 * 255.0 * terms])
    elif node.op == "reduce_sum":
        terms = node.input(0).type.size // node.output.type.size
        products, sums = np.array(scales), np.array([255.0 * terms])
    else:
        # Sums of at most 2**9 (2**29 where TFLite's add gives its operands 20 more bits) of the larger input scale.
        return float(max(scales)) * 2.0**-20
    return float(np.minimum(products, products * sums / 2**30).max(initial=0.0))


def _constant_params(value: Value) -> QuantParams:
    data = _data(value)
    return params(float(data.min(initial=0.0)), float(data.max(initial=0.0)))


def _insert_constants(
    graph: Graph, nodes: list[Node], chosen: Mapping[Value, QuantParams], weights: Mapping[Node, QuantizedWeights]
) -> None:
    """Constant operands come from dequantized int8 constants; what nodes share with equal parameters stays shared."""
    made: dict[tuple[Value, QuantParams], Value] = {}
    for node in nodes:
        rule = _rule(node)
        builder = Builder(graph, operators(), anchor=node)
        for index, value in enumerate(node.inputs):
            if value is None or value.data is None or index == rule.bias or index in rule.integer_inputs:
                continue
            if index == rule.weights:
                data, quant = weights[node].data, weights[node].quant
            else:
                quant = chosen[node.output] if rule.result == "same" else _constant_params(value)
                data = quantize_values(value.data, TensorType(DType.INT8, value.type.shape, quant))
            if (value, quant) not in made:
                held = builder.constant(value.name, data, quant)
                made[value, quant] = builder.node("dequantize", [held], name=value.name + ".dequantize")
            node.inputs[index] = made[value, quant]
        builder.settle_names()


def _insert_own_weights(
    graph: Graph, nodes: list[Node], chosen: Mapping[Value, QuantParams], options: QuantizeOptions
) -> None:
    """The weights of nodes that say themselves how they become int8; their other constants they quantize themselves."""
    for node in nodes:
        own = _rule(node).own
        if own is None:
            continue
        builder = Builder(graph, operators(), anchor=node)
        for index, axis in own.weights:
            value = node.input(index)
            made = quantize_weights(_data(value), axis if options.per_axis else None)
            held = builder.constant(value.name, made.data, made.quant)
            node.inputs[index] = builder.node("dequantize", [held], name=value.name + ".dequantize")
        builder.settle_names()


def _insert_activations(
    graph: Graph, nodes: list[Node], chosen: Mapping[Value, QuantParams], wide: Container[Value]
) -> None:
    """Insert quantize and dequantize behind every value that an int8 node reads or makes.

    The int8 value takes the name of an inner float value whose producer becomes int8. Edges keep their names, and so do
    results of float nodes; the int8 value's name then ends in ``.quantized``. Those in ``wide`` become int16.
    """
    produced = {value for node in nodes for value in node.outputs}
    for value, quant in chosen.items():
        anchor: Node | None
        if value.producer is None:
            anchor = graph.nodes[0]
        else:
            behind = graph.nodes.index(value.producer) + 1
            anchor = graph.nodes[behind] if behind < len(graph.nodes) else None
        name, is_output = value.name, value in graph.outputs
        builder = Builder(graph, operators(), anchor=anchor)
        quantized = builder.node(
            "quantize",
            [value],
            QuantizeAttrs("int16" if value in wide else "int8"),
            name=name + ".quantize",
            outputs=[name + ".quantized"],
            quant=quant,
            rounding="half_even",  # ONNX's: float edges mean the same in an exported file
        )
        reader = quantized.producer
        real = builder.node("dequantize", [quantized], name=name + ".dequantize", outputs=[name + ".dequantized"])
        for node in graph.nodes:
            if node is not reader:
                node.inputs = [real if v is value else v for v in node.inputs]
        for state in graph.states:
            if state.write is value and state.read in chosen:
                state.write = real
        if is_output and value in produced:
            graph.outputs = [real if v is value else v for v in graph.outputs]
            value.name, real.name = real.name, value.name
        elif value in produced:
            value.name, quantized.name = quantized.name, value.name
