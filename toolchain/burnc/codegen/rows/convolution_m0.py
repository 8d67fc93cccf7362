"""Convolution with one group, int8, on Cortex-M0 and M0+: two MACs in one multiply (docs/kernels.md)."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from burnc.codegen.flash_waits import Sweeps
from burnc.codegen.program import Call, Scratch
from burnc.codegen.rows.convolution_s8 import (
    CONV2D,
    columns_read,
    is_pointwise,
    padded_row_fields,
    window_fields,
)
from burnc.codegen.rows.overlaps import first_reads
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


@functools.lru_cache(maxsize=256)
def _distance(node: Node) -> int:
    """What is written must end where the windows of later pairs begin."""
    reads = first_reads(node) * node.input(0).type.shape[3]
    a_batch = node.output.type.shape[1] * node.output.type.shape[2]
    starts = np.arange(reads.size)
    starts = starts[starts % a_batch % 2 == 0][1:]
    return max(0, int((starts * node.output.type.shape[3] - reads[starts]).max(initial=0)))


def _overlap(m: Match) -> list[tuple[int, int]]:
    return [(0, _distance(m.last))]


def _is_inside(node: Node) -> Array:
    """For each output pixel of an image whether its whole window lies in the input."""
    _, height, width, _ = node.input(0).type.shape
    _, out_height, out_width, _ = node.output.type.shape
    a = node.attrs
    rows = np.arange(out_height)[:, None] * a.stride[0] - a.pad.top
    columns = np.arange(out_width) * a.stride[1] - a.pad.left
    reach = [(k - 1) * d for k, d in zip(node.input(1).type.shape[1:3], a.dilation, strict=True)]
    inside = (rows >= 0) & (rows + reach[0] < height) & (columns >= 0) & (columns + reach[1] < width)
    flat: Array = inside.reshape(-1) & (a.dilation[1] == 1)
    return flat


def _padded_bytes(node: Node) -> int:
    return columns_read(node, axis=0) * columns_read(node) * node.input(0).type.shape[3]


@dataclass(frozen=True)
class _Plan:
    """How the scratch is used: for ``chunk`` pairs, and the whole input with padding around it or two lines of taps."""

    node: Node
    form: Form
    chunk: int
    is_padded: bool

    @property
    def scratch(self) -> int:
        return self.form.pair_bytes * self.chunk + _bytes_behind(self.node, is_padded=self.is_padded)

    @property
    def cycles(self) -> float:
        """Fitted to the emulated RP2040."""
        node, form = self.node, self.form
        images, *_, channels = node.input(0).type.shape
        _, rows, columns, _ = node.input(1).type.shape
        inside, taps = _is_inside(node) | self.is_padded, columns * channels
        pixels = np.append(inside, inside[-1]) if inside.size % 2 else inside
        pairs = images * pixels.size // 2
        at_edges = images * int((~pixels.reshape(-1, 2).all(axis=1)).sum())
        a_row = 9.0 * taps if form.is_code else 11.0 * (taps + taps % 2)
        blocks = 0 if form.is_code else 10 * (form.blocked.shape[1] - rows * ((taps + 1) // 2))
        pack = pairs * (rows * (a_row + 17) + 270 + blocks) + at_edges * rows * (200.0 + 9 * taps + 40 * columns)
        padding = columns_read(node, axis=0) * (160.0 + 0.8 * columns_read(node) * channels) if self.is_padded else 0.0
        return pack + images * padding + dot_cycles(node, form, pairs, -(-pairs // self.chunk)) + 300


def _bytes_behind(node: Node, *, is_padded: bool) -> int:
    return _padded_bytes(node) if is_padded else 2 * _line_bytes(node)


def _plan(node: Node, form: Form, room: int = 0) -> _Plan:
    """The cheapest plan within ``room`` bytes, at least the smallest there is."""
    may_pad = node.attrs.dilation[1] == 1 and room >= _padded_bytes(node) + form.pair_bytes
    plans = [
        _Plan(node, form, pairs_at_once(node, form, room - _bytes_behind(node, is_padded=padded)), padded)
        for padded in ([False, True] if may_pad else [False])
    ]
    return min(plans, key=lambda plan: plan.cycles)


def _row(name: str, code_bytes: int, *, is_code: bool) -> KernelRow:
    def when(m: Match) -> bool:
        """Every block's sum is exact, and so is the scaling of every channel."""
        node = m.last
        if not is_int8(node) or is_pointwise(m) or node.attrs.groups != 1:
            return False
        return exact_scaling(node) is not None and _form(node, is_code=is_code).is_exact()

    def plan(m: Match, room: int = 0) -> _Plan:
        return _plan(m.last, _form(m.last, is_code=is_code), room)

    def lower(m: Match, emitter: Emitter) -> Call:
        node, found = m.last, plan(m, emitter.room)
        _, rows, columns, _ = node.input(1).type.shape
        height, width = columns_read(node, axis=0), columns_read(node)
        window = window_fields(node, (rows, columns))
        if found.is_padded:
            window = (window[0], height, width, *window[3:-2], 0, 0)
        params = emitter.struct(
            "burnc_conv2d_s8_m0_params",
            window=window,
            row=padded_row_fields(node, width),
            padded_rows=height if found.is_padded else 0,
            padded_rows_top=node.attrs.pad.top,
            chunk=found.chunk,
            layer=layer_params(node, found.form, emitter),
        )
        return Call("burnc_conv2d_s8_m0", (params, node.input(0), node.output, Scratch(DType.UINT32)))

    def sweeps(m: Match, room: int) -> Sweeps:
        found = plan(m, room)
        return pair_sweeps(found.node, found.form, found.chunk)

    return KernelRow(
        name,
        CONV2D,
        when,
        lower,
        lambda m: plan(m).cycles,
        code_bytes,
        on=CORES,
        scratch=lambda m: plan(m).scratch,
        overlap=_overlap,
        modes=CODE_MODES if is_code else None,
        flash=lambda m: pair_flash(m.last, _form(m.last, is_code=is_code)),
        grown=lambda m, room: (plan(m, room).scratch, plan(m, room).cycles),
        sweeps=sweeps,
    )


ROWS = (_row("conv2d_s8_m0", 3000, is_code=False), _row("conv2d_code_s8_m0", 3000, is_code=True))
