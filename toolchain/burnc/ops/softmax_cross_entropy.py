"""softmax_cross_entropy: mean over rows of log(sum(exp(logits))) - logits[label]; logits [N, C], labels [N], result [].

The largest logit is taken away first, so that no exponential overflows. Sources: ONNX SoftmaxCrossEntropyLoss-13 (mean,
without weights and ignored classes). A label outside 0 .. C - 1 takes the logit 0, so that no run reads astray. Float
only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Builder, DType, Node, TensorType, Value
from burnc.kernel.builder import FLOAT32, INT32, KernelBuilder, Tensor
from burnc.ops.case import Operand, case
from burnc.ops.one_hot import OneHotAttrs
from burnc.ops.spec import OnnxWriter, OpSpec, required


@dataclass(frozen=True)
class SoftmaxCrossEntropyAttrs:
    pass


def infer(a: SoftmaxCrossEntropyAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    logits, labels = required(inputs, 0), required(inputs, 1)
    if logits.rank != 2 or labels.shape != logits.shape[:1]:
        raise GraphError(f"logits {list(logits.shape)} must be [N, C] and labels {list(labels.shape)} [N]")
    if not logits.dtype.is_float or labels.dtype not in (DType.INT32, DType.INT64):
        raise GraphError(f"logits are {logits.dtype.value}, labels {labels.dtype.value}; float and integers are needed")
    return [TensorType(logits.dtype, ())]


def body(k: KernelBuilder, a: SoftmaxCrossEntropyAttrs, logits: Tensor, labels: Tensor, loss: Tensor) -> None:
    rows, classes = logits.shape
    mean = k.local("mean", 0.0, FLOAT32)
    for (n,) in k.reduce((rows,), "n"):
        largest = k.local("largest", logits[n, 0])
        for (c,) in k.reduce((classes,), "c"):
            largest.set(k.maximum(largest.value, logits[n, c]))
        total = k.local("total", 0.0, FLOAT32)
        for (c,) in k.reduce((classes,), "c"):
            total += k.call("exp", logits[n, c] - largest.value)
        label = k.let("label", k.cast(labels.raw(n), INT32))
        chosen = logits.at(n, label, outside=0.0)
        mean += (k.call("log", total.value) + largest.value - chosen) / float(rows)
    loss[()] = mean.value


def forward(xp: Any, a: SoftmaxCrossEntropyAttrs, logits: Any, labels: Any) -> Any:
    largest = logits.max(axis=1)
    logs = xp.log(xp.exp(logits - largest[:, None]).sum(axis=1)) + largest
    known = (labels >= 0) & (labels < logits.shape[1])
    chosen = logits[xp.arange(len(labels)), xp.where(known, labels, 0)] * known
    return xp.asarray((logs - chosen).mean())


def gradient(b: Builder, node: Node, dy: Value) -> list[Value | None]:
    """(softmax(logits) - one_hot(labels)) / N."""
    logits, labels = node.input(0), node.input(1)
    rows, classes = logits.type.shape
    wanted = b.node("one_hot", [labels], OneHotAttrs(classes, logits.type.dtype.value))
    excess = b.node("sub", [b.node("softmax", [logits]), wanted])
    share = b.node("mul", [dy, b.constant("share", np.array(1 / rows, logits.type.dtype.numpy))])
    return [b.node("mul", [excess, share]), None]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    # Not SoftmaxCrossEntropyLoss, which few runtimes carry.
    logs = w.emit("LogSoftmax", [w.input(node, 0)], axis=1)
    labels = w.emit("Cast", [w.input(node, 1)], to=7)
    column = w.emit("Unsqueeze", [labels, w.constant(np.array([1], np.int64), "axis")])
    mean = w.emit("ReduceMean", [w.emit("GatherElements", [logs, column], axis=1)], keepdims=0)
    w.emit("Neg", [mean], [w.output(node)])


softmax_cross_entropy = OpSpec(
    name="softmax_cross_entropy",
    attrs=SoftmaxCrossEntropyAttrs,
    infer=infer,
    forward=forward,
    body=body,
    gradient=gradient,
    to_onnx=to_onnx,
    cases=(
        case(Operand((5, 4), low=-3, high=3), Operand((5,), dtype="int64", low=0, high=3), kinds=("float32",)),
        case(Operand((3, 10), low=-90, high=90), Operand((3,), dtype="int32", low=0, high=9), kinds=("float32",)),
        case((1, 2), Operand((1,), dtype="int64", low=1, high=1), kinds=("float32",)),
    ),
)
