"""lstm: a long short-term memory over a sequence; its integers are in lstm_int8.py.

Sources: ONNX LSTM-22 (clip and input_forget as onnxruntime); TFLite UNIDIRECTIONAL_SEQUENCE_LSTM.

Operands as in recurrent.py; h and c are remembered, then come peepholes p [D,3H] (of i, o, f). Gates stand in the order
i, o, f, c.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.ir import Node, QuantParams, Value
from burnc.kernel.builder import FLOAT32, KernelBuilder, Tensor
from burnc.ops.case import weights
from burnc.ops.lstm_int8 import body_int8, check_cell, integer
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.recurrent import LENGTHS, Form, RecurrentAttrs, clipped, steps, swapped, through
from burnc.ops.recurrent_activations import Mathematics, OnArrays
from burnc.ops.recurrent_int8 import check_quantized, products, quantization
from burnc.ops.reshape import ReshapeAttrs
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule

# Operands of TFLite's in the order of our gates: each has weights of its own.
TFLITE_WEIGHTS, TFLITE_RECURRENT, TFLITE_BIAS = (1, 4, 2, 3), (5, 8, 6, 7), (12, 15, 13, 14)
TFLITE_ABSENT, TFLITE_STATES = (*range(9, 12), 16, 17, *range(20, 24)), (18, 19)
FORM = Form(4, ("h", "c"), ("sigmoid", "tanh", "tanh"), 2, (("p", 3),))


@dataclass(frozen=True)
class LstmAttrs(RecurrentAttrs):
    """``input_forget``: the forget gate is 1 minus the input gate. ``cell_clip``: bound on c itself (TFLite's)."""

    input_forget: int = 0
    cell_clip: float = 0.0


def cell(
    m: Mathematics, a: LstmAttrs, d: int, gates: Sequence[Any], before: Any, peepholes: Sequence[Any] | None
) -> tuple[Any, Any]:
    """The next h and c."""
    f, g, h = FORM.functions(m, a, d)
    into, out, forget, new = gates
    if peepholes is not None:
        into, forget = into + peepholes[0] * before, forget + peepholes[2] * before
    admitted = m.let("admitted", f(into))
    kept = 1.0 - admitted if a.input_forget else f(forget)
    state = m.let("cell", clipped(m, kept * before + admitted * g(new), a.cell_clip))
    if peepholes is not None:
        out = out + peepholes[1] * state
    return m.let("out", f(out) * h(state)), state


def body(k: KernelBuilder, a: LstmAttrs, *tensors: Tensor | None) -> None:
    """For each step: a stage for the gates, which reads all of h, then one that replaces h and c."""
    operands, results = tensors[: FORM.operands], [t for t in tensors[FORM.operands :] if t is not None]
    _, _, batch, hidden = results[0].shape
    gates = k.scratch("gates", FLOAT32, (batch, 4 * hidden))
    p = operands[-1]
    for step in steps(k, a, operands, results):
        step.sums(gates, 4 * hidden, 4 * hidden, batch)
        k.barrier()
        for n, j in k.grid((batch, hidden), "n j"):
            sums = [gates[n, j + gate * hidden] for gate in range(4)]
            before = k.let("before", results[2][step.d, n, j])
            peepholes = None if p is None else [p[step.d, j + gate * hidden] for gate in range(3)]
            step.store(n, j, *cell(k, a, step.d, sums, before, peepholes))


def forward(
    xp: Any,
    a: LstmAttrs,
    x: Any,
    w: Any,
    r: Any,
    b: Any = None,
    lengths: Any = None,
    h0: Any = None,
    c0: Any = None,
    p: Any = None,
) -> tuple[Any, ...]:
    m = OnArrays(xp)

    def step(d: int, given: Any, h: Any, c: Any) -> tuple[Any, Any]:
        sums = FORM.sums(xp, d, given, h, w, r, b)
        return cell(m, a, d, xp.split(sums, 4, axis=-1), c, None if p is None else xp.split(p[d], 3))

    return through(xp, a, x, lengths, FORM.begin(xp, x, r, h0, c0), step)


def from_tflite(node: FileNode) -> list[Value]:
    if any(node.has_input(i) for i in TFLITE_ABSENT) or not node.has_input(1):
        node.refuse("peepholes, projections, layer normalization and coupled gates are not supported")
    if node.attribute("fused_activation_function") != "TANH" or node.attribute("proj_clip", 0.0):
        node.refuse("only tanh, and no clipped projection, is supported")
    x, major = node.input(0), bool(node.attribute("time_major", False))
    h, c = (node.state(i) for i in TFLITE_STATES)
    w, r = (_joined(node, places, x) for places in (TFLITE_WEIGHTS, TFLITE_RECURRENT))
    bias = np.concatenate([node.constant(i, "a bias") for i in TFLITE_BIAS])
    batch, hidden = h.read.type.shape
    b = node.new_constant("b", np.concatenate([bias, 0 * bias])[None], _bias_params(x, w, r, h.read))
    begin = [_shaped(node, s.read, (1, batch, hidden), f"{role}0") for s, role in ((h, "h"), (c, "c"))]
    sequence = x if major else swapped(node, x, "sequence")
    names = [f"{node.name}.{role}" for role in ("y", "h", "c")]
    a = LstmAttrs(cell_clip=float(node.attribute("cell_clip", 0.0)))
    made = node.builder.nodes(
        "lstm", [sequence, w, r, b, None, *begin, None], a, name=f"{node.name}.lstm", outputs=names
    )
    for value, state in zip(made, (h, h, c), strict=True):
        value.type = value.type.with_quant(state.read.type.quant)
    if node.output_quant != h.read.type.quant:
        node.refuse("its result must have the parameters of its state")
    h.write, c.write = (
        _shaped(node, v, (batch, hidden), f"{role}.kept") for v, role in zip(made[1:], "hc", strict=True)
    )
    y = _shaped(node, made[0], (sequence.type.shape[0], batch, hidden), "steps")
    return [y if major else swapped(node, y, "", last=True)]


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


def _bias_params(x: Value, w: Value, r: Value, h: Value) -> QuantParams | None:
    if w.type.quant is None:
        return None
    return QuantParams.per_axis([*products(x.type.scale, w.type), *products(h.type.scale, r.type)], 1)


def _shaped(node: FileNode, value: Value, shape: tuple[int, ...], role: str) -> Value:
    quant = value.type.quant
    return node.emit("reshape", [value], ReshapeAttrs(shape), last=False, name=f"{node.name}.{role}", quant=quant)


def check(node: Node) -> None:
    check_quantized(FORM, node, dtypes=QUANTIZED)
    check_cell(node)


def to_onnx(w: OnnxWriter, node: Node) -> None:
    if node.attrs.cell_clip:  # ONNX bounds what goes into activations, not the cell itself
        w.beyond(cell_clip=node.attrs.cell_clip)
    FORM.to_onnx("LSTM", input_forget="input_forget")(w, node)


lstm = OpSpec(
    name="lstm",
    attrs=LstmAttrs,
    infer=FORM.infer,
    forward=forward,
    integer=integer,
    body=body,
    body_int8=body_int8,
    quant=QuantRule(check=check, own=quantization(FORM), integer_inputs=(LENGTHS,), wide=True),
    macs=FORM.macs,
    recurrent=FORM.recurrent,
    onnx=(onnx_op("LSTM", build=FORM.from_onnx("lstm", input_forget=0, cell_clip=0.0)),),
    tflite=(tflite_op("UNIDIRECTIONAL_SEQUENCE_LSTM", build=from_tflite),),
    to_onnx=to_onnx,
    cases=(
        FORM.case(LstmAttrs(), (5, 1, 3), 4, weights(1, 32)),
        FORM.case(LstmAttrs("reverse"), (4, 2, 3), 2, None, None, (1, 2, 2), (1, 2, 2)),
        FORM.case(LstmAttrs("bidirectional"), (3, 2, 2), 3, weights(2, 24), None, (2, 2, 3), (2, 2, 3), weights(2, 9)),
        FORM.case(LstmAttrs(), (2, 1, 3), 4, weights(1, 32), reach=100),
        FORM.case(LstmAttrs(clip=0.3, input_forget=1), (3, 2, 3), 2, weights(1, 16), p=weights(1, 6), reach=3),
        FORM.case(LstmAttrs(clip=0.3), (9, 1, 3), 2, weights(1, 16), reach=9),
        *FORM.activation_cases(LstmAttrs),
        *FORM.length_cases(LstmAttrs),
    ),
)
