"""A step for two cores: its nodes twice, each time with a part of the output's rows or channels.

A part is lowered by the row of the whole step, like any other match. Rows of an NHWC image, and elements, lie one
behind the other, so that a part of a tensor is a pointer further in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from burnc.codegen.image_rows import rows_read
from burnc.codegen.program import Argument, Call, Scratch, Slice
from burnc.codegen.rows.row import Emitter, KernelRow
from burnc.codegen.views import ALIGNMENT
from burnc.ir import Match, Node, TensorType, Value
from burnc.ops import spec_of

# Seen on the emulated RP2040: what handing over a part and waiting for its end takes.
HAND_OVER_CYCLES = 120.0
SCRATCH_ALIGNMENT = 8
# Kernels for fully connected layers take so many channels at once.
_CHANNELS_TOGETHER = 4


@dataclass(frozen=True)
class Part:
    """A match that computes a part of a step; ``slices`` says which bytes of the graph's values its own values are."""

    match: Match
    slices: dict[Value, Slice]

    def lower(self, row: KernelRow, emitter: Emitter, scratch: int = 0) -> Call:
        """The call of the part's kernel, whose scratch begins at that byte of the step's."""
        call = row.lower(self.match, emitter)
        return replace(call, arguments=tuple(self._of_the_whole(a, scratch) for a in call.arguments))

    def _of_the_whole(self, argument: Argument, scratch: int) -> Argument:
        if isinstance(argument, Value):
            return self.slices.get(argument, argument)
        if isinstance(argument, Scratch):
            return replace(argument, offset=argument.offset + scratch)
        return argument


Cut = Callable[[int, int], Part]
"""The part of the units from ``first`` to ``last``, which is not in it."""


def parts_of(match: Match, row: KernelRow | None, cores: int) -> tuple[Part, ...]:
    """The match as one part, or as two that the row can compute and that two cores finish sooner."""
    whole = Part(match, {})
    if row is None or cores < 2:
        return (whole,)
    found = [pair for cut, ends in _divisions(match) if (pair := _fairest(row, cut, ends)) is not None]
    best = min(found, key=lambda pair: parts_cycles(row, pair), default=(whole,))
    return best if parts_cycles(row, best) < row.cycles(match) else (whole,)


def parts_cycles(row: KernelRow, parts: Sequence[Part]) -> float:
    """Cycles until the last of the parts is done."""
    return max(row.cycles(part.match) for part in parts) + (HAND_OVER_CYCLES if len(parts) > 1 else 0)


def overlap_of(row: KernelRow, match: Match, parts: Sequence[Part]) -> list[tuple[int, int | None]]:
    """The overlaps of the row that are safe in all parts at once: elements exactly in place, whose parts never meet."""
    found = row.overlap(match)
    if len(parts) == 1:
        return list(found)
    return [(index, None) for index, distance in found if distance in (0, None) and spec_of(match.last).pointwise]


def scratch_places(sizes: Sequence[int]) -> tuple[list[int], int]:
    """Where the scratch of each part begins, and the bytes of all together."""
    places, end = [], 0
    for size in sizes:
        places.append(-(-end // SCRATCH_ALIGNMENT) * SCRATCH_ALIGNMENT)
        end = places[-1] + size
    return places, end


def _fairest(row: KernelRow, cut: Cut, ends: Sequence[int]) -> tuple[Part, Part] | None:
    """Of all places to divide, the one where the slower part is quickest.

    Args:
        ends: where units may be divided, then their number.
    """

    def divided(index: int) -> tuple[Part, Part]:
        return cut(0, ends[index]), cut(ends[index], ends[-1])

    low, high = 0, len(ends) - 1
    while low < high:  # the first part only grows
        middle = (low + high) // 2
        first, second = divided(middle)
        if not row.when(first.match) or not row.when(second.match):
            return None
        if row.cycles(first.match) < row.cycles(second.match):
            low = middle + 1
        else:
            high = middle
    found = [divided(i) for i in (low - 1, low) if 0 <= i < len(ends) - 1]
    found = [pair for pair in found if all(row.when(part.match) for part in pair)]
    return min(found, key=lambda pair: parts_cycles(row, pair), default=None)


def _divisions(match: Match) -> list[tuple[Cut, list[int]]]:
    """The ways to divide a match: how, and where."""
    if len(match.nodes) != 1 or len(match.last.outputs) != 1:
        return []
    node = match.last
    if node.op == "conv2d":
        return [*_by_images(node, match), *_by_rows(node, match), *_by_channels(node, match)]
    if node.op == "fully_connected":
        return [*_by_images(node, match), *_by_channels(node, match)]
    if spec_of(node).pointwise:
        return _by_elements(node, match)
    return []


def _part(match: Match, changed: dict[Value, tuple[Value, int]], attrs: Any) -> Part:
    """``changed``: for a value of the match the part's own, and the byte of the whole that it begins at."""

    def own(value: Value | None) -> Value | None:
        return changed[value][0] if value in changed else value

    node = match.last
    outputs = [changed[v][0] for v in node.outputs]
    twin = Node(node.operator, attrs, [own(v) for v in node.inputs], outputs, node.name, node.rounding)
    slices = {mine: Slice(whole, at) for whole, (mine, at) in changed.items() if not mine.is_constant}
    return Part(Match([twin], {name: own(v) for name, v in match.values.items()}), slices)


def _piece(value: Value, shape: Sequence[int]) -> Value:
    return Value(value.name, value.type.with_shape(shape))


def _by_images(node: Node, match: Match) -> list[tuple[Cut, list[int]]]:
    """Of a batch, which is the first axis of input and result."""
    values = (node.input(0), node.output)
    images = values[1].type.shape[0]
    if images < 2 or values[0].type.shape[0] != images:
        return []
    sizes = {v: v.type.nbytes // images for v in values}

    def cut(first: int, last: int) -> Part:
        changed = {v: (_piece(v, (last - first, *v.type.shape[1:])), first * sizes[v]) for v in values}
        return _part(match, changed, node.attrs)

    ends = [n for n in range(1, images) if all(n * size % ALIGNMENT == 0 for size in sizes.values())]
    return [(cut, [*ends, images])] if ends else []


def _by_rows(node: Node, match: Match) -> list[tuple[Cut, list[int]]]:
    x, y, a = node.input(0), node.output, node.attrs
    height = y.type.shape[1]
    whole = rows_read(node, 0, height)
    if whole is None:
        return []
    if (
        node.input(1).type.shape[1:3] == (1, 1)
        and a.stride == (1, 1)
        and not any((a.pad.top, a.pad.left, a.pad.bottom, a.pad.right))
    ):
        return _by_pixels(node, match)
    in_row, out_row = x.type.nbytes // x.type.shape[1], y.type.nbytes // height

    def cut(first: int, last: int) -> Part:
        read = rows_read(node, first, last)
        assert read is not None
        changed = {
            x: (_piece(x, (1, read.end - read.begin, *x.type.shape[2:])), read.begin * in_row),
            y: (_piece(y, (1, last - first, *y.type.shape[2:])), first * out_row),
        }
        return _part(match, changed, read.attrs)

    def divides(row: int) -> bool:
        """Both parts read something else than padding, and begin at words."""
        first, second = rows_read(node, 0, row), rows_read(node, row, height)
        if first is None or second is None:
            return False
        return (second.begin * in_row) % ALIGNMENT == 0 and (row * out_row) % ALIGNMENT == 0

    rows = [r for r in range(1, height) if divides(r)]
    return [(cut, [*rows, height])] if rows else []


def _by_pixels(node: Node, match: Match) -> list[tuple[Cut, list[int]]]:
    """Of a window of one pixel: all that counts is how many pixels there are."""
    x, y = node.input(0), node.output
    pixels = x.type.size // x.type.shape[3]

    def cut(first: int, last: int) -> Part:
        changed = {
            v: (_piece(v, (1, last - first, 1, v.type.shape[3])), first * v.type.shape[3] * v.type.dtype.bytes)
            for v in (x, y)
        }
        return _part(match, changed, node.attrs)

    def is_aligned(pixel: int) -> bool:
        return all(pixel * v.type.shape[3] * v.type.dtype.bytes % ALIGNMENT == 0 for v in (x, y))

    ends = [p for p in range(1, pixels) if is_aligned(p)]
    return [(cut, [*ends, pixels])] if ends else []


def _by_channels(node: Node, match: Match) -> list[tuple[Cut, list[int]]]:
    """Where there is one pixel, output channels are elements side by side; weights are divided with them."""
    w, y = node.input(1), node.output
    filters = w.type.shape[0]
    if y.type.size != filters or getattr(node.attrs, "groups", 1) != 1 or filters < 2 * _CHANNELS_TOGETHER:
        return []

    def cut(first: int, last: int) -> Part:
        changed = {y: (_piece(y, (*y.type.shape[:-1], last - first)), first * y.type.dtype.bytes)}
        changed |= {v: (_channels(v, first, last), 0) for v in node.present_inputs[1:]}
        return _part(match, changed, node.attrs)

    middle = -(-filters // (2 * _CHANNELS_TOGETHER)) * _CHANNELS_TOGETHER  # weights are the cost: halves are fair
    return [(cut, [middle, filters])]


def _channels(value: Value, first: int, last: int) -> Value:
    """Constants of some output channels, which are their first axis."""
    assert value.data is not None
    quant = value.type.quant
    if quant is not None and quant.axis is not None:
        quant = replace(quant, scale=quant.scale[first:last], zero_point=quant.zero_point[first:last])
    data = value.data[first:last]
    return Value(value.name, TensorType(value.type.dtype, data.shape, quant), data)


def _by_elements(node: Node, match: Match) -> list[tuple[Cut, list[int]]]:
    y = node.output
    values = list(dict.fromkeys([*node.present_inputs, y]))
    if any(v.type.shape != y.type.shape or v.is_constant for v in values):
        return []
    size = y.type.size

    def cut(first: int, last: int) -> Part:
        changed = {v: (_piece(v, (last - first,)), first * v.type.dtype.bytes) for v in values}
        return _part(match, changed, node.attrs)

    middle = size // 2 // ALIGNMENT * ALIGNMENT
    return [(cut, [middle, size])] if middle else []
