"""How operators that work element by element are written as TFLite: the part of ``tflite_writer`` that is a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from burnc.ir import Node
from oracles.tflite_writer import NotExpressibleError, _activation, _Writer


def _plain(code: str, options: str = "", **fields: Callable[[Any], Any]) -> Callable[[_Writer, Node], None]:
    """An operator whose operands are the node's; ``fields`` compute those of its options from the attributes."""

    def write(w: _Writer, node: Node) -> None:
        given = {name: field(node.attrs) for name, field in fields.items()}
        w.operator(code, [w.tensor(v) for v in node.present_inputs], [w.tensor(node.output)], options, **given)

    return write


ELEMENTWISE: dict[str, Callable[[_Writer, Node], None]] = {
    "sigmoid": _plain("LOGISTIC"),
    "tanh": _plain("TANH"),
}
