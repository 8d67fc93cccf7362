"""gru: a gated recurrent unit over a sequence; its integers are in gru_int8.py.

Sources: ONNX GRU-22; operands in recurrent.py.

Gates stand in the order z (update), r (reset), h (new): h' = (1 - z) new + z h, where
new = g(w x + r (reset h) + b), or g(w x + b + reset (r h + b)) with ``linear_before_reset``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from burnc.ir import Node
from burnc.kernel.builder import FLOAT32, KernelBuilder, Tensor
from burnc.ops.case import weights
from burnc.ops.gru_int8 import LARGEST_RESET, body_int8, integer
from burnc.ops.mapping import onnx_op
from burnc.ops.recurrent import LENGTHS, Form, RecurrentAttrs, steps, through
from burnc.ops.recurrent_activations import OnArrays
from burnc.ops.recurrent_int8 import check_quantized, quantization
from burnc.ops.spec import OpSpec, QuantRule

FORM = Form(3, ("h",), ("sigmoid", "tanh"), 2)


@dataclass(frozen=True)
class GruAttrs(RecurrentAttrs):
    """``linear_before_reset``: the reset gate is applied behind the matrix, as PyTorch and cuDNN do."""

    linear_before_reset: int = 0


def body(k: KernelBuilder, a: GruAttrs, *tensors: Tensor | None) -> None:
    """For each step: a stage for the sums; one for what the reset gate leaves; one that replaces h."""
    operands, results = tensors[: FORM.operands], [t for t in tensors[FORM.operands :] if t is not None]
    _, _, batch, hidden = results[0].shape
    gates = k.scratch("gates", FLOAT32, (batch, 3 * hidden))
    rest = k.scratch("rest", FLOAT32, (batch, hidden))
    for step in steps(k, a, operands, results):
        f, g = FORM.functions(k, a, step.d)
        h = step.states[0]
        step.sums(gates, 3 * hidden, 2 * hidden, batch)
        k.barrier()
        for n, j in k.grid((batch, hidden), "n j"):
            reset = f(gates[n, j + hidden])
            if a.linear_before_reset:
                row = j + 2 * hidden
                acc = step.add_recurrent(k.accumulator(step.recurrent_bias(row)), n, row)
                rest[n, j] = reset * acc.value
            else:
                rest[n, j] = reset * h[step.d, n, j]
        k.barrier()
        for n, j in k.grid((batch, hidden), "n j"):
            row = j + 2 * hidden
            acc = k.accumulator(gates[n, row])
            if a.linear_before_reset:
                acc += rest[n, j]
            else:
                acc += step.recurrent_bias(row)
                step.add_recurrent(acc, n, row, lambda n, i: rest[n, i])
            update = k.let("update", f(gates[n, j]))
            step.store(n, j, k.let("out", (1.0 - update) * g(acc.value) + update * h[step.d, n, j]))


def forward(
    xp: Any, a: GruAttrs, x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h0: Any = None
) -> tuple[Any, ...]:
    hidden = r.shape[2]

    def step(d: int, given: Any, h: Any) -> tuple[Any]:
        f, g = FORM.functions(OnArrays(xp), a, d)
        own, before = (xp.zeros(3 * hidden, x.dtype),) * 2 if b is None else xp.split(b[d], 2)
        sums, recurrent = xp.matmul(given, w[d].T) + own, xp.matmul(h, r[d, : 2 * hidden].T) + before[: 2 * hidden]
        update, reset = (f(v) for v in xp.split(sums[:, : 2 * hidden] + recurrent, 2, axis=-1))
        matrix, bias = r[d, 2 * hidden :].T, before[2 * hidden :]
        after, inside = xp.matmul(h, matrix) + bias, xp.matmul(reset * h, matrix) + bias
        rest = reset * after if a.linear_before_reset else inside
        return ((1 - update) * g(sums[:, 2 * hidden :] + rest) + update * h,)

    return through(xp, a, x, lengths, FORM.begin(xp, x, r, h0), step)


def check(node: Node) -> None:
    check_quantized(FORM, node, 255 if node.attrs.linear_before_reset else LARGEST_RESET)


gru = OpSpec(
    name="gru",
    attrs=GruAttrs,
    infer=FORM.infer,
    forward=forward,
    integer=integer,
    body=body,
    body_int8=body_int8,
    quant=QuantRule(check=check, own=quantization(FORM), integer_inputs=(LENGTHS,)),
    macs=FORM.macs,
    recurrent=FORM.recurrent,
    onnx=(onnx_op("GRU", build=FORM.from_onnx("gru", linear_before_reset=0)),),
    to_onnx=FORM.to_onnx("GRU", linear_before_reset="linear_before_reset"),
    cases=(
        FORM.case(GruAttrs(), (5, 1, 3), 4, weights(1, 24)),
        FORM.case(GruAttrs(linear_before_reset=1), (4, 2, 3), 4, weights(1, 24)),
        FORM.case(GruAttrs("reverse", clip=0.4), (4, 2, 3), 2, None, None, (1, 2, 2)),
        FORM.case(GruAttrs("bidirectional", linear_before_reset=1), (3, 2, 2), 3, weights(2, 18), None, (2, 2, 3)),
        *FORM.activation_cases(GruAttrs),
        *FORM.length_cases(GruAttrs, linear_before_reset=1),
    ),
)
