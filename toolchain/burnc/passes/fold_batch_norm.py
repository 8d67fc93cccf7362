"""conv -> batch_norm becomes conv."""

from __future__ import annotations

import numpy as np

from burnc.ir import Array, Builder, Match, Value, const, maybe, op
from burnc.ops import spec_of
from burnc.ops.batch_norm import BatchNormAttrs
from burnc.passes.rewrite import RewritePass


class FoldBatchNorm(RewritePass):
    """conv2d, conv_transpose2d or fully_connected, then batch_norm, becomes the former alone.

    1. The first node's output has exactly one reader, the batch_norm, and no fused activation.
    2. Weights and all four parameters are constants. Shared weights are copied, never scaled twice.
    3. The scale goes along the weights' output axis, which is axis 0 for all of them.
    """

    name = "fold batch_norm"

    def __init__(self, producer: str) -> None:
        self.pattern = op(producer, "x", const("w"), maybe(const("b"))) >> op(
            "batch_norm", const("gamma"), const("beta"), const("mean"), const("var")
        )

    def rewrite(self, m: Match, b: Builder) -> Value | None:
        first, norm = m.nodes
        if first.attrs != spec_of(first).unclamped(first.attrs):
            return None
        w = data(m["w"])
        scale, offset = scale_and_offset(norm.attrs, *(data(m[name]) for name in ("gamma", "beta", "mean", "var")))
        bias = m.values["b"]
        old = np.zeros(w.shape[0], np.float32) if bias is None else data(bias)
        weights = b.constant(m["w"].name, (w * scale.reshape(-1, *[1] * (w.ndim - 1))).astype(np.float32))
        folded = b.constant(norm.output.name + ".bias", (old * scale + offset).astype(np.float32))
        return b.node(first.op, [m["x"], weights, folded], first.attrs, name=first.name)


def scale_and_offset(a: BatchNormAttrs, gamma: Array, beta: Array, mean: Array, var: Array) -> tuple[Array, Array]:
    """batch_norm as x * scale + offset, one value a channel, computed in double precision."""
    scale = gamma / np.sqrt(var.astype(np.float64) + a.epsilon)
    return scale, beta - mean * scale


def data(value: Value) -> Array:
    assert value.data is not None
    return value.data
