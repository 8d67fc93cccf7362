"""How operators that work element by element are written as TFLite: the part of ``tflite_writer`` that is a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from burnc.ir import Node
from oracles.tflite_writer import NotExpressibleError, _Writer


def _plain(code: str, options: str = "", **fields: Callable[[Any], Any]) -> Callable[[_Writer, Node], None]:
    """An operator whose operands are the node's; ``fields`` compute those of its options from the attributes."""

    def write(w: _Writer, node: Node) -> None:
        given = {name: field(node.attrs) for name, field in fields.items()}
        w.operator(code, [w.tensor(v) for v in node.present_inputs], [w.tensor(node.output)], options, **given)

    return write


def _elu(w: _Writer, node: Node) -> None:
    if (node.attrs.alpha, node.attrs.beta, node.attrs.gamma) != (1.0, 1.0, 1.0):
        raise NotExpressibleError("TFLite's ELU has no factors")
    _plain("ELU")(w, node)


ELEMENTWISE: dict[str, Callable[[_Writer, Node], None]] = {
    "abs": _plain("ABS"),
    "elu": _elu,
    "hard_swish": _plain("HARD_SWISH", "HardSwishOptions"),
    "leaky_relu": _plain("LEAKY_RELU", "LeakyReluOptions", Alpha=lambda a: a.alpha),
    "sigmoid": _plain("LOGISTIC"),
    "tanh": _plain("TANH"),
}
