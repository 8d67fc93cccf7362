"""The way back through an activation range that is part of an operator (``activation_min``, ``activation_max``).

Gradients name each other's operators through the builder, so that the modules of an operator and of its gradient do not
import each other.
"""

from __future__ import annotations

import math

from burnc.ir import Builder, Node, Value


def through_activation(b: Builder, node: Node, dy: Value) -> Value:
    """The gradient before the range is applied from that behind it."""
    low, high = node.attrs.activation_min, node.attrs.activation_max
    if math.isinf(low) and math.isinf(high):
        return dy
    return b.node("clip_gradient", [node.output, dy], b.operators["clip_gradient"].attrs(low, high))
