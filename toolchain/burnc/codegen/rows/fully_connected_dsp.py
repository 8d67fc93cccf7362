"""Fully connected layers, int8, on cores with the DSP extension: four outputs at once (docs/kernels.md)."""

from __future__ import annotations

import numpy as np

from burnc.codegen.program import Call, Scratch
from burnc.codegen.rows.row import Emitter, KernelRow, is_int8
from burnc.codegen.rows.scaling_dsp import (
    CORES,
    dsp_constants,
    has_dsp_scaling,
    limits_fields,
    quad_constants,
    scaling_cycles,
)
from burnc.ir import Array, DType, Match, Node, const, maybe, op


def _blocks(node: Node) -> int:
    return 2 * -(-node.input(1).type.shape[1] // 8)


def quad_weights(w: Array, blocks: int) -> Array:
    """[O, taps] int8 -> [ceil(O / 4), blocks, 4] words, each four taps of one output."""
    outputs, taps = w.shape
    padded = np.pad(w, ((0, -outputs % 4), (0, 4 * blocks - taps)))
    quads = padded.reshape(-1, 4, blocks, 4).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(quads).view("<u4")[..., 0]


def _lower(m: Match, emitter: Emitter) -> Call:
    node = m.last
    w = node.input(1).data
    assert w is not None
    params = emitter.struct(
        "burnc_fully_connected_s8_dsp_params",
        batch=node.input(0).type.size // w.shape[1],
        depth=w.shape[1],
        out_channels=w.shape[0],
        blocks=_blocks(node),
        limits=limits_fields(node),
        weights=emitter.constant("weights", quad_weights(w, _blocks(node))),
        constants=emitter.constant("constants", quad_constants(dsp_constants(node))),
    )
    return Call("burnc_fully_connected_s8_dsp", (params, node.input(0), node.output, Scratch(DType.UINT32)))


def _cycles(m: Match) -> float:
    """Instructions on an emulated Cortex-M4."""
    node = m.last
    rows = node.output.type.size // node.output.type.shape[-1]
    outputs, taps = node.input(1).type.shape
    return rows * (1.2 * taps + 60 + -(-outputs // 4) * (19.0 * _blocks(node) + 45 + 4 * scaling_cycles(node)))


ROWS = (
    KernelRow(
        "fully_connected_s8_dsp",
        op("fully_connected", "x", const("w"), maybe(const("b"))),
        lambda m: is_int8(m.last) and has_dsp_scaling(m.last),
        _lower,
        _cycles,
        700,
        on=CORES,
        scratch=lambda m: 16 * _blocks(m.last),
    ),
)
