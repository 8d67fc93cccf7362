"""A squared float difference becomes one operator, which has an int8 form of its own."""

from __future__ import annotations

import math

from burnc.ir import Builder, Match, Value, op
from burnc.passes.rewrite import RewritePass


class FuseSquaredDifference(RewritePass):
    """sub, then power, becomes squared_difference.

    1. The difference has exactly one reader, the power, whose exponent is 2, and no activation range.
    2. Both are float: a quantized difference is rounded.
    """

    name = "fuse squared difference"
    pattern = op("sub") >> op("power")

    def rewrite(self, m: Match, b: Builder) -> Value | None:
        sub, power = m.nodes
        is_plain = (sub.attrs.activation_min, sub.attrs.activation_max) == (-math.inf, math.inf)
        if not is_plain or power.attrs.exponent != 2.0 or not sub.output.type.dtype.is_float:
            return None
        return b.node("squared_difference", sub.inputs, name=power.name)
