"""Depthwise convolution, int8, on cores with the DSP extension: two taps of a channel at once (docs/kernels.md)."""

from __future__ import annotations

import numpy as np

from burnc.codegen.program import Call, Scratch
from burnc.codegen.rows.convolution_s8 import CONV2D, is_depthwise, window_fields
from burnc.codegen.rows.overlaps import behind_windows
from burnc.codegen.rows.row import Emitter, KernelRow
from burnc.codegen.rows.scaling_dsp import (
    CORES,
    dsp_constants,
    has_dsp_scaling,
    limits_fields,
    quad_constants,
    scaling_cycles,
)
from burnc.ir import Array, DType, Match, Node

_MOST_TAPS = 40
_CHANNEL_ORDER = [0, 2, 1, 3]  # in which SXTB16 takes the bytes of a word apart


def _taps(node: Node) -> int:
    shape = node.input(1).type.shape
    return shape[1] * shape[2]


def _applies(m: Match) -> bool:
    node = m.last
    channels = node.input(0).type.shape[3]
    return (
        is_depthwise(m)
        and channels == node.output.type.shape[3]
        and channels % 4 == 0
        and _taps(node) <= _MOST_TAPS
        and has_dsp_scaling(node)
    )


def paired_taps(w: Array) -> Array:
    """[C, taps] int8 -> [C / 4, words]: four for two taps, two for a ninth; any other odd last has a zero beside it."""
    channels, taps = w.shape
    quads = w.reshape(channels // 4, 4, taps)[:, _CHANNEL_ORDER].transpose(0, 2, 1)
    single = quads[:, 8:] if taps == 9 else quads[:, :0]
    paired = quads[:, :8] if taps == 9 else np.pad(quads, ((0, 0), (0, taps % 2), (0, 0)))
    first, second = paired[:, 0::2], paired[:, 1::2]
    words = [_both(first, second).reshape(channels // 4, -1)]
    if single.size:
        words.append(_both(single[:, 0, 0::2], single[:, 0, 1::2]))
    return np.concatenate(words, axis=1)


def _both(lower: Array, upper: Array) -> Array:
    return lower.astype(np.int16).astype(np.uint16) | upper.astype(np.int16).astype(np.uint16).astype(np.uint32) << 16


def _lower(m: Match, emitter: Emitter) -> Call:
    node = m.last
    w = node.input(1).data
    assert w is not None
    channels = w.shape[0]
    params = emitter.struct(
        "burnc_depthwise_conv2d_s8_dsp_params",
        window=window_fields(node, (w.shape[1], w.shape[2])),
        channels=channels,
        input_zero_point=node.input(0).type.zero_point,
        limits=limits_fields(node),
        weights=emitter.constant("weights", paired_taps(w.reshape(channels, -1))),
        constants=emitter.constant("constants", quad_constants(dsp_constants(node))),
    )
    return Call("burnc_depthwise_conv2d_s8_dsp", (params, node.input(0), node.output, Scratch(DType.INT8)))


def _cycles(m: Match) -> float:
    """Instructions on an emulated Cortex-M4."""
    node = m.last
    n, rows, width, channels = node.output.type.shape
    taps = _taps(node)
    an_output = 11.6 + scaling_cycles(node) + (19.3 if taps == 9 else 2.4 * taps)
    a_row = 15 * width + 3 * (40 + 7 * taps)  # runs of pixels: both edges, and what is between them
    return float(n * rows * (width * channels * an_output + a_row))


ROWS = (
    KernelRow(
        "depthwise_conv2d_s8_dsp",
        CONV2D,
        _applies,
        _lower,
        _cycles,
        1100,
        on=CORES,
        scratch=lambda m: m.last.input(0).type.shape[3],
        overlap=behind_windows,
    ),
)
