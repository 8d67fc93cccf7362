"""Whether a kernel's result may lie where one of its operands does, told from the order of its accesses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from burnc.ir import Builder, DType, Graph, TensorType
from burnc.kernel import order
from burnc.kernel.buffer import Role
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.order import may_share_place
from burnc.ops import operators

Body = Callable[[KernelBuilder, Tensor, Tensor], None]


def answer(body: Body, shape: tuple[int, ...] = (2, 4), result: DType = DType.FLOAT32) -> bool:
    graph = Graph("net")
    b = Builder(graph, operators())
    y = b.node("cast", [b.input("x", TensorType(DType.FLOAT32, shape))])
    y.type = y.type.with_dtype(result)
    k = KernelBuilder("kernel", graph.nodes[0])
    (x,) = k.inputs
    assert x is not None
    body(k, x, k.outputs[0])
    kernel = k.build()
    return may_share_place(kernel, *kernel.of_role(Role.INPUT), *kernel.of_role(Role.OUTPUT))


def forwards(k: KernelBuilder, x: Tensor, y: Tensor) -> None:
    """Each row moves on by one, as a delay line does."""
    for (n,) in k.grid((2,)):
        for (m,) in k.reduce((3,)):
            y[n, m] = x[n, m + 1]
        y[n, 3] = 0.0


def backwards(k: KernelBuilder, x: Tensor, y: Tensor) -> None:
    for (n,) in k.grid((2,)):
        for (m,) in k.reduce((3,)):
            y[n, m + 1] = x[n, m]
        y[n, 0] = 0.0


def in_place(k: KernelBuilder, x: Tensor, y: Tensor) -> None:
    for n, m in k.grid((2, 4)):
        y[n, m] = x[n, m] + 1.0


def twice(k: KernelBuilder, x: Tensor, y: Tensor) -> None:
    """Every element is needed again once all are written."""
    in_place(k, x, y)
    k.barrier()
    in_place(k, x, y)


def copied_first(k: KernelBuilder, x: Tensor, y: Tensor) -> None:
    """What is read again is the result, not the operand."""
    in_place(k, x, y)
    k.barrier()
    for n, m in k.grid((2, 4)):
        y[n, m] = y[1 - n, m]


def sum_of_the_row(k: KernelBuilder, x: Tensor, y: Tensor) -> None:
    for n, m in k.grid((2, 4)):
        acc = k.accumulator()
        for (i,) in k.reduce((4,)):
            acc += x[n, i]
        y[n, m] = acc.value


def under_a_condition(k: KernelBuilder, x: Tensor, y: Tensor) -> None:
    for (n,) in k.grid((2,)):
        with k.when(n.eq(0)):
            y[1, 0] = 0.0
        y[n, 0] = x[n, 0]


def at_an_index_from_data(k: KernelBuilder, x: Tensor, y: Tensor) -> None:
    for n, m in k.grid((2, 4)):
        y[n, m] = x[n, k.cast(x[n, m], DType.INT32)]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (forwards, True),
        (backwards, False),
        (in_place, True),
        (twice, False),
        (copied_first, True),
        (sum_of_the_row, False),
        (under_a_condition, False),
        (at_an_index_from_data, False),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_order_of_accesses(body: Body, wanted: bool):
    assert answer(body) is wanted


def test_elements_of_another_size_are_elsewhere():
    assert not answer(in_place, result=DType.INT8)


def test_what_takes_too_long_is_not_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(order, "MOST_ACCESSES", 64)

    def large(k: KernelBuilder, x: Tensor, y: Tensor) -> None:
        for n, m in k.grid(x.shape):
            y[n, m] = x[n, m]

    assert answer(large, (4, 16))
    assert not answer(large, (4, 17))
