"""A float clip moves into the operator before it."""

from __future__ import annotations

from burnc.ir import Builder, Match, Value, op
from burnc.ops import spec_of
from burnc.passes.rewrite import RewritePass


class FuseActivation(RewritePass):
    """An operator with an activation range, then clip, becomes the operator with the narrower range.

    1. The operator's output has exactly one reader, the clip, and both are float: a quantized clip rescales.
    2. The new range is the clip applied to the operator's own: both limits are clipped.
    """

    name = "fuse activation"

    def __init__(self, producer: str) -> None:
        self.pattern = op(producer) >> op("clip")

    def rewrite(self, m: Match, b: Builder) -> Value | None:
        first, clip = m.nodes
        if not first.output.type.dtype.is_float:
            return None
        low, high = clip.attrs.activation_min, clip.attrs.activation_max
        attrs = spec_of(first).clamped(
            first.attrs,
            min(max(first.attrs.activation_min, low), high),
            min(max(first.attrs.activation_max, low), high),
        )
        return b.node(first.op, first.inputs, attrs, name=first.name)
