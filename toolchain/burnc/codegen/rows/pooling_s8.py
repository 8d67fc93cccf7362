"""Pooling, int8, portable C."""

from __future__ import annotations

from burnc.codegen.program import Call
from burnc.codegen.rows.convolution_s8 import window_fields
from burnc.codegen.rows.row import Emitter, KernelRow, clamp_fields, is_int8
from burnc.ir import Match, op


def _lower_max(m: Match, emitter: Emitter) -> Call:
    node = m.last
    params = emitter.struct(
        "burnc_max_pool2d_s8_params",
        window=window_fields(node, node.attrs.kernel),
        channels=node.output.type.shape[3],
        **clamp_fields(node),
    )
    return Call("burnc_max_pool2d_s8", (params, node.input(0), node.output))


def _keeps_params(m: Match) -> bool:
    node = m.last
    return is_int8(node) and node.input(0).type.quant == node.output.type.quant


def _has_one_divisor_rule(m: Match) -> bool:
    """No padding counts, or all of it at the top and left does."""
    node = m.last
    a = node.attrs
    counted = (a.counted.top, a.counted.left, a.counted.bottom, a.counted.right)
    return _keeps_params(m) and (not any(counted) or counted[:2] == (a.pad.top, a.pad.left))


def _lower_average(m: Match, emitter: Emitter) -> Call:
    node = m.last
    counted = node.attrs.counted
    params = emitter.struct(
        "burnc_average_pool2d_s8_params",
        window=window_fields(node, node.attrs.kernel),
        channels=node.output.type.shape[3],
        count_include_pad=int(any((counted.top, counted.left, counted.bottom, counted.right))),
        pad_bottom=counted.bottom,
        pad_right=counted.right,
        zero_point=node.output.type.zero_point,
        **clamp_fields(node),
    )
    return Call("burnc_average_pool2d_s8", (params, node.input(0), node.output))


def _cycles(m: Match) -> float:
    kernel: tuple[int, int] = m.last.attrs.kernel
    return m.last.output.type.size * (12.0 * kernel[0] * kernel[1] + 90) + 200


def _average_cycles(m: Match) -> float:
    rows, columns = (float(k) for k in m.last.attrs.kernel)
    runs = 1.0 if columns == m.last.input(0).type.shape[2] else rows
    return int(m.last.output.type.size) * (5.5 * rows * columns + 30 * runs + 120) + 300


ROWS = (
    KernelRow("max_pool2d_s8", op("max_pool2d"), _keeps_params, _lower_max, _cycles, 500),
    KernelRow("average_pool2d_s8", op("average_pool2d"), _has_one_divisor_rule, _lower_average, _average_cycles, 700),
)
