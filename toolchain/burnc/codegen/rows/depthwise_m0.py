"""Depthwise 3x3 convolution, int8, on Cortex-M0 and M0+ (docs/kernels.md)."""

from __future__ import annotations

import numpy as np

from burnc.codegen.flash_waits import Sweeps
from burnc.codegen.program import Call, Scratch
from burnc.codegen.rows.convolution_s8 import CONV2D, columns_read, is_depthwise, padded_row_fields, window_fields
from burnc.codegen.rows.pairs_m0 import CORES, exact_scaling, is_signed
from burnc.codegen.rows.row import Emitter, KernelRow, folded_bias
from burnc.ir import Array, DType, Match, Node

KERNEL = (3, 3)
_RECORD_BYTES = 28


def is_unsigned_3x3(m: Match) -> bool:
    """3x3, as many filters as channels, clamped at the zero point, and its scaling is exact."""
    node = m.last
    if not is_depthwise(m) or node.input(1).type.shape[0] != node.input(0).type.shape[3]:
        return False
    if node.input(1).type.shape[1:3] != KERNEL or node.attrs.dilation != (1, 1):
        return False
    scaling = exact_scaling(node)
    return scaling is not None and not is_signed(scaling)


def _can_slide(m: Match) -> bool:
    node = m.last
    return is_unsigned_3x3(m) and node.attrs.stride in ((1, 1), (2, 2)) and node.output.type.shape[2] >= 2


def records(node: Node, weights: Array, flags: Array | int = 0) -> Array:
    """What a channel needs, in seven words; ``weights`` [channels, 3, 3], and ``flags`` join the places."""
    scaling = exact_scaling(node)
    assert scaling is not None
    taps = np.zeros((len(weights), 3, 4), np.int64)
    taps[:, :, :3] = weights.astype(np.int64) & 255
    taps[:, :, 3] = np.stack([scaling.places | flags, scaling.fraction & 255, scaling.fraction >> 8], axis=1)
    packed = (taps << np.arange(4) * 8).sum(axis=2)
    offset = folded_bias(node).astype(np.int64) + scaling.offset
    rest = np.stack([offset, scaling.limit, scaling.multiplier, scaling.rounding], axis=1)
    return (np.concatenate([packed, rest], axis=1) & 0xFFFFFFFF).astype(np.uint32)


def kernels_of(node: Node) -> Array:
    """The weights as [channels, 3, 3]."""
    data = node.input(1).data
    assert data is not None
    return data[..., 0]


def record_bytes(m: Match) -> int:
    return _RECORD_BYTES * int(m.last.input(0).type.shape[3])


def _lines(node: Node, rows: int) -> int:
    return (rows - 1) * int(node.attrs.stride[0]) + KERNEL[0]


def _line_bytes(node: Node) -> int:
    return columns_read(node) * node.input(0).type.shape[3]


def _rows_at_once(node: Node, room: int = 0) -> int:
    """As many output rows as ``room`` bytes have lines for, at least one."""
    lines = room // (4 + _line_bytes(node))
    rows: int = (lines - KERNEL[0]) // node.attrs.stride[0] + 1
    return max(1, min(rows, node.output.type.shape[1]))


def _scratch(m: Match, room: int = 0) -> int:
    return _lines(m.last, _rows_at_once(m.last, room)) * (4 + _line_bytes(m.last))


def _passes(m: Match, room: int = 0) -> int:
    n, out_height, _, _ = m.last.output.type.shape
    return n * -(-out_height // _rows_at_once(m.last, room))


def _lower(m: Match, emitter: Emitter) -> Call:
    node = m.last
    params = emitter.struct(
        "burnc_depthwise3x3_s8_m0_params",
        window=window_fields(node, KERNEL),
        row=padded_row_fields(node, columns_read(node)),
        rows_at_once=_rows_at_once(node, emitter.room),
        records=emitter.constant("records", records(node, kernels_of(node))),
    )
    return Call("burnc_depthwise3x3_s8_m0", (params, node.input(0), node.output, Scratch(DType.UINT32)))


def _overlap(m: Match) -> list[tuple[int, int]]:
    """What is written must end where the rows begin that are not copied yet."""
    node = m.last
    n, height, _, _ = node.input(0).type.shape
    _, out_height, _, _ = node.output.type.shape
    made = np.arange(1, out_height + 1)
    copied = np.clip((made - 1) * node.attrs.stride[0] + KERNEL[0] - node.attrs.pad.top, 0, height)
    images = np.arange(n)[:, None]
    row, out_row = (v.type.size // v.type.shape[0] // v.type.shape[1] for v in (node.input(0), node.output))
    written, read = (images * out_height + made) * out_row, (images * height + copied) * row
    written[-1, copied == height] = 0  # nothing is read after the last image's last row
    return [(0, max(0, int((written - read).max())))]


def _cycles(m: Match, room: int = 0) -> float:
    """Fitted to the emulated RP2040."""
    node = m.last
    n, out_height, width, channels = node.output.type.shape
    rows = n * out_height
    passes = _passes(m, room)
    stride = int(node.attrs.stride[0])
    an_output, a_row = (70.0, 75.0) if stride == 1 else (82.0, 55.0)
    return channels * (rows * (an_output * width + a_row) + passes * 95.0) + rows * stride * _line_bytes(node) * 0.8


ROWS = (
    KernelRow(
        "depthwise3x3_s8_m0",
        CONV2D,
        _can_slide,
        _lower,
        _cycles,
        1500,
        on=CORES,
        scratch=_scratch,
        overlap=_overlap,
        grown=lambda m, room: (_scratch(m, room), _cycles(m, room)),
        flash=record_bytes,
        sweeps=lambda m, room: Sweeps(_passes(m, room)),
    ),
)
