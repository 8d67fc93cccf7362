"""Depthwise 3x3 convolution, int8, on RV32IM (docs/kernels.md)."""

from __future__ import annotations

import numpy as np

from burnc.codegen.program import Call, Scratch
from burnc.codegen.rows.convolution_s8 import CONV2D, is_depthwise, window_fields
from burnc.codegen.rows.high_scaling import high_scaling
from burnc.codegen.rows.row import Emitter, KernelRow, clamp_fields, folded_bias
from burnc.ir import Array, DType, Match, Node

_KERNEL = (3, 3)
_ROWS_AT_ONCE = 12


def _applies(m: Match) -> bool:
    """Windows hang over the left and right edges by a column at most, and results are clamped at their zero point."""
    node = m.last
    if not is_depthwise(m) or node.input(1).type.shape[0] != node.input(0).type.shape[3]:
        return False
    a, width, columns = node.attrs, node.input(0).type.shape[2], node.output.type.shape[2]
    behind = (columns - 1) * a.stride[1] + _KERNEL[1] - a.pad.left - width
    slides = node.input(1).type.shape[1:3] == _KERNEL and a.stride in ((1, 1), (2, 2)) and a.dilation == (1, 1)
    if not slides or columns < 2 or a.pad.left not in (0, 1) or behind > 1:
        return False
    scaling = high_scaling(node)
    return scaling is not None and not scaling.step.any()


def _records(node: Node) -> Array:
    scaling, data = high_scaling(node), node.input(1).data
    assert scaling is not None
    assert data is not None
    head = np.zeros((data.shape[0], 12), np.int8)
    head[:, :9] = data.reshape(-1, 9)
    head[:, 9], head[:, 10] = scaling.places, scaling.left
    rest = np.stack([folded_bias(node), scaling.multiplier, scaling.rounding], axis=1)
    return np.concatenate([head.view("<u4"), (rest & 0xFFFFFFFF).astype(np.uint32)], axis=1)


def _lower(m: Match, emitter: Emitter) -> Call:
    node = m.last
    clamp = clamp_fields(node)
    params = emitter.struct(
        "burnc_depthwise3x3_s8_rv32_params",
        window=window_fields(node, _KERNEL),
        channels=node.input(0).type.shape[3],
        input_zero_point=node.input(0).type.zero_point,
        limits=(clamp["activation_min"], clamp["activation_max"]),
        records=emitter.constant("records", _records(node)),
    )
    return Call("burnc_depthwise3x3_s8_rv32", (params, node.input(0), node.output, Scratch(DType.INT8)))


def _cycles(m: Match) -> float:
    """Instructions on an emulated RV32IMC."""
    n, rows, width, channels = m.last.output.type.shape
    an_output, a_row = (36.8, 60.0) if m.last.attrs.stride[1] == 1 else (42.0, 50.0)
    return channels * n * (rows * (an_output * width + a_row) + 70.0 * -(-rows // _ROWS_AT_ONCE))


ROWS = (
    KernelRow(
        "depthwise3x3_s8_rv32",
        CONV2D,
        _applies,
        _lower,
        _cycles,
        1150,
        on=("rv32imc",),
        scratch=lambda m: m.last.input(0).type.shape[2] * m.last.input(0).type.shape[3],
        flash=lambda m: 24 * m.last.output.type.shape[3],
    ),
)
