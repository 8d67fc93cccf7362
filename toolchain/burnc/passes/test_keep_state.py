from __future__ import annotations

import numpy as np

from burnc.backends import device
from burnc.ir import Array, Builder, DType, Graph, TensorType, verify
from burnc.ops import operators
from burnc.passes.keep_state import KeepState


def recurrent(length: int, initial: Array | None = None) -> Graph:
    graph = Graph("recurrent")
    b = Builder(graph, operators())
    rng = np.random.default_rng(3)
    x = b.input("x", TensorType(DType.FLOAT32, (length, 1, 3)))
    w, r, bias = (b.constant(n, rng.normal(size=s).astype(np.float32)) for n, s in SHAPES.items())
    start = None if initial is None else b.constant("h0", initial)
    graph.outputs = [b.nodes("lstm", [x, w, r, bias, None, start, None, None], name="lstm", outputs=["y"])[0]]
    return graph


SHAPES = {"w": (1, 8, 3), "r": (1, 8, 2), "b": (1, 16)}
ZEROS = np.zeros((1, 1, 2), np.float32)


def test_pieces_of_a_stream_give_what_the_whole_gives() -> None:
    x = np.random.default_rng(4).normal(size=(6, 1, 3)).astype(np.float32)
    whole = device("numpy").compile(recurrent(6)).run({"x": x})["y"]
    graph = recurrent(2)
    assert KeepState().run(graph) == 2
    verify(graph)
    executable = device("numpy").compile(graph)
    pieces = [executable.run({"x": x[i : i + 2]})["y"] for i in (0, 2, 4)]
    np.testing.assert_allclose(np.concatenate(pieces), whole, rtol=1e-5, atol=1e-6)


def test_a_constant_zero_is_no_initial_value() -> None:
    graph = recurrent(1, ZEROS)
    assert KeepState().run(graph) == 2
    assert [state.name for state in graph.states] == ["lstm.state1", "lstm.state2"]


def test_another_initial_value_stays() -> None:
    graph = recurrent(1, ZEROS + 1)
    assert KeepState().run(graph) == 1
    assert KeepState().run(graph) == 0  # the cell is kept already
