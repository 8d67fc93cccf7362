"""Pooling of volumes, by pooling images: what lies under a window is taken along two axes, then along the third.

The largest of the largest is the largest, a mean of means over counts that are products is the mean, and so is a root
of sums of powers.
"""

from __future__ import annotations

from burnc.ir import Value
from burnc.ops.mapping import Build, FileNode
from burnc.ops.spatial import reshape

VOLUME = 5
"""Rank of [N,C,D,H,W]."""


def of_volumes(build: Build) -> Build:
    """The mapping of an ONNX pooling operator over [N,C,L] or [N,C,H,W], for [N,C,D,H,W] too."""

    def build_any(node: FileNode) -> list[Value]:
        x = node.input(0)
        if x.type.rank != VOLUME or sum(map(bool, node.output_names)) > 1:
            return list(build(node))
        n, c, d, h, w = x.type.shape
        images = reshape(node, x, (n, c * d, h, w))
        (y,) = build(node.part(f"{node.name}.images", [images], _along(node, (1, 2))))
        *_, h, w = y.type.shape
        depths = reshape(node, y, (n, c, d, h * w))
        (y,) = build(node.part(f"{node.name}.depths", [depths], _along(node, (0, None))))
        return [reshape(node, y, (n, c, y.type.shape[2], h, w), last=True)]

    return build_any


def over_all_space(build: Build) -> Build:
    """The mapping of a pooling operator whose window covers all of [N,C,L] or [N,C,H,W], for [N,C,D,H,W] too."""

    def build_any(node: FileNode) -> list[Value]:
        x = node.input(0)
        if x.type.rank != VOLUME:
            return list(build(node))
        n, c, d, h, w = x.type.shape
        (y,) = build(node.part(f"{node.name}.image", [reshape(node, x, (n, c, d * h, w))]))
        return [reshape(node, y, (n, c, 1, 1, 1), last=True)]

    return build_any


def _along(node: FileNode, axes: tuple[int, int | None]) -> dict[str, object]:
    """The node's attributes for two of its three axes of space, or for one of them and one without a window."""
    rank = VOLUME - 2
    given = {
        "kernel_shape": node.integers("kernel_shape", rank, 0),
        "strides": node.integers("strides", rank, 1),
        "dilations": node.integers("dilations", rank, 1),
    }
    attributes = {name: [1 if i is None else values[i] for i in axes] for name, values in given.items()}
    pads = node.integers("pads", 2 * rank, 0)
    sides = [0 if i is None else pads[side + i] for side in (0, rank) for i in axes]
    return {**node.attributes, **attributes, "pads": sides}
