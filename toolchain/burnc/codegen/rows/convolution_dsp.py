"""Convolution, int8, on cores with the DSP extension: two rows and two channels at once (docs/kernels.md)."""

from __future__ import annotations

import numpy as np

from burnc.codegen.program import Call, Scratch
from burnc.codegen.rows.convolution_s8 import CONV2D, is_pointwise, window_fields
from burnc.codegen.rows.overlaps import behind_windows
from burnc.codegen.rows.row import Emitter, KernelRow, is_int8
from burnc.codegen.rows.scaling_dsp import (
    CORES,
    dsp_constants,
    has_dsp_scaling,
    limits_fields,
    paired_constants,
    scaling_cycles,
)
from burnc.ir import Array, DType, Match, Node

_MOST_CHUNK = 40


def _applies(m: Match) -> bool:
    node = m.last
    return is_int8(node) and node.attrs.groups == 1 and node.attrs.dilation[1] == 1 and has_dsp_scaling(node)


def _blocks(node: Node) -> int:
    """Blocks of four taps of the kernel's rows."""
    _, rows, taps, depth = node.input(1).type.shape
    return int(rows * -(-taps * depth // 4))


def blocked_weights(w: Array) -> Array:
    """[O, rows, taps of a row] int8 -> [O, 4 * blocks]."""
    return np.pad(w, ((0, 0), (0, 0), (0, -w.shape[2] % 4))).reshape(w.shape[0], -1)


def _chunk(node: Node, room: int) -> int:
    """Pixels, even and of equal shares of an image, as far as ``room`` bytes hold their columns."""
    pixels = node.output.type.size // node.output.type.shape[3] // node.output.type.shape[0]
    most = (room - _least_scratch(node)) // (16 * _blocks(node)) * 2 + 2
    chunks = -(-pixels // max(2, min(most, _MOST_CHUNK)))
    return 2 * -(-pixels // (2 * chunks))


def _lower(m: Match, emitter: Emitter) -> Call:
    node = m.last
    w = node.input(1).data
    assert w is not None
    params = emitter.struct(
        "burnc_conv2d_s8_dsp_params",
        window=window_fields(node, (w.shape[1], w.shape[2])),
        in_channels=w.shape[3],
        out_channels=w.shape[0],
        blocks=_blocks(node),
        chunk=_chunk(node, emitter.room),
        input_zero_point=node.input(0).type.zero_point,
        limits=limits_fields(node),
        weights=emitter.constant("weights", blocked_weights(w.reshape(*w.shape[:2], -1))),
        constants=emitter.constant("constants", paired_constants(dsp_constants(node))),
    )
    return Call("burnc_conv2d_s8_dsp", (params, node.input(0), node.output, Scratch(DType.UINT32)))


def _least_scratch(node: Node) -> int:
    """With two pixels."""
    _, _, taps, depth = node.input(1).type.shape
    return 32 * _blocks(node) + -(-taps * depth // 4) * 4


def _scratch(m: Match, room: int = 0) -> int:
    return _least_scratch(m.last) + 16 * _blocks(m.last) * (_chunk(m.last, room) // 2 - 1)


def _cycles(m: Match, room: int = 0) -> float:
    """Instructions on an emulated Cortex-M4."""
    node, blocks = m.last, _blocks(m.last)
    _, rows, columns, depth = node.input(1).type.shape
    batch, _, _, channels = node.output.type.shape
    pixels, taps = node.output.type.size // channels // batch, columns * depth
    column = 1.25 * taps + 15
    if not is_pointwise(m):
        column = rows * (1.25 * taps + 45 + (8.0 * taps + 35) * _share_copied(node)) + 30
    outputs = (2.5 * blocks + 9.5 + scaling_cycles(node)) * (channels + channels % 2) * (pixels + pixels % 2)
    chunks = -(-pixels // _chunk(node, room))
    cycles: float = batch * (pixels * column + outputs + chunks * channels * (5.0 * blocks + 80))
    return cycles


def _share_copied(node: Node) -> float:
    """Of the rows of all windows those that are not read where they lie."""
    _, height, width, _ = node.input(0).type.shape
    _, kernel_h, kernel_w, _ = node.input(1).type.shape
    _, out_height, out_width, _ = node.output.type.shape
    a = node.attrs
    rows = (np.arange(out_height) * a.stride[0] - a.pad.top)[:, None] + np.arange(kernel_h) * a.dilation[0]
    columns = np.arange(out_width) * a.stride[1] - a.pad.left
    inside = ((rows >= 0) & (rows < height)).mean() * ((columns >= 0) & (columns + kernel_w <= width)).mean()
    return 1.0 - float(inside)


ROWS = (
    KernelRow(
        "conv2d_s8_dsp",
        CONV2D,
        _applies,
        _lower,
        _cycles,
        2150,
        on=CORES,
        scratch=_scratch,
        overlap=behind_windows,
        grown=lambda m, room: (_scratch(m, room), _cycles(m, room)),
    ),
)
