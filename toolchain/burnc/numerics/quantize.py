"""Between real numbers and quantized integers, and the constants that carry real factors into integer arithmetic."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from burnc.ir.types import DType, TensorType


def quantize_multiplier(factor: float) -> tuple[int, int]:
    """(multiplier, shift) with factor ~ multiplier * 2**(shift - 31). TFLite ``QuantizeMultiplier``.

    Args:
        factor: a finite, non-negative real factor in double precision.

    Returns:
        multiplier 0 for a factor that 31 right shifts make vanish, else one in 2**30 .. 2**31 - 1; shift in -31..30.
    """
    if factor == 0.0:
        return 0, 0
    mantissa, shift = math.frexp(factor)
    multiplier = math.floor(mantissa * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier //= 2
        shift += 1
    if shift < -31:
        return 0, 0
    if shift > 30:
        return 2**31 - 1, 30
    return multiplier, shift


def input_radius(integer_bits: int, shift: int) -> int:
    """The largest magnitude that a left shift still brings into Q(integer_bits). TFLite ``CalculateInputRadius``."""
    return math.floor(math.ldexp(2.0**integer_bits - 1, 31 - integer_bits - shift))


def round_half_away(values: ArrayLike) -> NDArray[Any]:
    """Round halves away from zero, as C's ``round``; keeps the float type and is exact near 0.5."""
    values = np.asarray(values)
    whole = np.trunc(values)
    # Infinity and NaN stay what they are.
    rest = np.subtract(values, whole, out=np.zeros_like(values), where=np.isfinite(values))
    result: NDArray[Any] = whole + np.where(np.abs(rest) >= 0.5, np.sign(values), 0).astype(values.dtype)
    return result


def quantized_bounds(dtype: DType) -> tuple[int, int]:
    """Smallest and largest quantized activation of an integer type."""
    return dtype.limits


def quantize(values: ArrayLike, type: TensorType, rounding: str = "half_even") -> NDArray[Any]:
    """Quantize float32 values by the parameters of ``type``: round(value / scale) + zero_point, saturated.

    ``half_even`` is ONNX QuantizeLinear's rounding, ``half_away`` TFLite QUANTIZE's. NaN becomes the zero point.
    """
    assert type.quant is not None
    values = np.asarray(values, np.float32)
    scale, zero_point = type.quant.broadcast(values.ndim)
    with np.errstate(over="ignore"):  # what becomes infinite saturates
        scaled = values / scale
    rounded = np.rint(scaled) if rounding == "half_even" else round_half_away(scaled)
    rounded = np.where(np.isnan(rounded), np.float32(0), rounded)
    low, high = type.dtype.limits
    # Clipping in float first keeps infinity and huge values out of the conversion to integers.
    wide = np.clip(rounded.astype(np.float64) + zero_point, low, high)
    return wide.astype(type.dtype.numpy)


def dequantize(values: ArrayLike, type: TensorType) -> NDArray[np.float32]:
    """(value - zero_point) * scale, in float32."""
    assert type.quant is not None
    values = np.asarray(values)
    scale, zero_point = type.quant.broadcast(values.ndim)
    return ((values.astype(np.int64) - zero_point).astype(np.float32) * scale).astype(np.float32)


def activation_range(type: TensorType, activation_min: float, activation_max: float) -> tuple[int, int]:
    """Quantized clamp limits of a real activation range. TFLite ``CalculateActivationRangeQuantized``."""
    low, high = quantized_bounds(type.dtype)
    scale, zero_point = np.float32(type.scale), type.zero_point

    def at(real: float) -> int:
        with np.errstate(over="ignore"):  # what becomes infinite saturates
            steps = round_half_away(np.float32(real) / scale)
        return zero_point + int(np.clip(np.float64(steps), -(2.0**31), 2.0**31))

    if math.isfinite(activation_min):
        low = min(max(low, at(activation_min)), high)
    if math.isfinite(activation_max):
        high = max(min(high, at(activation_max)), low)
    return low, high
