"""What the kernels for Cortex-M0 and M0+ share that do two MACs in one multiply (docs/kernels.md)."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

import numpy as np

from burnc.codegen.flash_waits import Sweeps
from burnc.codegen.program import FieldValue, Params
from burnc.codegen.rows.exact_scaling import ExactScaling, fit_exact_scaling
from burnc.codegen.rows.row import Emitter, cached_by_constants, channel_scales, clamp_fields, folded_bias, sum_bounds
from burnc.codegen.straight_line import GroupCode, code_text, group_code
from burnc.ir import Array, Node

CORES = ("cortex-m0", "cortex-m0plus")
CODE_MODES = ("balanced", "speed")
BLOCK_WEIGHTS_SUM = 255  # with |a| <= 128 a sum's halves stay within 16 bits
BYTES_OF_BLOCK = 12
_BLOCKS_AT_ONCE = 4
_MOST_PAIRS = 32


@cached_by_constants(256)
def exact_scaling(node: Node) -> ExactScaling | None:
    """Constants that requantize the sums of each output channel, or None; as sum_bounds says."""
    pairs = np.array(channel_scales(node), np.int64)
    least, most = sum_bounds(node)
    clamp = clamp_fields(node)
    limits = (node.output.type.zero_point, clamp["activation_min"], clamp["activation_max"])
    return next(
        (
            found
            for signed in (False, True)
            if (found := fit_exact_scaling(pairs[:, 0], pairs[:, 1], *limits, least, most, signed=signed)) is not None
        ),
        None,
    )


def is_signed(scaling: ExactScaling) -> bool:
    return bool(scaling.step.any())


def padded_taps(weights: Array) -> Array:
    """[O, rows, taps of a row] -> [O, blocks, 2]: rows made even, then zeros up to a number of blocks that fits."""
    outputs, rows, taps = weights.shape
    even = np.zeros((outputs, rows, taps + taps % 2), np.int8)
    even[:, :, :taps] = weights
    flat = even.reshape(outputs, -1)
    padded = np.zeros((outputs, -(-flat.shape[1] // (2 * _BLOCKS_AT_ONCE)) * 2 * _BLOCKS_AT_ONCE), np.int8)
    padded[:, : flat.shape[1]] = flat
    return padded.reshape(outputs, -1, 2)


def blocks_are_exact(blocked: Array) -> bool:
    return bool(np.abs(blocked.astype(np.int64)).sum(axis=2).max() <= BLOCK_WEIGHTS_SUM)


@dataclass(frozen=True)
class Groups:
    """Which output channels go together, three or two at a time; the others always have the same result."""

    triples: tuple[tuple[int, ...], ...]
    doubles: tuple[tuple[int, ...], ...]
    fixed: tuple[int, ...]

    @property
    def all(self) -> tuple[tuple[int, ...], ...]:
        return self.triples + self.doubles


@cached_by_constants(256)
def groups_of(node: Node) -> Groups:
    """Groups of a node that has an exact scaling."""
    scaling = exact_scaling(node)
    assert scaling is not None
    live = [int(c) for c in np.flatnonzero(scaling.limit)]
    found = _grouped(live, len(scaling.limit))
    distances = [b - a for group in found.all for a, b in itertools.pairwise(group)]
    if max(distances, default=0) > 127:  # the third lies at most 255 behind the first
        return _grouped(list(range(len(scaling.limit))), len(scaling.limit))
    return found


def _grouped(live: list[int], channels: int) -> Groups:
    at = len(live) // 3 * 3 - (3 if len(live) % 3 == 1 and len(live) > 1 else 0)
    triples = tuple(tuple(live[i : i + 3]) for i in range(0, at, 3))
    pairs = [tuple(live[i : i + 2]) for i in range(at, len(live), 2)]
    doubles = tuple(p if len(p) == 2 else p * 2 for p in pairs)
    return Groups(triples, doubles, tuple(sorted(set(range(channels)) - set(live))))


@cached_by_constants(64)
def group_codes(node: Node) -> tuple[GroupCode, ...]:
    """Straight-line code for the groups of a node; its taps are the rows of the windows, one behind the other."""
    data = node.input(1).data
    assert data is not None
    weights = data.reshape(data.shape[0], -1)
    return tuple(group_code(weights[list(group)]) for group in groups_of(node).all)


@dataclass(frozen=True)
class Form:
    """How the weights of a convolution are kept: in blocks of two taps, or as straight-line code."""

    taps: Array  # [O, rows of the window, taps of a row]
    is_code: bool = False

    @functools.cached_property
    def blocked(self) -> Array:
        return padded_taps(self.taps)

    @property
    def pair_bytes(self) -> int:
        """Of a packed pair of pixels."""
        taps = self.taps[0].size
        return 4 * taps if self.is_code else BYTES_OF_BLOCK * int(self.blocked.shape[1])

    def is_exact(self) -> bool:
        return self.is_code or blocks_are_exact(self.blocked)


def layer_params(node: Node, form: Form, emitter: Emitter) -> Params:
    """What all convolutions in pairs have in common."""
    scaling = exact_scaling(node)
    assert scaling is not None
    groups = groups_of(node)
    rounding = [int(scaling.rounding[c]) for c in groups.fixed]
    fixed = [c << 8 | (r >> 24) & 255 for c, r in zip(groups.fixed, rounding, strict=True)]
    return emitter.struct(
        "burnc_pairs_layer_s8_m0_params",
        out_channels=form.taps.shape[0],
        blocks=0 if form.is_code else form.blocked.shape[1],
        code_words=form.taps[0].size if form.is_code else 0,
        triples=len(groups.triples),
        doubles=len(groups.doubles),
        channel_bytes=4 * _words_of_channel(scaling),
        fixed_count=len(fixed),
        weights=_weights(node, form, groups, emitter),
        constants=emitter.constant("constants", _constants(node, form, scaling, groups)),
        fixed=emitter.constant("fixed", np.array(fixed or [0], np.uint32)),
    )


def _words_of_channel(scaling: ExactScaling) -> int:
    return 8 if is_signed(scaling) else 6


def _weights(node: Node, form: Form, groups: Groups, emitter: Emitter) -> FieldValue:
    if not form.is_code:
        parts = [(form.blocked[list(g)].transpose(1, 0, 2).astype(np.int16) + 128).reshape(-1) for g in groups.all]
        return emitter.constant("weights", _array(parts, np.uint8))
    taps = form.taps.reshape(form.taps.shape[0], -1).astype(np.int16)
    parts = [(taps[list(g)].T + 128).reshape(-1) for g in groups.all]
    codes = group_codes(node)
    size = sum(code.bytes for code in codes)
    return emitter.code(lambda symbol: code_text(symbol, codes), size, _array(parts, np.uint8))


def _array(parts: list[Array], dtype: type[np.generic]) -> Array:
    return np.concatenate(parts).astype(dtype) if parts else np.zeros(1, dtype)


def _constants(node: Node, form: Form, scaling: ExactScaling, groups: Groups) -> Array:
    """For each group the distances of its outputs, then what its channels need."""
    offset = folded_bias(node).astype(np.int64) + scaling.offset
    scale = [scaling.limit, scaling.multiplier, scaling.fraction << 8 | scaling.places, scaling.rounding]
    scale = [scaling.zero, -scaling.step, *scale] if is_signed(scaling) else scale
    parts, before = [], 0
    for index, group in enumerate(groups.all):
        channels = list(group)
        code_blocks = group_codes(node)[index].blocks if form.is_code else ()
        blocks = np.array(code_blocks, np.int64) if form.is_code else form.blocked.shape[1]
        low = offset[channels] - (blocks << 15) + (offset[channels] << 16)
        columns = [low, offset[channels], *(column[channels] for column in scale)]
        first, second, third = group[0], group[1] - group[0], group[-1] - group[0]
        head = np.array([first - before << 16 | third << 8 | second], np.int64)
        parts += [head, np.stack(columns, axis=1).reshape(-1) & 0xFFFFFFFF]
        before = first
    return _array(parts, np.uint32)


def pairs_at_once(node: Node, form: Form, room: int = 0) -> int:
    """How many pairs are packed before their outputs are written: as many as ``room`` bytes hold, at least one."""
    pairs = (node.output.type.size // node.output.type.shape[-1] + 1) // 2
    return max(1, min(pairs, _MOST_PAIRS, room // form.pair_bytes))


def pair_sweeps(node: Node, form: Form, at_once: int) -> Sweeps:
    """All weights meet each chunk of pairs; a group's code is run for one pair after the other."""
    pixels = node.output.type.size // node.output.type.shape[-1]
    chunks = -(-((pixels + 1) // 2) // at_once) + pixels % 2
    return Sweeps(chunks, max((code.bytes for code in group_codes(node)), default=0) if form.is_code else 0, at_once)


def pair_flash(node: Node, form: Form) -> int:
    """Bytes of weights or code and of constants."""
    scaling = exact_scaling(node)
    assert scaling is not None
    groups = groups_of(node)
    channels = 3 * len(groups.triples) + 2 * len(groups.doubles)
    constants = 4 * (len(groups.all) + _words_of_channel(scaling) * channels + len(groups.fixed))
    if form.is_code:
        return constants + sum(code.bytes for code in group_codes(node))
    return constants + 2 * int(form.blocked.shape[1]) * channels


def dot_cycles(node: Node, form: Form, pairs: int, chunks: int) -> float:
    """Cycles of ``burnc_finish_pairs_s8_m0`` for all pixels. Fitted to the emulated RP2040."""
    scaling = exact_scaling(node)
    assert scaling is not None
    groups = groups_of(node)
    triples, doubles, channel = len(groups.triples), len(groups.doubles), 14.0 if is_signed(scaling) else 0.0
    if form.is_code:
        sums = sum(code.cycles for code in group_codes(node)) + 22.0 * (triples + doubles)
    else:
        sums = triples * (38.0 * form.blocked.shape[1] + 24) + doubles * (27.0 * form.blocked.shape[1] + 20)
    scaled = triples * (133.0 + 3 * channel) + doubles * (95.0 + 2 * channel)
    begin = (triples + doubles) * 56.0 + 200
    return pairs * (sums + scaled + 24.0 * len(groups.fixed)) + chunks * begin
