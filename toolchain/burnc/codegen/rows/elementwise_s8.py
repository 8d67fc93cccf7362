"""Elementwise int8 kernels and softmax, portable C."""

from __future__ import annotations

from collections.abc import Callable

from burnc.codegen.program import Argument, Call
from burnc.codegen.rows.row import Emitter, KernelRow, clamp_fields, is_int8
from burnc.ir import Match, Node, op
from burnc.numerics import quantize_multiplier
from burnc.ops.add import LEFT_SHIFT


def _same_shapes(m: Match) -> bool:
    node = m.last
    shapes = {v.type.shape for v in [*node.present_inputs, node.output]}
    return is_int8(node) and len(shapes) == 1


def _factors(node: Node) -> list[tuple[int, int]]:
    return [quantize_multiplier(float(f)) for f in node.operator.requantize_factors(node)]


def _lower_add(m: Match, emitter: Emitter) -> Call:
    node = m.last
    left, right, result = _factors(node)
    params = emitter.struct(
        "burnc_add_s8_params",
        count=node.output.type.size,
        left_shift=LEFT_SHIFT,
        input1_zero_point=node.input(0).type.zero_point,
        input1_multiplier=left[0],
        input1_shift=left[1],
        input2_zero_point=node.input(1).type.zero_point,
        input2_multiplier=right[0],
        input2_shift=right[1],
        output_zero_point=node.output.type.zero_point,
        output_multiplier=result[0],
        output_shift=result[1],
        **clamp_fields(node),
    )
    return Call("burnc_add_s8", (params, _operand(node, 0, emitter), _operand(node, 1, emitter), node.output))


def _lower_mul(m: Match, emitter: Emitter) -> Call:
    node = m.last
    ((multiplier, shift),) = _factors(node)
    params = emitter.struct(
        "burnc_mul_s8_params",
        count=node.output.type.size,
        input1_zero_point=node.input(0).type.zero_point,
        input2_zero_point=node.input(1).type.zero_point,
        output_zero_point=node.output.type.zero_point,
        multiplier=multiplier,
        shift=shift,
        **clamp_fields(node),
    )
    return Call("burnc_mul_s8", (params, _operand(node, 0, emitter), _operand(node, 1, emitter), node.output))


def _operand(node: Node, index: int, emitter: Emitter) -> Argument:
    value = node.input(index)
    return value if value.data is None else emitter.constant("operand", value.data)


def _lower_requantize(m: Match, emitter: Emitter) -> Call:
    node = m.last
    x, y = node.input(0).type, node.output.type
    multiplier, shift = quantize_multiplier(x.scale / y.scale)
    params = emitter.struct(
        "burnc_requantize_s8_params",
        count=y.size,
        input_zero_point=x.zero_point,
        output_zero_point=y.zero_point,
        multiplier=multiplier,
        shift=shift,
        **clamp_fields(node),
    )
    return Call("burnc_requantize_s8", (params, node.input(0), node.output))


def _in_place(*inputs: int) -> Callable[[Match], list[tuple[int, int]]]:
    def overlap(m: Match) -> list[tuple[int, int]]:
        return [(i, 0) for i in inputs]

    return overlap


def _per_element(cycles: float) -> Callable[[Match], float]:
    return lambda m: cycles * m.last.output.type.size + 150


def _all_int8(m: Match) -> bool:
    return is_int8(m.last)


ROWS = (
    KernelRow("add_s8", op("add"), _same_shapes, _lower_add, _per_element(212), 500, overlap=_in_place(0, 1)),
    KernelRow("mul_s8", op("mul"), _same_shapes, _lower_mul, _per_element(90), 350, overlap=_in_place(0, 1)),
    KernelRow(
        "requantize_s8", op("quantize"), _all_int8, _lower_requantize, _per_element(80), 300, overlap=_in_place(0)
    ),
)
