"""The kernels for Cortex-M cores with the vector extension, int8: 16 taps in one instruction (docs/kernels.md)."""

from __future__ import annotations

import numpy as np

from burnc.codegen.program import Call, FieldValue, Scratch
from burnc.codegen.rows.convolution_s8 import CONV2D, is_depthwise, window_fields
from burnc.codegen.rows.row import Emitter, KernelRow, channel_scales, clamp_fields, folded_bias, is_int8
from burnc.ir import Array, DType, Match, Node, const, maybe, op

CORES = ("cortex-m55",)
_CHUNK = 16
_MOST_TAPS = 40


def _shifts_right(node: Node) -> bool:
    """Whether no factor is 1 or more."""
    return all(shift <= 0 for _, shift in channel_scales(node))


def _weights(node: Node) -> Array:
    data = node.input(1).data
    assert data is not None
    return data


def _chunks(node: Node) -> int:
    weights = node.input(1).type
    return -(-(weights.size // weights.shape[0]) // _CHUNK)


def chunked_weights(w: Array) -> Array:
    """[O, taps] int8 -> [ceil(O / 4), chunks, 4, 16]."""
    outputs, taps = w.shape
    padded = np.pad(w, ((0, -outputs % 4), (0, -taps % _CHUNK)))
    return padded.reshape(len(padded) // 4, 4, -1, _CHUNK).transpose(0, 2, 1, 3)


def _constants(node: Node) -> Array:
    """[3, O] int32: biases with the zero point folded in, multipliers, shifts."""
    factors = np.array(channel_scales(node), np.int32)
    return np.stack([folded_bias(node), factors[:, 0], factors[:, 1]])


def quad_constants(rows: Array) -> Array:
    """[3, O] -> [ceil(O / 4), 3, 4]."""
    return np.pad(rows, ((0, 0), (0, -rows.shape[1] % 4))).reshape(3, -1, 4).transpose(1, 0, 2)


def even_and_odd_constants(rows: Array) -> Array:
    """[3, C] -> [C / 8, 2, 3, 4]: of eight channels those at even places, then those at odd ones."""
    return rows.reshape(3, -1, 4, 2).transpose(1, 3, 0, 2)


def _output(node: Node) -> tuple[int, int, int]:
    """The fields of ``burnc_output_mve``."""
    clamp = clamp_fields(node)
    return node.output.type.zero_point, clamp["activation_min"], clamp["activation_max"]


def _dot_fields(node: Node, emitter: Emitter) -> dict[str, FieldValue]:
    w = _weights(node)
    return {
        "chunks": _chunks(node),
        "out_channels": w.shape[0],
        "output": _output(node),
        "weights": emitter.constant("weights", chunked_weights(w.reshape(w.shape[0], -1))),
        "constants": emitter.constant("constants", quad_constants(_constants(node))),
    }


def _lower_conv2d(m: Match, emitter: Emitter) -> Call:
    node = m.last
    shape = node.input(1).type.shape
    params = emitter.struct(
        "burnc_conv2d_s8_mve_params",
        window=window_fields(node, (shape[1], shape[2])),
        in_channels=shape[3],
        input_zero_point=node.input(0).type.zero_point,
        **_dot_fields(node, emitter),
    )
    return Call("burnc_conv2d_s8_mve", (params, node.input(0), node.output, Scratch(DType.INT8)))


def _paired_taps(w: Array) -> Array:
    """[C, taps], an odd last one with a zero beside it."""
    flat = w.reshape(w.shape[0], -1)
    return np.pad(flat, ((0, 0), (0, flat.shape[1] % 2)))


def _pairs_are_exact(w: Array) -> bool:
    """The products of two taps fit 16 bits together: 128 * 255 = 32640."""
    pairs = np.abs(_paired_taps(w).astype(np.int16)).reshape(w.shape[0], -1, 2)
    return bool(pairs.sum(axis=2).max() <= 255)


def _lower_depthwise(m: Match, emitter: Emitter) -> Call:
    node = m.last
    w = _weights(node)
    params = emitter.struct(
        "burnc_depthwise_conv2d_s8_mve_params",
        window=window_fields(node, (w.shape[1], w.shape[2])),
        channels=w.shape[0],
        input_zero_point=node.input(0).type.zero_point,
        output=_output(node),
        weights=emitter.constant("weights", _paired_taps(w).reshape(w.shape[0] // 8, 8, -1).transpose(0, 2, 1)),
        constants=emitter.constant("constants", even_and_odd_constants(_constants(node))),
    )
    return Call("burnc_depthwise_conv2d_s8_mve", (params, node.input(0), node.output, Scratch(DType.INT8)))


def _lower_fully_connected(m: Match, emitter: Emitter) -> Call:
    node = m.last
    depth = node.input(1).type.shape[1]
    params = emitter.struct(
        "burnc_fully_connected_s8_mve_params",
        batch=node.input(0).type.size // depth,
        depth=depth,
        **_dot_fields(node, emitter),
    )
    return Call("burnc_fully_connected_s8_mve", (params, node.input(0), node.output, Scratch(DType.INT8)))


def _depthwise_applies(m: Match) -> bool:
    node = m.last
    if not is_depthwise(m) or not _shifts_right(node):
        return False
    outputs, rows, columns, _ = node.input(1).type.shape
    in_eights = node.input(0).type.shape[3] == outputs and outputs % 8 == 0
    return in_eights and rows * columns <= _MOST_TAPS and _pairs_are_exact(_weights(node))


def _dot_cycles(node: Node) -> float:
    """Instructions on an emulated Cortex-M55."""
    outputs = node.input(1).type.shape[0]
    rows = node.output.type.size // outputs
    return -(-rows // 2) * -(-outputs // 4) * (17.0 * _chunks(node) + 60)


def _conv2d_cycles(m: Match) -> float:
    node = m.last
    pixels = node.output.type.size // node.output.type.shape[3]
    return pixels * (40 + 30 * node.input(1).type.shape[1]) + _dot_cycles(node)


def _depthwise_cycles(m: Match) -> float:
    node = m.last
    _, rows, columns, _ = node.input(1).type.shape
    pixels = node.output.type.size // node.output.type.shape[3]
    return pixels * 20.0 + node.output.type.size / 8 * (7.0 * rows * columns + 45)


ROWS = (
    KernelRow(
        "conv2d_s8_mve",
        CONV2D,
        lambda m: is_int8(m.last) and m.last.attrs.groups == 1 and _shifts_right(m.last),
        _lower_conv2d,
        _conv2d_cycles,
        800,
        on=CORES,
        scratch=lambda m: 2 * _CHUNK * _chunks(m.last),
    ),
    KernelRow(
        "depthwise_conv2d_s8_mve",
        CONV2D,
        _depthwise_applies,
        _lower_depthwise,
        _depthwise_cycles,
        700,
        on=CORES,
        scratch=lambda m: m.last.input(0).type.shape[3],
    ),
    KernelRow(
        "fully_connected_s8_mve",
        op("fully_connected", "x", const("w"), maybe(const("b"))),
        lambda m: is_int8(m.last) and _shifts_right(m.last),
        _lower_fully_connected,
        lambda m: 60 + _dot_cycles(m.last),
        400,
        on=CORES,
        scratch=lambda m: _CHUNK * _chunks(m.last),
    ),
)
