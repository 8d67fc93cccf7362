"""Int8 operators of one operand as tables of 256 entries, and the integer meaning that follows from the real one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnc.ir import Array, DType, Node, TensorType
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.numerics import dequantize

FIRST = -128

# Places behind the point that count: a tie of mathematics stays one, however the last bits of a CPU's libm fall.
KEPT_BITS = 32


def table_of(node: Node) -> NDArray[np.int8]:
    """What a node with one int8 operand makes of -128 .. 127, by its integer meaning."""
    spec: Any = node.operator
    with np.errstate(all="ignore"):
        entries: NDArray[np.int8] = spec.integer(node, np.arange(FIRST, FIRST + 256, dtype=np.int8))
    return entries


def look_up(k: KernelBuilder, a: Any, x: Tensor, y: Tensor) -> None:
    """The int8 kernel of every unary operator."""
    table = k.table("table", table_of(k.node))
    for i in k.grid(y.shape):
        y[i] = table.raw(k.cast(x.raw(*i), INT32) - FIRST)


def tabulated(function: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    """The integer meaning of a function ``(xp, attrs, x) -> y`` that is defined by its real one.

    Dequantize to the float32 that DequantizeLinear gives, so that a function that jumps (ceil) does so at the same
    integer; compute in float64; quantize to the nearest, halves away from zero as TFLite fills its tables.
    """

    def integer(node: Node, x: Array) -> Array:
        real = dequantize(x, node.input(0).type).astype(np.float64)
        return nearest(function(np, node.attrs, real), node.output.type)

    return integer


def nearest(real: Array, type_: TensorType) -> Array:
    """float64 numbers quantized, halves away from zero; NaN becomes the zero point."""
    low, high = DType.INT8.limits
    with np.errstate(all="ignore"):
        steps = np.clip(real / float(np.float32(type_.scale)), -1024.0, 1024.0)
    steps = np.rint(np.where(np.isnan(steps), 0.0, steps) * 2.0**KEPT_BITS) / 2.0**KEPT_BITS
    rounded = np.copysign(np.floor(np.abs(steps) + 0.5), steps) + type_.zero_point
    result: Array = np.clip(rounded, low, high).astype(np.int8)
    return result
