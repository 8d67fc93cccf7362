"""The kernels for cores with many registers and no vectors, int8 (docs/kernels.md)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from burnc.codegen.program import Call, FieldValue, Scratch
from burnc.codegen.rows.convolution_s8 import CONV2D, is_depthwise, window_fields
from burnc.codegen.rows.fully_connected_m0 import narrow_layout, narrow_row
from burnc.codegen.rows.row import Emitter, KernelRow, channel_scales, clamp_fields, folded_bias, is_int8
from burnc.ir import Array, DType, Match, Node, const, maybe, op

CORES = ("rv32imc",)
_MOST_TAPS = 40


def _weights(node: Node) -> Array:
    """[O, taps]."""
    data = node.input(1).data
    assert data is not None
    return data.reshape(data.shape[0], -1)


def _fours(rows: Array) -> Array:
    """[O, n] -> [ceil(O / 4), n, 4], zeros where outputs fill up the last four."""
    return np.pad(rows, ((0, -len(rows) % 4), (0, 0))).reshape(-1, 4, rows.shape[1]).transpose(0, 2, 1)


def _flash(m: Match) -> int:
    """Weights and 12 bytes of constants, of outputs in fours."""
    outputs, taps = map(int, _weights(m.last).shape)
    return 4 * -(-outputs // 4) * (taps + 12)


def _layer_fields(node: Node, emitter: Emitter) -> dict[str, FieldValue]:
    w = _weights(node)
    pairs = np.array(channel_scales(node), np.int32)
    constants = np.stack([folded_bias(node), pairs[:, 0], pairs[:, 1]], axis=1)
    return {
        "output_zero_point": node.output.type.zero_point,
        **clamp_fields(node),
        "weights": emitter.constant("weights", _fours(w)),
        "constants": emitter.constant("constants", _fours(constants)),
    }


def _lower_conv2d(m: Match, emitter: Emitter) -> Call:
    node = m.last
    outputs, rows, columns, depth = node.input(1).type.shape
    params = emitter.struct(
        "burnc_conv2d_4x4_s8_params",
        window=window_fields(node, (rows, columns)),
        in_channels=depth,
        input_zero_point=node.input(0).type.zero_point,
        taps=rows * columns * depth,
        out_channels=outputs,
        **_layer_fields(node, emitter),
    )
    return Call("burnc_conv2d_4x4_s8", (params, node.input(0), node.output, Scratch(DType.INT8)))


def _lower_depthwise(m: Match, emitter: Emitter) -> Call:
    node = m.last
    outputs, rows, columns, _ = node.input(1).type.shape
    params = emitter.struct(
        "burnc_depthwise_conv2d_4_s8_params",
        window=window_fields(node, (rows, columns)),
        channels=outputs,
        input_zero_point=node.input(0).type.zero_point,
        **_layer_fields(node, emitter),
    )
    return Call("burnc_depthwise_conv2d_4_s8", (params, node.input(0), node.output, Scratch(DType.INT8)))


def _lower_fully_connected(m: Match, emitter: Emitter) -> Call:
    node = m.last
    outputs, taps = node.input(1).type.shape
    params = emitter.struct(
        "burnc_fully_connected_4x4_s8_params",
        batch=node.input(0).type.size // taps,
        taps=taps,
        out_channels=outputs,
        **_layer_fields(node, emitter),
    )
    return Call("burnc_fully_connected_4x4_s8", (params, node.input(0), node.output))


def _in_fours(m: Match) -> bool:
    if not is_depthwise(m):
        return False
    outputs, rows, columns, _ = m.last.input(1).type.shape
    return m.last.input(0).type.shape[3] == outputs and outputs % 4 == 0 and rows * columns <= _MOST_TAPS


def _dot_cycles(m: Match) -> float:
    """Instructions on an emulated RV32IMC."""
    node = m.last
    taps: int = _weights(node).shape[1]
    outputs: int = node.output.type.size
    rows = outputs // node.output.type.shape[-1]
    channels = -(-node.output.type.shape[-1] // 4) * 4
    sums = 2.6 * channels * -(-rows // 4) * 4 if rows > 1 else 3.5 * channels
    is_copied = node.op == "conv2d" and taps != node.input(0).type.shape[-1]
    copied = 6.5 * taps + 60 * node.input(1).type.shape[1] if is_copied else 0.0
    cycles: float = rows * (60 + copied) + sums * taps + outputs * 46
    return cycles


def _depthwise_cycles(m: Match) -> float:
    outputs: int = m.last.output.type.size
    taps: int = _weights(m.last).shape[1]
    return outputs * (35 + 5.8 * taps)


def _quads_cycles(m: Match) -> float:
    """Instructions on an emulated RV32IMC of what serves Cortex-M0, too."""
    node, layout = m.last, narrow_layout(m.last)
    outputs, taps = node.input(1).type.shape
    blocks, listed = layout.blocks, sum(1 for taps in layout.single if taps)
    groups = len(layout.single)
    a_row = groups * (blocks * (9.0 * layout.block + 16) + 150) + 16.0 * sum(map(len, layout.single)) + 90.0 * listed
    return node.output.type.size / outputs * (a_row + 5.5 * taps + 200)


ROWS = (
    KernelRow(
        "conv2d_4x4_s8",
        CONV2D,
        lambda m: is_int8(m.last) and m.last.attrs.groups == 1,
        _lower_conv2d,
        _dot_cycles,
        900,
        on=CORES,
        flash=_flash,
        scratch=lambda m: 4 * _weights(m.last).shape[1],
    ),
    KernelRow(
        "depthwise_conv2d_4_s8",
        CONV2D,
        _in_fours,
        _lower_depthwise,
        _depthwise_cycles,
        700,
        on=CORES,
        flash=_flash,
        scratch=lambda m: m.last.input(0).type.shape[3],
    ),
    KernelRow(
        "fully_connected_4x4_s8",
        op("fully_connected", "x", const("w"), maybe(const("b"))),
        lambda m: is_int8(m.last),
        _lower_fully_connected,
        _dot_cycles,
        500,
        on=CORES,
        flash=_flash,
    ),
    replace(narrow_row, name="fully_connected_quads_s8", cycles=_quads_cycles, on=CORES),
)
