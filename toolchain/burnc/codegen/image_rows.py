"""Which input rows some output rows of an image are made of, by what the operator says of itself."""

from __future__ import annotations

from burnc.ir import Node, Value
from burnc.ops import spec_of
from burnc.ops.image_rows import ROWS, RowsRead, same_rows


def rows_read(node: Node, first: int, last: int) -> RowsRead | None:
    """What an operator reads for its output rows from ``first`` up to ``last``.

    None where that is not known, or nothing but padding. Images are NHWC, one at a time.
    """
    if len(node.outputs) != 1 or not all(is_image(v) for v in [*_images(node), node.output]):
        return None
    spec = spec_of(node)
    if spec.rows is not None:
        found = spec.rows(node, first, last)
    else:
        found = same_rows(node, first, last) if spec.pointwise and _keeps_rows(node) else None
    return found if found is not None and found.begin < found.end else None


def is_image(value: Value) -> bool:
    return value.type.rank == 4 and value.type.shape[0] == 1


def _images(node: Node) -> list[Value]:
    return [v for v in node.present_inputs if not v.is_constant]


def _keeps_rows(node: Node) -> bool:
    """Each output row is made of the same row of the inputs, and constants serve all rows alike."""
    height = node.output.type.shape[ROWS]
    constants = [v.type for v in node.present_inputs if v.is_constant]
    return all(v.type.shape[ROWS] == height for v in _images(node)) and all(
        t.rank < 3 or t.shape[-3] == 1 for t in constants
    )
