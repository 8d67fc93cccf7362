"""Convolution with one group, int8, on RV32IM: two MACs of a sum in one multiply (docs/kernels.md)."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from burnc.codegen.program import Call, Scratch
from burnc.codegen.rows.convolution_s8 import CONV2D, window_fields
from burnc.codegen.rows.high_scaling import HighScaling, high_scaling, shift_words
from burnc.codegen.rows.overlaps import behind_windows
from burnc.codegen.rows.row import Emitter, KernelRow, cached_by_constants, clamp_fields, folded_bias, is_int8
from burnc.ir import Array, DType, Match, Node

_MOST_TAPS = 8192  # an extra's word lies within 64 KiB
_MOST_CHUNK = 40
_FOUR = 4


@dataclass(frozen=True)
class _Weights:
    """Taps in fours: those at 0 and 1 ride in the lower half of an activation's word, those at 2 and 3 in the upper.

    Attributes:
        taps: [groups, 4 channels, fours, 4], what is stored.
        extra: the same of what the first two taps are too large by.
        bias: what the activations' offset and the rounding down of negative lower halves add up to, for each channel.
    """

    taps: Array
    extra: Array
    bias: Array

    @property
    def words(self) -> int:
        return 2 * int(self.taps.shape[2])

    @functools.cached_property
    def extras(self) -> Array:
        """For each group the half-words that follow, then the counts of its channels, then the extras."""
        found: list[int] = []
        for group in self.extra:
            listed = [[(16 * (2 * k + half), int(e)) for (k, half), e in _nonzero(channel)] for channel in group]
            numbers = [n for channel in listed for extra in channel for n in extra]
            found += [_FOUR + len(numbers), *map(len, listed), *numbers] if numbers else [0]
        return (np.array(found, np.int64) & 0xFFFF).astype(np.uint16)

    @property
    def flash(self) -> int:
        groups = int(self.taps.shape[0])
        return int(self.taps.size) + 2 * int(self.extras.size) + 80 * groups


def _nonzero(values: Array) -> list[tuple[tuple[int, int], int]]:
    return [((int(k), int(half)), int(values[k, half])) for k, half in np.argwhere(values)]


@cached_by_constants(64)
def _weights(node: Node) -> _Weights:
    data = node.input(1).data
    assert data is not None
    w = data.reshape(data.shape[0], -1).astype(np.int64)
    taps = np.pad(w, ((0, -len(w) % _FOUR), (0, -w.shape[1] % _FOUR))).reshape(-1, _FOUR, -(-w.shape[1] // 4), 4)
    lower, upper = taps[..., :2], taps[..., 2:]
    # The sum is at least lower * (256 or 1) + upper * (127 or -128) - 1 and at most the like; both must fit 16 bits.
    most = (32767 - np.maximum(-128 * upper, 127 * upper)) // 256
    least = -((32768 + np.minimum(-128 * upper, 127 * upper) - (upper < 0)) // 256)
    kept = np.clip(lower, least, most)
    bias = ((upper < 0).sum(axis=(2, 3)) - 129 * lower.sum(axis=(2, 3))).reshape(-1)
    return _Weights(np.concatenate([kept, upper], axis=3), lower - kept, bias)


def _packed(weights: _Weights) -> Array:
    """[groups, fours, 4 channels] words, bytes {w2, w3, w0, w1} + 128."""
    ordered = weights.taps[..., [2, 3, 0, 1]] + 128
    words: Array = (ordered << np.arange(4) * 8).sum(axis=3).transpose(0, 2, 1).astype(np.uint32)
    return words


def _constants(node: Node, scaling: HighScaling) -> Array:
    """[groups, 20]: four biases, then the constants of each channel; zeros fill up the last group."""
    weights, channels = _weights(node), len(scaling.places)
    bias = folded_bias(node) + weights.bias[:channels]
    scale = np.stack([scaling.multiplier, scaling.rounding, shift_words(scaling), scaling.step], axis=1)
    fill = -channels % _FOUR
    biases = np.pad(bias, (0, fill)).reshape(-1, _FOUR)
    scales = np.pad(scale, ((0, fill), (0, 0))).reshape(-1, 4 * _FOUR)
    return (np.concatenate([biases, scales], axis=1) & 0xFFFFFFFF).astype(np.uint32)


def _applies(m: Match) -> bool:
    node = m.last
    outputs = node.input(1).type.shape[0]
    if not is_int8(node) or node.attrs.groups != 1 or node.input(1).type.size > outputs * _MOST_TAPS:
        return False
    return high_scaling(node) is not None


def _pixels(node: Node) -> int:
    return int(node.output.type.size // node.output.type.shape[3])


def _chunk(node: Node, room: int) -> int:
    """Pixels in fours and equal shares of an image, as far as ``room`` bytes hold their columns."""
    words = _weights(node).words
    pixels = _pixels(node) // node.output.type.shape[0]
    most = (room - 18 * words) // (4 * words)
    chunks = -(-pixels // max(_FOUR, min(most, _MOST_CHUNK) // _FOUR * _FOUR))
    return _FOUR * -(-pixels // (_FOUR * chunks))


def _scratch(m: Match, room: int = 0) -> int:
    words = _weights(m.last).words
    return 4 * words * _chunk(m.last, room) + (16 + 2) * words


def _lower(m: Match, emitter: Emitter) -> Call:
    node, weights, scaling = m.last, _weights(m.last), high_scaling(m.last)
    assert scaling is not None
    outputs, rows, columns, depth = node.input(1).type.shape
    clamp = clamp_fields(node)
    params = emitter.struct(
        "burnc_conv2d_s8_rv32_params",
        window=window_fields(node, (rows, columns)),
        in_channels=depth,
        out_channels=outputs,
        words=weights.words,
        chunk=_chunk(node, emitter.room),
        input_zero_point=node.input(0).type.zero_point,
        limits=(clamp["activation_min"], clamp["activation_max"]),
        is_signed=int(scaling.step.any()),
        weights=emitter.constant("weights", _packed(weights)),
        extras=emitter.constant("extras", weights.extras),
        constants=emitter.constant("constants", _constants(node, scaling)),
    )
    return Call("burnc_conv2d_s8_rv32", (params, node.input(0), node.output, Scratch(DType.UINT32)))


def _cycles(m: Match, room: int = 0) -> float:
    """Instructions on an emulated RV32IMC."""
    node, weights = m.last, _weights(m.last)
    _, rows, columns, depth = node.input(1).type.shape
    taps = rows * columns * depth
    batch, groups, chunk = node.output.type.shape[0], weights.taps.shape[0], _chunk(node, room)
    pixels = _pixels(node) // batch
    quads, chunks = -(-pixels // _FOUR), -(-pixels // chunk)
    column = 3.4 * taps + 60 + 20 * rows if depth % _FOUR == 0 else 6.5 * taps + 60 + 60 * rows
    extras = 20.0 * int(np.count_nonzero(weights.extra))
    a_quad = groups * (57.5 * weights.words + 190.0) + extras
    a_chunk = groups * (18.0 * weights.words + 110)
    cycles: float = batch * (pixels * column + quads * a_quad + chunks * a_chunk)
    return cycles


ROWS = (
    KernelRow(
        "conv2d_s8_rv32",
        CONV2D,
        _applies,
        _lower,
        _cycles,
        4050,
        on=("rv32imc",),
        scratch=_scratch,
        overlap=behind_windows,
        flash=lambda m: _weights(m.last).flash,
        grown=lambda m, room: (_scratch(m, room), _cycles(m, room)),
    ),
)
