"""Faults that other projects had with operators that work element by element; named by the case's id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burnc.backends import device
from burnc.backends.numpy_reference import NumpyReference
from burnc.boards import load_board
from burnc.codegen.emit_c import emit_c
from burnc.codegen.lower import LowerOptions, lower
from burnc.importers.onnx import import_onnx
from burnc.ir import Graph
from burnc.ops.clip import ClipAttrs
from burnc.passes import canonical_passes, run_passes
from cases.run_model import run_node
from conformance.check import disagreement
from oracles.float_onnx import single_node_model

F32 = np.float32


def imported(op_type: str, inputs: dict[str, Any], constants: dict[str, Any] | None = None, **rest: Any) -> Graph:
    graph = import_onnx(single_node_model(op_type, inputs, constants or {}, **rest))
    run_passes(graph, canonical_passes())
    return graph


def through_c(graph: Graph, inputs: dict[str, Any]) -> Any:
    """What the rendered C computes, having been compared with the reference."""
    (got,) = device("c:rendered").compile(graph).run(inputs).values()
    (wanted,) = NumpyReference().compile(graph).run(inputs).values()
    assert disagreement(got, wanted) == []
    return got


def test_u031_operands_of_different_ranks():
    a, b = np.arange(6, dtype=F32).reshape(2, 3), np.array([3, 2, 1], F32)
    assert run_node("Max", {"a": a, "b": b}).tolist() == [[3, 2, 2], [3, 4, 5]]
    c, d = np.arange(6, dtype=F32).reshape(2, 1, 3), np.array([[1], [4]], F32)
    assert run_node("Min", {"c": c, "d": d}).shape == (2, 2, 3)
    assert run_node("Pow", {"a": a}, {"two": np.array(2, F32)}).tolist() == (a * a).tolist()
    assert run_node("Pow", {"a": a + 1, "b": b}).shape == (2, 3)
    assert run_node("Mean", {"a": a, "b": b, "c": c}).shape == (2, 2, 3)


def test_u062_clip_limits():
    x = np.array([-9, 0, 5, 9], F32)
    six, zero = np.array(6, F32), np.array(0, F32)
    assert run_node("Clip", {"x": x}, {"m": six}, order=["x", "", "m"]).tolist() == [-9, 0, 5, 6]
    assert run_node("Clip", {"x": x}, {"m": zero}, order=["x", "m"]).tolist() == [0, 0, 5, 9]
    whole = {"x": x.astype(np.int32)}
    assert run_node("Clip", whole, {"m": np.array(6, np.int32)}, order=["x", "", "m"]).tolist() == [-9, 0, 5, 6]
    assert run_node("Clip", {"x": x}, opset=6, oracle=False, min=0.0, max=6.0).tolist() == [0, 0, 5, 6]
    graph = import_onnx(single_node_model("Clip", {"x": x}, opset=6, min=0.0, max=6.0))
    assert [node.attrs for node in graph.nodes] == [ClipAttrs(0.0, 6.0)]  # which is what Relu6 is


@pytest.mark.parametrize(
    ("slope", "wanted"),
    [(np.array([[[0.5]], [[0.25]]], F32), [-0.5, -1, -0.75, -1]), (np.array([0.5], F32), [-0.5, -1, -1.5, -2])],
)
def test_u065_slope_shapes(slope: Any, wanted: list[float]):
    x = np.array([-1, -2, -3, -4], F32).reshape(1, 2, 1, 2)
    assert run_node("PRelu", {"x": x}, {"slope": slope}).ravel().tolist() == wanted
    assert through_c(imported("PRelu", {"x": x}, {"slope": slope}), {"x": x}).ravel().tolist() == wanted


def test_u073_operands_without_dimensions():
    x = np.arange(1, 5, dtype=F32).reshape(2, 2)
    assert run_node("Div", {"x": x}, {"two": np.array(2, F32)}).ravel().tolist() == [0.5, 1, 1.5, 2]
    graph = imported("Div", {"x": x}, {"two": np.array(2, F32)})
    assert through_c(graph, {"x": x}).ravel().tolist() == [0.5, 1, 1.5, 2]


def test_u074_a_divisor_behind_a_pointer():
    x, b = np.arange(1, 5, dtype=F32).reshape(2, 2), np.array(2, F32)
    graph = imported("Div", {"x": x, "b": b})
    text = "".join(emit_c(lower(graph, load_board("host"), LowerOptions(name="quotient"))).values())
    assert "/*" not in text.replace("/* ", "").replace("/*\n", "")  # what opens a comment is followed by a blank
    assert through_c(graph, {"x": x, "b": b}).ravel().tolist() == [0.5, 1, 1.5, 2]


@pytest.mark.parametrize("op_type", ["Sigmoid", "Tanh", "Softmax", "Gelu", "Elu", "Softplus"])
def test_u142_floats_are_never_doubles(op_type: str):
    """Neither double nor a math library: the runtime's own functions, which are float throughout."""
    graph = imported(op_type, {"x": np.zeros((2, 5), F32)})
    files = emit_c(lower(graph, load_board("host"), LowerOptions(name="net", rendered_only=True)))
    text = "".join(files.values())
    assert "double" not in text
    assert "math.h>" not in text
    assert Path("net_float_math.h").name in files


def test_u152_tanh_of_large_numbers():
    x = np.array([-100, -20, 0, 20, 100], F32)
    assert run_node("Tanh", {"x": x}).tolist() == [-1, -1, 0, 1, 1]
    assert through_c(imported("Tanh", {"x": x}), {"x": x}).tolist() == [-1, -1, 0, 1, 1]


def test_u154_halves_round_to_even():
    x = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5], F32)
    assert run_node("Round", {"x": x}).tolist() == [-2, -2, 0, 0, 2, 2]
    y = through_c(imported("Round", {"x": x}), {"x": x})
    assert y.tolist() == [-2, -2, 0, 0, 2, 2]
    assert np.signbit(y[2])
