"""svdf: a rank-limited filter bank over time, one step a run. Sources: TFLite SVDF.

A filter is a row of w_feature over the input and a row of w_time over its last M results, which the state holds,
oldest first; a unit sums ``rank`` filters and a bias. Operands: x [N,I], w_feature [F,I], w_time [F,M], bias [F / rank]
and state [N,F,M] (zeros where absent); results: y [N, F / rank] and the next state.

Integers as TFLite Micro's kernel: x, w_feature and y int8; w_time and the state int16, or int8; the bias int32. The sum
over time wraps around at 32 bits, as converters choose scales of w_time without regard to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Array, DType, Node, TensorType, Value
from burnc.kernel.builder import FLOAT32, KernelBuilder, Local, Tensor
from burnc.kernel.expr import Expr
from burnc.numerics import quantize_multiplier
from burnc.ops.case import case, weights
from burnc.ops.clip import ClipAttrs
from burnc.ops.mapping import FileNode, fused_activation, tflite_op
from burnc.ops.requantize import Integers, rescaled, to_output
from burnc.ops.reshape import ReshapeAttrs
from burnc.ops.spec import OnnxWriter, OpSpec, QuantRule, required

X, W_FEATURE, W_TIME, BIAS, STATE = range(5)
INT32 = 2**31


@dataclass(frozen=True)
class SvdfAttrs:
    """``rank``: how many filters a unit sums."""

    rank: int = 1


def infer(a: SvdfAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    if len(inputs) != STATE + 1:
        raise GraphError(f"{len(inputs)} operands; it takes {STATE + 1}, absent ones included")
    x, feature, time = (required(inputs, i) for i in (X, W_FEATURE, W_TIME))
    if (x.rank, feature.rank, time.rank) != (2, 2, 2) or 0 in (*x.shape, *time.shape):
        raise GraphError(f"x {x.shape}, w_feature {feature.shape}, w_time {time.shape} are not [N,I], [F,I], [F,M]")
    filters, memory = time.shape
    if a.rank < 1 or filters % a.rank:
        raise GraphError(f"{filters} filters do not go with rank {a.rank}")
    state = TensorType(time.dtype, (x.shape[0], filters, memory))
    shapes = {W_FEATURE: (filters, x.shape[1]), BIAS: (filters // a.rank,), STATE: state.shape}
    kinds = {W_FEATURE: x.dtype, BIAS: FLOAT32 if x.dtype is FLOAT32 else DType.INT32, STATE: time.dtype}
    for index, shape in shapes.items():
        type_ = inputs[index]
        if type_ is not None and (type_.shape, type_.dtype) != (shape, kinds[index]):
            raise GraphError(f"input {index} is {type_}, it must be {kinds[index].value}{list(shape)}")
    if (x.dtype, time.dtype) not in ((FLOAT32, FLOAT32), (DType.INT8, DType.INT16), (DType.INT8, DType.INT8)):
        raise GraphError(f"w_time of {time.dtype.value} does not go with x of {x.dtype.value}")
    return [TensorType(x.dtype, (x.shape[0], filters // a.rank)), state]


class Factors:
    """Real factors of a quantized node: from sums over the input to the state, from sums over time to y."""

    def __init__(self, node: Node) -> None:
        x, feature, time = (np.float32(node.input(i).type.scale) for i in (X, W_FEATURE, W_TIME))
        y, state = (np.float32(value.type.scale) for value in node.outputs)
        # TFLite Micro computes both in float32.
        self.kept = float(x * feature / state)
        self.result = float(state * time / y)


def body(
    k: KernelBuilder,
    a: SvdfAttrs,
    x: Tensor,
    w_feature: Tensor,
    w_time: Tensor,
    bias: Tensor | None,
    before: Tensor | None,
    y: Tensor,
    state: Tensor,
) -> None:
    """A stage that moves the state on and appends what the features are now, then one for the units."""
    batch, filters, memory = state.shape
    factors = Factors(k.node) if k.quantized else None
    for n, f in k.grid((batch, filters), "n filter"):
        for (m,) in k.reduce((memory - 1,), "m") if memory > 1 else ():
            state[n, f, m] = before[n, f, m + 1] if before else 0
        acc = k.accumulator()
        for (i,) in k.reduce((x.shape[1],), "i"):
            acc += x[n, i] * w_feature[f, i]
        state[n, f, memory - 1] = _kept(k, acc, factors, state.type)
    k.barrier()
    for n, u in k.grid((batch, filters // a.rank), "n unit"):
        total = k.accumulator(bias[u] if bias else 0)
        for r, m in k.reduce((a.rank, memory), "r m"):
            f = u * a.rank + r
            _add(k, total, w_time[f, m] * state[n, f, m])
        y[n, u] = total.value if factors is None else k.to_output(k.scale_by(total.value, factors.result))


def _kept(k: KernelBuilder, acc: Local, factors: Factors | None, type_: TensorType) -> Expr:
    if factors is None:
        return acc.value
    low, high = type_.dtype.limits
    return k.minimum(k.maximum(k.scale_by(acc.value, factors.kept), low), high)


def _add(k: KernelBuilder, total: Local, product: Expr) -> None:
    if k.quantized:
        total.set(k.call("wrapping_add", total.value, product))
    else:
        total += product


def forward(xp: Any, a: SvdfAttrs, x: Any, w_feature: Any, w_time: Any, bias: Any = None, before: Any = None) -> Any:
    (filters, memory), batch = w_time.shape, len(x)
    if before is None:
        before = xp.zeros((batch, filters, memory), x.dtype)
    state = xp.concatenate([before[:, :, 1:], xp.matmul(x, w_feature.T)[:, :, None]], axis=2)
    units = (state * w_time).sum(axis=2).reshape(batch, filters // a.rank, a.rank).sum(axis=2)
    return units if bias is None else units + bias, state


def integer(
    node: Node,
    x: Integers,
    w_feature: Integers,
    w_time: Integers,
    bias: Integers | None = None,
    before: Integers | None = None,
) -> tuple[Integers, Integers]:
    factors, state = Factors(node), node.outputs[1].type
    held = np.zeros(state.shape, np.int64) if before is None else before.astype(np.int64)
    features = (x.astype(np.int64) - node.input(X).type.zero_point) @ w_feature.astype(np.int64).T
    newest = np.clip(rescaled(node, features, factors.kept), *state.dtype.limits)
    held = np.concatenate([held[:, :, 1:], newest[:, :, None]], axis=2)
    products = held * w_time.astype(np.int64)
    total = products.reshape(len(x), -1, node.attrs.rank * state.shape[2]).sum(axis=2)
    wrapped = (total + (0 if bias is None else bias.astype(np.int64)) + INT32) % (2 * INT32) - INT32
    return to_output(node, rescaled(node, wrapped, factors.result)), held.astype(state.dtype.numpy)


def check_quantized(node: Node) -> None:
    """Raises GraphError where a quantized svdf is not of the form above, or what is not to wrap around could."""
    where = f"node {node.name!r}, operator svdf"
    for value in [*(node.input(i) for i in (X, W_FEATURE, W_TIME)), *node.outputs]:
        if value.type.quant is None or value.type.quant.axis is not None:
            raise GraphError(f"%{value.name} must have one scale, it is {value.type}", where=where)
    for index in (W_FEATURE, W_TIME):
        if node.input(index).type.zero_point:
            raise GraphError(f"weights %{node.input(index).name} must have zero point 0", where=where)
    state = node.outputs[1].type
    before = node.inputs[STATE]
    if before is not None and before.type.quant != state.quant:
        raise GraphError("the state must keep its parameters", where=where)
    if state.zero_point:  # versions of TFLite Micro differ in what they make of another one
        raise GraphError(f"the state must have zero point 0, it is {state}", where=where)
    factors, x = Factors(node), node.input(X).type
    reach = 128 * (128 + abs(x.zero_point)) * x.shape[1]
    if reach * 2 ** max(quantize_multiplier(factors.kept)[1], 0) >= INT32:
        raise GraphError(f"a sum of {x.shape[1]} products can overflow int32", where=where)
    if factors.result >= 1:
        raise GraphError(f"sums over time are scaled by {factors.result:.3g}; it must be below 1", where=where)


def macs(node: Node) -> int:
    batch, filters, memory = node.outputs[1].type.shape
    return batch * filters * (node.input(X).type.shape[1] + memory)


def from_tflite(node: FileNode) -> list[Value]:
    kept = node.state(STATE)
    filters, memory = node.input(W_TIME).type.shape
    batch = node.input(X).type.shape[0]
    before = _shaped(node, kept.read, (batch, filters, memory), "before")
    operands = [*(node.input(i) for i in range(BIAS)), node.inputs[BIAS], before]
    # The integer kernel knows no activation: zero points are chosen so that clamping to int8 is one.
    limits = {} if node.input(X).type.quant else fused_activation(node)
    is_clipped = limits.get("activation_min", -np.inf) > -np.inf
    name = f"{node.name}.svdf" if is_clipped else node.output_names[0]
    attrs = SvdfAttrs(int(node.attribute("rank", 1)))
    y, state = node.builder.nodes("svdf", operands, attrs, name=node.name, outputs=[name, f"{node.name}.state"])
    y.type, state.type = y.type.with_quant(node.output_quant), state.type.with_quant(kept.read.type.quant)
    kept.write = _shaped(node, state, kept.read.type.shape, "kept")
    return [node.emit("clip", [y], ClipAttrs(**limits)) if is_clipped else y]


def _shaped(node: FileNode, value: Value, shape: tuple[int, ...], role: str) -> Value:
    quant = value.type.quant
    return node.emit("reshape", [value], ReshapeAttrs(shape), last=False, name=f"{node.name}.{role}", quant=quant)


def to_onnx(w: OnnxWriter, node: Node) -> None:
    if node.outputs[0].type.quant is not None:
        raise GraphError("ONNX has no quantized form of svdf", where=f"node {node.name!r}")
    batch, filters, memory = node.outputs[1].type.shape

    def numbers(*values: int, hint: str) -> str:
        return w.constant(np.array(values, np.int64), hint)

    zeros: Array = np.zeros((batch, filters, memory), np.float32)
    before = w.input(node, STATE) or w.constant(zeros, "before")
    rest = w.emit("Slice", [before, *(numbers(v, hint=h) for v, h in ((1, "begin"), (memory, "end"), (2, "axis")))])
    features = w.emit("Gemm", [w.input(node, X), w.input(node, W_FEATURE)], transB=1)
    newest = w.emit("Reshape", [features, numbers(batch, filters, 1, hint="column")])
    state = w.emit("Concat", [rest, newest], [w.output(node, 1)], axis=2)
    products = w.emit("Mul", [state, w.input(node, W_TIME)])
    by_unit = w.emit("Reshape", [products, numbers(batch, filters // node.attrs.rank, -1, hint="by_unit")])
    bias = w.input(node, BIAS)
    sums = w.emit("ReduceSum", [by_unit, numbers(2, hint="last")], None if bias else [w.output(node)], keepdims=0)
    if bias:
        w.emit("Add", [sums, bias], [w.output(node)])


svdf = OpSpec(
    name="svdf",
    attrs=SvdfAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    quant=QuantRule(check=check_quantized),
    macs=macs,
    recurrent=((STATE, 1),),
    tflite=(tflite_op("SVDF", build=from_tflite),),
    to_onnx=to_onnx,
    cases=(
        case((2, 3), weights(4, 3), weights(4, 5), weights(4), (2, 4, 5), kinds=("float32",)),
        case((1, 7), weights(6, 7), weights(6, 2), weights(3), (1, 6, 2), attrs=SvdfAttrs(2), kinds=("float32",)),
        case((1, 2), weights(3, 2), weights(3, 4), None, None, attrs=SvdfAttrs(3), kinds=("float32",)),
        case((2, 2), weights(2, 2), weights(2, 1), None, None, kinds=("float32",)),
    ),
)
