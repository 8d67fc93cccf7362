"""A batch_norm that nothing could absorb becomes a product and a sum."""

from __future__ import annotations

import numpy as np

from burnc.ir import Builder, Match, Value, const, op
from burnc.ops.add import AddAttrs
from burnc.ops.mul import MulAttrs
from burnc.passes.fold_batch_norm import data, scale_and_offset
from burnc.passes.rewrite import RewritePass


class LowerBatchNorm(RewritePass):
    """batch_norm(x) becomes add(mul(x, scale), offset), which have quantized forms.

    1. All four parameters are constants.
    2. What can be folded into the operator before it has been folded: this pass runs after the canonical ones.
    """

    name = "lower batch_norm"
    pattern = op("batch_norm", "x", const("gamma"), const("beta"), const("mean"), const("var"))

    def rewrite(self, m: Match, b: Builder) -> Value | None:
        norm = m.last
        scale, offset = scale_and_offset(norm.attrs, data(m["gamma"]), data(m["beta"]), data(m["mean"]), data(m["var"]))
        factor = b.constant(norm.name + ".scale", scale.astype(np.float32))
        term = b.constant(norm.name + ".offset", offset.astype(np.float32))
        product = b.node("mul", [m["x"], factor], MulAttrs(), name=norm.name + ".mul")
        return b.node("add", [product, term], AddAttrs(), name=norm.name)
