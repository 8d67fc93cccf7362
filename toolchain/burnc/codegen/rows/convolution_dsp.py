"""Convolution, int8, on cores with the DSP extension: two rows and two channels at once (docs/kernels.md)."""

from __future__ import annotations

import numpy as np

from burnc.codegen.program import Call, Scratch
from burnc.codegen.rows.convolution_s8 import CONV2D, window_fields
from burnc.codegen.rows.row import Emitter, KernelRow, is_int8
from burnc.codegen.rows.scaling_dsp import CORES, dsp_constants, has_dsp_scaling, limits_fields, paired_constants
from burnc.ir import Array, DType, Match, Node


def _applies(m: Match) -> bool:
    node = m.last
    return is_int8(node) and node.attrs.groups == 1 and node.attrs.dilation[1] == 1 and has_dsp_scaling(node)


def _blocks(node: Node) -> int:
    """Blocks of four taps: those of the kernel's rows, made an even number."""
    _, rows, taps, depth = node.input(1).type.shape
    return 2 * -(-rows * -(-taps * depth // 4) // 2)


def paired_weights(w: Array) -> Array:
    """[O, rows, taps of a row] int8 -> [ceil(O / 2), blocks, 2] words, each four taps of one channel."""
    channels, _, taps = w.shape
    in_blocks = np.pad(w, ((0, channels % 2), (0, 0), (0, -taps % 4))).reshape(channels + channels % 2, -1)
    even = np.pad(in_blocks, ((0, 0), (0, -in_blocks.shape[1] % 8)))
    pairs = even.reshape(len(even) // 2, 2, -1, 4).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(pairs).view("<u4")[..., 0]


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
        input_zero_point=node.input(0).type.zero_point,
        limits=limits_fields(node),
        weights=emitter.constant("weights", paired_weights(w.reshape(*w.shape[:2], -1))),
        constants=emitter.constant("constants", paired_constants(dsp_constants(node))),
    )
    return Call("burnc_conv2d_s8_dsp", (params, node.input(0), node.output, Scratch(DType.UINT32)))


def _scratch(m: Match) -> int:
    _, _, taps, depth = m.last.input(1).type.shape
    return 16 * _blocks(m.last) + -(-taps * depth // 4) * 4


def _cycles(m: Match) -> float:
    """Instructions on an emulated Cortex-M4."""
    node = m.last
    _, rows, taps, depth = node.input(1).type.shape
    pixels = node.output.type.size // node.output.type.shape[3]
    return pixels * (rows * (taps * depth * 1.2 + 20) + 30) + (3.75 * _blocks(node) + 13) * node.output.type.size


ROWS = (
    KernelRow(
        "conv2d_s8_dsp",
        CONV2D,
        _applies,
        _lower,
        _cycles,
        1000,
        on=CORES,
        scratch=_scratch,
    ),
)
