"""compare: whether two broadcast operands stand in a relation. Sources: ONNX Equal-19, Less-13 …; TFLite EQUAL, LESS ….

Relations: equal, not_equal, less, less_equal, greater, greater_equal. Quantized operands are compared as TFLite Micro
does where the rounding is ``tflm``: both come to steps of 1/256 of a real number, so that of two that lie closer
neither is the larger one. With any other rounding, which ONNX's operators have, the real numbers are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import DType, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.numerics import dequantize, multiply_by_quantized_multiplier, quantize_multiplier
from burnc.ops.add import infer_broadcast
from burnc.ops.broadcast import aligned
from burnc.ops.case import Case, Operand, case
from burnc.ops.mapping import Build, FileNode, onnx_op, tflite_op
from burnc.ops.requantize import Integers
from burnc.ops.spec import OnnxWriter, OpSpec, QuantRule

LEFT_SHIFT = 8

RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}
ONNX = {
    "equal": "Equal",
    "less": "Less",
    "less_equal": "LessOrEqual",
    "greater": "Greater",
    "greater_equal": "GreaterOrEqual",
}


@dataclass(frozen=True)
class CompareAttrs:
    relation: str = "equal"


def infer(a: CompareAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    if a.relation not in RELATIONS:
        raise GraphError(f"relation {a.relation!r} is unknown")
    (type_,) = infer_broadcast(a, inputs)
    return [TensorType(DType.BOOL, type_.shape)]


def _related(relation: str, left: Expr, right: Expr) -> Expr:
    relations = {
        "equal": left.eq, "not_equal": left.ne, "less": left.__lt__, "less_equal": left.__le__,
        "greater": left.__gt__, "greater_equal": left.__ge__,
    }  # fmt: skip
    return relations[relation](right)


def body(k: KernelBuilder, a: CompareAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        first = k.let("left", left[aligned(i, left.shape)])
        y[i] = _related(a.relation, first, k.let("right", right[aligned(i, right.shape)]))


def body_int8(k: KernelBuilder, a: CompareAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
    def comparable(x: Tensor, q: Expr) -> Expr:
        scale = float(np.float32(x.type.scale))
        return k.scale_by(q * 2**LEFT_SHIFT, scale) if k.node.rounding == "tflm" else k.cast(q, DType.FLOAT32) * scale

    for i in k.grid(y.shape):
        first, second = (
            k.let(name, comparable(x, x[aligned(i, x.shape)])) for name, x in (("left", left), ("right", right))
        )
        y[i] = _related(a.relation, first, second)


def integer(node: Node, left: Integers, right: Integers) -> Integers:
    if node.rounding != "tflm":
        reals = (dequantize(v, node.input(i).type) for i, v in enumerate((left, right)))
        return np.asarray(RELATIONS[node.attrs.relation](*reals))
    first, second = (
        multiply_by_quantized_multiplier(
            (v.astype(np.int64) - node.input(i).type.zero_point) << LEFT_SHIFT,
            *quantize_multiplier(float(np.float32(node.input(i).type.scale))),
            node.rounding,
        )
        for i, v in enumerate((left, right))
    )
    return np.asarray(RELATIONS[node.attrs.relation](first, second))


def forward(xp: Any, a: CompareAttrs, left: Any, right: Any) -> Any:
    return xp.asarray(getattr(xp, a.relation)(left, right))


def _fixed(relation: str, rounding: str) -> Build:
    def build(node: FileNode) -> list[Value]:
        operands = [node.input(0), node.input(1)]
        return [node.emit("compare", operands, CompareAttrs(relation), quant=None, rounding=rounding)]

    return build


def to_onnx(w: OnnxWriter, node: Node) -> None:
    inputs, output = [w.input(node, 0), w.input(node, 1)], w.output(node)
    if node.attrs.relation == "not_equal":
        w.emit("Not", [w.emit("Equal", inputs)], [output])
    else:
        w.emit(ONNX[node.attrs.relation], inputs, [output])


def _cases() -> tuple[Case, ...]:
    special = (
        Operand((5,), values=(np.nan, 1.0, -0.0, np.inf, -1.0)),
        Operand((5,), values=(np.nan, 2.0, 0.0, np.inf, -2.0)),
    )
    found = [case(*special, attrs=CompareAttrs(relation), kinds=("float32",)) for relation in RELATIONS]
    found += [
        case(
            (3, 40),
            (40,),
            attrs=CompareAttrs(relation),
            kinds=("int8",),
        )
        for relation in ("less", "equal", "greater_equal")
    ]
    whole = (Operand((9,), dtype="int64", low=-2, high=2), Operand((), dtype="int64", low=-2, high=2))
    return (*found, case(*whole, attrs=CompareAttrs("less"), kinds=("float32",)))


compare = OpSpec(
    name="compare",
    attrs=CompareAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    body_int8=body_int8,
    quant=QuantRule(integer_outputs=(0,)),
    onnx=tuple(onnx_op(name, build=_fixed(relation, "half_even")) for relation, name in ONNX.items()),
    tflite=tuple(tflite_op(relation.upper(), build=_fixed(relation, "tflm")) for relation in RELATIONS),
    to_onnx=to_onnx,
    cases=_cases(),
    pointwise=True,
)
