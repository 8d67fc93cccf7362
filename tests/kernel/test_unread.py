"""Results that nothing reads are not computed, if the kernel can do without them."""

from __future__ import annotations

import numpy as np
import pytest

from burnc.boards import load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.rendered import build_kernel
from burnc.ir import Builder, DType, Graph, TensorType
from burnc.kernel.analysis import parameters
from burnc.kernel.buffer import Role
from burnc.kernel.builder import KernelBuilder
from burnc.kernel.program import Kernel, Loop, Store, walk
from burnc.kernel.unread import without
from burnc.ops import operators
from burnc.ops.top_k import TopKAttrs


def recurrent(op: str, gates: int, *outputs: int) -> Graph:
    graph = Graph(op)
    b = Builder(graph, operators())
    rng = np.random.default_rng(1)
    x = b.input("x", TensorType(DType.FLOAT32, (20, 1, 3)))
    w, r = (b.constant(n, rng.normal(size=(1, 4 * gates, k)).astype(np.float32)) for n, k in (("w", 3), ("r", 4)))
    rest = {"rnn": 3, "gru": 3, "lstm": 5}[op]
    results = b.nodes(op, [x, w, r, *[None] * rest], outputs=["y", "h", "c"][: 3 if op == "lstm" else 2])
    graph.outputs = [results[i] for i in outputs]
    return graph


def largest(output: int) -> Graph:
    graph = Graph("largest")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (2, 6)))
    graph.outputs = [b.nodes("top_k", [x], TopKAttrs(3), outputs=["top", "at"])[output]]
    return graph


def kernel_of(graph: Graph, unread: int) -> tuple[Kernel, Kernel, int]:
    """As it is, and without its ``unread``-th output; how many of the outputs are gone."""
    kernel = build_kernel(graph.nodes[0])
    shorter, gone = without(kernel, [kernel.of_role(Role.OUTPUT)[unread]])
    return kernel, shorter, len(gone)


@pytest.mark.parametrize(("op", "gates"), [("rnn", 1), ("gru", 3), ("lstm", 4)])
def test_the_steps_of_a_recurrent_layer(op: str, gates: int):
    graph = recurrent(op, gates, 1)
    kernel, shorter, gone = kernel_of(graph, 0)
    assert gone == 1
    assert [b.name for b in parameters(kernel) if b not in parameters(shorter)] == ["y"]
    program = lower(graph, load_board("host"), LowerOptions(name="short"))
    assert program.left_out == set(program.graph.nodes[0].outputs[:1])
    whole = lower(recurrent(op, gates, 0, 1), load_board("host"), LowerOptions(name="whole"))
    assert whole.plan.bytes - program.plan.bytes >= 20 * 4 * 4 - 15


def test_what_the_kernel_itself_reads_stays():
    for unread in (1, 2):
        kernel, same, gone = kernel_of(recurrent("lstm", 4, 0), unread)
        assert gone == 0
        assert same is kernel


@pytest.mark.parametrize("unread", [0, 1])
def test_either_result_of_top_k(unread: int):
    kernel, shorter, gone = kernel_of(largest(1 - unread), unread)
    assert gone == 1
    assert len(parameters(shorter)) == len(parameters(kernel)) - 1


def test_locals_and_scratch_go_with_an_output():
    graph = largest(0)
    k = KernelBuilder("toy", graph.nodes[0])
    x, (top, at) = k.inputs[0], k.outputs
    assert x is not None
    places = k.scratch("places", DType.INT32, (2,))
    for (i,) in k.grid((2,), "i"):
        top[i, 0] = x[i, 0]
        last = k.local("last", 0)
        last += i
        places[i] = k.let("twice", last.value * 2)
    for (j,) in k.grid((2,), "j"):
        at[j, 0] = k.cast(places[j], DType.INT64)
    shorter, gone = without(k.build(), [at.buffer])
    assert gone == {at.buffer}
    assert parameters(shorter) == [x.buffer, top.buffer]
    statements = list(walk(shorter.body))
    assert [type(s) for s in statements] == [Loop, Store]
