"""Operators that move blocks between space and another axis: reshape, transpose, reshape. ``transpose`` lists them.

Sources: ONNX DepthToSpace-13, SpaceToDepth-13 (both modes); TFLite DEPTH_TO_SPACE, SPACE_TO_DEPTH, BATCH_TO_SPACE_ND,
SPACE_TO_BATCH_ND.
"""

from __future__ import annotations

from collections.abc import Sequence

from burnc.ir import Value
from burnc.ops.mapping import FileNode


def _rearranged(
    node: FileNode,
    x: Value,
    split: Sequence[int],
    permutation: Sequence[int],
    shape: Sequence[int],
    *,
    last: bool = True,
) -> Value:
    ops, quant = node.builder.operators, x.type.quant
    apart = node.emit("reshape", [x], ops["reshape"].attrs(tuple(split)), last=False, quant=quant)
    attrs = ops["transpose"].attrs(tuple(permutation))
    moved = node.emit("transpose", [apart], attrs, last=False, quant=quant)
    attrs = ops["reshape"].attrs(tuple(shape))
    return (
        node.emit("reshape", [moved], attrs) if last else node.emit("reshape", [moved], attrs, last=False, quant=quant)
    )


def _image(node: FileNode, name: str) -> tuple[Value, int]:
    x, size = node.input(0), int(node.attribute(name, 0))
    if x.type.rank != 4 or size < 1:
        node.refuse(f"a block of {size} for shape {list(x.type.shape)}")
    return x, size


def depth_to_space(node: FileNode) -> list[Value]:
    x, b = _image(node, "blocksize")
    n, c, h, w = x.type.shape
    mode = node.attribute("mode", "DCR")
    if c % (b * b) or mode not in ("DCR", "CRD"):
        node.refuse(f"mode {mode} with a block of {b} for shape {list(x.type.shape)}")
    depth = c // (b * b)
    shape = (n, depth, h * b, w * b)
    if mode == "DCR":
        return [_rearranged(node, x, (n, b, b, depth, h, w), (0, 3, 4, 1, 5, 2), shape)]
    return [_rearranged(node, x, (n, depth, b, b, h, w), (0, 1, 4, 2, 5, 3), shape)]


def space_to_depth(node: FileNode) -> list[Value]:
    x, b = _image(node, "blocksize")
    n, c, h, w = x.type.shape
    mode = node.attribute("mode", "DCR")
    if h % b or w % b or mode not in ("DCR", "CRD"):
        node.refuse(f"mode {mode} with a block of {b} for shape {list(x.type.shape)}")
    shape = (n, c * b * b, h // b, w // b)
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    return [_rearranged(node, x, (n, c, h // b, b, w // b, b), order, shape)]


def depth_to_space_nhwc(node: FileNode) -> list[Value]:
    x, b = _image(node, "block_size")
    n, h, w, c = x.type.shape
    if c % (b * b):
        node.refuse(f"a block of {b} for shape {list(x.type.shape)}")
    depth = c // (b * b)
    return [_rearranged(node, x, (n, h, w, b, b, depth), (0, 1, 3, 2, 4, 5), (n, h * b, w * b, depth))]


def space_to_depth_nhwc(node: FileNode) -> list[Value]:
    x, b = _image(node, "block_size")
    n, h, w, c = x.type.shape
    if h % b or w % b:
        node.refuse(f"a block of {b} for shape {list(x.type.shape)}")
    split = (n, h // b, b, w // b, b, c)
    return [_rearranged(node, x, split, (0, 1, 3, 2, 4, 5), (n, h // b, w // b, b * b * c))]


def batch_to_space(node: FileNode) -> list[Value]:
    """Blocks of the batch become places in space, of which the crops are then cut away."""
    x, blocks, crops = _space_and_batch(node, "the crops")
    n, *space = x.type.shape[: 1 + len(blocks)]
    rest = x.type.shape[1 + len(blocks) :]
    count = 1
    for b in blocks:
        count *= b
    if n % count:
        node.refuse(f"blocks {blocks} do not divide the batch of shape {list(x.type.shape)}")
    k, r = len(blocks), len(rest)
    order = [k] + [axis for i in range(k) for axis in (k + 1 + i, i)] + [2 * k + 1 + i for i in range(r)]
    whole = tuple(s * b for s, b in zip(space, blocks, strict=True))
    split, shape = (*blocks, n // count, *space, *rest), (n // count, *whole, *rest)
    if not any(n for pair in crops for n in pair):
        return [_rearranged(node, x, split, order, shape)]
    y = _rearranged(node, x, split, order, shape, last=False)
    sizes = tuple(s - before - after for s, (before, after) in zip(whole, crops, strict=True))
    if min(sizes) < 1:
        node.refuse(f"crops {crops} leave nothing of {list(whole)}")
    starts = (0, *(before for before, _ in crops), *[0] * r)
    attrs = node.builder.operators["slice"].attrs(starts, (n // count, *sizes, *rest))
    return [node.emit("slice", [y], attrs)]


def space_to_batch(node: FileNode) -> list[Value]:
    """Space is padded with zeros (quantized: the zero point) to whole blocks, whose places become batches."""
    x, blocks, pads = _space_and_batch(node, "the paddings")
    k, r = len(blocks), x.type.rank - 1 - len(blocks)
    if any(n for pair in pads for n in pair):
        attrs = node.builder.operators["pad"].attrs(((0, 0), *pads, *[(0, 0)] * r))
        x = node.emit("pad", [x], attrs, last=False, quant=x.type.quant)
    n, *space = x.type.shape[: 1 + k]
    rest = x.type.shape[1 + k :]
    if any(s % b for s, b in zip(space, blocks, strict=True)):
        node.refuse(f"blocks {blocks} do not divide {space}")
    inner = [s // b for s, b in zip(space, blocks, strict=True)]
    split = (n, *(size for pair in zip(inner, blocks, strict=True) for size in pair), *rest)
    order = [*(2 + 2 * i for i in range(k)), 0, *(1 + 2 * i for i in range(k)), *(2 * k + 1 + i for i in range(r))]
    count = n
    for b in blocks:
        count *= b
    return [_rearranged(node, x, split, order, (count, *inner, *rest))]


def _space_and_batch(node: FileNode, what: str) -> tuple[Value, list[int], list[tuple[int, int]]]:
    x = node.input(0)
    blocks = [int(b) for b in node.constant(1, "the block shape").reshape(-1)]
    pairs = [(int(a), int(b)) for a, b in node.constant(2, what).reshape(-1, 2)]
    if not blocks or min(blocks) < 1 or len(pairs) != len(blocks) or x.type.rank < 1 + len(blocks):
        node.refuse(f"blocks {blocks} with {what} {pairs} for shape {list(x.type.shape)}")
    if any(n < 0 for pair in pairs for n in pair):
        node.refuse(f"{what} {pairs} are negative")
    return x, blocks, pairs
