"""Window arithmetic shared by convolution and pooling: padding, output sizes, windows as a numpy view, layout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Array, Node, Value
from burnc.ops.image_rows import ROWS, RowsRead
from burnc.ops.mapping import FileNode

NHWC_FROM_NCHW = (0, 2, 3, 1)
NCHW_FROM_NHWC = (0, 3, 1, 2)


@dataclass(frozen=True)
class Padding:
    """Rows and columns of padding on each side."""

    top: int = 0
    left: int = 0
    bottom: int = 0
    right: int = 0

    def __str__(self) -> str:
        return f"({self.top},{self.left},{self.bottom},{self.right})"


NO_PADDING = Padding()

Pair = tuple[int, int]

LARGEST_WINDOW = 2**16
"""Along one axis; images are smaller, and larger windows only eat memory."""


def window_extent(kernel: int, dilation: int) -> int:
    return (kernel - 1) * dilation + 1


def output_size(size: int, kernel: int, stride: int, dilation: int, before: int, after: int) -> int:
    """Number of windows along one axis.

    Raises:
        GraphError: the window does not fit once.
    """
    room = size + before + after - window_extent(kernel, dilation)
    if room < 0 or stride < 1:
        raise GraphError(f"a window of {window_extent(kernel, dilation)} does not fit {size} + {before} + {after}")
    return room // stride + 1


def output_sizes(size: Pair, kernel: Pair, stride: Pair, dilation: Pair, pad: Padding) -> Pair:
    return (
        output_size(size[0], kernel[0], stride[0], dilation[0], pad.top, pad.bottom),
        output_size(size[1], kernel[1], stride[1], dilation[1], pad.left, pad.right),
    )


def windows(x: Array, kernel: Pair, stride: Pair, dilation: Pair, pad: Padding, fill: Any) -> Array:
    """View of all windows of an NHWC array: [N, OH, OW, KH, KW, C], the padding filled with ``fill``."""
    padded = np.pad(x, ((0, 0), (pad.top, pad.bottom), (pad.left, pad.right), (0, 0)), constant_values=fill)
    extent = (window_extent(kernel[0], dilation[0]), window_extent(kernel[1], dilation[1]))
    view = np.lib.stride_tricks.sliding_window_view(padded, extent, axis=(1, 2))
    view = view[:, :: stride[0], :: stride[1], :, :: dilation[0], :: dilation[1]]
    return view.transpose(0, 1, 2, 4, 5, 3)


def taps(kernel: Pair, stride: Pair, dilation: Pair, results: Pair) -> Iterator[tuple[int, int, slice, slice]]:
    """Each tap (row, column) of a window with the rows and columns of a padded array that it meets in all windows."""
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            top, left = i * dilation[0], j * dilation[1]
            rows = slice(top, top + (results[0] - 1) * stride[0] + 1, stride[0])
            yield i, j, rows, slice(left, left + (results[1] - 1) * stride[1] + 1, stride[1])


def same_padding(size: int, kernel: int, stride: int, dilation: int, upper: bool) -> Pair:
    """Padding (before, after) that gives ceil(size / stride) outputs; an odd rest goes after where ``upper``."""
    out = -(-size // stride)
    total = max(0, (out - 1) * stride + window_extent(kernel, dilation) - size)
    less, more = total // 2, total - total // 2
    return (less, more) if upper else (more, less)


@dataclass(frozen=True)
class Window:
    """Geometry of a 2-D window operator as the IR holds it."""

    kernel: Pair
    stride: Pair
    dilation: Pair
    pad: Padding


def onnx_window(node: FileNode, size: tuple[int, ...], kernel: tuple[int, ...]) -> Window:
    """Strides, dilations and padding of a 1-D or 2-D ONNX window operator; 1-D becomes height 1.

    Args:
        size: spatial size of the input. kernel: spatial size of the window.
    """
    rank = len(size)
    if rank not in (1, 2):
        node.refuse(f"{rank}-D windows are not supported; 1-D and 2-D are")
    stride = node.integers("strides", rank, 1)
    dilation = node.integers("dilations", rank, 1)
    pads = list(node.integers("pads", 2 * rank, 0))
    if min(*kernel, *stride, *dilation) < 1 or max(*kernel, *stride, *dilation, *pads) > LARGEST_WINDOW:
        node.refuse(f"a window of {list(kernel)}, strides {list(stride)}, dilations {list(dilation)} and pads {pads}")
    mode = node.attribute("auto_pad", "NOTSET")
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        for axis in range(rank):
            reach = (-(-size[axis] // stride[axis]) - 1) * stride[axis] + window_extent(kernel[axis], dilation[axis])
            if size[axis] - reach > 1:
                # The reference clamps, onnxruntime crops in one operator, clamps in another and refuses in a third.
                node.refuse(f"auto_pad {mode} would have to crop {list(size)} for strides {list(stride)}")
            both = same_padding(size[axis], kernel[axis], stride[axis], dilation[axis], mode == "SAME_UPPER")
            pads[axis], pads[rank + axis] = both
    elif mode == "VALID":
        pads = [0] * (2 * rank)
    elif mode != "NOTSET":
        node.refuse(f"auto_pad {mode!r} is unknown")
    if min(pads) < 0:
        node.refuse(f"negative pads {pads} are not supported")
    if node.attribute("ceil_mode", 0):
        for axis in range(rank):
            pads[rank + axis] += _ceil_mode_padding(
                size[axis], kernel[axis], stride[axis], dilation[axis], pads[axis], pads[rank + axis]
            )
    if rank == 1:
        return Window((1, kernel[0]), (1, stride[0]), (1, dilation[0]), Padding(0, pads[0], 0, pads[1]))
    return Window((kernel[0], kernel[1]), (stride[0], stride[1]), (dilation[0], dilation[1]), Padding(*pads))


def _ceil_mode_padding(size: int, kernel: int, stride: int, dilation: int, before: int, after: int) -> int:
    """Padding to add at the end so that the last, partial window counts, unless it starts in the padding itself."""
    room = size + before + after - window_extent(kernel, dilation)
    rest = room % stride
    if rest == 0 or (room // stride + 1) * stride >= size + before:
        return 0
    return stride - rest


def tflite_window(node: FileNode, size: tuple[int, ...], kernel: Pair) -> Window:
    """Strides, dilations and SAME or VALID padding of a TFLite window operator over [H, W]."""
    stride = (node.attribute("stride_h"), node.attribute("stride_w"))
    dilation = (node.attribute("dilation_h_factor", 1), node.attribute("dilation_w_factor", 1))
    if min(*stride, *dilation) < 1:
        node.refuse(f"strides {stride} and dilations {dilation} must be positive")
    pad = Padding()
    if node.attribute("padding") == "SAME":
        (top, bottom), (left, right) = (
            same_padding(size[axis], kernel[axis], stride[axis], dilation[axis], upper=True) for axis in (0, 1)
        )
        pad = Padding(top, left, bottom, right)
    return Window(kernel, stride, dilation, pad)


def tflite_weights(node: FileNode, index: int) -> Value:
    """The weights of a TFLite convolution, which its int8 kernels take for symmetric whatever their zero point says."""
    w = node.input(index)
    if w.type.quant is not None and any(w.type.quant.zero_point) and node.forms[index] != "UINT8":
        node.refuse("weights with a zero point other than 0 are not supported")
    return w


def to_nhwc(node: FileNode, x: Value) -> Value:
    """[N,C,L] or [N,C,H,W] of an ONNX operator as NHWC; 1-D becomes height 1."""
    if x.type.rank == 3:
        n, c, length = x.type.shape
        x = reshape(node, x, (n, c, 1, length))
    return transpose(node, x, NHWC_FROM_NCHW)


def from_nhwc(node: FileNode, y: Value, rank: int) -> Value:
    """An NHWC result as the ONNX operator's [N,C,L] or [N,C,H,W]; the last step takes the file's output name."""
    y = transpose(node, y, NCHW_FROM_NHWC, last=rank == 4)
    if rank == 3:
        n, c, _, length = y.type.shape
        y = reshape(node, y, (n, c, length), last=True)
    return y


def reshape(node: FileNode, x: Value, shape: tuple[int, ...], *, last: bool = False) -> Value:
    from burnc.ops.reshape import ReshapeAttrs

    return node.emit("reshape", [x], ReshapeAttrs(shape), last=last, name=f"{node.name}.reshape")


def transpose(node: FileNode, x: Value, permutation: tuple[int, ...], *, last: bool = False) -> Value:
    from burnc.ops.transpose import TransposeAttrs

    return node.emit("transpose", [x], TransposeAttrs(permutation), last=last, name=f"{node.name}.transpose")


def rows_under_windows(node: Node, kernel: int, first: int, last: int) -> RowsRead | None:
    """For windows of ``kernel`` rows over the first input, whose attributes have ``stride`` and ``pad``."""
    a, height = node.attrs, node.input(0).type.shape[ROWS]
    if any(not v.is_constant for v in node.present_inputs[1:]):
        return None
    counted = getattr(a, "counted", a.pad)
    if counted != a.pad and any((counted.top, counted.left, counted.bottom, counted.right)):
        return None  # which of the padding counts is not the same for all rows
    above = first * a.stride[0] - a.pad.top
    below = (last - 1) * a.stride[0] - a.pad.top + window_extent(kernel, getattr(a, "dilation", (1, 1))[0])
    begin, end = max(0, above), min(height, below)
    pad = replace(a.pad, top=begin - above, bottom=below - end)
    own = {"pad": pad, **({"counted": pad} if hasattr(a, "counted") and counted == a.pad else {})}
    return RowsRead(begin, end, replace(a, **own))
