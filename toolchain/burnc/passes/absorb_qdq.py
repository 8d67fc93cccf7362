"""Float operators between dequantize and quantize become int8 operators: the end of every way to a quantized graph.

The quantizer, quantization-aware training and QDQ files all say by quantize and dequantize nodes what is to be
quantized and how; this pass is the one place that makes it so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnc.errors import GraphError
from burnc.ir import Builder, DType, Graph, Node, QuantParams, State, TensorType, Value
from burnc.ir.metadata import FLOATS, IO
from burnc.numerics import quantize
from burnc.ops import operators, spec_of
from burnc.ops.quantize import QuantizeAttrs
from burnc.ops.spec import QUANTIZED, OwnQuantization, QuantRule, StaysFloatError
from burnc.passes.headroom import can_be_scaled
from burnc.passes.restore_names import is_as_written
from burnc.passes.rewrite import remove_dead_nodes, replace_node

WIDEST_BIAS = 2**46
COARSEST = 1.5
"""How much coarser a result may be before it is requantized: its steps then stay within one of the real result's."""


class AbsorbQdq:
    """Quantization.

    1. All activation inputs of a float node are dequantized int8 values with one scale each, its weights are a
       dequantized int8 constant, and its only result is read by quantize nodes alone, all of them with the same
       parameters. int16 with zero point 0 is the same for operators that know it.
    2. The node then reads the integers and its result has the parameters of that quantize.
    3. Where the operator's rule asks for equal parameters, an input that differs is requantized first; where it asks
       for fixed parameters and the quantize has others, the result is requantized after, unless theirs are so coarse
       that a step would be lost. Over int16 such operators stay float: TFLite's tables lie several steps beside the
       real functions, a softmax up to a hundred; but for those that burnc itself wrote, which are read as they were.
       What scales far apart would make overflow (``headroom``) stays float as well.
    4. A bias is its dequantized int32 constant, or a finite float constant; it is quantized to the scale it must have.
       Over int16 it is int32 where the sums fit that, and then zeros where there is none; else int64.
    5. quantize after dequantize with the same parameters is nothing; with others it is one requantization.
    6. Where all results are indices (arg_max), nothing needs to quantize them: the node reads the int8 values.
    7. What a file that burnc wrote names as float stays so, and quantize behind it what it is.
    7. An operator with several results or weights says itself what it needs (``OwnQuantization``); each of its results
       that anything reads is read by quantize nodes alone, all of them with the same parameters.
    """

    name = "absorb quantize and dequantize"

    def run(self, graph: Graph) -> int:
        changed = 0
        while self._change_one(graph):
            changed += 1
        return changed

    def _change_one(self, graph: Graph) -> bool:
        consumers, floats = graph.consumers(), _floats(graph)
        for node in graph.nodes:
            if any(v.name in floats for v in (node.inputs[:1] if node.op == "quantize" else node.outputs) if v):
                continue
            if node.op == "quantize" and _rejoin(graph, node):
                return True
            rule = spec_of(node).quant
            if rule is not None and rule.own is not None and _absorb_own(graph, node, rule.own, consumers):
                return True
            if node.op in ("quantize", "dequantize") or rule is None or rule.own or len(node.outputs) != 1:
                continue
            if _reads_for_indices(graph, node):
                return True
            readers = consumers.get(node.output, [])
            if node.output in graph.results or not readers or any(r.op != "quantize" for r in readers):
                continue
            wanted = {r.output.type for r in readers}
            if len(wanted) == 1 and self._quantize_node(graph, node, readers):
                return True
        return False

    def _quantize_node(self, graph: Graph, node: Node, readers: list[Node]) -> bool:
        spec, rule = spec_of(node), spec_of(node).quant
        assert rule is not None
        wanted = readers[0].output.type.quant
        dtype = readers[0].output.type.dtype
        if wanted is None or not _is_carried(readers[0].output, rule):
            return False
        fixed = rule.fixed_params(dtype, dtype)
        is_coarse = fixed is not None and (dtype is DType.INT16 or fixed.scale[0] > COARSEST * wanted.scale[0])
        if is_coarse and not (fixed == wanted and is_as_written(graph, node)):
            return False
        builder = Builder(graph, operators(), anchor=node)
        operands: list[Value | None] = []
        for index, value in enumerate(node.inputs):
            if value is None or index in rule.integer_inputs:
                operands.append(value)
            elif index == rule.bias:
                operands.append(value)  # quantized below, when the other scales are known
            else:
                quantized = _quantized_twin(value)
                if quantized is None:
                    return False
                if index == rule.weights and not _fits_weights(quantized, rule.weight_axis):
                    return False
                if index != rule.weights and not (quantized.type.dtype is dtype and _is_carried(quantized, rule)):
                    return False
                operands.append(quantized)
        if rule.mixes and any(v is not None and not _holds(wanted, v.type) for v in operands):
            return False
        if rule.result == "same":
            operands = [None if v is None else _with_params(builder, v, wanted) for v in operands]
        bias = rule.bias
        if bias == len(operands) and rule.wide and dtype is DType.INT16:
            operands.append(_no_bias(builder, node, rule))
        if bias is not None and bias < len(operands) and operands[bias] is not None:
            quantized_bias = _quantized_bias(builder, node, operands, bias)
            if quantized_bias is None:
                return False
            operands[bias] = quantized_bias
        try:
            result = builder.node(
                spec.name, operands, node.attrs, name=node.name, quant=fixed or wanted, rounding=node.rounding
            )
            fits = all(can_be_scaled(made) for made in builder.made_nodes)
        except GraphError:  # a size or mode that the integer form does not have
            fits = False
        if not fits:
            remove_dead_nodes(graph)
            return False
        if fixed is not None and fixed != wanted:
            result = _with_params(builder, result, wanted)
        for reader in readers:
            replace_node(builder, reader, result)
        return True


def _holds(wanted: QuantParams, type_: TensorType) -> bool:
    """Whether those parameters reach as far as a tensor of that type does, by half a step."""
    low, high = type_.dtype.limits
    ends = [type_.scale * (end - type_.zero_point) for end in (low, high)]
    scale, zero_point = wanted.scale[0], wanted.zero_point[0]
    return scale * (low - zero_point - 0.5) <= ends[0] and ends[1] <= scale * (high - zero_point + 0.5)


def _absorb_own(graph: Graph, node: Node, own: OwnQuantization, consumers: Mapping[Value, list[Node]]) -> bool:
    """Rule 7."""
    readers = [consumers.get(value, []) for value in node.outputs]
    if any(reader.op != "quantize" for here in readers for reader in here):
        return False
    wanted = [{reader.output.type for reader in here} for here in readers]
    is_quantized = node.outputs[0].type.quant is not None
    if is_quantized or any(value in graph.results for value in node.outputs) or any(len(types) > 1 for types in wanted):
        return False
    twins = [None if v is None else _quantized_twin(v, DType.INT8, DType.INT16, DType.INT32) for v in node.inputs]
    builder = Builder(graph, operators(), anchor=node)
    try:
        made = own.absorb(builder, node, twins, [next(iter(types), None) for types in wanted])
    except StaysFloatError:
        remove_dead_nodes(graph)
        return False
    for value, here in zip(made, readers, strict=True):
        for reader in here:
            replace_node(builder, reader, _with_type(builder, value, reader.output.type))
    return True


def _with_type(builder: Builder, value: Value, wanted: TensorType) -> Value:
    """The value, requantized where its element type or its parameters differ."""
    if (value.type.dtype, value.type.quant) == (wanted.dtype, wanted.quant):
        return value
    attrs = QuantizeAttrs(wanted.dtype.value)
    return builder.node("quantize", [value], attrs, name=value.name + ".requantized", quant=wanted.quant)


def _floats(graph: Graph) -> frozenset[str]:
    """Rule 7."""
    try:
        return frozenset(json.loads(graph.metadata.get(FLOATS, "[]")))
    except (ValueError, TypeError, RecursionError):
        return frozenset()


def _rejoin(graph: Graph, node: Node) -> bool:
    """Rule 5."""
    twin = _quantized_twin(node.input(0))
    if twin is None or node.output.type.dtype not in QUANTIZED or twin.is_constant:
        return False
    quant = node.output.type.quant
    assert quant is not None
    if quant.axis is not None or twin.type.quant is None or twin.type.quant.axis is not None:
        return False
    builder = Builder(graph, operators(), anchor=node)
    joined = _with_type(builder, twin, node.output.type)
    if not all(can_be_scaled(made) for made in builder.made_nodes):
        remove_dead_nodes(graph)
        return False
    replace_node(builder, node, joined)
    return True


def _reads_for_indices(graph: Graph, node: Node) -> bool:
    """Rule 6."""
    rule = spec_of(node).quant
    assert rule is not None
    if 0 not in rule.integer_outputs:
        return False
    twins = [v if v is None or i in rule.integer_inputs else _quantized_twin(v) for i, v in enumerate(node.inputs)]
    read = [v for i, v in enumerate(twins) if i not in rule.integer_inputs]
    if any(v is None or not _is_carried(v, rule) for v in read):
        return False
    builder = Builder(graph, operators(), anchor=node)
    replace_node(builder, node, builder.node(node.op, twins, node.attrs, name=node.name, rounding=node.rounding))
    return True


def _quantized_twin(value: Value, *dtypes: DType) -> Value | None:
    """The int8 value (or one of other types) that this float one is dequantized from."""
    source = value.producer
    if source is None or source.op != "dequantize":
        return None
    twin = source.input(0)
    return twin if twin.type.dtype in (dtypes or QUANTIZED) else None


def _fits_weights(value: Value, axis: int) -> bool:
    quant = value.type.quant
    is_int8 = value.type.dtype is DType.INT8
    return value.is_constant and is_int8 and quant is not None and quant.axis in (None, axis)


def _is_carried(value: Value, rule: QuantRule) -> bool:
    """Whether operators of the rule take the quantized value as an activation."""
    type_ = value.type
    if type_.quant is None or type_.quant.axis is not None or type_.dtype not in rule.dtypes:
        return False
    return type_.dtype is DType.INT8 or type_.zero_point == 0 or rule.result == "same"


def _with_params(builder: Builder, value: Value, wanted: QuantParams) -> Value:
    """The value, requantized where its parameters differ."""
    if value.type.quant == wanted or value.type.quant is None:
        return value
    attrs = QuantizeAttrs(value.type.dtype.value)
    return builder.node("quantize", [value], attrs, name=value.name + ".requantized", quant=wanted)


def _quantized_bias(builder: Builder, node: Node, operands: list[Value | None], index: int) -> Value | None:
    """The bias as integers; an int32 constant of the file that has the right scale is kept."""
    value, x = operands[index], operands[0]
    rule = spec_of(node).quant
    assert rule is not None
    assert rule.weights is not None
    weights = operands[rule.weights]
    assert value is not None
    assert x is not None
    assert weights is not None
    assert weights.type.quant is not None
    scales = np.float64(x.type.scale) * np.array(weights.type.quant.scale, np.float64)
    quant = QuantParams(tuple(scales), (0,) * len(scales), None if len(scales) == 1 else 0)
    held, real = _real_bias(value)
    if held is not None and held.type.quant is not None and np.allclose(held.type.quant.scale, quant.scale, 1e-3, 0):
        data = held.data
    elif real is not None and np.isfinite(real).all():
        data = np.rint(real / scales)
    else:
        return None
    assert data is not None
    sums = _bias_type(x.type, weights, rule.weight_axis, data)
    if held is not None and data is held.data and sums is DType.INT32:
        return held
    low, high = sums.limits if sums is DType.INT32 else (-WIDEST_BIAS, WIDEST_BIAS)
    return builder.constant(value.name, np.clip(data, low, high).astype(sums.numpy), quant)


def _no_bias(builder: Builder, node: Node, rule: QuantRule) -> Value:
    """Zeros, whose type then says in what the sums are made."""
    assert rule.weights is not None
    filters = node.input(rule.weights).type.shape[rule.weight_axis]
    return builder.constant(f"{node.name}.bias", np.zeros(filters, np.float32))


def _real_bias(value: Value) -> tuple[Value | None, NDArray[np.float64] | None]:
    """The int32 constant that a bias is dequantized from, and the real numbers of a constant bias."""
    source = value.producer
    if source is None or source.op != "dequantize":
        return None, None if value.data is None else value.data.astype(np.float64)
    held = source.input(0)
    quant = held.type.quant
    if held.data is None or held.type.dtype is not DType.INT32 or quant is None or any(quant.zero_point):
        return None, None
    return held, held.data * quant.broadcast(1)[0].astype(np.float64)


def _bias_type(x: TensorType, weights: Value, axis: int, bias: NDArray[Any]) -> DType:
    """int32, also over int16 where no sum can leave half of it; else int64."""
    if x.dtype is DType.INT8:
        return DType.INT32
    assert weights.data is not None
    assert weights.type.quant is not None
    centred = weights.data.astype(np.float64) - weights.type.quant.broadcast(weights.type.rank)[1]
    rows = np.moveaxis(np.abs(centred), axis, 0).reshape(weights.type.shape[axis], -1)
    largest = float((rows.sum(axis=1) * 2**15 + np.abs(bias)).max())
    return DType.INT32 if largest < 2**30 else DType.INT64


class AbsorbEdges:
    """Quantized edges.

    1. A float graph input that quantize nodes with equal parameters alone read becomes a quantized input of that name.
    2. A float graph output that dequantize computes becomes the quantized value, under the output's name; an identity
       of it where that value is known by another name already (an input, another output).
    3. A float state is quantized where both hold for it with the same parameters: what is read, what is written.
    4. A file that burnc wrote says which edges were quantized; the others stay float.
    """

    name = "absorb quantized edges"

    def run(self, graph: Graph) -> int:
        changed = sum(_absorb_input(graph, v) for v in list(graph.inputs) if _may_be_quantized(graph, v))
        # What outputs copy is quantized by now, and has a name of its own.
        changed += sum(_absorb_state(graph, s) for s in graph.states if _may_be_quantized(graph, s.read))
        changed += sum(_absorb_output(graph, v) for v in list(graph.outputs) if _may_be_quantized(graph, v))
        remove_dead_nodes(graph)
        return changed


def _may_be_quantized(graph: Graph, edge: Value) -> bool:
    """Rule 4."""
    if IO not in graph.metadata:
        return True
    try:
        return edge.name in json.loads(graph.metadata[IO])
    except (ValueError, TypeError):
        return True


def _absorb_state(graph: Graph, state: State) -> bool:
    twin = _quantized_twin(state.write)
    readers = [node for node in graph.nodes if state.read in node.present_inputs]
    types = {r.output.type for r in readers if r.op == "quantize"}
    if twin is None or types != {twin.type} or state.read is state.write or not _absorb_input(graph, state.read):
        return False
    state.write, state.initial = twin, quantize(state.initial, twin.type)
    return True


def _absorb_output(graph: Graph, value: Value) -> bool:
    twin = _quantized_twin(value)
    if twin is None or graph.outputs.count(value) > 1:
        return False
    if twin.is_constant and (twin.type.quant is None or twin.type.quant.axis is not None):
        return False
    if twin in graph.outputs or twin in graph.given:  # which keeps its own name
        node = value.producer
        assert node is not None
        replace_node(Builder(graph, operators(), anchor=node), node, twin)
    else:
        twin.name, value.name = value.name, twin.name
        graph.outputs = [twin if v is value else v for v in graph.outputs]
    return True


def _absorb_input(graph: Graph, value: Value) -> bool:
    readers = [node for node in graph.nodes if value in node.present_inputs]
    if not readers or value in graph.results or any(r.op != "quantize" for r in readers):
        return False
    types = {r.output.type for r in readers}
    if len(types) != 1 or not value.type.dtype.is_float:
        return False
    if any(r.output in graph.outputs for r in readers):
        return False
    value.type = types.pop()
    for reader in readers:
        graph.replace_uses(reader.output, value)
    remove_dead_nodes(graph)
    return True
