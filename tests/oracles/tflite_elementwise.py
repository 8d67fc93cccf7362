"""How operators that work element by element are written as TFLite: the part of ``tflite_writer`` that is a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from burnc.ir import Node
from burnc.numerics import quantize_multiplier
from burnc.ops.div import factors, reciprocals
from oracles.tflite_writer import NotExpressibleError, _elementwise, _Writer


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


def _compare(w: _Writer, node: Node) -> None:
    w.operator(node.attrs.relation.upper(), [w.tensor(v) for v in node.present_inputs], [w.tensor(node.output)])


def _div(w: _Writer, node: Node) -> None:
    divisor = node.input(1)
    if divisor.data is None or (divisor.data == divisor.type.zero_point).any():
        raise NotExpressibleError("TFLite Micro does not say what x / 0 is")
    places = reciprocals()[1][np.abs(divisor.data.astype(int) - divisor.type.zero_point)]
    if places.max() > quantize_multiplier(factors(node)[0])[1]:
        raise NotExpressibleError("TFLite Micro shifts small numerators by more than 31 places")
    _elementwise("DIV", "DivOptions")(w, node)


def _rsqrt(w: _Writer, node: Node) -> None:
    if node.input(0).type.zero_point != -128:
        raise NotExpressibleError("TFLite Micro stops at negative numbers")
    _plain("RSQRT")(w, node)


def _log_softmax(w: _Writer, node: Node) -> None:
    if node.attrs.axis not in (-1, node.output.type.rank - 1):
        raise NotExpressibleError("TFLite's log softmax takes the last axis")
    _plain("LOG_SOFTMAX")(w, node)


ELEMENTWISE: dict[str, Callable[[_Writer, Node], None]] = {
    "abs": _plain("ABS"),
    "compare": _compare,
    "div": _div,
    "elu": _elu,
    "hard_swish": _plain("HARD_SWISH", "HardSwishOptions"),
    "l2_normalization": _plain("L2_NORMALIZATION", "L2NormOptions"),
    "leaky_relu": _plain("LEAKY_RELU", "LeakyReluOptions", Alpha=lambda a: a.alpha),
    "log_softmax": _log_softmax,
    "maximum": _plain("MAXIMUM", "MaximumMinimumOptions"),
    "minimum": _plain("MINIMUM", "MaximumMinimumOptions"),
    "prelu": _plain("PRELU"),
    "rsqrt": _rsqrt,
    "sigmoid": _plain("LOGISTIC"),
    "squared_difference": _plain("SQUARED_DIFFERENCE", "SquaredDifferenceOptions"),
    "sub": _elementwise("SUB", "SubOptions"),
    "tanh": _plain("TANH"),
    "where": _plain("SELECT_V2", "SelectV2Options"),
}
