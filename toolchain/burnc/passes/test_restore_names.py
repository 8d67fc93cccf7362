from __future__ import annotations

import json
from typing import Any

import pytest

from burnc.ir import Builder, DType, Graph, TensorType
from burnc.ir.metadata import NAMES
from burnc.ops import operators
from burnc.ops.clip import ClipAttrs
from burnc.passes.restore_names import RestoreNames


def chain(record: Any) -> Graph:
    graph = Graph("net")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (2,)))
    h = b.node("clip", [x], ClipAttrs(0.0), name="a", outputs=["h"])
    graph.outputs = [b.node("clip", [h], ClipAttrs(1.0), name="b", outputs=["y"])]
    graph.metadata[NAMES] = record if isinstance(record, str) else json.dumps(record)
    return graph


def names(graph: Graph) -> list[str]:
    return [n.name for n in graph.nodes] + [v.name for v in graph.values()]


def test_names_and_roundings_come_back() -> None:
    nodes = [["clip", "first", "single", ["hidden"]], ["clip", "second", "tflm", ["anything"]]]
    graph = chain({"constants": [], "nodes": nodes, "dataflow": [0, 1]})
    assert RestoreNames().run(graph) == 1
    assert names(graph) == ["first", "second", "x", "hidden", "y"]
    assert [n.rounding for n in graph.nodes] == ["single", "tflm"]
    assert NAMES not in graph.metadata


@pytest.mark.parametrize(
    "record",
    [
        "",
        "{",
        "[" * 100_000,
        [],
        {"constants": [], "nodes": [], "dataflow": []},
        {"constants": ["w"], "nodes": [["clip", "a", "tflm", ["h"]], ["clip", "b", "tflm", ["y"]]], "dataflow": [0, 1]},
        {"constants": [], "nodes": [["clip", "a", "tflm", ["h"]], ["add", "b", "tflm", ["y"]]], "dataflow": [0, 1]},
        {"constants": [], "nodes": [["clip", "n", "tflm", ["h"]], ["clip", "n", "tflm", ["y"]]], "dataflow": [0, 1]},
        {"constants": [], "nodes": [["clip", "n", "tflm", ["x"]], ["clip", "m", "tflm", ["y"]]], "dataflow": [0, 1]},
        {"constants": [], "nodes": [["clip", "n", "odd", ["h"]], ["clip", "m", "tflm", ["y"]]], "dataflow": [0, 1]},
        {"constants": [], "nodes": [["clip", 1, "tflm", ["h"]], ["clip", "m", "tflm", ["y"]]], "dataflow": [0, 1]},
        {"constants": [], "nodes": [["clip", "n", "tflm", ["h"]], ["clip", "m", "tflm", ["y"]]]},
        {"constants": [], "nodes": [["clip", "n", "tflm", ["h"]], ["clip", "m", "tflm", ["y"]]], "dataflow": [1, 0]},
        {"constants": [], "nodes": [["clip", "n", "tflm", ["h"]], ["clip", "m", "tflm", ["y"]]], "dataflow": [0, 0]},
        {"constants": [], "nodes": [["clip", "n", "tflm", ["h"]], ["clip", "m", "tflm", ["y"]]], "dataflow": [0]},
        {"constants": [], "nodes": [["clip", "n", "tflm", []], ["clip", "m", "tflm", ["y"]]], "dataflow": [0, 1]},
    ],
)
def test_record_that_does_not_fit_changes_nothing(record: Any) -> None:
    graph = chain(record)
    assert RestoreNames().run(graph) == 0
    assert names(graph) == ["a", "b", "x", "h", "y"]
    assert NAMES not in graph.metadata


def test_order_of_independent_nodes_comes_back() -> None:
    graph = Graph("net")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (2,)))
    late = b.node("neg", [x], name="b", outputs=["late"])
    early = b.node("abs", [x], name="a", outputs=["early"])
    graph.outputs = [late, early]
    nodes = [["abs", "a", "tflm", ["early"]], ["neg", "b", "tflm", ["late"]]]
    graph.metadata[NAMES] = json.dumps({"constants": [], "nodes": nodes, "dataflow": [1, 0]})
    assert RestoreNames().run(graph) == 1
    assert [n.op for n in graph.nodes] == ["abs", "neg"]
