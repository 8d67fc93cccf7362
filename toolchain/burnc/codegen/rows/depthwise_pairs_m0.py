"""Depthwise 3x3 convolution, int8, on Cortex-M0 and M0+: two MACs in one multiply (docs/kernels.md)."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from burnc.codegen.flash_waits import Sweeps
from burnc.codegen.program import Call, Scratch
from burnc.codegen.rows.convolution_s8 import CONV2D
from burnc.codegen.rows.depthwise_m0 import is_unsigned_3x3, kernels_of, record_bytes, records
from burnc.codegen.rows.pairs_m0 import BLOCK_WEIGHTS_SUM, CORES
from burnc.codegen.rows.row import Emitter, KernelRow
from burnc.ir import Array, DType, Match, Node

_TWO_TAPS = 128  # the flag of channels whose blocks have two taps


@dataclass(frozen=True)
class Side:
    """One direction of the image: its extents, the padding at its ends, and inputs and outputs in bytes apart."""

    inputs: int
    outputs: int
    before: int
    after: int
    x_step: int
    y_step: int


@dataclass(frozen=True)
class Layout:
    """Outputs go along ``run``; one of its first half shares a word with that ``shift`` behind it."""

    run: Side
    other: Side
    turned: bool  # runs are columns of the image

    @property
    def length(self) -> int:
        return (self.run.outputs + 1) // 2

    @property
    def shift(self) -> int:
        return self.run.outputs - self.length

    @property
    def whole_pairs(self) -> int:
        return self.run.inputs - self.shift

    @property
    def run_bytes(self) -> int:
        return 4 * (self.length + 2)

    def runs_at_once(self, room: int = 0) -> int:
        """As many as ``room`` bytes hold with the two runs of the input beside them, at least one."""
        return max(1, min(self.other.outputs, room // self.run_bytes - 2))

    @property
    def cycles(self) -> float:
        """Of a channel whose blocks have three taps. Fitted to the emulated RP2040."""
        padding = (self.other.before + self.other.after) * (5.0 * self.length + 32)
        pack = self.other.inputs * (10.0 * self.whole_pairs + 49) + padding
        return pack + self.other.outputs * (183.5 * (self.length // 2) + 117 * (self.length % 2) + 45) + 140


@functools.lru_cache(maxsize=256)
def _layout(node: Node) -> Layout:
    _, height, width, channels = node.input(0).type.shape
    _, out_height, out_width, _ = node.output.type.shape
    pad = node.attrs.pad
    rows = Side(height, out_height, pad.top, out_height + 2 - height - pad.top, width * channels, out_width * channels)
    columns = Side(width, out_width, pad.left, out_width + 2 - width - pad.left, channels, channels)
    layouts = [Layout(columns, rows, turned=False), Layout(rows, columns, turned=True)]
    return min((found for found in layouts if found.shift), key=lambda found: found.cycles)


def _can_pair(m: Match) -> bool:
    node = m.last
    if not is_unsigned_3x3(m) or node.attrs.stride != (1, 1):
        return False
    _, out_height, out_width, _ = node.output.type.shape
    if max(out_height, out_width) < 2:
        return False
    pads = [p for side in (_layout(node).run, _layout(node).other) for p in (side.before, side.after)]
    return set(pads) <= {0, 1} and not bool((_sums(_weights(node), 2) > BLOCK_WEIGHTS_SUM).any())


def _weights(node: Node) -> Array:
    """[channels, runs of the kernel, taps of a run]."""
    weights = kernels_of(node)
    return weights.transpose(0, 2, 1) if _layout(node).turned else weights


def _sums(weights: Array, taps: int) -> Array:
    """Sums of |w| of each channel's blocks of so many taps."""
    sizes = np.zeros((len(weights), -(-9 // taps) * taps), np.int64)
    sizes[:, :9] = np.abs(weights.astype(np.int64)).reshape(-1, 9)
    sums: Array = sizes.reshape(len(weights), -1, taps).sum(axis=2)
    return sums


def _flags(node: Node) -> Array:
    return np.where((_sums(_weights(node), 3) > BLOCK_WEIGHTS_SUM).any(axis=1), _TWO_TAPS, 0)


def _lower(m: Match, emitter: Emitter) -> Call:
    node, layout = m.last, _layout(m.last)
    run, other, shift = layout.run, layout.other, layout.shift
    layer = emitter.struct(
        "burnc_depthwise_pairs_s8_m0_params",
        records=emitter.constant("records", records(node, _weights(node), _flags(node))),
        channels=node.input(0).type.shape[3],
        runs_at_once=layout.runs_at_once(emitter.room),
        in_runs=other.inputs,
        out_runs=other.outputs,
        length=layout.length,
        whole_pairs=layout.whole_pairs,
        first_run=-other.before,
        pad_before=run.before,
        pad_after=run.after,
        x_step=run.x_step,
        x_run=other.x_step,
        x_shift=shift * run.x_step,
        y_step=run.y_step,
        y_run=other.y_step,
        y_shift=shift * run.y_step,
        padding=node.input(0).type.zero_point,
    )
    images = node.input(0).type.shape[0]
    params = emitter.struct(
        "burnc_depthwise3x3_pairs_s8_m0_params",
        batch=images,
        x_bytes=node.input(0).type.size // images,
        y_bytes=node.output.type.size // images,
        layer=layer,
    )
    return Call("burnc_depthwise3x3_pairs_s8_m0", (params, node.input(0), node.output, Scratch(DType.UINT32)))


def _overlap(m: Match) -> list[tuple[int, int | None]]:
    """In place, each output lies over the input in its own place: of its own channel, and packed by then."""
    return [(0, None)] if m.last.input(0).type.shape == m.last.output.type.shape else []


def _scratch(m: Match, room: int = 0) -> int:
    layout = _layout(m.last)
    return (layout.runs_at_once(room) + 2) * layout.run_bytes


def _cycles(m: Match, room: int = 0) -> float:
    node, layout = m.last, _layout(m.last)
    images, channels = node.input(0).type.shape[0], node.input(0).type.shape[3]
    of_twos = np.count_nonzero(_flags(node)) * 16.0 * layout.other.outputs * (layout.length // 2)
    strips = -(-layout.other.outputs // layout.runs_at_once(room)) - 1
    moved = channels * strips * (90.0 + 2 * 2.5 * (layout.length + 2))
    return images * (channels * layout.cycles + of_twos + moved) + 200


ROWS = (
    KernelRow(
        "depthwise3x3_pairs_s8_m0",
        CONV2D,
        _can_pair,
        _lower,
        _cycles,
        1400,
        on=CORES,
        scratch=_scratch,
        overlap=_overlap,
        grown=lambda m, room: (_scratch(m, room), _cycles(m, room)),
        flash=record_bytes,
        sweeps=lambda m, room: Sweeps(m.last.input(0).type.shape[0]),
    ),
)
