from __future__ import annotations

from burnc.ir import DType, TensorType
from burnc.ops.clip import ClipAttrs
from burnc.passes import RemoveDeadCode
from passes.rewriting import changed, floats, ops_of, started


def test_chains_that_nothing_reads_disappear() -> None:
    graph, b, x = started(2)
    b.node("add", [b.node("clip", [x], ClipAttrs(0.0)), b.constant("c", floats(2))])
    assert changed(RemoveDeadCode(), graph, [b.node("mul", [x, x])]) == 2
    assert ops_of(graph) == ["mul"]


def test_outputs_and_what_they_read_stay() -> None:
    graph, b, x = started(2)
    y = b.node("clip", [x], ClipAttrs(0.0))
    assert changed(RemoveDeadCode(), graph, [y, b.node("add", [y, y])]) == 0


def test_inputs_stay_read_or_not() -> None:
    graph, b, x = started(2)
    unread = b.input("unread", TensorType(DType.FLOAT32, (3,)))
    assert changed(RemoveDeadCode(), graph, [b.node("mul", [x, x])]) == 0
    assert graph.inputs == [x, unread]
