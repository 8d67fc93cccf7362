"""Convolution with one group, int8, on Cortex-M0 and M0+: two MACs in one multiply (docs/kernels.md)."""

from __future__ import annotations

import functools

import numpy as np

from burnc.codegen.flash_waits import Sweeps
from burnc.codegen.program import Call, Scratch
from burnc.codegen.rows.convolution_s8 import CONV2D, is_pointwise, window_fields
from burnc.codegen.rows.pairs_m0 import (
    CODE_MODES,
    CORES,
    Form,
    dot_cycles,
    exact_scaling,
    layer_params,
    pair_flash,
    pair_sweeps,
    pairs_at_once,
)
from burnc.codegen.rows.row import Emitter, KernelRow, is_int8
from burnc.ir import Array, DType, Match, Node


def _form(node: Node, *, is_code: bool) -> Form:
    data = node.input(1).data
    assert data is not None
    return Form(data.reshape(*data.shape[:2], -1), is_code)


def _line_bytes(node: Node) -> int:
    _, _, columns, channels = node.input(1).type.shape
    return columns * channels


def _first_reads(node: Node) -> Array:
    """For each output pixel the least input pixel (over the whole batch) that its window or a later one reads."""
    n, height, width, _ = node.input(0).type.shape
    _, out_height, out_width, _ = node.output.type.shape
    a = node.attrs
    rows = np.clip(np.arange(out_height) * a.stride[0] - a.pad.top, 0, height - 1)
    columns = np.clip(np.arange(out_width) * a.stride[1] - a.pad.left, 0, width - 1)
    one = (rows[:, None] * width + columns).reshape(-1)
    pixels = (np.arange(n)[:, None] * height * width + one).reshape(-1)
    return np.minimum.accumulate(pixels[::-1])[::-1]


@functools.lru_cache(maxsize=256)
def _distance(node: Node) -> int:
    """What is written must end where the windows of later pairs begin."""
    reads = _first_reads(node) * node.input(0).type.shape[3]
    a_batch = node.output.type.shape[1] * node.output.type.shape[2]
    starts = np.arange(reads.size)
    starts = starts[starts % a_batch % 2 == 0][1:]
    return max(0, int((starts * node.output.type.shape[3] - reads[starts]).max(initial=0)))


def _overlap(m: Match) -> list[tuple[int, int]]:
    return [(0, _distance(m.last))]


def _share_at_edges(node: Node) -> float:
    """The share of window rows that do not lie inside the input."""
    _, height, width, _ = node.input(0).type.shape
    _, kernel_h, kernel_w, _ = node.input(1).type.shape
    _, out_height, out_width, _ = node.output.type.shape
    a = node.attrs
    if a.dilation[1] != 1:
        return 1.0
    columns = np.arange(out_width) * a.stride[1] - a.pad.left
    rows = (np.arange(out_height)[:, None] * a.stride[0] - a.pad.top) + np.arange(kernel_h) * a.dilation[0]
    inside = ((rows >= 0) & (rows < height)).mean() * ((columns >= 0) & (columns + kernel_w <= width)).mean()
    return 1.0 - float(inside)


def _chunk(node: Node, form: Form, room: int) -> int:
    return pairs_at_once(node, form, room - 2 * _line_bytes(node))


def _row(name: str, code_bytes: int, *, is_code: bool) -> KernelRow:
    def when(m: Match) -> bool:
        """Every block's sum is exact, and so is the scaling of every channel."""
        node = m.last
        if not is_int8(node) or is_pointwise(m) or node.attrs.groups != 1:
            return False
        return exact_scaling(node) is not None and _form(node, is_code=is_code).is_exact()

    def lower(m: Match, emitter: Emitter) -> Call:
        node, form = m.last, _form(m.last, is_code=is_code)
        _, rows, columns, _ = node.input(1).type.shape
        params = emitter.struct(
            "burnc_conv2d_s8_m0_params",
            window=window_fields(node, (rows, columns)),
            in_channels=node.input(0).type.shape[3],
            input_zero_point=node.input(0).type.zero_point,
            chunk=_chunk(node, form, emitter.room),
            layer=layer_params(node, form, emitter),
        )
        return Call("burnc_conv2d_s8_m0", (params, node.input(0), node.output, Scratch(DType.UINT32)))

    def scratch(m: Match, room: int = 0) -> int:
        node, form = m.last, _form(m.last, is_code=is_code)
        return form.pair_bytes * _chunk(node, form, room) + 2 * _line_bytes(node)

    def cycles(m: Match, room: int = 0) -> float:
        """Fitted to the emulated RP2040."""
        node, form = m.last, _form(m.last, is_code=is_code)
        _, rows, columns, channels = node.input(1).type.shape
        pixels = node.output.type.size // node.output.type.shape[3]
        pairs, taps = (pixels + 1) // 2, columns * channels
        pack = rows * ((9.0 * taps if is_code else 11.0 * (taps + taps % 2)) + 200) + 150
        if not is_code:
            pack += 10 * (form.blocked.shape[1] - rows * ((taps + 1) // 2))
        copied = (9.0 * taps + 40 * columns) * rows * pixels * _share_at_edges(node)
        return pairs * pack + copied + dot_cycles(node, form, pairs, -(-pairs // _chunk(node, form, room))) + 300

    def sweeps(m: Match, room: int) -> Sweeps:
        node, form = m.last, _form(m.last, is_code=is_code)
        return pair_sweeps(node, form, _chunk(node, form, room))

    return KernelRow(
        name,
        CONV2D,
        when,
        lower,
        cycles,
        code_bytes,
        on=CORES,
        scratch=scratch,
        overlap=_overlap,
        modes=CODE_MODES if is_code else None,
        flash=lambda m: pair_flash(m.last, _form(m.last, is_code=is_code)),
        grown=lambda m, room: (scratch(m, room), cycles(m, room)),
        sweeps=sweeps,
    )


ROWS = (_row("conv2d_s8_m0", 3000, is_code=False), _row("conv2d_code_s8_m0", 3000, is_code=True))
