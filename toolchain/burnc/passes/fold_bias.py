"""A constant added to a convolution or fully connected layer becomes its bias."""

from __future__ import annotations

import numpy as np

from burnc.ir import Builder, DType, Match, Value, const, maybe, op
from burnc.ops import spec_of
from burnc.passes.rewrite import RewritePass


class FoldBias(RewritePass):
    """conv2d, conv_transpose2d or fully_connected, then add of a constant, becomes the former with a bias.

    1. The first node's output has exactly one reader, the add, and no fused activation; all is float.
    2. The constant is the add's second input and has one value for each output channel, or a single one.
    3. A bias that is already there is added to; the add's own activation range moves to the first node.
    4. A dequantized int32 constant (a QDQ file's bias) becomes the bias as it is, where there was none.
    """

    name = "fold bias"

    def __init__(self, producer: str) -> None:
        self.pattern = op(producer, "x", "w", maybe(const("b"))) >> op("add", "c")

    def rewrite(self, m: Match, b: Builder) -> Value | None:
        first, add = m.nodes
        spec = spec_of(first)
        c, channels = m["c"], first.output.type.shape[-1]
        if first.attrs != spec.unclamped(first.attrs) or c.type.dtype is not DType.FLOAT32:
            return None
        if c.type.size not in (1, channels) or (c.type.size > 1 and c.type.shape[-1] != channels):
            return None
        if add.output.type.shape != first.output.type.shape:
            return None
        bias = m.values["b"]
        attrs = spec.clamped(first.attrs, add.attrs.activation_min, add.attrs.activation_max)
        if c.data is None:
            if bias is not None or not _is_dequantized_bias(c, channels):
                return None
            return b.node(first.op, [m["x"], m["w"], c], attrs, name=first.name)
        total = np.broadcast_to(c.data.reshape(-1), (channels,)).astype(np.float32)
        if bias is not None and bias.data is not None:
            total = total + bias.data
        return b.node(first.op, [m["x"], m["w"], b.constant(c.name, total)], attrs, name=first.name)


def _is_dequantized_bias(c: Value, channels: int) -> bool:
    source = c.producer
    if source is None or source.op != "dequantize" or c.type.shape != (channels,):
        return False
    held = source.input(0)
    return held.is_constant and held.type.dtype is DType.INT32
