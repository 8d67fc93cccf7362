"""Fourier transforms of constant length as products with constant matrices: listed by ``matmul`` and ``conv2d``.

Sources: ONNX DFT-20, STFT-17. The last axis holds real numbers, or real and imaginary parts.
"""

from __future__ import annotations

import numpy as np

from burnc.ir import Array, Value
from burnc.ops.mapping import FileNode

LARGEST_MATRIX = 2**22
"""Elements. Longer transforms need an algorithm of their own, and more memory than microcontrollers have."""


def dft(node: FileNode) -> list[Value]:
    x = node.input(0)
    rank = x.type.rank
    axis = int(node.constant(2, "the axis").reshape(())) if node.has_input(2) else int(node.attribute("axis", -2))
    if (
        not -rank <= axis < rank
        or axis % rank == rank - 1
        or x.type.shape[-1] not in (1, 2)
        or not x.type.dtype.is_float
    ):
        node.refuse(f"a transform along axis {axis} of {x.type}")
    axis %= rank
    inverse, onesided = bool(node.attribute("inverse", 0)), bool(node.attribute("onesided", 0))
    points, parts = x.type.shape[axis], x.type.shape[-1]
    if onesided and (parts == 2) != inverse:
        node.refuse("one side is the whole only of a transform of real numbers, and of its inverse")
    default = 2 * (points - 1) if inverse and onesided else points
    length = int(node.constant(1, "the length").reshape(())) if node.has_input(1) else default
    if length < 1 or length * points * 4 > LARGEST_MATRIX:
        node.refuse(f"a transform of length {length} is not supported")
    table = _real_inverse(points, length) if inverse and onesided else _transform(points, length, parts, inverse)
    if onesided and not inverse:
        table = table[:, :, : length // 2 + 1]
    order = (*(i for i in range(rank) if i not in (axis, rank - 1)), axis, rank - 1)
    return [_product(node, x, table.astype(x.type.dtype.numpy), order)]


def _product(node: FileNode, x: Value, table: Array, order: tuple[int, ...]) -> Value:
    """The axis that is transformed, moved beside the parts, times the table."""
    ops, rank = node.builder.operators, x.type.rank
    points, parts, results, kinds = table.shape
    straight = order == tuple(range(rank))
    moved = x if straight else node.emit("transpose", [x], ops["transpose"].attrs(order), last=False)
    outer = moved.type.shape[:-2]
    flat = node.emit("reshape", [moved], ops["reshape"].attrs((*outer, points * parts)), last=False)
    matrix = node.new_constant("matrix", table.reshape(points * parts, results * kinds))
    if not outer:
        flat = node.emit("reshape", [flat], ops["reshape"].attrs((1, points * parts)), last=False)
    y = node.emit("matmul", [flat, matrix], last=False)
    attrs = ops["reshape"].attrs((*outer, results, kinds))
    if straight:
        return node.emit("reshape", [y], attrs)
    y = node.emit("reshape", [y], attrs, last=False)
    return node.emit("transpose", [y], ops["transpose"].attrs(tuple(int(i) for i in np.argsort(order))))


def _transform(points: int, length: int, parts: int, inverse: bool) -> Array:
    """[points, real and imaginary part, results, real and imaginary part]; points past the length do not count."""
    turns = np.outer(np.arange(points), np.arange(length)) % length / length
    cosine, sine = np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)
    sine = sine if inverse else -sine
    rows = [np.stack([cosine, sine], axis=-1), np.stack([-sine, cosine], axis=-1)][:parts]
    table: Array = np.stack(rows, axis=1) / (length if inverse else 1)
    table[length:] = 0
    return table


def _real_inverse(points: int, length: int) -> Array:
    """From one side of a spectrum to real numbers: what lies between its ends stands for its mirror image, too."""
    bins = np.arange(points)
    turns = np.outer(bins, np.arange(length)) % length / length
    share = np.where((bins == 0) | (2 * bins == length), 1.0, 2.0) * (2 * bins <= length)
    rows = [np.cos(2 * np.pi * turns), -np.sin(2 * np.pi * turns)]
    table: Array = np.stack(rows, axis=1)[..., None] * share[:, None, None, None] / length
    return table


def stft(node: FileNode) -> list[Value]:
    """A transform of each frame under a window: a convolution over time whose weights are the table."""
    x, step = node.input(0), int(node.constant(1, "the frame step").reshape(()))
    windowed = node.has_input(2)
    default = node.input(2).type.size if windowed else 0
    length = int(node.constant(3, "the frame length").reshape(())) if node.has_input(3) else default
    if x.type.rank == 2:
        shape = (*x.type.shape, 1)
        x = node.emit("reshape", [x], node.builder.operators["reshape"].attrs(shape), last=False)
    if x.type.rank != 3 or x.type.shape[2] not in (1, 2) or not x.type.dtype.is_float:
        node.refuse(f"the signal {x.type} must be [batch, length, 1 or 2] floats")
    samples, parts = x.type.shape[1:]
    onesided = bool(node.attribute("onesided", 1))
    if not 0 < length <= samples or step < 1 or (windowed and default != length) or (onesided and parts == 2):
        node.refuse(f"frames of {length} with a step of {step} for {samples} samples, onesided {onesided}")
    if length * length * 2 * parts > LARGEST_MATRIX:
        node.refuse(f"a transform of length {length} is not supported")
    table = _transform(length, length, parts, inverse=False)[:, :, : length // 2 + 1 if onesided else length]
    bins = table.shape[2]
    # [samples of a frame, part, result, part] as output, height, width, input channels.
    kernel = table.reshape(length, parts, bins * 2).transpose(2, 0, 1)[:, None].astype(x.type.dtype.numpy)
    return [_convolved(node, x, np.ascontiguousarray(kernel), step)]


def _convolved(node: FileNode, x: Value, kernel: Array, step: int) -> Value:
    ops = node.builder.operators
    batch, samples, parts = x.type.shape
    weights = node.new_constant("table", kernel)
    if node.has_input(2):
        shape = ops["reshape"].attrs((1, 1, kernel.shape[2], 1))
        weights = node.emit("mul", [weights, node.emit("reshape", [node.input(2)], shape, last=False)], last=False)
    image = node.emit("reshape", [x], ops["reshape"].attrs((batch, 1, samples, parts)), last=False)
    y = node.emit("conv2d", [image, weights], ops["conv2d"].attrs(stride=(1, step)), last=False)
    return node.emit("reshape", [y], ops["reshape"].attrs((batch, y.type.shape[2], kernel.shape[0] // 2, 2)))
