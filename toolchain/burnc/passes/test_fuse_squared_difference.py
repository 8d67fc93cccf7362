from __future__ import annotations

from burnc.ops.power import PowerAttrs
from burnc.ops.sub import SubAttrs
from burnc.passes.fuse_squared_difference import FuseSquaredDifference
from passes.rewriting import changed, floats, ops_of, started

FUSE = FuseSquaredDifference()


def test_a_squared_difference_is_one_operator() -> None:
    graph, b, x = started(2, 4)
    y = b.node("power", [b.node("sub", [x, b.constant("c", floats(4))])], PowerAttrs(2.0))
    assert changed(FUSE, graph, [y]) == 1
    assert ops_of(graph) == ["squared_difference"]


def test_other_readers_exponents_and_ranges_keep_them_apart() -> None:
    graph, b, x = started(4)
    difference = b.node("sub", [x, b.constant("c", floats(4))])
    assert changed(FUSE, graph, [b.node("mul", [b.node("power", [difference]), difference])]) == 0
    for attrs, exponent in ((SubAttrs(), 3.0), (SubAttrs(0.0), 2.0)):
        graph, b, x = started(4)
        y = b.node("power", [b.node("sub", [x, b.constant("c", floats(4))], attrs)], PowerAttrs(exponent))
        assert changed(FUSE, graph, [y]) == 0
