"""Fully connected layers, int8, on Cortex-M0 and M0+: two MACs in one multiply (docs/kernels.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from burnc.codegen.program import Call, Scratch
from burnc.codegen.rows.exact_scaling import ExactScaling, fit_exact_scaling
from burnc.codegen.rows.pairs_m0 import BLOCK_WEIGHTS_SUM, CORES
from burnc.codegen.rows.row import (
    Emitter,
    KernelRow,
    cached_by_constants,
    clamp_fields,
    folded_bias,
    is_int8,
    sum_bounds,
)
from burnc.ir import Array, DType, Match, Node, const, maybe, op
from burnc.numerics import quantize_multiplier

_GROUP = 4
_SCALE_FIELDS = ("limit", "multiplier", "fraction", "places", "rounding", "zero", "step")
_MOST_TAPS = 1 << 16
_MOST_WIDE_TAPS = 256  # whose activations are words in the scratch
_CYCLES_OF_SINGLE = 24.0
_CYCLES_OF_GROUP = 185.0
_CYCLES_OF_LISTED_GROUP = 200.0


@dataclass(frozen=True)
class _Width:
    """How a tap's four weights are kept, and what that costs in cycles."""

    words: int
    blocks: dict[int, float]  # cycles of a block, its taps apart
    tap: float

    @property
    def is_wide(self) -> bool:
        return self.words == 2


_NARROW = _Width(1, {32: 36.0, 16: 21.0, 8: 20.0, 4: 20.0, 2: 19.0}, 10.5)
_WIDE = _Width(2, {32: 12.0, 16: 11.0, 8: 11.0, 4: 11.0, 2: 11.0}, 8.5)


@dataclass(frozen=True)
class Layout:
    """How the weights are divided: blocks, and (output, tap, weight) of what follows singly, for each group."""

    width: _Width
    block: int
    blocked: Array  # [groups, blocks * block, 4]
    single: tuple[tuple[tuple[int, int, int], ...], ...]

    @property
    def blocks(self) -> int:
        return int(self.blocked.shape[1]) // self.block

    @property
    def scratch_words(self) -> int:
        return int(self.blocked.shape[1]) if self.width.is_wide else self.blocks

    @property
    def cycles(self) -> float:
        groups = len(self.single)
        blocks = groups * self.blocks * (self.width.blocks[self.block] + self.width.tap * self.block)
        listed = _CYCLES_OF_LISTED_GROUP * sum(1 for s in self.single if s)
        singles = _CYCLES_OF_SINGLE * sum(len(s) for s in self.single)
        return blocks + singles + listed + _CYCLES_OF_GROUP * groups

    @property
    def flash(self) -> int:
        a_group = self.width.words * int(self.blocked.shape[1]) + _GROUP
        return 4 * (len(self.single) * a_group + len(_single(self)))


def _weights(node: Node) -> Array:
    data = node.input(1).data
    assert data is not None
    return data


@cached_by_constants(64)
def _scaling(node: Node) -> ExactScaling | None:
    """One set of constants for all outputs, which have one multiplier."""
    quant = node.input(1).type.quant
    factors = node.operator.requantize_factors(node).reshape(-1)
    if (quant is not None and quant.axis is not None) or factors.size != 1:
        return None
    multiplier, shift = quantize_multiplier(float(factors[0]))
    least, most = sum_bounds(node)
    clamp = clamp_fields(node)
    limits = (node.output.type.zero_point, clamp["activation_min"], clamp["activation_max"])
    one = [np.array([v], np.int64) for v in (multiplier, shift)]
    bounds = [np.array([v], np.int64) for v in (least.min(), most.max())]
    for signed in (False, True):
        found = fit_exact_scaling(one[0], one[1], *limits, bounds[0], bounds[1], signed=signed)
        if found is not None:
            return found
    return None


def narrow_layout(node: Node) -> Layout:
    """Of a node that ``narrow_row`` takes."""
    layout = _layout(node, is_wide=False)
    assert layout is not None
    return layout


@cached_by_constants(64)
def _layout(node: Node, *, is_wide: bool) -> Layout | None:
    """The block length that takes the fewest cycles."""
    weights, width = _weights(node).astype(np.int64), _WIDE if is_wide else _NARROW
    made = [_divide(weights, block, width) for block in width.blocks if weights.shape[1] >= max(block, 4)]
    return min(made, key=lambda layout: layout.cycles, default=None)


def _divide(weights: Array, block: int, width: _Width) -> Layout:
    outputs, depth = weights.shape
    groups = -(-outputs // _GROUP)
    padded = np.zeros((groups * _GROUP, depth), np.int64)
    padded[:outputs] = weights
    taps = depth // max(block, 4) * max(block, 4)
    single: list[list[tuple[int, int, int]]] = [[] for _ in range(groups)]
    for output, tap in np.argwhere(padded[:, taps:]):
        single[output // _GROUP].append((int(output) % _GROUP, taps + int(tap), int(padded[output, taps + tap])))
    blocked = padded[:, :taps].reshape(groups * _GROUP, -1, block)
    excess = np.abs(blocked).sum(axis=2) - BLOCK_WEIGHTS_SUM
    for output, index in np.argwhere(excess > 0):
        moved = _take_off(blocked[output, index], int(excess[output, index]))
        single[output // _GROUP] += [(int(output) % _GROUP, int(index) * block + t, w) for t, w in moved]
    shape = (groups, _GROUP, taps)
    return Layout(width, block, blocked.reshape(shape).transpose(0, 2, 1), tuple(tuple(s) for s in single))


def _take_off(block: Array, excess: int) -> list[tuple[int, int]]:
    """Take from the largest weights of a block until the sum of their sizes is less by ``excess``: (tap, what)."""
    moved = []
    while excess > 0:
        tap = int(np.abs(block).argmax())
        part = min(excess, abs(int(block[tap])), 127)
        moved.append((tap, part if block[tap] > 0 else -part))
        block[tap] -= moved[-1][1]
        excess -= part
    return moved


def _words(layout: Layout) -> Array:
    """A tap's four weights as the bytes 0, 2, 1, 3 of a word, or as two words of two."""
    w = layout.blocked
    if layout.width.is_wide:
        wide: Array = (w[..., 0::2] + (w[..., 1::2] << 16) & 0xFFFFFFFF).astype(np.uint32)
        return wide
    words: Array = ((w + 128) << np.array([0, 16, 8, 24])).sum(axis=2).astype(np.uint32)
    return words


def _single(layout: Layout) -> Array:
    """Groups without single taps are counted, the others listed."""
    words, plain = [], 0
    for taps in layout.single:
        if taps:
            words += [plain, len(taps), *(output << 24 | tap << 8 | weight & 255 for output, tap, weight in taps)]
            plain = 0
        else:
            plain += 1
    return np.array([*words, plain], np.uint32)


def _row(name: str, *, is_wide: bool) -> KernelRow:
    def layout_of(m: Match) -> Layout:
        layout = _layout(m.last, is_wide=is_wide)
        assert layout is not None
        return layout

    def when(m: Match) -> bool:
        node = m.last
        most = _MOST_WIDE_TAPS if is_wide else _MOST_TAPS - 1
        if not is_int8(node) or not 4 <= _weights(node).shape[1] <= most:
            return False
        return _scaling(node) is not None and _layout(node, is_wide=is_wide) is not None

    def lower(m: Match, emitter: Emitter) -> Call:
        node, layout, scaling, weights = m.last, layout_of(m), _scaling(m.last), _weights(m.last)
        assert scaling is not None
        offset = np.zeros(len(layout.single) * _GROUP, np.int64)
        offset[: weights.shape[0]] = folded_bias(node).astype(np.int64)
        offset += int(scaling.offset[0])
        offset[0::2] -= layout.blocks << 15
        params = emitter.struct(
            "burnc_fully_connected_s8_m0_params",
            batch=node.input(0).type.size // weights.shape[1],
            depth=weights.shape[1],
            out_channels=weights.shape[0],
            is_wide=int(is_wide),
            block=layout.block,
            blocks=layout.blocks,
            scale=tuple(int(getattr(scaling, f)[0]) for f in _SCALE_FIELDS),
            weights=emitter.constant("weights", _words(layout)),
            offset=emitter.constant("offset", (offset & 0xFFFFFFFF).astype(np.uint32)),
            single=emitter.constant("single", _single(layout)),
        )
        return Call("burnc_fully_connected_s8_m0", (params, node.input(0), node.output, Scratch(DType.UINT32)))

    def cycles(m: Match) -> float:
        """Fitted to the emulated RP2040."""
        node, layout = m.last, layout_of(m)
        depth = int(_weights(node).shape[1])
        begin = 8.0 * depth if is_wide else 6.5 * depth + 22 * layout.blocks
        return node.input(0).type.size / depth * (layout.cycles + begin) + 200

    return KernelRow(
        name,
        op("fully_connected", "x", const("w"), maybe(const("b"))),
        when,
        lower,
        cycles,
        2200,
        on=CORES,
        scratch=lambda m: 4 * layout_of(m).scratch_words,
        flash=lambda m: layout_of(m).flash,
    )


narrow_row = _row("fully_connected_s8_m0", is_wide=False)

ROWS = (
    narrow_row,
    _row("fully_connected_wide_s8_m0", is_wide=True),
)
