"""lstm: a long short-term memory over a sequence; its integers are in lstm_int8.py.

Sources: ONNX LSTM-14, with its default activations; TFLite UNIDIRECTIONAL_SEQUENCE_LSTM.

Shapes are ONNX's, D = 2 for a bidirectional layer, else 1: x [T,N,I], w [D,4H,I], r [D,4H,H], b [D,8H], initial h and
c [D,N,H] (zeros where absent); results y [T,D,N,H], last h and c [D,N,H]. Gates stand in the order i, o, f, c.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import DType, Node, QuantParams, TensorType, Value
from burnc.kernel.builder import FLOAT32, KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.ops.case import Case, Operand, case, weights
from burnc.ops.lstm_int8 import body_int8, check_quantized, integer
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.reshape import ReshapeAttrs
from burnc.ops.spec import OnnxWriter, OpSpec, QuantRule, required
from burnc.ops.transpose import TransposeAttrs

DIRECTIONS = ("forward", "reverse", "bidirectional")
DEFAULT_ACTIVATIONS = ["sigmoid", "tanh", "tanh"]
# Operands of ONNX's LSTM in the order of ours; between them stands sequence_lens, behind them the peepholes.
ONNX_OPERANDS = (0, 1, 2, 3, 5, 6)
SEQUENCE_LENGTHS, PEEPHOLES = 4, 7
# The same for TFLite, where each gate has weights of its own, in the order of ours.
TFLITE_WEIGHTS, TFLITE_RECURRENT, TFLITE_BIAS = (1, 4, 2, 3), (5, 8, 6, 7), (12, 15, 13, 14)
TFLITE_ABSENT, TFLITE_STATES = (*range(9, 12), 16, 17, *range(20, 24)), (18, 19)


@dataclass(frozen=True)
class LstmAttrs:
    """``cell_clip``: bound on the magnitude of c; 0 for none."""

    direction: str = "forward"
    cell_clip: float = 0.0

    @property
    def backward(self) -> tuple[bool, ...]:
        """For each direction, whether it goes from the end of the sequence to its beginning."""
        return {"forward": (False,), "reverse": (True,)}.get(self.direction, (False, True))


def infer(a: LstmAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    if a.direction not in DIRECTIONS:
        raise GraphError(f"direction {a.direction!r} is none of {', '.join(DIRECTIONS)}")
    if len(inputs) != len(ONNX_OPERANDS):
        raise GraphError(f"{len(inputs)} operands; it takes {len(ONNX_OPERANDS)}, absent ones included")
    x, w, r = (required(inputs, i) for i in range(3))
    if (x.rank, w.rank, r.rank) != (3, 3, 3) or r.shape[1] != 4 * r.shape[2]:
        raise GraphError(f"x {x.shape}, w {w.shape}, r {r.shape} are not [T,N,I], [D,4H,I], [D,4H,H]")
    (length, batch, size), (directions, _, hidden) = x.shape, r.shape
    wanted = {1: (directions, 4 * hidden, size), 3: (directions, 8 * hidden)}
    wanted |= dict.fromkeys((4, 5), (directions, batch, hidden))
    for index, shape in wanted.items():
        type_ = inputs[index]
        if type_ is not None and type_.shape != shape:
            raise GraphError(f"input {index} is {list(type_.shape)}, it must be {list(shape)}")
    if directions != len(a.backward):
        raise GraphError(f"weights for {directions} directions do not go with direction {a.direction!r}")
    kinds = (DType.INT8, DType.INT8, DType.INT8, DType.INT32, DType.INT8, DType.INT16)
    wanted_types = (FLOAT32,) * 6 if x.dtype is FLOAT32 else kinds
    if any(t is not None and t.dtype is not kind for t, kind in zip(inputs, wanted_types, strict=True)):
        raise GraphError(f"operands must be {', '.join(kind.value for kind in wanted_types)}")
    h, c = (TensorType(kind, (directions, batch, hidden)) for kind in wanted_types[4:])
    return [h.with_shape((length, *h.shape)), h, c]


def sigmoid(k: KernelBuilder, x: Expr) -> Expr:
    # The bound keeps exp finite, as infinity is not defined on every target; 1e-35 is 0 in effect.
    return 1.0 / (k.call("exp", k.minimum(-x, 80.0)) + 1.0)


def body(
    k: KernelBuilder,
    a: LstmAttrs,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None,
    h0: Tensor | None,
    c0: Tensor | None,
    y: Tensor,
    h: Tensor,
    c: Tensor,
) -> None:
    """For each step: a stage for the gates, which reads all of h, then one that replaces h and c."""
    length, batch, size = x.shape
    hidden = r.shape[2]
    gates = k.scratch("gates", FLOAT32, (batch, 4 * hidden))
    for d, backward in enumerate(a.backward):
        for n, j in k.grid((batch, hidden), "n j"):
            h[d, n, j] = h0[d, n, j] if h0 else 0.0
            c[d, n, j] = c0[d, n, j] if c0 else 0.0
        k.barrier()
        for (step,) in k.reduce((length,), "t"):
            t = length - 1 - step if backward else step
            for n, g in k.grid((batch, 4 * hidden), "n gate"):
                acc = k.accumulator(b[d, g] + b[d, g + 4 * hidden] if b else 0.0)
                for (i,) in k.reduce((size,), "i"):
                    acc += x[t, n, i] * w[d, g, i]
                for (j,) in k.reduce((hidden,), "j"):
                    acc += h[d, n, j] * r[d, g, j]
                gates[n, g] = acc.value
            k.barrier()
            for n, j in k.grid((batch, hidden), "n j"):
                keep = sigmoid(k, gates[n, j + 2 * hidden]) * c[d, n, j]
                cell = keep + sigmoid(k, gates[n, j]) * k.call("tanh", gates[n, j + 3 * hidden])
                if a.cell_clip:
                    cell = k.maximum(k.minimum(cell, a.cell_clip), -a.cell_clip)
                cell = k.let("cell", cell)
                out = k.let("out", sigmoid(k, gates[n, j + hidden]) * k.call("tanh", cell))
                c[d, n, j] = cell
                h[d, n, j] = out
                y[t, d, n, j] = out
            k.barrier()


def forward(
    xp: Any, a: LstmAttrs, x: Any, w: Any, r: Any, b: Any = None, h0: Any = None, c0: Any = None
) -> tuple[Any, Any, Any]:
    directions, _, hidden = r.shape
    y = xp.zeros((x.shape[0], directions, x.shape[1], hidden), x.dtype)
    h, c = (xp.zeros(y.shape[1:], x.dtype) if v is None else v.copy() for v in (h0, c0))
    for d, backward in enumerate(a.backward):
        bias = 0 if b is None else b[d, : 4 * hidden] + b[d, 4 * hidden :]
        for t in range(len(x))[:: -1 if backward else 1]:
            gates = xp.matmul(x[t], w[d].T) + xp.matmul(h[d], r[d].T) + bias
            i, o, f, g = (gates[:, n * hidden : (n + 1) * hidden] for n in range(4))
            i, o, f = (1 / (1 + xp.exp(-v)) for v in (i, o, f))
            c[d] = f * c[d] + i * xp.tanh(g)
            if a.cell_clip:
                c[d] = xp.clip(c[d], -np.float32(a.cell_clip), np.float32(a.cell_clip))
            h[d] = y[t, d] = o * xp.tanh(c[d])
    return y, h, c


def macs(node: Node) -> int:
    length, batch, size = node.input(0).type.shape
    directions, rows, hidden = node.input(2).type.shape
    return length * batch * directions * rows * (size + hidden)


def from_onnx(node: FileNode) -> list[Value]:
    a = LstmAttrs(node.attribute("direction", "forward"))
    chosen = [str(name).lower() for name in node.attribute("activations", ())]
    if chosen != DEFAULT_ACTIVATIONS * (len(chosen) // 3):
        node.refuse(f"activations {chosen} are not supported, only Sigmoid, Tanh, Tanh")
    for name, default in (("clip", 0.0), ("input_forget", 0), ("layout", 0)):
        if node.attribute(name, default) != default:
            node.refuse(f"attribute {name} = {node.attribute(name)} is not supported")
    if node.has_input(PEEPHOLES):
        node.refuse("peepholes (input P) are not supported")
    if node.has_input(SEQUENCE_LENGTHS):
        lengths = node.constant(SEQUENCE_LENGTHS, "sequence_lens")
        if (lengths != node.input(0).type.shape[0]).any():
            node.refuse(f"sequences of different lengths {lengths.tolist()} are not supported")
    operands = [node.inputs[i] if node.has_input(i) else None for i in ONNX_OPERANDS]
    wanted = [*node.output_names, "", "", ""]
    names = [given or f"{node.name}.{role}" for given, role in zip(wanted, ("y", "h", "c"), strict=False)]
    return node.builder.nodes("lstm", operands, a, name=node.name, outputs=names)


def from_tflite(node: FileNode) -> list[Value]:
    if any(node.has_input(i) for i in TFLITE_ABSENT) or not node.has_input(1):
        node.refuse("peepholes, projections, layer normalization and coupled gates are not supported")
    if node.attribute("fused_activation_function") != "TANH" or node.attribute("proj_clip", 0.0):
        node.refuse("only tanh, and no clipped projection, is supported")
    x, major = node.input(0), bool(node.attribute("time_major", False))
    h, c = (node.state(i) for i in TFLITE_STATES)
    w, r = (_joined(node, places, x) for places in (TFLITE_WEIGHTS, TFLITE_RECURRENT))
    bias = np.concatenate([node.constant(i, "a bias") for i in TFLITE_BIAS])
    b = node.new_constant("b", np.concatenate([bias, 0 * bias])[None])
    batch, hidden = h.read.type.shape
    begin = [_shaped(node, s.read, (1, batch, hidden), f"{role}0") for s, role in ((h, "h"), (c, "c"))]
    sequence = x if major else _swapped(node, x, "sequence")
    names = [f"{node.name}.{role}" for role in ("y", "h", "c")]
    a = LstmAttrs(cell_clip=float(node.attribute("cell_clip", 0.0)))
    made = node.builder.nodes("lstm", [sequence, w, r, b, *begin], a, name=f"{node.name}.lstm", outputs=names)
    for value, state in zip(made, (h, h, c), strict=True):
        value.type = value.type.with_quant(state.read.type.quant)
    if node.output_quant != h.read.type.quant:
        node.refuse("its result must have the parameters of its state")
    h.write, c.write = (
        _shaped(node, v, (batch, hidden), f"{role}.kept") for v, role in zip(made[1:], "hc", strict=True)
    )
    y = _shaped(node, made[0], (sequence.type.shape[0], batch, hidden), "steps")
    return [y if major else _swapped(node, y, "", last=True)]


def _joined(node: FileNode, places: Sequence[int], x: Value) -> Value:
    """The four gates' weights as one constant, a scale for each row."""
    parts = [node.constant(i, "a weight") for i in places]
    quants = [q for i in places if (q := node.input(i).type.quant) is not None]
    if x.type.quant is None or len(quants) < len(parts) or any(q.axis is not None or any(q.zero_point) for q in quants):
        if x.type.quant is not None or quants:
            node.refuse("weights must have one scale and zero point 0")
        return node.new_constant(f"w{places[0]}", np.concatenate(parts)[None])
    rows = [s for q, part in zip(quants, parts, strict=True) for s in q.scale * len(part)]
    return node.new_constant(f"w{places[0]}", np.concatenate(parts)[None], QuantParams.per_axis(rows, 1))


def _shaped(node: FileNode, value: Value, shape: tuple[int, ...], role: str) -> Value:
    quant = value.type.quant
    return node.emit("reshape", [value], ReshapeAttrs(shape), last=False, name=f"{node.name}.{role}", quant=quant)


def _swapped(node: FileNode, value: Value, role: str, *, last: bool = False) -> Value:
    """The first two axes exchanged: one sequence is its own bytes."""
    first, second, *rest = value.type.shape
    one = 1 in (first, second)
    op, attrs = ("reshape", ReshapeAttrs((second, first, *rest))) if one else ("transpose", TransposeAttrs((1, 0, 2)))
    name = {"name": f"{node.name}.{role}"} if role else {}
    return node.emit(op, [value], attrs, last=last, quant=value.type.quant, **name)


def to_onnx(w: OnnxWriter, node: Node) -> None:
    names = [""] * PEEPHOLES
    for i, place in enumerate(ONNX_OPERANDS):
        names[place] = w.input(node, i)
    while not names[-1]:
        names.pop()
    hidden = node.input(2).type.shape[2]
    w.emit("LSTM", names, [w.output(node, i) for i in range(3)], hidden_size=hidden, direction=node.attrs.direction)


def _case(
    x: tuple[int, int, int],
    hidden: int,
    *rest: Operand | tuple[int, ...] | None,
    direction: str = "forward",
    reach: float = 1.0,
) -> Case:
    a = LstmAttrs(direction)
    d, rows = len(a.backward), 4 * hidden
    operands = [Operand(x, low=-reach, high=reach), weights(d, rows, x[2]), weights(d, rows, hidden), *rest]
    return case(*operands, *[None] * (len(ONNX_OPERANDS) - len(operands)), attrs=a, kinds=("float32",))


lstm = OpSpec(
    name="lstm",
    attrs=LstmAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    body_int8=body_int8,
    quant=QuantRule(check=check_quantized),
    macs=macs,
    recurrent=((4, 1), (5, 2)),
    onnx=(onnx_op("LSTM", build=from_onnx),),
    tflite=(tflite_op("UNIDIRECTIONAL_SEQUENCE_LSTM", build=from_tflite),),
    to_onnx=to_onnx,
    cases=(
        _case((5, 1, 3), 4, weights(1, 32)),
        _case((4, 2, 3), 2, None, (1, 2, 2), (1, 2, 2), direction="reverse"),
        _case((3, 2, 2), 3, weights(2, 24), (2, 2, 3), (2, 2, 3), direction="bidirectional"),
        _case((2, 1, 3), 4, weights(1, 32), reach=100),
    ),
)
