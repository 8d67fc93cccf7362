"""uint8 between quantize and dequantize, as many tools write it, becomes int8, in which everything is done."""

from __future__ import annotations

import numpy as np

from burnc.ir import Array, DType, Graph, Node, QuantParams, TensorType, Value
from burnc.ops.quantize import QuantizeAttrs

OFFSET = 128


class SignIntegers:
    """uint8 activations and constants.

    1. A uint8 value that a quantize makes, or that is constant, and that only dequantize nodes read becomes int8; its
       zero point and its integers are 128 less, so that every real number stays what it was.
    2. Graph inputs, outputs and states keep the type that the file declares.
    """

    name = "sign integers"

    def run(self, graph: Graph) -> int:
        consumers = graph.consumers()
        edges = {*graph.given, *graph.results}
        found = [v for v in graph.values() if v not in edges and _is_inner(v, consumers.get(v, []))]
        for value in found:
            quant = value.type.quant
            assert quant is not None
            signed = QuantParams(quant.scale, tuple(zero - OFFSET for zero in quant.zero_point), quant.axis)
            value.type = TensorType(DType.INT8, value.type.shape, signed)
            if value.data is not None:
                value.data = _signed(value.data)
            else:
                assert value.producer is not None
                value.producer.attrs = QuantizeAttrs(DType.INT8.value)
        return len(found)


def _is_inner(value: Value, readers: list[Node]) -> bool:
    is_made_here = value.is_constant or (value.producer is not None and value.producer.op == "quantize")
    is_uint8 = value.type.dtype is DType.UINT8 and value.type.quant is not None
    return is_made_here and is_uint8 and bool(readers) and all(reader.op == "dequantize" for reader in readers)


def _signed(data: Array) -> Array:
    return (data.astype(np.int16) - OFFSET).astype(np.int8)
