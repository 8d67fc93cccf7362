"""maximum, minimum: numpy's, broadcast; a NaN wins. Sources: ONNX Max-13, Min-13; TFLite MAXIMUM, MINIMUM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from burnc.ir import Builder, Node, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.add import infer_arithmetic
from burnc.ops.broadcast import aligned, summed_to
from burnc.ops.case import ALL_KINDS, Operand, case, weights
from burnc.ops.compare import CompareAttrs
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.nary import chained
from burnc.ops.requantize import Integers
from burnc.ops.spec import QUANTIZED, Body, OnnxWriter, OpSpec, QuantRule
from burnc.ops.unary import NoAttrs, is_nan


def _body(largest: bool) -> Body:
    def body(k: KernelBuilder, a: NoAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
        for i in k.grid(y.shape):
            first = k.let("first", left.raw(*aligned(i, left.shape)))
            second = k.let("second", right.raw(*aligned(i, right.shape)))
            second_wins = first < second if largest else second < first
            if y.type.dtype.is_float:
                second_wins = second_wins | is_nan(k, second)
            y[i] = k.select(second_wins, second, first)

    return body


def _gradient(relation: str) -> Callable[[Builder, Node, Value], list[Value]]:
    def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
        """To the operand that was taken; to the first where both are equal."""
        left, right = node.input(0), node.input(1)
        taken = b.node("compare", [left, right], CompareAttrs(relation))
        zero = b.constant("zero", np.array(0.0, dy.type.dtype.numpy))
        first, second = b.node("where", [taken, dy, zero]), b.node("where", [taken, zero, dy])
        return [summed_to(b, first, left.type.shape), summed_to(b, second, right.type.shape)]

    return gradient


def _written(op_type: str) -> Callable[[OnnxWriter, Node], None]:
    def to_onnx(w: OnnxWriter, node: Node) -> None:
        w.emit(op_type, [w.input(node, 0), w.input(node, 1)], [w.output(node)])

    return to_onnx


CASES = (
    case((2, 3, 4), (2, 3, 4)),
    case((2, 3), (3,), kinds=("float32",)),
    case((2, 1, 3), (2, 1), kinds=ALL_KINDS),
    case((3, 4), weights(1, 4)),
    case(
        Operand((6,), values=(np.nan, 1.0, np.nan, -np.inf, -0.0, 3.0)),
        Operand((6,), values=(1.0, np.nan, np.nan, np.inf, -1.0, 2.0)),
        kinds=("float32",),
    ),
    case(
        Operand((5,), dtype="int32", low=-99, high=99),
        Operand((5,), dtype="int32", low=-99, high=99),
        kinds=("float32",),
    ),
)


def from_tflite(op: str) -> Callable[[FileNode], list[Value]]:
    def build(node: FileNode) -> list[Value]:
        types = [node.input(0).type.quant, node.input(1).type.quant, node.output_quant]
        if any(quant != types[0] for quant in types):
            node.refuse("operands and result must have the same quantization parameters")
        return [node.emit(op, [node.input(0), node.input(1)])]

    return build


def largest_integer(node: Node, left: Integers, right: Integers) -> Integers:
    return np.asarray(np.where(left < right, right, left))


def smallest_integer(node: Node, left: Integers, right: Integers) -> Integers:
    return np.asarray(np.where(right < left, right, left))


def largest(xp: Any, a: NoAttrs, left: Any, right: Any) -> Any:
    return xp.asarray(xp.maximum(left, right))


def smallest(xp: Any, a: NoAttrs, left: Any, right: Any) -> Any:
    return xp.asarray(xp.minimum(left, right))


maximum = OpSpec(
    name="maximum",
    attrs=NoAttrs,
    infer=infer_arithmetic,
    forward=largest,
    integer=largest_integer,
    body=_body(largest=True),
    gradient=_gradient("greater_equal"),
    quant=QuantRule(result="same", dtypes=QUANTIZED),
    onnx=(onnx_op("Max", build=chained("maximum")),),
    tflite=(tflite_op("MAXIMUM", build=from_tflite("maximum")),),
    to_onnx=_written("Max"),
    cases=CASES,
    pointwise=True,
)

minimum = OpSpec(
    name="minimum",
    attrs=NoAttrs,
    infer=infer_arithmetic,
    forward=smallest,
    integer=smallest_integer,
    body=_body(largest=False),
    gradient=_gradient("less_equal"),
    quant=QuantRule(result="same", dtypes=QUANTIZED),
    onnx=(onnx_op("Min", build=chained("minimum")),),
    tflite=(tflite_op("MINIMUM", build=from_tflite("minimum")),),
    to_onnx=_written("Min"),
    cases=CASES,
    pointwise=True,
)
