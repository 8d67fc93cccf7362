"""Masks of attention: what a softmax is not to see has a score of minus infinity, or the most negative float.

A range that held it would leave no steps for the scores themselves. Any score far below all others means the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from burnc.ir import Array, Builder, Graph, Node, Value
from burnc.ops import operators
from burnc.quant.observers import Range

HIDDEN = -1e3
"""Below it a constant is a mask: no score comes near, and its exponential is 0."""
HELD = -1e4
"""What stands for it while calibrating, as infinity cannot be observed."""
MARGIN = 8.0
"""How far below the least score a mask ends; exp(-8) is a tenth of the least step of softmax's result."""


def hold_masks(graph: Graph) -> None:
    """Masks become finite numbers, in place; a softmax changes only where all of its scores are masked."""
    for node, place in _masked(graph):
        data = _data(node, place)
        _replace(graph, node, place, np.where(data <= HIDDEN, np.float32(HELD), data))


def bound_masks(graph: Graph, ranges: Mapping[str, Range]) -> dict[str, Range]:
    """The ranges, those of masked scores as without the mask but for MARGIN; the masks are changed to fit, in place."""
    found = dict(ranges)
    for node, place in _masked(graph):
        scores, data = _scores(node, place), _data(node, place)
        seen = ranges.get(scores.name)
        if seen is None:
            continue
        others = data[data > HIDDEN]
        low, high = (float(others.min()), float(others.max())) if others.size else (0.0, 0.0)
        is_sum = node.op == "add"
        total = Range(seen.low + low, seen.high + high) if is_sum else seen | Range(min(low, 0.0), max(high, 0.0))
        floor = total.low - MARGIN
        hidden = floor - seen.high if is_sum else floor
        _replace(graph, node, place, np.where(data <= HIDDEN, np.float32(hidden), data))
        found[node.output.name] = Range(floor, total.high)
    return found


def _masked(graph: Graph) -> Iterator[tuple[Node, int]]:
    """Sums and selections with a mask among their operands that only softmax reads, and where the mask stands."""
    consumers = graph.consumers()
    for node in list(graph.nodes):
        places = {"add": (0, 1), "where": (1, 2)}.get(node.op)
        if places is None or node.output in graph.results:
            continue
        readers = consumers.get(node.output, [])
        masks = [i for i in places if _is_mask(node.input(i))]
        if len(masks) == 1 and readers and all(reader.op == "softmax" for reader in readers):
            yield node, masks[0]


def _is_mask(value: Value) -> bool:
    data = value.data
    return data is not None and data.dtype == np.float32 and data.size > 0 and bool((data <= HIDDEN).any())


def _scores(node: Node, mask: int) -> Value:
    return node.input(1 - mask if node.op == "add" else 3 - mask)


def _data(node: Node, place: int) -> Array:
    data = node.input(place).data
    assert data is not None
    return data


def _replace(graph: Graph, node: Node, place: int, data: Array) -> None:
    """A constant of its own, as other nodes may read the old one in another sense."""
    builder = Builder(graph, operators(), anchor=node)
    node.inputs[place] = builder.constant(node.input(place).name, data)
    builder.settle_names()
