"""A product with a constant matrix becomes a fully connected layer."""

from __future__ import annotations

import numpy as np

from burnc.ir import Builder, Match, Value, op
from burnc.ops.fully_connected import FullyConnectedAttrs
from burnc.ops.transpose import TransposeAttrs
from burnc.passes.rewrite import RewritePass


class MatmulToFullyConnected(RewritePass):
    """matmul(x, w) becomes fully_connected(x, transpose(w)).

    1. The right side is a constant matrix, or one behind a dequantize, and float.
    2. The left side has at least two axes.
    """

    name = "matmul to fully_connected"
    pattern = op("matmul", "x", "w")

    def rewrite(self, m: Match, b: Builder) -> Value | None:
        x, w = m["x"], m["w"]
        if w.type.rank != 2 or x.type.rank < 2 or not w.type.dtype.is_float or not _is_constant(w):
            return None
        if w.data is not None:
            weights = b.constant(w.name, np.ascontiguousarray(w.data.T))
        else:
            weights = b.node("transpose", [w], TransposeAttrs((1, 0)), name=w.name)
        return b.node("fully_connected", [x, weights], FullyConnectedAttrs(), name=m.last.name)


def _is_constant(w: Value) -> bool:
    source = w.producer
    return w.is_constant or (source is not None and source.op == "dequantize" and source.input(0).is_constant)
