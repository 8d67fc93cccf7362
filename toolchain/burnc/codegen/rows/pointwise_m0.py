"""Pointwise convolution, int8, on Cortex-M0 and M0+: two MACs in one multiply (docs/kernels.md)."""

from __future__ import annotations

from burnc.codegen.program import Call, Scratch
from burnc.codegen.rows.convolution_s8 import CONV2D, is_pointwise
from burnc.codegen.rows.pairs_m0 import (
    BYTES_OF_BLOCK,
    CORES,
    blocks_are_exact,
    dot_cycles,
    exact_scaling,
    layer_fields,
    padded_taps,
    pairs_at_once,
)
from burnc.codegen.rows.row import Emitter, KernelRow
from burnc.ir import Array, DType, Match, Node


def _blocked(node: Node) -> Array:
    """[O, blocks, 2]."""
    data = node.input(1).data
    assert data is not None
    return padded_taps(data.reshape(data.shape[0], 1, -1))


def _pixels(node: Node) -> int:
    return node.input(0).type.size // node.input(0).type.shape[3]


def _blocks(node: Node) -> int:
    """Blocks of two taps, of which the kernel takes four at a time."""
    return 4 * -(-node.input(0).type.shape[3] // 8)


def _chunk(node: Node, room: int = 0) -> int:
    return pairs_at_once(node, _blocks(node), room)


def _can_pair(m: Match) -> bool:
    """Every block's sum is exact, and so is the scaling of every channel."""
    return is_pointwise(m) and blocks_are_exact(_blocked(m.last)) and exact_scaling(m.last) is not None


def _lower(m: Match, emitter: Emitter) -> Call:
    node = m.last
    params = emitter.struct(
        "burnc_conv1x1_s8_m0_params",
        pixels=_pixels(node),
        in_channels=node.input(0).type.shape[3],
        chunk=_chunk(node, emitter.room),
        **layer_fields(node, _blocked(node), emitter),
    )
    return Call("burnc_conv1x1_s8_m0", (params, node.input(0), node.output, Scratch(DType.UINT32)))


def _scratch(m: Match, room: int = 0) -> int:
    return BYTES_OF_BLOCK * _blocks(m.last) * _chunk(m.last, room)


def _overlap(m: Match) -> list[tuple[int, int]]:
    """A pair of pixels is read whole before it is written; what is written must end where later pairs begin."""
    node = m.last
    growth = 2 * (node.output.type.shape[3] - node.input(0).type.shape[3])
    pairs_behind_the_first = (_pixels(node) + 1) // 2 - 1
    return [(0, max(0, growth * pairs_behind_the_first))]


def _cycles(m: Match, room: int = 0) -> float:
    """Fitted to the emulated RP2040."""
    node = m.last
    pairs, chunk = (_pixels(node) + 1) // 2, _chunk(node, room)
    taps = node.input(0).type.shape[3]
    pack = 11.0 * taps + 110 + 10 * (_blocks(node) - (taps + 1) // 2)
    return pairs * pack + dot_cycles(node, _blocks(node), pairs, -(-pairs // chunk)) + 300


ROWS = (
    KernelRow(
        "conv1x1_s8_m0",
        CONV2D,
        _can_pair,
        _lower,
        _cycles,
        1900,
        on=CORES,
        scratch=_scratch,
        overlap=_overlap,
        grown=lambda m, room: (_scratch(m, room), _cycles(m, room)),
    ),
)
