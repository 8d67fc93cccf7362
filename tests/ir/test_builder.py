from __future__ import annotations

import numpy as np
import pytest

from burnc.errors import GraphError
from burnc.ir import Builder, DType, Graph, TensorType, Value, verify, with_outputs
from burnc.ops import operators
from burnc.ops.clip import ClipAttrs
from passes.rewriting import floats, started


def test_names_are_unique_and_follow_the_wish() -> None:
    _, b, x = started(2)
    values = [b.node("add", [x, x], name="sum") for _ in range(3)]
    assert [v.name for v in values] == ["sum", "sum_2", "sum_3"]
    assert [v.producer.name for v in values if v.producer] == ["sum", "sum_2", "sum_3"]
    assert b.constant("sum", floats(1)).name == "sum_4"
    assert b.constant("", floats(1)).name == "value"
    assert b.node("add", [x, x], name="n", outputs=("x",)).name == "x_2"


def test_a_node_is_named_after_its_result_or_its_operator() -> None:
    graph, b, x = started(2)
    b.node("add", [x, x], outputs=("y",))
    b.node("add", [x, x])
    assert [(n.name, n.output.name) for n in graph.nodes] == [("y", "y"), ("add", "add")]


def test_reserved_names_wait_for_the_value_that_is_declared_so() -> None:
    graph = Graph("net")
    b = Builder(graph, operators(), reserved=["y", "x"])
    x = b.input("x", TensorType(DType.FLOAT32, (2,)))
    assert x.name == "x"
    assert b.node("clip", [x], ClipAttrs(0.0), name="y").name == "y_2"
    assert b.constant("y", floats(2)).name == "y_3"
    assert b.node("clip", [x], ClipAttrs(0.0), outputs=("y",)).name == "y"


def test_nodes_are_inserted_before_the_anchor_in_order() -> None:
    graph, b, x = started(2)
    last = b.node("add", [x, x], name="last")
    before = Builder(graph, operators(), anchor=last.producer)
    y = before.node("clip", [x], ClipAttrs(0.0), name="one")
    before.node("clip", [y], ClipAttrs(0.0), name="two")
    assert [n.name for n in graph.nodes] == ["one", "two", "last"]
    verify(graph)


def test_names_change_places_and_wishes_come_true_when_names_are_free() -> None:
    graph, b, x = started(2)
    old = b.node("add", [x, x], name="n", outputs=("known",))
    assert old.producer is not None
    again = Builder(graph, operators(), anchor=old.producer)
    new = again.node("mul", [x, x], name="n")
    again.take_name(new, old)
    assert (new.name, old.name) == ("known", "n_2" if new.producer is None else old.name)
    assert again.has_made(new)
    assert not again.has_made(old)
    graph.outputs = [new]
    graph.remove(old.producer)
    again.settle_names()
    assert [(n.name, n.output.name) for n in graph.nodes] == [("n", "known")]


def test_what_does_not_go_together_names_the_node() -> None:
    _, b, x = started(2)
    with pytest.raises(GraphError, match="do not broadcast") as caught:
        b.node("add", [x, b.constant("c", floats(3))], name="sum")
    assert "node 'sum'" in str(caught.value)
    with pytest.raises(GraphError, match="no operator named 'nothing'"):
        b.node("nothing", [x])


def test_element_types_that_the_ir_lacks_are_refused() -> None:
    _, b, _ = started(1)
    with pytest.raises(GraphError, match="complex64"):
        b.constant("c", np.zeros(2, np.complex64))


def test_a_copy_shares_nothing_but_data() -> None:
    graph, b, x = started(2)
    c = b.constant("c", floats(2))
    graph.outputs = [b.node("add", [x, c]), c]
    graph.metadata["k"] = "v"
    twin = graph.copy()
    verify(twin)
    assert set(twin.values()).isdisjoint(graph.values())
    assert twin.outputs[1].data is c.data
    assert twin.metadata == graph.metadata
    assert twin.metadata is not graph.metadata


def test_further_outputs_follow_the_graphs_own() -> None:
    graph, b, x = started(2)
    inner = b.node("add", [x, x], outputs=("inner",))
    graph.outputs = [b.node("mul", [inner, x], outputs=("y",))]
    assert [v.name for v in with_outputs(graph, [inner, graph.outputs[0]]).outputs] == ["y", "inner"]
    assert [v.name for v in graph.outputs] == ["y"]


def test_consumers_count_every_read() -> None:
    graph, b, x = started(2)
    y = b.node("add", [x, x])
    graph.outputs = [y]
    assert [n.op for n in graph.consumers()[x]] == ["add", "add"]
    other = Value("other", x.type)
    graph.replace_uses(x, other)
    assert y.producer is not None
    assert y.producer.inputs == [other, other]
    graph.replace_uses(y, other)
    assert graph.outputs == [other]
    assert graph.value("other") is other
    with pytest.raises(GraphError, match="no value named 'z'"):
        graph.value("z")
