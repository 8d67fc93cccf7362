from __future__ import annotations

import numpy as np

from burnc.ir import DType, Graph, Node, Pattern, TensorType, Value, anything, const, maybe, op
from burnc.ops.clip import ClipAttrs
from passes.rewriting import floats, started


def match(pattern: Pattern, graph: Graph, value: Value) -> list[str] | None:
    """Operators of the matched chain that ends in the value, or None."""
    assert value.producer is not None
    found = pattern.match(value.producer, graph, graph.consumers())
    return None if found is None else [n.op for n in found.nodes]


CHAIN = op("add", "x", const("c")) >> op("clip")


def test_operands_are_captured_by_name() -> None:
    graph, b, x = started(2)
    c = b.constant("c", floats(2))
    y = b.node("clip", [b.node("add", [x, c])], ClipAttrs(0.0))
    assert y.producer is not None
    found = CHAIN.match(y.producer, graph, graph.consumers())
    assert found is not None
    assert (found["x"], found["c"], found.last) == (x, c, y.producer)


def test_operators_and_constants_must_be_as_said() -> None:
    graph, b, x = started(2)
    assert match(CHAIN, graph, b.node("clip", [b.node("mul", [x, b.constant("c", floats(2))])])) is None
    assert match(CHAIN, graph, b.node("clip", [b.node("add", [x, x])])) is None
    assert match(CHAIN, graph, b.node("clip", [x])) is None
    assert match(op("clip", anything("v")), graph, b.node("clip", [x])) == ["clip"]


def test_optional_operands_may_be_absent_but_not_of_another_kind() -> None:
    graph, b, x = started(1, 3)
    w = b.constant("w", floats(2, 3))
    pattern = op("fully_connected", "x", const("w"), maybe(const("b")))
    bias = b.input("bias", TensorType(DType.FLOAT32, (2,)))
    assert match(pattern, graph, b.node("fully_connected", [x, w])) is not None
    assert match(pattern, graph, b.node("fully_connected", [x, w, None])) is not None
    assert match(pattern, graph, b.node("fully_connected", [x, w, b.constant("b", floats(2))])) is not None
    assert match(pattern, graph, b.node("fully_connected", [x, w, bias])) is None
    assert match(op("fully_connected", "x", "w", "b"), graph, b.node("fully_connected", [x, w])) is None


def test_a_value_between_links_has_one_reader_and_is_no_output() -> None:
    graph, b, x = started(2)
    inner = b.node("add", [x, b.constant("c", floats(2))])
    y = b.node("clip", [inner])
    assert match(CHAIN, graph, y) == ["add", "clip"]
    graph.outputs = [y, inner]
    assert match(CHAIN, graph, y) is None
    graph.outputs = [y]
    b.node("mul", [inner, x])
    assert match(CHAIN, graph, y) is None


def test_one_reader_that_reads_it_twice_is_two() -> None:
    graph, b, x = started(2)
    inner = b.node("clip", [x])
    assert match(op("clip") >> op("add"), graph, b.node("add", [inner, inner])) is None


def test_the_last_result_may_be_read_by_many() -> None:
    graph, b, x = started(2)
    y = b.node("clip", [b.node("add", [x, b.constant("c", floats(2))])])
    graph.outputs = [y, b.node("mul", [y, y])]
    assert match(CHAIN, graph, y) == ["add", "clip"]


def test_a_chain_goes_along_first_inputs_and_single_results() -> None:
    graph, b, x = started(2)
    inner = b.node("clip", [x])
    assert match(op("clip") >> op("add"), graph, b.node("add", [x, inner])) is None
    graph, b, x = started(2)
    y = b.node("add", [b.node("clip", [x]), x])
    assert y.producer is not None
    first = y.producer.input(0).producer
    assert first is not None
    two = Node(first.operator, first.attrs, first.inputs, [*first.outputs, Value("second", x.type)], "two")
    assert match(op("clip") >> op("add"), graph, y) is None
    y.producer.inputs[0] = two.outputs[1]
    assert match(op("clip") >> op("add"), graph, y) is None


def test_a_name_that_stands_twice_is_one_value() -> None:
    graph, b, x = started(2)
    z = b.constant("z", np.zeros(2, np.float32))
    assert match(op("add", "v", "v"), graph, b.node("add", [x, x])) == ["add"]
    assert match(op("add", "v", "v"), graph, b.node("add", [x, z])) is None
    pattern = op("add", "x", "v") >> op("mul", "v")
    assert match(pattern, graph, b.node("mul", [b.node("add", [x, z]), z])) == ["add", "mul"]
    assert match(pattern, graph, b.node("mul", [b.node("add", [x, z]), x])) is None
