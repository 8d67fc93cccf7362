"""TFLM's requantization for cores with the DSP extension, with constants made for it (docs/kernels.md)."""

from __future__ import annotations

import numpy as np

from burnc.codegen.rows.high_scaling import HighScaling, high_scaling
from burnc.codegen.rows.row import channel_scales, clamp_fields, folded_bias, sum_bounds
from burnc.ir import Array, Node
from burnc.numerics import multiply_by_quantized_multiplier

CORES = ("cortex-m4", "cortex-m7", "cortex-m33")
_MOST_PLACES = 22  # with them a zero point still fits the 64 bits
_NO_SIGN = 1 << 8
_PLAIN_PLACES = 16
_PLAIN, _WIDE, _GENERAL = range(3)  # burnc_form_dsp


def has_dsp_scaling(node: Node) -> bool:
    """Whether the plain form fits, or no factor shifts left, nor further to the right than there is room for.

    A channel whose result is the same for every sum may have any factor.
    """
    if _plain_scaling(node) is not None:
        return True
    constant = _constant_results(node)
    channels = zip(channel_scales(node), constant, strict=True)
    return all(only is not None or 0 <= -shift <= _MOST_PLACES for (_, shift), only in channels)


def _plain_scaling(node: Node) -> HighScaling | None:
    """For results of all of int8, of which the upper product of each channel gives the upper half of a word."""
    found = high_scaling(node, places=_PLAIN_PLACES) if _has_int8_limits(node) else None
    return None if found is None or found.step.any() else found


def _constant_results(node: Node) -> list[int | None]:
    """Without zero point, of channels that have only one result."""
    least, most = sum_bounds(node)
    found: list[int | None] = []
    for (multiplier, shift), low, high in zip(channel_scales(node), least, most, strict=True):
        ends = multiply_by_quantized_multiplier(np.array([low, high], np.int32), multiplier, shift)
        found.append(int(ends[0]) if ends[0] == ends[1] else None)
    return found


def limits_fields(node: Node) -> tuple[int, int, int]:
    """The fields of ``burnc_limits_dsp``."""
    clamp = clamp_fields(node)
    return _form(node), clamp["activation_min"], clamp["activation_max"]


def scaling_cycles(node: Node) -> float:
    """Instructions that each output takes more than in the plain form."""
    return (0.0, 3.0, 9.0)[_form(node)]


def _form(node: Node) -> int:
    """Plain, wide or general: the first that can be; the wide one shifts by 32 places at least."""
    if _plain_scaling(node) is not None:
        return _PLAIN
    return _WIDE if _has_int8_limits(node) and all(shift for _, shift in channel_scales(node)) else _GENERAL


def _has_int8_limits(node: Node) -> bool:
    clamp = clamp_fields(node)
    return (clamp["activation_min"], clamp["activation_max"]) == (-128, 127)


def dsp_constants(node: Node) -> Array:
    """[channels, 5]: bias with the zero point folded in, then the constants of requantize_dsp.h; mod 2**32.

    The wide and the general form: TFLM rounds twice, r = floor((acc * m + 2**30) / 2**31), then r / 2**e to the
    nearest, halves away from zero. Both together are floor((acc * m + 2**30 + 2**(30 + e) - (2**31 if acc < 0 else 0))
    / 2**(31 + e)) for e >= 1.
    """
    plain, is_wide, rows = _plain_scaling(node), _form(node) == _WIDE, []
    if plain is not None:
        columns = [folded_bias(node), plain.multiplier, plain.rounding, plain.left, np.zeros_like(plain.left)]
        return (np.stack(columns, axis=1) & 0xFFFFFFFF).astype(np.uint32)
    channels = zip(
        channel_scales(node),
        _constant_results(node),
        folded_bias(node).tolist(),
        strict=True,
    )
    for (factor, shift), constant, bias in channels:
        multiplier, places, fixed = (factor, -shift, 0) if constant is None else (0, 1, constant)
        second = 1 << (30 + places) if places else 0
        rounding = (1 << 30) + second + ((node.output.type.zero_point + fixed) << (31 + places))
        rows.append([bias, multiplier, rounding, rounding >> 32, places - 1 if is_wide else places or _NO_SIGN])
    return np.array([[number & 0xFFFFFFFF for number in row] for row in rows], np.uint32)


def paired_constants(constants: Array) -> Array:
    """Two channels together: both biases, then the rest of each; an odd last channel comes twice."""
    even = constants if len(constants) % 2 == 0 else np.concatenate([constants, constants[-1:]])
    first, second = even[0::2], even[1::2]
    return np.concatenate([first[:, :1], second[:, :1], first[:, 1:], second[:, 1:]], axis=1)


def quad_constants(constants: Array) -> Array:
    """Four channels together: their biases, then the rest of each; the last channel fills up the last four."""
    quads = np.pad(constants, ((0, -len(constants) % 4), (0, 0)), mode="edge").reshape(-1, 4, 5)
    return np.concatenate([quads[:, :, 0], quads[:, :, 1:].reshape(-1, 16)], axis=1)
