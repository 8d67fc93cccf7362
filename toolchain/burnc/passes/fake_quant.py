"""fake_quant nodes go into a float graph before it is differentiated, and become quantize and dequantize afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from burnc.ir import Builder, DType, Graph, Node, QuantParams, TensorType, Value
from burnc.numerics import quantize as quantize_values
from burnc.ops import operators, spec_of
from burnc.ops.fake_quant import FakeQuantAttrs
from burnc.passes.rewrite import remove_dead_nodes

WEIGHTS = FakeQuantAttrs(-127, 127)
ACTIVATIONS = FakeQuantAttrs()


@dataclass
class Inserted:
    """The values that are fake-quantized, by name, and the operands that say how.

    Attributes:
        activations: name -> (scale, zero point), both []. weights: name -> scale, [O, 1, ...], zero point 0.
    """

    activations: dict[str, tuple[Value, Value]] = field(default_factory=dict)
    weights: dict[str, Value] = field(default_factory=dict)


def insert_fake_quant(graph: Graph, activations: Mapping[Value, QuantParams], nodes: Iterable[Node]) -> Inserted:
    """Round what int8 nodes read and make to int8's grid, in floats.

    1. Each of ``activations`` goes through a fake_quant; all readers and the graph's outputs read its result.
    2. The weights of ``nodes`` go through one with a scale for each index along the rule's axis.
    3. Scales and zero points are constants; ``Inserted`` names them, so that training can make them inputs.
    4. A value that becomes a graph output takes the output's name.
    """
    found = Inserted()
    for value, quant in activations.items():
        name = value.name  # which its rounded form may take
        found.activations[name] = _insert_activation(graph, value, quant)
    for node in nodes:
        rule = spec_of(node).quant
        if rule is not None and rule.weights is not None:
            weights = node.input(rule.weights)
            if weights.name not in found.weights:
                found.weights[weights.name] = _insert_weights(graph, node, weights, rule.weight_axis)
    return found


def _insert_activation(graph: Graph, value: Value, quant: QuantParams) -> tuple[Value, Value]:
    at = 0 if value.producer is None else graph.nodes.index(value.producer) + 1
    builder = Builder(graph, operators(), anchor=graph.nodes[at] if at < len(graph.nodes) else None)
    scale = builder.constant(f"{value.name}.scale", np.array(quant.scale[0], np.float32))
    zero_point = builder.constant(f"{value.name}.zero_point", np.array(quant.zero_point[0], np.float32))
    is_output, is_input = value in graph.outputs, value in graph.inputs
    name = f"{value.name}.fake_quant"
    rounded = builder.node("fake_quant", [value, scale, zero_point], ACTIVATIONS, name=name, outputs=[name])
    for node in graph.nodes:
        if node is not rounded.producer:
            node.inputs = [rounded if v is value else v for v in node.inputs]
    graph.outputs = [rounded if v is value else v for v in graph.outputs]
    if is_output and not is_input:
        builder.take_name(rounded, value)
    return scale, zero_point


def _insert_weights(graph: Graph, node: Node, weights: Value, axis: int) -> Value:
    builder = Builder(graph, operators(), anchor=node)
    shape = [n if i == axis else 1 for i, n in enumerate(weights.type.shape)]
    scale = builder.constant(f"{weights.name}.scale", np.ones(shape, np.float32))
    zero = builder.constant(f"{weights.name}.zero_point", np.array(0, np.float32))
    rounded = builder.node("fake_quant", [weights, scale, zero], WEIGHTS, name=f"{weights.name}.fake_quant")
    for other in graph.nodes:
        if other is not rounded.producer:
            other.inputs = [rounded if v is weights else v for v in other.inputs]
    return scale


class ConvertFakeQuant:
    """Quantize and dequantize in place of fake_quant.

    1. Scale and zero point are constants: one for the tensor, or scales along one axis with zero point 0.
    2. A constant becomes a dequantized int8 constant, anything else goes through quantize (half to even) and
       dequantize. AbsorbQdq makes int8 operators of that.
    3. The int8 value takes the name of the float one it stands for, unless that is an edge of the graph.
    """

    name = "convert fake_quant"

    def run(self, graph: Graph) -> int:
        found = [node for node in graph.nodes if node.op == "fake_quant" and _is_constant(node)]
        for node in found:
            _convert(graph, node)
        remove_dead_nodes(graph)
        return len(found)


def _is_constant(node: Node) -> bool:
    return node.input(1).is_constant and node.input(2).is_constant


def quant_params(node: Node) -> QuantParams:
    """What a fake_quant node with constant operands rounds to."""
    scale, zero_point = node.input(1).data, node.input(2).data
    assert scale is not None
    assert zero_point is not None
    if scale.size == 1 and zero_point.size == 1:
        return QuantParams.per_tensor(float(scale.reshape(())), int(zero_point.reshape(())))
    axis = int(np.argmax(scale.shape))
    zero_points = np.broadcast_to(zero_point, scale.shape).reshape(-1).astype(int)
    return QuantParams(tuple(scale.reshape(-1).tolist()), tuple(zero_points.tolist()), axis)


def _convert(graph: Graph, node: Node) -> None:
    builder = Builder(graph, operators(), anchor=node)
    value, old, quant = node.input(0), node.output, quant_params(node)
    if value.data is not None:
        data = quantize_values(value.data, TensorType(DType.INT8, value.type.shape, quant))
        low, high = node.attrs.low, node.attrs.high
        held = builder.constant(value.name, np.clip(data, low, high).astype(np.int8), quant)
        real = builder.node("dequantize", [held], name=f"{value.name}.dequantize")
    else:
        is_edge = old in graph.outputs or value in graph.inputs
        quantized = builder.node(
            "quantize",
            [value],
            name=f"{value.name}.quantize",
            outputs=[f"{value.name}.quantized"],
            quant=quant,
            rounding="half_even",
        )
        real = builder.node("dequantize", [quantized], name=f"{value.name}.dequantize")
        if not is_edge:
            builder.take_name(quantized, value)
    if old in graph.outputs:
        builder.take_name(real, old)
    graph.replace_uses(old, real)
    builder.settle_names()
