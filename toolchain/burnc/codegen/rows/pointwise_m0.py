"""Pointwise convolution, int8, on Cortex-M0 and M0+: two MACs in one multiply (docs/kernels.md)."""

from __future__ import annotations

import functools

import numpy as np

from burnc.codegen.program import Call, Scratch
from burnc.codegen.rows.convolution_s8 import CONV2D, is_pointwise
from burnc.codegen.rows.exact_scaling import ExactScaling, fit_exact_scaling
from burnc.codegen.rows.row import Emitter, KernelRow, clamp_fields, folded_bias
from burnc.ir import Array, DType, Match, Node
from burnc.numerics import quantize_multiplier

CORES = ("cortex-m0", "cortex-m0plus")
_CHANNELS = 3  # of a group
_BLOCK_WEIGHTS_SUM = 255  # with |a| <= 128 a sum's halves stay within 16 bits
_WORDS_OF_BLOCK = 3


def _weights(node: Node) -> Array:
    data = node.input(1).data
    assert data is not None
    return data.reshape(data.shape[0], -1)


def _pixels(node: Node) -> int:
    return node.input(0).type.size // node.input(0).type.shape[3]


def _blocks(node: Node) -> int:
    """Blocks of two taps, of which the kernel takes four at a time."""
    return 4 * -(-node.input(0).type.shape[3] // 8)


def _blocked(weights: Array, blocks: int) -> Array:
    """[O, blocks, 2], with zeros behind the last tap."""
    padded = np.zeros((weights.shape[0], 2 * blocks), np.int8)
    padded[:, : weights.shape[1]] = weights
    return padded.reshape(-1, blocks, 2)


@functools.lru_cache(maxsize=64)
def _scaling(node: Node) -> ExactScaling | None:
    channels = node.output.type.shape[3]
    factors = np.broadcast_to(node.operator.requantize_factors(node).reshape(-1), (channels,))
    pairs = np.array([quantize_multiplier(float(f)) for f in factors], np.int64)
    w, bias = _weights(node).astype(np.int64), folded_bias(node).astype(np.int64)
    least = bias - (128 * np.maximum(w, 0) - 127 * np.minimum(w, 0)).sum(axis=1)
    most = bias + (127 * np.maximum(w, 0) - 128 * np.minimum(w, 0)).sum(axis=1)
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


def _can_pair(m: Match) -> bool:
    """Every block's sum is exact, and so is the scaling of every channel."""
    node = m.last
    if not is_pointwise(m) or node.output.type.shape[3] < _CHANNELS:
        return False
    sums = np.abs(_blocked(_weights(node), _blocks(node)).astype(np.int64)).sum(axis=2)
    return bool(sums.max() <= _BLOCK_WEIGHTS_SUM) and _scaling(node) is not None


def _is_signed(scaling: ExactScaling) -> bool:
    return bool(scaling.step.any())


def _channel_order(channels: int) -> list[int]:
    """Groups of three; the last one holds the last three."""
    whole = channels - channels % _CHANNELS
    return [*range(whole), *(range(channels - _CHANNELS, channels) if whole != channels else ())]


def _lower(m: Match, emitter: Emitter) -> Call:
    node = m.last
    scaling = _scaling(node)
    assert scaling is not None
    order = _channel_order(node.output.type.shape[3])
    blocks = _blocks(node)
    grouped = _blocked(_weights(node), blocks)[order].reshape(-1, _CHANNELS, blocks, 2).transpose(0, 2, 1, 3)
    offset = folded_bias(node).astype(np.int64) + scaling.offset
    packed_fraction = scaling.fraction << 8 | scaling.places
    columns = [scaling.limit, scaling.multiplier, packed_fraction, scaling.rounding]
    columns = [offset, scaling.zero, *columns, -scaling.step] if _is_signed(scaling) else [offset, *columns]
    constants = np.stack(columns, axis=1)
    params = emitter.struct(
        "burnc_conv1x1_s8_m0_params",
        pixels=_pixels(node),
        in_channels=node.input(0).type.shape[3],
        out_channels=node.output.type.shape[3],
        blocks=blocks,
        is_signed=int(_is_signed(scaling)),
        weights=emitter.constant("weights", (grouped.astype(np.int16) + 128).astype(np.uint8)),
        constants=emitter.constant("constants", (constants[order] & 0xFFFFFFFF).astype(np.uint32)),
    )
    return Call("burnc_conv1x1_s8_m0", (params, node.input(0), node.output, Scratch(DType.UINT32)))


def _scratch(m: Match) -> int:
    return 4 * _WORDS_OF_BLOCK * _blocks(m.last)


def _overlap(m: Match) -> list[tuple[int, int]]:
    """A pair of pixels is read whole before it is written; what is written must end where later pairs begin."""
    node = m.last
    growth = 2 * (node.output.type.shape[3] - node.input(0).type.shape[3])
    pairs_behind_the_first = (_pixels(node) + 1) // 2 - 1
    return [(0, max(0, growth * pairs_behind_the_first))]


def _cycles(m: Match) -> float:
    """Fitted to the emulated RP2040, within 1 %."""
    node = m.last
    scaling = _scaling(node)
    assert scaling is not None
    pairs, blocks, channels = (_pixels(node) + 1) // 2, _blocks(node), node.output.type.shape[3]
    group = 38.0 * blocks + (210 if _is_signed(scaling) else 173)
    second_call = 62 if channels % _CHANNELS else 0
    return pairs * (-(-channels // _CHANNELS) * group + 36.0 * blocks + 222 + second_call)


ROWS = (
    KernelRow(
        "conv1x1_s8_m0",
        CONV2D,
        _can_pair,
        _lower,
        _cycles,
        1100,
        on=CORES,
        scratch=_scratch,
        overlap=_overlap,
    ),
)
