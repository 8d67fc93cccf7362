"""rnn: a recurrent layer without gates, h = f(w x + r h + b). Sources: ONNX RNN-22; operands in recurrent.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.ir import DType, Node
from burnc.kernel.builder import FLOAT32, KernelBuilder, Tensor
from burnc.kernel.fixed_point import tanh_int16
from burnc.numerics import tanh_int16 as tanh_of
from burnc.ops.case import weights
from burnc.ops.mapping import onnx_op
from burnc.ops.recurrent import LENGTHS, Form, RecurrentAttrs, steps, through
from burnc.ops.recurrent_activations import OnArrays
from burnc.ops.recurrent_int8 import (
    GATE_POWER,
    INT16,
    ONE_SCALE,
    Gates,
    GateScales,
    check_quantized,
    clamp,
    given_gate,
    quantization,
    remembered_gate,
)
from burnc.ops.requantize import Integers, rescaled
from burnc.ops.spec import OpSpec, QuantRule

FORM = Form(1, ("h",), ("tanh",), 1)


def body(k: KernelBuilder, a: RecurrentAttrs, *tensors: Tensor | None) -> None:
    """For each step: a stage for the sums, which reads all of h, then one that replaces h."""
    operands, results = tensors[: FORM.operands], [t for t in tensors[FORM.operands :] if t is not None]
    _, _, batch, hidden = results[0].shape
    sums = k.scratch("sums", FLOAT32, (batch, hidden))
    for step in steps(k, a, operands, results):
        (f,) = FORM.functions(k, a, step.d)
        step.sums(sums, hidden, hidden, batch)
        k.barrier()
        for n, j in k.grid((batch, hidden), "n j"):
            step.store(n, j, k.let("out", f(sums[n, j])))


def forward(
    xp: Any, a: RecurrentAttrs, x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h0: Any = None
) -> tuple[Any, ...]:
    def step(d: int, given: Any, h: Any) -> tuple[Any]:
        (f,) = FORM.functions(OnArrays(xp), a, d)
        return (f(FORM.sums(xp, d, given, h, w, r, b)),)

    return through(xp, a, x, lengths, FORM.begin(xp, x, r, h0), step)


def body_int8(k: KernelBuilder, a: RecurrentAttrs, *tensors: Tensor | None) -> None:
    """The same stages; gates and tanh as TFLite Micro's lstm has them."""
    operands, results = tensors[: FORM.operands], [t for t in tensors[FORM.operands :] if t is not None]
    y = results[0]
    _, _, batch, hidden = y.shape
    scales = GateScales(k.node)
    sums = k.scratch("sums", DType.INT16, (batch, hidden))
    for step in steps(k, a, operands, results):
        for n, row in k.grid((batch, hidden), "n j"):
            sums[n, row] = clamp(k, given_gate(k, step, scales, n, row) + remembered_gate(k, step, scales, n, row))
        k.barrier()
        for n, j in k.grid((batch, hidden), "n j"):
            out = k.scale_by(tanh_int16(k, sums[n, j], GATE_POWER), ONE_SCALE / y.type.scale)
            step.store(n, j, k.let("out", clamp(k, out + y.type.zero_point, y.type.dtype.limits)))


def integer(
    node: Node,
    x: Integers,
    w: Integers,
    r: Integers,
    b: Integers | None = None,
    lengths: Integers | None = None,
    h0: Integers | None = None,
) -> tuple[Integers, ...]:
    rows, type_ = Gates(node, w, r, b), node.outputs[1].type

    def step(d: int, given: Integers, h: Integers) -> tuple[Integers]:
        out = tanh_of(np.clip(rows.given(d, given) + rows.remembered(d, h), *INT16), GATE_POWER)
        return (np.clip(rescaled(node, out, ONE_SCALE / type_.scale) + type_.zero_point, *type_.dtype.limits),)

    h = np.full(type_.shape, type_.zero_point, np.int64) if h0 is None else h0.astype(np.int64)
    results = through(np, node.attrs, x, lengths, [h], step, type_.zero_point)
    return tuple(found.astype(np.int8) for found in results)


def check(node: Node) -> None:
    check_quantized(FORM, node)


rnn = OpSpec(
    name="rnn",
    attrs=RecurrentAttrs,
    infer=FORM.infer,
    forward=forward,
    integer=integer,
    body=body,
    body_int8=body_int8,
    quant=QuantRule(check=check, own=quantization(FORM), integer_inputs=(LENGTHS,)),
    macs=FORM.macs,
    recurrent=FORM.recurrent,
    onnx=(onnx_op("RNN", build=FORM.from_onnx("rnn")),),
    to_onnx=FORM.to_onnx("RNN"),
    cases=(
        FORM.case(RecurrentAttrs(), (5, 1, 3), 4, weights(1, 8)),
        FORM.case(RecurrentAttrs("reverse", clip=0.4), (4, 2, 3), 2, None, None, (1, 2, 2)),
        FORM.case(RecurrentAttrs("bidirectional"), (3, 2, 2), 3, weights(2, 6), None, (2, 2, 3)),
        *FORM.activation_cases(RecurrentAttrs),
        *FORM.length_cases(RecurrentAttrs),
    ),
)
