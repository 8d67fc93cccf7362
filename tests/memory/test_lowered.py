"""Arenas of lowered graphs: tight on real models, sound where views, several outputs and in-place results meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from burnc.boards import load_board
from burnc.codegen.arena import safe_overlaps
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.program import Program
from burnc.codegen.views import Views
from burnc.ir import Array, Builder, DType, Graph, QuantParams, TensorType, Value, verify
from burnc.memory import Request
from burnc.ops import operators
from burnc.ops.cast import CastAttrs
from burnc.ops.clip import ClipAttrs
from burnc.ops.concat import ConcatAttrs
from burnc.ops.conv2d import Conv2dAttrs
from burnc.ops.reshape import ReshapeAttrs
from burnc.ops.slice import SliceAttrs
from burnc.ops.spatial import Padding
from burnc.ops.transpose import TransposeAttrs
from burnc.pipeline import load
from importers.small_nets import FLOAT_MODELS, INT8_MODELS
from memory.played_run import assert_sound
from passes.rewriting import assert_alike, floats, inputs_of, run, started

HOST = load_board("host")


@pytest.mark.parametrize("rendered_only", [False, True])
@pytest.mark.parametrize("path", FLOAT_MODELS + INT8_MODELS, ids=lambda p: p.stem)
def test_arenas_of_the_models_are_sound_and_tight(path, rendered_only):
    program = lower(load(path, dims={}).graph, HOST, LowerOptions(rendered_only=rendered_only))
    assert_sound(program)
    assert program.plan.lower_bound <= program.plan.bytes <= 1.05 * program.plan.lower_bound + 64


def conv(b: Builder, x: Value, name: str, filters: int = 3) -> Value:
    w = b.constant("w", floats(filters, 3, 3, x.type.shape[-1], seed=5))
    return b.node("conv2d", [x, w], Conv2dAttrs(pad=Padding(1, 1, 1, 1)), outputs=(name,))


def relu(b: Builder, x: Value, name: str) -> Value:
    return b.node("clip", [x], ClipAttrs(0.0), outputs=(name,))


def flat(b: Builder, x: Value, name: str) -> Value:
    return b.node("reshape", [x], ReshapeAttrs((x.type.size,)), outputs=(name,))


def an_output_that_the_last_step_reads(b: Builder, x: Value) -> list[Value]:
    y = conv(b, x, "y")
    return [y, relu(b, y, "z")]


def a_view_of_an_output_read_by_the_last_step(b: Builder, x: Value) -> list[Value]:
    y = conv(b, x, "y")
    return [y, relu(b, flat(b, y, "flat"), "z")]


def an_input_handed_through(b: Builder, x: Value) -> list[Value]:
    return [b.node("identity", [flat(b, x, "flat")], outputs=("y",)), relu(b, x, "z")]


def two_views_of_one_value_as_outputs(b: Builder, x: Value) -> list[Value]:
    y = conv(b, x, "y")
    first, second = flat(b, y, "first"), b.node("reshape", [y], ReshapeAttrs((3, 48)), outputs=("second",))
    return [second, first, relu(b, y, "z")]


def a_residual_of_the_input(b: Builder, x: Value) -> list[Value]:
    return [b.node("add", [x, conv(b, x, "y")], outputs=("sum",))]


def a_value_added_to_itself(b: Builder, x: Value) -> list[Value]:
    y = conv(b, x, "y")
    return [b.node("mul", [b.node("add", [y, y]), b.node("add", [y, y])], outputs=("z",))]


def results_that_nothing_reads(b: Builder, x: Value) -> list[Value]:
    y = conv(b, x, "y")
    relu(b, y, "unread")
    return [b.node("add", [y, x], outputs=("z",))]


def a_value_read_again_after_its_view_was_used_up(b: Builder, x: Value) -> list[Value]:
    y = conv(b, x, "y")
    early = relu(b, flat(b, y, "flat"), "early")
    return [b.node("add", [flat(b, conv(b, y, "late"), "late_flat"), early], outputs=("z",))]


def one_value_twice_and_a_constant(b: Builder, x: Value) -> list[Value]:
    y = relu(b, x, "y")
    return [y, b.node("identity", [y], outputs=("again",)), b.constant("fixed", floats(4))]


def a_value_and_its_own_transpose(b: Builder, x: Value) -> list[Value]:
    square = b.node("reshape", [relu(b, x, "r")], ReshapeAttrs((12, 12)))
    return [b.node("add", [square, b.node("transpose", [square], TransposeAttrs((1, 0)))], outputs=("z",))]


def cut(b: Builder, x: Value, first: int, rows: int, name: str = "part") -> Value:
    attrs = SliceAttrs((0, first, 0, 0), (1, rows, *x.type.shape[2:]))
    return b.node("slice", [x], attrs, outputs=(name,))


def joined(b: Builder, parts: Sequence[Value], name: str) -> Value:
    return b.node("concat", parts, ConcatAttrs(1), outputs=(name,))


def rows_of_the_input_each_convolved(b: Builder, x: Value) -> list[Value]:
    """Cut with a halo, worked on one after the other, and joined where the last convolution reads it."""
    parts = [relu(b, conv(b, cut(b, x, first, 4), f"c{first}"), f"r{first}") for first in (0, 2, 4)]
    return [conv(b, joined(b, parts, "all"), "y")]


def parts_that_are_joined_twice(b: Builder, x: Value) -> list[Value]:
    first, second = conv(b, x, "first"), relu(b, cut(b, x, 1, 4), "second")
    inner = joined(b, [first, second], "inner")
    outer = joined(b, [inner, first, relu(b, x, "third"), inner], "outer")
    return [outer, joined(b, [second, second], "pair"), b.node("add", [first, first], outputs=("sum",))]


def joined_inputs_constants_and_outputs(b: Builder, x: Value) -> list[Value]:
    y = relu(b, x, "y")
    fixed = b.constant("fixed", floats(1, 1, 6, 3))
    z = joined(b, [x, y, relu(b, cut(b, y, 2, 3), "r"), fixed, cut(b, x, 6, 2)], "z")
    return [y, z, cut(b, z, 3, 2), flat(b, cut(b, z, 5, 1), "row")]


def parts_that_begin_between_words(b: Builder, x: Value) -> list[Value]:
    y = b.node("cast", [relu(b, x, "r")], CastAttrs("int8"))
    odd = b.node("slice", [flat(b, y, "flat")], SliceAttrs((3,), (7,)))
    even = b.node("slice", [flat(b, y, "flat2")], SliceAttrs((8,), (9,)))
    ends = [b.node("abs", [v]) for v in (odd, even)]
    return [b.node("concat", ends, ConcatAttrs(0), outputs=("z",)), b.node("abs", [y])]


def nothing_at_all(b: Builder, x: Value) -> list[Value]:
    return [x]


CASES = [
    an_output_that_the_last_step_reads,
    a_view_of_an_output_read_by_the_last_step,
    an_input_handed_through,
    two_views_of_one_value_as_outputs,
    a_residual_of_the_input,
    a_value_added_to_itself,
    results_that_nothing_reads,
    a_value_read_again_after_its_view_was_used_up,
    one_value_twice_and_a_constant,
    a_value_and_its_own_transpose,
    rows_of_the_input_each_convolved,
    parts_that_are_joined_twice,
    joined_inputs_constants_and_outputs,
    parts_that_begin_between_words,
    nothing_at_all,
]


def graph_of(case: Callable[[Builder, Value], list[Value]]) -> Graph:
    graph, b, x = started(1, 8, 6, 3)
    graph.outputs = case(b, x)
    verify(graph)
    return graph


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.__name__)
def test_arenas_of_knotty_graphs_are_sound(case):
    assert_sound(lower(graph_of(case), HOST))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.__name__)
def test_their_c_computes_what_the_reference_does(case):
    from burnc_host.c import CBackend

    graph = graph_of(case)
    inputs = inputs_of(graph)
    assert_alike(CBackend().compile(graph).run(inputs), run(graph, inputs))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.__name__)
def test_buffers_of_the_caller_are_told_apart(case):
    program = lower(graph_of(case), HOST, LowerOptions(io="caller"))
    places = {p.value for p in [*program.inputs, *program.outputs]}
    assert {program.borrowed[v].value for v in places} == places
    for step in program.steps:
        for value in [*step.node.present_inputs, *step.node.outputs]:
            assert value.is_constant or (value in program.borrowed) != (value in program.storage)
        assert all(program.borrowed.get(v) not in program.inputs for v in step.node.outputs)


def test_an_int8_kernel_in_place_never_runs_over_a_shared_operand():
    quant = QuantParams.per_tensor(0.1, 3)
    graph, b, x = started(1, 4, 4, 8, quant=quant)
    y = b.node("clip", [x], ClipAttrs(0.0), quant=quant)
    graph.outputs = [b.node("add", [y, y], quant=quant), b.node("add", [y, x], quant=quant)]
    assert_sound(lower(graph, HOST))


def test_a_step_that_reads_the_bytes_in_another_way_too_is_not_in_place():
    graph, b, x = started(4, 4)
    y = relu(b, x, "y")
    other = b.node("reshape", [y], ReshapeAttrs((4, 4)), outputs=("other",))
    graph.outputs = [b.node("matmul", [y, other], outputs=("z",))]
    program = lower(graph, HOST)
    step = program.steps[1].node
    first, second, z = step.input(0), step.input(1), step.output
    views = Views()
    views.link(second, first)
    requests = [Request("%y", 64, 0, 1), Request("%z", 64, 1, 2)]
    assert safe_overlaps(program, views, [(1, first, z, 0)], requests) == []
    assert len(safe_overlaps(program, views, [(1, first, z, 0), (1, second, z, 0)], requests)) == 2


def test_wider_results_keep_their_distance():
    graph = Graph("net")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.INT8, (64,), QuantParams.per_tensor(0.1)))
    graph.outputs = [relu(b, b.node("dequantize", [x]), "y")]
    program = lower(graph, HOST)
    assert_sound(program)
    assert program.plan.bytes == 256
    (wide,) = [n.output for n in program.graph.nodes if n.op == "dequantize"]
    assert program.offset(program.graph.inputs[0]) - program.offset(wide) >= 3 * 63


def values_of(program: Program) -> Array:
    return np.array(sorted(program.plan.offsets.items()))


def test_plans_are_the_same_each_time():
    graph = load(INT8_MODELS[1], dims={}).graph
    np.testing.assert_array_equal(values_of(lower(graph, HOST)), values_of(lower(graph.copy(), HOST)))
