"""Elementwise sums and differences, int8: one linear form, proven for every pair of values (docs/kernels.md)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from burnc.codegen.program import Call
from burnc.codegen.rows.row import Emitter, KernelRow, cached_by_constants, clamp_fields, is_int8
from burnc.ir import Array, Match, Node, op
from burnc.ops import spec_of

_NUDGES = (0, 1, -1, 2, -2)
_MOST_SHIFT, _LEAST_SHIFT = 24, 18


@dataclass(frozen=True)
class LinearForm:
    """clamp((a * left + b * right + constant) >> shift, low, high); no sum leaves 32 bits."""

    left: int
    right: int
    constant: int
    shift: int
    low: int
    high: int


def fit_linear_form(results: Array, left: float, right: float, low: int, high: int) -> LinearForm | None:
    """The form that gives ``results`` [256, 256] for every pair of int8 values a and b, from -128 upwards.

    Args:
        left, right: the factors of a and b in real numbers, to begin from.
        low, high: the clamp, within int8.

    Returns:
        None where no such form exists near these factors.
    """
    for shift in range(_MOST_SHIFT, _LEAST_SHIFT, -1):
        base = [round(factor * 2**shift) for factor in (left, right)]
        for first, second in itertools.product(_NUDGES, _NUDGES):
            found = _with_multipliers(results.astype(np.int64), base[0] + first, base[1] + second, shift, low, high)
            if found is not None:
                return found
    return None


def _with_multipliers(y: Array, left: int, right: int, shift: int, low: int, high: int) -> LinearForm | None:
    values = np.arange(-128, 128, dtype=np.int64)
    sums = values[:, None] * left + values * right
    least = int(((y << shift) - sums)[y > low].max(initial=-(2**40)))
    most = int((((y + 1) << shift) - 1 - sums)[y < high].min(initial=2**40))
    constant = (least + most) >> 1
    reach = int(np.abs(sums + constant - (low << shift)).max())
    fits = least <= most and reach < 2**31 and (high - low + 1) << shift < 2**31
    return LinearForm(left, right, constant, shift, low, high) if fits else None


@cached_by_constants(64)
def _form(node: Node) -> LinearForm | None:
    integer = spec_of(node).integer
    assert integer is not None
    values = np.arange(-128, 128, dtype=np.int64)
    a, b = np.repeat(values, 256), np.tile(values, 256)
    results = np.asarray(integer(node, a.astype(np.int8), b.astype(np.int8))).reshape(256, 256)
    clamp = clamp_fields(node)
    x1, x2, y = (v.type.scale for v in (node.input(0), node.input(1), node.output))
    sign = -1.0 if node.op == "sub" else 1.0
    return fit_linear_form(results, x1 / y, sign * x2 / y, clamp["activation_min"], clamp["activation_max"])


def _is_linear(m: Match) -> bool:
    node = m.last
    values = [*node.present_inputs, node.output]
    same = len({v.type.shape for v in values}) == 1 and not any(v.is_constant for v in values)
    return same and is_int8(node) and all(v.type.dtype.value == "int8" for v in values) and _form(node) is not None


def _lower(m: Match, emitter: Emitter) -> Call:
    node = m.last
    form = _form(node)
    assert form is not None
    params = emitter.struct(
        "burnc_add_linear_s8_params",
        count=node.output.type.size,
        multiplier1=form.left & 0xFFFFFFFF,
        multiplier2=form.right & 0xFFFFFFFF,
        constant=form.constant - (form.low << form.shift) & 0xFFFFFFFF,
        limit=((form.high - form.low + 1) << form.shift) - 1,
        shift=form.shift,
        low=form.low & 0xFFFFFFFF,
    )
    return Call("burnc_add_linear_s8", (params, node.input(0), node.input(1), node.output))


ROWS = tuple(
    KernelRow(
        f"{name}_linear_s8",
        op(name),
        _is_linear,
        _lower,
        lambda m: 20.5 * m.last.output.type.size + 100,
        150,
        overlap=lambda m: [(0, 0), (1, 0)],
    )
    for name in ("add", "sub")
)
