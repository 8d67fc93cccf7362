from __future__ import annotations

import numpy as np

from burnc.ir import Builder, DType, Graph, TensorType, Value, verify
from burnc.ops import operators
from burnc.passes.drop_identity import DropIdentity

TYPE = TensorType(DType.FLOAT32, (2,))


def start() -> tuple[Graph, Builder, Value]:
    graph = Graph("net")
    b = Builder(graph, operators())
    return graph, b, b.input("x", TYPE)


def test_inner_identity_disappears() -> None:
    graph, b, x = start()
    copy = b.node("identity", [x], outputs=["copy"])
    graph.outputs = [b.node("abs", [copy], outputs=["y"])]
    assert DropIdentity().run(graph) == 1
    verify(graph)
    assert [(n.op, n.input(0).name) for n in graph.nodes] == [("abs", "x")]


def test_output_gives_its_name_to_what_it_copies() -> None:
    graph, b, x = start()
    inner = b.node("abs", [x], outputs=["inner"])
    graph.outputs = [b.node("identity", [inner], outputs=["y"]), b.node("neg", [inner], outputs=["z"])]
    assert DropIdentity().run(graph) == 1
    verify(graph)
    assert [v.name for v in graph.outputs] == ["y", "z"]
    assert [(n.op, n.input(0).name) for n in graph.nodes] == [("abs", "x"), ("neg", "y")]


def test_names_of_inputs_constants_and_other_outputs_stay() -> None:
    graph, b, x = start()
    inner = b.node("abs", [x], outputs=["inner"])
    held = b.constant("w", np.ones(2, np.float32))
    copies = [b.node("identity", [v], outputs=[f"copy of {v.name}"]) for v in (x, inner, held)]
    graph.outputs = [inner, *copies]
    assert DropIdentity().run(graph) == 0
    assert [n.op for n in graph.nodes] == ["abs", "identity", "identity", "identity"]


def test_nodes_read_past_an_identity_that_stays() -> None:
    graph, b, x = start()
    copy = b.node("identity", [x], outputs=["copy"])
    graph.outputs = [copy, b.node("add", [copy, copy], outputs=["y"])]
    assert DropIdentity().run(graph) == 1
    verify(graph)
    assert [[v.name for v in n.present_inputs] for n in graph.nodes] == [["x"], ["x", "x"]]
    assert DropIdentity().run(graph) == 0
