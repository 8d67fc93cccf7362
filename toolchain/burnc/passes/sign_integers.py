"""uint8 between quantize and dequantize, as many tools write it, becomes int8, in which everything is done."""

from __future__ import annotations

import numpy as np

from burnc.ir import Array, Builder, DType, Graph, Node, QuantParams, TensorType, Value
from burnc.ops import operators, spec_of
from burnc.ops.quantize import QuantizeAttrs

SIGNED = {DType.UINT8: DType.INT8, DType.UINT16: DType.INT16}
WIDE_MIDDLE = 2**15


class SignIntegers:
    """uint8 activations and constants.

    1. uint8 values that a quantize makes, or that are constant, that operators only move, and that dequantize nodes
       read become int8; zero point and integers are 128 less, so that every real number stays what it was.
    2. Graph inputs and outputs keep the type that the file declares: an input is requantized to int8 before its
       readers, an output behind what computes it; shifts by 128, without a rounding. That is done where a float that
       is computed here is quantized, or one that is dequantized is computed with.
    3. uint16 with zero point 32768 becomes int16 with zero point 0, the only one that int16 may have.
    """

    name = "sign integers"

    def run(self, graph: Graph) -> int:
        consumers = graph.consumers()
        seen: set[Value] = set()
        changed = 0
        for value in list(graph.values()):
            if value in seen or not _has_signed_form(value.type):
                continue
            group = _moved_alike(value, consumers)
            seen.update(group)
            if _may_be_signed(graph, group, consumers):
                changed += len(group)
                _sign(graph, group)
        return changed


def _has_signed_form(type: TensorType) -> bool:
    if type.dtype not in SIGNED or type.quant is None:
        return False
    return type.dtype is DType.UINT8 or all(zero == WIDE_MIDDLE for zero in type.quant.zero_point)


def _moved_alike(value: Value, consumers: dict[Value, list[Node]]) -> list[Value]:
    """The value and all that operators make of it, or it of, by moving integers."""
    found: dict[Value, None] = {}
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if each in found:
            continue
        found[each] = None
        if each.producer is not None and spec_of(each.producer).moves_integers:
            waiting.append(each.producer.input(0))
        waiting += [r.output for r in consumers.get(each, []) if spec_of(r).moves_integers and r.input(0) is each]
    return list(found)


def _may_be_signed(graph: Graph, group: list[Value], consumers: dict[Value, list[Node]]) -> bool:
    results, kept = set(graph.results), {v for s in graph.states for v in (s.read, s.write)}
    is_useful = all(v not in results and v not in graph.inputs for v in group)
    for value in group:
        source, readers = value.producer, consumers.get(value, [])
        if value in kept or not _has_signed_form(value.type):
            return False
        if source is not None and source.op != "quantize" and not spec_of(source).moves_integers:
            return False
        if not all(reader.op == "dequantize" or spec_of(reader).moves_integers for reader in readers):
            return False
        if source is None and value.data is None and value not in graph.inputs:
            return False
        is_useful |= any(reader.op == "dequantize" and reader.output not in results for reader in readers)
        quantized = source.input(0) if source is not None and source.op == "quantize" else None
        computed = quantized.producer if quantized is not None and quantized.type.dtype.is_float else None
        is_useful |= computed is not None and computed.op not in ("quantize", "dequantize")
    return is_useful


def _sign(graph: Graph, group: list[Value]) -> None:
    for value in group:
        if value in graph.inputs:
            _behind_input(graph, value)
            continue
        declared = value.type
        value.type = _signed_type(value.type)
        if value.data is not None:
            value.data = _signed(value.data)
        elif value.producer is not None and value.producer.op == "quantize":
            value.producer.attrs = QuantizeAttrs(value.type.dtype.value)
        if value in graph.outputs:
            _before_output(graph, value, declared)


def _behind_input(graph: Graph, value: Value) -> None:
    readers = graph.consumers()[value]
    builder = Builder(graph, operators(), anchor=readers[0])
    type_ = _signed_type(value.type)
    attrs = QuantizeAttrs(type_.dtype.value)
    signed = builder.node("quantize", [value], attrs, name=f"{value.name}.signed", quant=type_.quant)
    for reader in readers:
        reader.inputs = [signed if v is value else v for v in reader.inputs]


def _before_output(graph: Graph, value: Value, declared: TensorType) -> None:
    builder = Builder(graph, operators())
    attrs = QuantizeAttrs(declared.dtype.value)
    made = builder.node("quantize", [value], attrs, name=f"{value.name}.unsigned", quant=declared.quant)
    builder.take_name(made, value)
    graph.outputs = [made if v is value else v for v in graph.outputs]


def _signed_type(type: TensorType) -> TensorType:
    assert type.quant is not None
    dtype = SIGNED[type.dtype]
    zeros = tuple(zero + dtype.limits[0] for zero in type.quant.zero_point)
    return TensorType(dtype, type.shape, QuantParams(type.quant.scale, zeros, type.quant.axis))


def _signed(data: Array) -> Array:
    dtype = SIGNED[DType.of(data)]
    return (data.astype(np.int32) + dtype.limits[0]).astype(dtype.numpy)
