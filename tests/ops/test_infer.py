"""Operators refuse inputs that do not go together, in words that say what is wrong."""

from __future__ import annotations

import re
from typing import Any

import pytest

from burnc.errors import GraphError
from burnc.ir import Builder, DType, Graph, QuantParams, TensorType, verify
from burnc.ops import operators
from burnc.ops.average_pool2d import AveragePool2dAttrs
from burnc.ops.cast import CastAttrs
from burnc.ops.concat import ConcatAttrs
from burnc.ops.conv2d import Conv2dAttrs
from burnc.ops.max_pool2d import MaxPool2dAttrs
from burnc.ops.pad import PadAttrs
from burnc.ops.quantize import QuantizeAttrs
from burnc.ops.softmax import LONGEST_INT8, SoftmaxAttrs
from burnc.ops.spatial import Padding
from burnc.ops.transpose import TransposeAttrs

INT8 = QuantParams.per_tensor(0.1, 3)


def floats(*shape: int) -> TensorType:
    return TensorType(DType.FLOAT32, shape)


def int8(*shape: int) -> TensorType:
    return TensorType(DType.INT8, shape, INT8)


WRONG: list[tuple[str, list[TensorType | None], Any, str]] = [
    ("add", [floats(2, 3), floats(4)], None, "do not broadcast"),
    ("add", [floats(2), int8(2)], None, "float32 and int8"),
    ("add", [floats(2), None], None, "input 1 is missing"),
    ("average_pool2d", [floats(1, 4, 4)], None, "4 axes"),
    (
        "average_pool2d",
        [floats(1, 4, 4, 1)],
        AveragePool2dAttrs((2, 2), counted=Padding(1, 0, 0, 0)),
        "no part of the padding",
    ),
    ("batch_norm", [floats(1, 3), floats(3), floats(3), floats(2), floats(3)], None, "mean [2]"),
    ("cast", [floats(1)], CastAttrs("complex64"), "complex64"),
    ("concat", [floats(2, 3), floats(2, 4)], ConcatAttrs(0), "differ beside axis 0"),
    ("concat", [floats(2, 3)], ConcatAttrs(2), "out of range"),
    ("conv2d", [floats(1, 4, 4, 3), floats(2, 3, 3, 2)], None, "3 input channels"),
    ("conv2d", [floats(1, 2, 2, 1), floats(1, 3, 3, 1)], None, "does not fit"),
    ("conv2d", [floats(1, 4, 4, 2), floats(2, 1, 1, 1), floats(1)], Conv2dAttrs(groups=2), "one value for each of 2"),
    ("dequantize", [floats(2)], None, "not quantized"),
    ("fully_connected", [floats(2, 3), floats(4, 2)], None, "does not go with weights"),
    ("fully_connected", [floats(2, 3), floats(4, 3), floats(3)], None, "one value for each of 4"),
    ("fully_connected", [floats(2, 3), int8(4, 3)], None, "input is float32 but weights are int8"),
    ("matmul", [floats(2, 3), floats(4, 2)], None, "3 columns"),
    ("matmul", [floats(2, 2, 3), floats(3, 3, 2)], None, "batch axes"),
    ("matmul", [floats(), floats(2, 2)], None, "scalar"),
    ("max_pool2d", [floats(1, 3, 3, 1)], MaxPool2dAttrs((2, 2), pad=Padding(2, 0, 0, 0)), "smaller than the window"),
    ("max_pool2d", [floats(1, 3, 3, 1)], MaxPool2dAttrs((4, 1)), "does not fit"),
    ("pad", [floats(2, 3)], PadAttrs(((0, 1),)), "1 pairs"),
    ("pad", [floats(2)], PadAttrs(((-1, 0),)), "negative"),
    ("pad", [floats(2)], PadAttrs(((2, 0),), mode="reflect"), "reach further"),
    ("pad", [floats(2)], PadAttrs(((1, 0),), mode="mirror"), "mirror"),
    ("quantize", [floats(2)], QuantizeAttrs("float32"), "no integer type"),
    ("softmax", [floats(2, 3)], SoftmaxAttrs(2), "out of range"),
    ("softmax", [int8(1, LONGEST_INT8 + 1)], None, "overflows"),
    ("transpose", [floats(2, 3)], TransposeAttrs((0, 0)), "no permutation"),
]


@pytest.mark.parametrize(("op", "types", "attrs", "why"), WRONG, ids=[f"{w[0]}: {w[3]}" for w in WRONG])
def test_what_does_not_go_together(op: str, types: list[TensorType | None], attrs: Any, why: str):
    b = Builder(Graph("net"), operators())
    inputs = [None if t is None else b.input(f"x{i}", t) for i, t in enumerate(types)]
    with pytest.raises(GraphError, match=re.escape(why)) as caught:
        b.node(op, inputs, attrs, name="culprit")
    assert "'culprit'" in str(caught.value)


@pytest.mark.parametrize("op", ["concat", "max_pool2d", "log_softmax", "conv2d", "batch_norm"])
def test_quantization_rules(op: str):
    graph = Graph("net")
    b = Builder(graph, operators())
    other = QuantParams.per_tensor(0.2, 3)
    x = b.input("x", int8(1, 4, 4, 2))
    second = b.input("second", TensorType(DType.INT8, (1, 4, 4, 2), other))
    plain = b.constant("c", [1.0, 1.0])
    operands: dict[str, list[Any]] = {
        "concat": [x, second],
        "conv2d": [x, b.input("w", TensorType(DType.INT8, (1, 4, 4, 2), QuantParams.per_axis((0.1,) * 4, 1)))],
        "batch_norm": [b.input("f", floats(1, 4, 4, 2)), plain, plain, plain, plain],
    }
    attrs = Conv2dAttrs(pad=Padding(3, 3, 3, 3)) if op == "conv2d" else None
    graph.outputs = [b.node(op, operands.get(op, [x]), attrs)]
    (y,) = graph.outputs
    y.type = TensorType(DType.INT8, y.type.shape, other)
    with pytest.raises(GraphError):
        verify(graph)


def test_every_operator_is_complete():
    for name, spec in operators().items():
        assert spec.name == name
        assert spec.body is not None, name
        assert spec.quant is None or spec.integer is not None, name
        assert spec.onnx or spec.tflite or spec.cases, name
        assert spec.to_onnx is not None, name
