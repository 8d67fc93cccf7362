from __future__ import annotations

import pytest

from burnc.passes import OrderOperands
from passes.rewriting import changed, floats, started


@pytest.mark.parametrize("op", ["add", "mul"])
def test_the_constant_comes_second(op: str) -> None:
    graph, b, x = started(2, 3)
    assert changed(OrderOperands(), graph, [b.node(op, [b.constant("c", floats(3)), x])]) == 1
    assert [v.name for v in graph.nodes[0].present_inputs] == ["x", "c"]


def test_everything_else_keeps_its_order() -> None:
    graph, b, x = started(2, 2)
    c = b.constant("c", floats(2, 2))
    outputs = [b.node("concat", [c, x]), b.node("add", [x, c]), b.node("mul", [c, c]), b.node("matmul", [c, x])]
    assert changed(OrderOperands(), graph, outputs) == 0
