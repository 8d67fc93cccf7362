"""How far results of convolutions may lie over their inputs."""

from __future__ import annotations

import functools

import numpy as np

from burnc.ir import Array, Match, Node


def first_reads(node: Node) -> Array:
    """For each output pixel the least input pixel (over the whole batch) that its window or a later one reads."""
    n, height, width, _ = node.input(0).type.shape
    _, out_height, out_width, _ = node.output.type.shape
    a = node.attrs
    rows = np.clip(np.arange(out_height) * a.stride[0] - a.pad.top, 0, height - 1)
    columns = np.clip(np.arange(out_width) * a.stride[1] - a.pad.left, 0, width - 1)
    one = (rows[:, None] * width + columns).reshape(-1)
    pixels = (np.arange(n)[:, None] * height * width + one).reshape(-1)
    return np.minimum.accumulate(pixels[::-1])[::-1]


def behind_windows(m: Match) -> list[tuple[int, int]]:
    """For kernels that read a pixel's window, or the same channels of it, before they write, pixel after pixel."""
    return [(0, _distance(m.last))]


@functools.lru_cache(maxsize=256)
def _distance(node: Node) -> int:
    """What is written must end where the windows of later pixels begin."""
    reads = first_reads(node)
    written = np.arange(reads.size) * node.output.type.shape[3]
    return max(0, int((written - reads * node.input(0).type.shape[3]).max(initial=0)))
