"""rnn: a recurrent layer without gates, h = f(w x + r h + b). Sources: ONNX RNN-22; operands in recurrent.py."""

from __future__ import annotations

from typing import Any

from burnc.kernel.builder import FLOAT32, KernelBuilder, Tensor
from burnc.ops.case import weights
from burnc.ops.mapping import onnx_op
from burnc.ops.recurrent import Form, RecurrentAttrs, steps, through
from burnc.ops.recurrent_activations import OnArrays
from burnc.ops.spec import OpSpec

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


rnn = OpSpec(
    name="rnn",
    attrs=RecurrentAttrs,
    infer=FORM.infer,
    forward=forward,
    body=body,
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
