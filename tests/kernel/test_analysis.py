"""Which inputs a kernel may write its result over: every way of reading too early or too late is seen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from burnc.errors import GraphError
from burnc.ir import Builder, DType, Graph, Node, QuantParams, TensorType
from burnc.kernel.analysis import linear, pointwise_inputs, safe_distance
from burnc.kernel.buffer import Buffer, Role
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import Expr, Literal, Select, Variable
from burnc.ops import operators

SHAPE = (3, 4)


def node(*shapes: tuple[int, ...], quant: QuantParams | None = None) -> Node:
    graph = Graph("net")
    b = Builder(graph, operators())
    dtype = DType.FLOAT32 if quant is None else DType.INT8
    values = [b.input(f"x{i}", TensorType(dtype, s, quant)) for i, s in enumerate(shapes)]
    if len(values) == 1:
        values *= 2
    y = b.node("add", values, quant=quant)
    assert y.producer is not None
    return y.producer


def safe_names(body: Callable[[KernelBuilder, Tensor, Tensor, Tensor], None], *shapes: tuple[int, ...]) -> list[str]:
    k = KernelBuilder("kernel", node(*(shapes or (SHAPE, SHAPE))))
    left, right = k.inputs
    assert left is not None
    assert right is not None
    body(k, left, right, k.outputs[0])
    return [b.name for b in pointwise_inputs(k.build())]


def test_elementwise_reads_are_safe():
    def body(k, left, right, y):
        for i in k.grid(SHAPE):
            value = k.let("value", left[i] * 2.0)
            y[i] = k.maximum(value + right[i], left[i])

    assert safe_names(body) == ["x0", "x1"]


def test_broadcast_reads_are_not():
    def body(k, left, right, y):
        for i, j in k.grid(SHAPE):
            y[i, j] = left[i, j] + right[0, j]

    assert safe_names(body, SHAPE, (1, 4)) == ["x0"]


@pytest.mark.parametrize("which", ["neighbour", "reversed", "transposed", "guarded", "in the condition", "the index"])
def test_reads_of_other_elements_are_not(which):
    def body(k, left, right, y):
        for i, j in k.grid((4, 4)):
            value = {
                "neighbour": left[i, j] + left.at(i, j - 1, outside=0),
                "reversed": left[3 - i, j],
                "transposed": left[j, i],
                "guarded": left.at(i, j + 1, outside=0),
                "in the condition": Select(left[0, 0] < 0.0, right[i, j], right[i, j] * 2.0),
                "the index": right.raw(k.cast(left[j, i], DType.INT32), j),
            }[which]
            y[i, j] = value + right[i, j]

    assert "x0" not in safe_names(body, (4, 4), (4, 4))


def test_a_reversed_result_is_not_even_where_it_is_read_alike():
    def body(k, left, right, y):
        for (i,) in k.grid((12,)):
            y[11 - i] = left[11 - i] + right[11 - i]

    assert safe_names(body, (12,), (12,)) == []


def test_loops_in_another_order_than_the_elements_are_not():
    def body(k, left, right, y):
        for j in k.grid((4,)):
            for i in k.grid((3,)):
                y[i[0], j[0]] = left[i[0], j[0]] + right[i[0], j[0]]

    assert safe_names(body) == []


def test_elements_written_twice_are_not():
    def body(k, left, right, y):
        for i in k.grid(SHAPE):
            for _ in k.reduce((2,)):
                y[i] = left[i] + right[i]

    assert safe_names(body) == []


def test_a_read_after_the_write_is_not():
    def body(k, left, right, y):
        for i in k.grid(SHAPE):
            y[i] = left[i]
            k.let("late", right[i] * 2.0)

    assert safe_names(body) == ["x0"]

    def in_a_later_condition(k, left, right, y):
        for i in k.grid(SHAPE):
            y[i] = left[i]
            with k.when(right[i] < 0.0):
                k.let("nothing", left[0, 0] * 2.0)

    assert safe_names(in_a_later_condition) == []


def test_two_stores_are_not():
    def body(k, left, right, y):
        for i in k.grid(SHAPE):
            y[i] = left[i]
        for i in k.grid(SHAPE):
            y[i] = right[i]

    assert safe_names(body) == []


def test_an_index_that_is_a_changing_local_is_not():
    def body(k, left, right, y):
        position = k.local("position", 0)
        for _ in k.grid((12,)):
            value = k.let("value", left[position.value] * 2.0)
            position += 1
            y[position.value - 1] = value + left[position.value]

    assert safe_names(body, (12,), (12,)) == []


def test_one_element_needs_no_loop():
    def body(k, left, right, y):
        for i in k.grid((1, 1)):
            y[i] = left[i] + right[i]

    assert safe_names(body, (1, 1), (1, 1)) == ["x0", "x1"]


def test_the_safe_distance_of_wider_results():
    def buffer(dtype: DType, role: Role) -> Buffer:
        return Buffer(role.value, dtype, 10, role)

    def distance(a: DType, b: DType) -> int:
        return safe_distance(buffer(a, Role.INPUT), buffer(b, Role.OUTPUT))

    assert distance(DType.INT8, DType.INT8) == 0
    assert distance(DType.FLOAT32, DType.INT8) == 0
    assert distance(DType.INT8, DType.FLOAT32) == 27
    for lead in (26, 27):  # byte by byte: element i is written before element i + 1 is read
        clash = any(4 * (i + 1) > lead + (i + 1) for i in range(9))
        assert clash == (lead < 27)


def test_linear_forms():
    i, j = Variable("i", DType.INT32, 4), Variable("j", DType.INT32, 3)
    assert linear((i * 3 + j) * 2 - 1) == {"i": 6, "j": 2, None: -1}
    assert linear(i - i) == {"i": 0}
    assert linear(i * j) is None
    assert linear(i // 2) is None
    assert linear(Variable("v", DType.INT32)) is None


def guards_of(index: Callable[[Expr], Expr | int], extent: int = 5) -> str:
    from burnc.kernel.c99 import C99

    k = KernelBuilder("kernel", node((extent,), (extent,)))
    (x, _) = k.inputs
    assert x is not None
    for (i,) in k.grid((extent,), "i"):
        read = x.at(index(i), outside=0)
    return C99().expression(read.condition) if isinstance(read, Select) else ""


def test_guards_stand_where_an_index_may_leave_the_tensor_and_nowhere_else():
    assert guards_of(lambda i: i) == ""
    assert guards_of(lambda i: i - 1) == "i - 1 >= 0"
    assert guards_of(lambda i: i + 1) == "i + 1 < 5"
    assert guards_of(lambda i: i * 2 - 2) == "i * 2 - 2 >= 0 && i * 2 - 2 < 5"
    assert guards_of(lambda i: i // 2 + 2) == ""
    assert guards_of(lambda i: Literal(4, DType.INT32)) == ""
    assert guards_of(lambda i: Literal(5, DType.INT32)) != ""
    assert guards_of(lambda i: Variable("v", DType.INT32)) == "v >= 0 && v < 5"


def test_several_factors_without_an_axis_are_refused():
    graph = Graph("net")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.INT8, (1, 4), QuantParams.per_tensor(0.1)))
    w = b.constant("w", np.ones((2, 4), np.int8), QuantParams.per_axis((0.1, 0.2), 0))
    y = b.node("fully_connected", [x, w], quant=QuantParams.per_tensor(0.5))
    assert y.producer is not None
    k = KernelBuilder("kernel", y.producer)
    with pytest.raises(GraphError, match="axis"):
        k.requantize(Literal(1, DType.INT32))


def test_quantized_reads_are_centred_and_guarded_ones_yield_0():
    from burnc.kernel.c99 import C99

    k = KernelBuilder("kernel", node((4,), (4,), quant=QuantParams.per_tensor(0.1, -7)))
    x = k.inputs[0]
    assert x is not None
    for (i,) in k.grid((4,), "i"):
        assert C99().expression(x[i]) == "(int32_t)x0[i] + 7"
        assert C99().expression(x.at(i - 1, outside=0)) == "i - 1 >= 0 ? (int32_t)x0[i - 1] + 7 : 0"
        assert x.raw(i).dtype is DType.INT8
