"""Which input rows some output rows of an image are made of, and the operator that makes just those of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from burnc.ir import Node, Value
from burnc.ops import spec_of
from burnc.ops.spatial import window_extent

_ROWS = 1  # the axis, of NHWC
_WINDOWS = ("conv2d", "max_pool2d", "average_pool2d")


@dataclass(frozen=True)
class RowsRead:
    """The rows from ``begin`` up to ``end`` of each input that is no constant, and the attributes for them alone."""

    begin: int
    end: int
    attrs: Any


def rows_read(node: Node, first: int, last: int) -> RowsRead | None:
    """What an operator reads for its output rows from ``first`` up to ``last``.

    None where that is not known, or nothing but padding. Images are NHWC, one at a time.
    """
    if len(node.outputs) != 1 or not all(is_image(v) for v in [*_images(node), node.output]):
        return None
    if node.op in _WINDOWS:
        found = _under_windows(node, first, last)
    elif node.op == "pad":
        found = _within_padding(node, first, last)
    elif _keeps_rows(node):
        found = RowsRead(first, last, node.attrs)
    else:
        found = None
    return found if found is not None and found.begin < found.end else None


def is_image(value: Value) -> bool:
    return value.type.rank == 4 and value.type.shape[0] == 1


def _images(node: Node) -> list[Value]:
    return [v for v in node.present_inputs if not v.is_constant]


def _under_windows(node: Node, first: int, last: int) -> RowsRead | None:
    a, height = node.attrs, node.input(0).type.shape[_ROWS]
    if any(not v.is_constant for v in node.present_inputs[1:]):
        return None
    counted = getattr(a, "counted", a.pad)
    if counted != a.pad and any((counted.top, counted.left, counted.bottom, counted.right)):
        return None  # which of the padding counts is not the same in each band
    kernel = node.input(1).type.shape[1] if node.op == "conv2d" else a.kernel[0]
    above = first * a.stride[0] - a.pad.top
    below = (last - 1) * a.stride[0] - a.pad.top + window_extent(kernel, getattr(a, "dilation", (1, 1))[0])
    begin, end = max(0, above), min(height, below)
    pad = replace(a.pad, top=begin - above, bottom=below - end)
    own = {"pad": pad, **({"counted": pad} if hasattr(a, "counted") and counted == a.pad else {})}
    return RowsRead(begin, end, replace(a, **own))


def _within_padding(node: Node, first: int, last: int) -> RowsRead | None:
    a, height = node.attrs, node.input(0).type.shape[_ROWS]
    if a.mode != "constant":
        return None
    above, below = first - a.pads[_ROWS][0], last - a.pads[_ROWS][0]
    begin, end = max(0, above), min(height, below)
    pads = (*a.pads[:_ROWS], (begin - above, below - end), *a.pads[_ROWS + 1 :])
    return RowsRead(begin, end, replace(a, pads=pads))


def _keeps_rows(node: Node) -> bool:
    """Each output row is made of the same row of the inputs, and constants serve all rows alike."""
    height = node.output.type.shape[_ROWS]
    if any(v.type.shape[_ROWS] != height for v in _images(node)):
        return False
    if node.op == "concat":
        return node.attrs.axis % node.output.type.rank > _ROWS and len(_images(node)) == len(node.inputs)
    constants = [v.type for v in node.present_inputs if v.is_constant]
    serves_all = all(t.rank < 3 or t.shape[-3] == 1 for t in constants)
    return (spec_of(node).pointwise or node.op == "identity") and serves_all
