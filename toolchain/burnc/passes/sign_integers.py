"""uint8 between quantize and dequantize, as many tools write it, becomes int8, in which everything is done."""

from __future__ import annotations

import numpy as np

from burnc.ir import Array, Builder, DType, Graph, Node, QuantParams, TensorType, Value
from burnc.ops import operators
from burnc.ops.quantize import QuantizeAttrs

SIGNED = {DType.UINT8: DType.INT8, DType.UINT16: DType.INT16}
WIDE_MIDDLE = 2**15


class SignIntegers:
    """uint8 activations and constants.

    1. A uint8 value that a quantize makes, or that is constant, and that only dequantize nodes read becomes int8; its
       zero point and its integers are 128 less, so that every real number stays what it was.
    2. Graph inputs, outputs and states keep the type that the file declares. An input that only dequantize nodes read
       is requantized to int8 before them, an output that is quantized behind it: shifts by 128, without a rounding.
    3. uint16 with zero point 32768 becomes int16 with zero point 0, the only one that int16 may have.
    """

    name = "sign integers"

    def run(self, graph: Graph) -> int:
        changed = sum(_sign_input(graph, value) for value in list(graph.given))
        changed += sum(_sign_output(graph, value) for value in list(graph.outputs))
        consumers = graph.consumers()
        edges = {*graph.given, *graph.results}
        found = [v for v in graph.values() if v not in edges and _is_inner(v, consumers.get(v, []))]
        for value in found:
            value.type = _signed_type(value.type)
            if value.data is not None:
                value.data = _signed(value.data)
            else:
                assert value.producer is not None
                value.producer.attrs = QuantizeAttrs(value.type.dtype.value)
        return changed + len(found)


def _has_signed_form(type: TensorType, *, edge: bool = False) -> bool:
    if type.dtype not in SIGNED or type.quant is None or (edge and type.quant.axis is not None):
        return False
    return type.dtype is DType.UINT8 or all(zero == WIDE_MIDDLE for zero in type.quant.zero_point)


def _signed_type(type: TensorType) -> TensorType:
    assert type.quant is not None
    dtype = SIGNED[type.dtype]
    zeros = tuple(zero + dtype.limits[0] for zero in type.quant.zero_point)
    return TensorType(dtype, type.shape, QuantParams(type.quant.scale, zeros, type.quant.axis))


def _signed(data: Array) -> Array:
    dtype = SIGNED[DType.of(data)]
    return (data.astype(np.int32) + dtype.limits[0]).astype(dtype.numpy)


def _is_inner(value: Value, readers: list[Node]) -> bool:
    is_made_here = value.is_constant or (value.producer is not None and value.producer.op == "quantize")
    return is_made_here and _has_signed_form(value.type) and _are_dequantize(readers)


def _are_dequantize(readers: list[Node]) -> bool:
    return bool(readers) and all(reader.op == "dequantize" for reader in readers)


def _sign_input(graph: Graph, value: Value) -> bool:
    readers = graph.consumers().get(value, [])
    if not _has_signed_form(value.type, edge=True) or not _are_dequantize(readers) or value in graph.results:
        return False
    if any(reader.output in graph.results for reader in readers):
        return False
    signed = _requantized(graph, readers[0], value, _signed_type(value.type))
    for reader in readers:
        reader.inputs = [signed]
    return True


def _sign_output(graph: Graph, value: Value) -> bool:
    """The float that is quantized must be computed here, or nothing would be won."""
    source = value.producer
    if source is None or source.op != "quantize" or not _has_signed_form(value.type, edge=True):
        return False
    computed = source.input(0).producer
    if not source.input(0).type.dtype.is_float or computed is None or computed.op == "dequantize":
        return False
    signed_type = _signed_type(value.type)
    builder = Builder(graph, operators(), anchor=source)
    attrs = QuantizeAttrs(signed_type.dtype.value)
    quant, rounding = signed_type.quant, source.rounding
    signed = builder.node("quantize", source.inputs, attrs, name=source.name, quant=quant, rounding=rounding)
    for reader in graph.consumers().get(value, []):
        if reader.op == "dequantize":
            reader.inputs = [signed]
    source.inputs, source.rounding = [signed], "tflm"
    return True


def _requantized(graph: Graph, anchor: Node, value: Value, type: TensorType) -> Value:
    builder = Builder(graph, operators(), anchor=anchor)
    attrs = QuantizeAttrs(type.dtype.value)
    return builder.node("quantize", [value], attrs, name=f"{value.name}.signed", quant=type.quant)
