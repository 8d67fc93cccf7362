"""Fully connected layers, int8, on Cortex-M0 and M0+: two MACs in one multiply (docs/kernels.md)."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from burnc.codegen.program import Call, Scratch
from burnc.codegen.rows.exact_scaling import ExactScaling, fit_exact_scaling
from burnc.codegen.rows.pairs_m0 import BLOCK_WEIGHTS_SUM, CORES, accumulator_bounds
from burnc.codegen.rows.row import Emitter, KernelRow, clamp_fields, folded_bias, is_int8
from burnc.ir import Array, DType, Match, Node, const, maybe, op
from burnc.numerics import quantize_multiplier

_GROUP = 4
_BLOCKS = (32, 16, 8, 4, 2)
_SCALE_FIELDS = ("limit", "multiplier", "fraction", "places", "rounding", "zero", "step")
_MOST_TAPS = 1 << 16
_CYCLES_OF_BLOCK = {32: 24.0 + 14, 16: 24.0 + 7, 8: 22.0, 4: 22.0, 2: 19.0}
_CYCLES_OF_TAP = 10.5
_CYCLES_OF_SINGLE = 24.0
_CYCLES_OF_GROUP = 275.0


@dataclass(frozen=True)
class _Layout:
    """How the weights are divided: blocks, and (output, tap, weight) of what follows singly, for each group."""

    block: int
    blocked: Array  # [groups, blocks * block, 4]
    single: tuple[tuple[tuple[int, int, int], ...], ...]

    @property
    def blocks(self) -> int:
        return int(self.blocked.shape[1]) // self.block

    @property
    def cycles(self) -> float:
        groups = len(self.single)
        blocks = groups * self.blocks * (_CYCLES_OF_BLOCK[self.block] + _CYCLES_OF_TAP * self.block)
        return blocks + _CYCLES_OF_SINGLE * sum(len(s) for s in self.single) + _CYCLES_OF_GROUP * groups


def _weights(node: Node) -> Array:
    data = node.input(1).data
    assert data is not None
    return data


@functools.lru_cache(maxsize=64)
def _scaling(node: Node) -> ExactScaling | None:
    """One set of constants for all outputs, which have one multiplier."""
    quant = node.input(1).type.quant
    factors = node.operator.requantize_factors(node).reshape(-1)
    if (quant is not None and quant.axis is not None) or factors.size != 1:
        return None
    multiplier, shift = quantize_multiplier(float(factors[0]))
    least, most = accumulator_bounds(node)
    clamp = clamp_fields(node)
    limits = (node.output.type.zero_point, clamp["activation_min"], clamp["activation_max"])
    one = [np.array([v], np.int64) for v in (multiplier, shift)]
    bounds = [np.array([v], np.int64) for v in (least.min(), most.max())]
    for signed in (False, True):
        found = fit_exact_scaling(one[0], one[1], *limits, bounds[0], bounds[1], signed=signed)
        if found is not None:
            return found
    return None


@functools.lru_cache(maxsize=64)
def _layout(node: Node) -> _Layout | None:
    """The block length that takes the fewest cycles."""
    weights = _weights(node).astype(np.int64)
    made = [_divide(weights, block) for block in _BLOCKS if weights.shape[1] >= max(block, 4)]
    return min(made, key=lambda layout: layout.cycles, default=None)


def _divide(weights: Array, block: int) -> _Layout:
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
    return _Layout(block, blocked.reshape(shape).transpose(0, 2, 1), tuple(tuple(s) for s in single))


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


def _can_quarter(m: Match) -> bool:
    node = m.last
    if not is_int8(node) or not 4 <= _weights(node).shape[1] < _MOST_TAPS:
        return False
    return _scaling(node) is not None and _layout(node) is not None


def _lower(m: Match, emitter: Emitter) -> Call:
    node = m.last
    scaling, layout, weights = _scaling(node), _layout(node), _weights(node)
    assert scaling is not None
    assert layout is not None
    offset = np.zeros(len(layout.single) * _GROUP, np.int64)
    offset[: weights.shape[0]] = folded_bias(node).astype(np.int64)
    offset += int(scaling.offset[0])
    offset[0::2] -= layout.blocks << 15
    params = emitter.struct(
        "burnc_fully_connected_s8_m0_params",
        batch=node.input(0).type.size // weights.shape[1],
        depth=weights.shape[1],
        out_channels=weights.shape[0],
        block=layout.block,
        blocks=layout.blocks,
        scale=tuple(int(getattr(scaling, f)[0]) for f in _SCALE_FIELDS),
        weights=emitter.constant("weights", _words(layout.blocked)),
        offset=emitter.constant("offset", (offset & 0xFFFFFFFF).astype(np.uint32)),
        single=emitter.constant("single", _single(layout)),
    )
    return Call("burnc_fully_connected_s8_m0", (params, node.input(0), node.output, Scratch(DType.UINT32)))


def _words(blocked: Array) -> Array:
    """The four weights of a tap as the bytes 0, 2, 1, 3 of a word."""
    words: Array = ((blocked + 128) << np.array([0, 16, 8, 24])).sum(axis=2).astype(np.uint32)
    return words


def _single(layout: _Layout) -> Array:
    words: list[int] = []
    for taps in layout.single:
        words += [len(taps), *(output << 24 | tap << 8 | weight & 255 for output, tap, weight in taps)]
    return np.array(words, np.uint32)


def _scratch(m: Match) -> int:
    layout = _layout(m.last)
    assert layout is not None
    return 4 * layout.blocks


def _cycles(m: Match) -> float:
    """Fitted to the emulated RP2040."""
    node, layout = m.last, _layout(m.last)
    assert layout is not None
    depth = int(_weights(node).shape[1])
    return node.input(0).type.size / depth * (layout.cycles + 6.5 * depth + 22 * layout.blocks) + 200


ROWS = (
    KernelRow(
        "fully_connected_s8_m0",
        op("fully_connected", "x", const("w"), maybe(const("b"))),
        _can_quarter,
        _lower,
        _cycles,
        1500,
        on=CORES,
        scratch=_scratch,
    ),
)
