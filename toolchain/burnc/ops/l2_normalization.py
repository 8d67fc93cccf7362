"""l2_normalization: x over its norm along the last axis, 1e-6 at least. Sources: TFLite L2_NORMALIZATION.

Integers as TFLite Micro's reference kernel, which knows no 1e-6: the root of the sum of squares in fixed point, the
result in 1/128 steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Node, QuantParams, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.fixed_point import INT32_MAX
from burnc.kernel.fixed_point import inverse_square_root as inverse_square_root_body
from burnc.numerics import inverse_square_root, multiply_by_quantized_multiplier
from burnc.ops.case import Operand, case
from burnc.ops.mapping import FileNode, tflite_op
from burnc.ops.requantize import Integers
from burnc.ops.spec import OnnxWriter, OpSpec, QuantRule, required, same_real_type
from burnc.ops.unary import NoAttrs

LEAST_NORM = 1e-6
PLACES = 7  # of the result
LONGEST = 2**29 // 255**2  # elements whose squares the fixed-point root takes


def infer(a: NoAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if x.rank == 0:
        raise GraphError("a number alone has no axis to be normalized along")
    if x.quant is not None and x.shape[-1] > LONGEST:
        raise GraphError(f"the squares of {x.shape[-1]} elements can overflow; {LONGEST} are possible")
    return same_real_type(a, inputs)


def body(k: KernelBuilder, a: NoAttrs, x: Tensor, y: Tensor) -> None:
    for outer in k.grid(x.shape[:-1]):
        total = k.local("total", 0.0, k.real)
        for (i,) in k.reduce(x.shape[-1:]):
            total += x[*outer, i] * x[*outer, i]
        norm = k.let("norm", k.maximum(k.call("sqrt", total.value), LEAST_NORM))
        for (i,) in k.reduce(x.shape[-1:]):
            y[*outer, i] = x[*outer, i] / norm


def body_int8(k: KernelBuilder, a: NoAttrs, x: Tensor, y: Tensor) -> None:
    for outer in k.grid(x.shape[:-1]):
        total = k.accumulator()
        for (i,) in k.reduce(x.shape[-1:]):
            value = k.let("value", x[*outer, i])
            total += value * value
        root, places = inverse_square_root_body(k, k.let("squares", k.maximum(total.value, 2)))
        root = k.let("root", k.select(total.value > 1, root, INT32_MAX))
        places = k.let("places", k.select(total.value > 1, places, 0) + PLACES)
        for (i,) in k.reduce(x.shape[-1:]):
            scaled = k.call("requantize", x[*outer, i], root, places)
            y[*outer, i] = k.minimum(k.maximum(scaled, -128), 127)


def integer(node: Node, x: Integers) -> Integers:
    centred = x.astype(np.int64) - node.input(0).type.zero_point
    root, places = inverse_square_root((centred * centred).sum(axis=-1, keepdims=True))
    scaled = multiply_by_quantized_multiplier(centred, root, places + PLACES)
    return np.clip(scaled, -128, 127).astype(np.int8)


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return x / xp.maximum(xp.sqrt((x * x).sum(axis=-1, keepdims=True)), x.dtype.type(LEAST_NORM))


def from_tflite(node: FileNode) -> list[Value]:
    if node.attribute("fused_activation_function", "NONE") != "NONE":
        node.refuse(f"fused activation {node.attribute('fused_activation_function')} is not supported")
    return [node.emit("l2_normalization", [node.input(0)])]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    if node.output.type.quant is not None:
        raise GraphError("ONNX has no quantized form of l2_normalization", where=f"node {node.name!r}")
    kind = node.output.type.dtype.numpy
    x, axes = w.input(node, 0), w.constant(np.array([-1], np.int64), "axis")
    norm = w.emit("Sqrt", [w.emit("ReduceSumSquare", [x, axes], keepdims=1)])
    w.emit("Div", [x, w.emit("Max", [norm, w.constant(np.array(LEAST_NORM, kind), "least")])], [w.output(node)])


l2_normalization = OpSpec(
    name="l2_normalization",
    attrs=NoAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    body_int8=body_int8,
    quant=QuantRule(result=QuantParams.per_tensor(1 / 128)),
    tflite=(tflite_op("L2_NORMALIZATION", build=from_tflite),),
    to_onnx=to_onnx,
    cases=(
        case((2, 3, 5)),
        case(Operand((7,), low=-20, high=20)),
        case(Operand((3, 2), values=(0.0, 0.0, 1e-9, -1e-9, 3.0, 4.0))),
        case(Operand((1, 300), low=-0.01, high=0.01)),
    ),
)
