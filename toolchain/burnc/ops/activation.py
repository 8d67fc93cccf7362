"""An activation range in an operator's attributes (``activation_min``, ``activation_max``) and the way back through.

Gradients name each other's operators through the builder, so that the modules of an operator and of its gradient do not
import each other.
"""

from __future__ import annotations

import math
from typing import Any

from burnc.ir import Builder, DType, Node, Value


def clamped(xp: Any, a: Any, y: Any) -> Any:
    """``y`` held in the activation range of attributes, as far as its element type reaches."""
    low, high = a.activation_min, a.activation_max
    if math.isinf(low) and math.isinf(high):
        return xp.asarray(y)
    if y.dtype.kind in "iu":
        least, most = DType.of(y).limits
        low, high = (int(min(max(limit, least), most)) for limit in (low, high))
    return xp.clip(y, y.dtype.type(low), y.dtype.type(high))


def through_activation(b: Builder, node: Node, dy: Value) -> Value:
    """The gradient before the range is applied from that behind it."""
    low, high = node.attrs.activation_min, node.attrs.activation_max
    if math.isinf(low) and math.isinf(high):
        return dy
    return b.node("clip_gradient", [node.output, dy], b.operators["clip_gradient"].attrs(low, high))
