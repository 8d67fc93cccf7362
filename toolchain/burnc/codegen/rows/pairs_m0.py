"""What the kernels for Cortex-M0 and M0+ share that do two MACs in one multiply (docs/kernels.md)."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

import numpy as np

from burnc.codegen.program import ConstantArray, FieldValue
from burnc.codegen.rows.exact_scaling import ExactScaling, fit_exact_scaling
from burnc.codegen.rows.row import Emitter, clamp_fields, folded_bias
from burnc.ir import Array, Node
from burnc.numerics import quantize_multiplier

CORES = ("cortex-m0", "cortex-m0plus")
BLOCK_WEIGHTS_SUM = 255  # with |a| <= 128 a sum's halves stay within 16 bits
BYTES_OF_BLOCK = 12
_BLOCKS_AT_ONCE = 4
_MOST_PAIRS = 32


def accumulator_bounds(node: Node) -> tuple[Array, Array]:
    """The least and the greatest sum of each output, of raw int8 inputs with their zero point in the bias.

    Padding is that zero point, so a tap outside the input is as one inside it.
    """
    data = node.input(1).data
    assert data is not None
    w, bias = data.reshape(data.shape[0], -1).astype(np.int64), folded_bias(node).astype(np.int64)
    least: Array = bias - (128 * np.maximum(w, 0) - 127 * np.minimum(w, 0)).sum(axis=1)
    most: Array = bias + (127 * np.maximum(w, 0) - 128 * np.minimum(w, 0)).sum(axis=1)
    return least, most


@functools.lru_cache(maxsize=256)
def exact_scaling(node: Node) -> ExactScaling | None:
    """Constants that requantize the sums of each output channel, or None; as accumulator_bounds says."""
    factors = np.broadcast_to(node.operator.requantize_factors(node).reshape(-1), (node.input(1).type.shape[0],))
    pairs = np.array([quantize_multiplier(float(f)) for f in factors], np.int64)
    least, most = accumulator_bounds(node)
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


@functools.lru_cache(maxsize=256)
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


def layer_fields(node: Node, blocked: Array, emitter: Emitter) -> dict[str, FieldValue]:
    """The fields of ``burnc_pairs_layer_s8_m0``; weights are [O, blocks, 2]."""
    scaling = exact_scaling(node)
    assert scaling is not None
    groups = groups_of(node)
    weights = [(blocked[list(g)].transpose(1, 0, 2).astype(np.int16) + 128).reshape(-1) for g in groups.all]
    rounding = [int(scaling.rounding[c]) for c in groups.fixed]
    fixed = [c << 8 | (r >> 24) & 255 for c, r in zip(groups.fixed, rounding, strict=True)]
    return {
        "out_channels": blocked.shape[0],
        "blocks": blocked.shape[1],
        "triples": len(groups.triples),
        "doubles": len(groups.doubles),
        "channel_bytes": 28 if is_signed(scaling) else 20,
        "fixed_count": len(fixed),
        "weights": emitter.constant("weights", _array(weights, np.uint8)),
        "constants": _constants(node, scaling, groups, emitter),
        "fixed": emitter.constant("fixed", np.array(fixed or [0], np.uint32)),
    }


def _array(parts: list[Array], dtype: type[np.generic]) -> Array:
    return np.concatenate(parts).astype(dtype) if parts else np.zeros(1, dtype)


def _constants(node: Node, scaling: ExactScaling, groups: Groups, emitter: Emitter) -> ConstantArray:
    columns = [scaling.limit, scaling.multiplier, scaling.fraction << 8 | scaling.places, scaling.rounding]
    offset = folded_bias(node).astype(np.int64) + scaling.offset
    columns = [offset, scaling.zero, *columns, -scaling.step] if is_signed(scaling) else [offset, *columns]
    channels = np.stack(columns, axis=1) & 0xFFFFFFFF
    parts, before = [], 0
    for group in groups.all:
        first, second, third = group[0], group[1] - group[0], group[-1] - group[0]
        parts += [np.array([first - before << 16 | third << 8 | second], np.int64), channels[list(group)].reshape(-1)]
        before = first
    return emitter.constant("constants", _array(parts, np.uint32))


def pairs_at_once(node: Node, blocks: int, room: int = 0) -> int:
    """How many pairs are packed before their outputs are written: as many as ``room`` bytes hold, at least one."""
    pairs = (node.output.type.size // node.output.type.shape[-1] + 1) // 2
    return max(1, min(pairs, _MOST_PAIRS, room // (BYTES_OF_BLOCK * blocks)))


def dot_cycles(node: Node, blocks: int, pairs: int, chunks: int) -> float:
    """Cycles of ``burnc_finish_pairs_s8_m0`` for all pixels. Fitted to the emulated RP2040."""
    scaling = exact_scaling(node)
    assert scaling is not None
    groups = groups_of(node)
    signed = 12 if is_signed(scaling) else 0
    triple = 38.0 * blocks + 169 + 3 * signed
    double = 27.0 * blocks + 122 + 2 * signed
    each = len(groups.triples) * triple + len(groups.doubles) * double
    begin = len(groups.triples) * 44.0 + len(groups.doubles) * 44.0 + 200
    fixed = 12.0 * len(groups.fixed) * 2
    return pairs * (each + fixed) + chunks * begin
