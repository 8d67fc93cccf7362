"""Cutting kernels into stages, and that cut kernels compute what they did whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from burnc.backends import device
from burnc.codegen.rendered import build_kernel
from burnc.errors import GraphError, UnsupportedError
from burnc.ir import DType, Graph, TensorType
from burnc.kernel.stages import cut_stages, in_turn
from gpu import cupy_on_cpu
from gpu.toy_kernels import toy_graph
from requirements import requires, requires_package

X = np.arange(12, dtype=np.int32).reshape(3, 4)
SAME = TensorType(DType.INT32, X.shape)


def stages_of(body: Any) -> list[Any]:
    (node,) = toy_graph({"x": X}, SAME, body).nodes
    return cut_stages(build_kernel(node))


def two_stages(k: Any, x: Any, y: Any) -> None:
    """Each element plus the one at the other end of its row, by way of scratch."""
    held = k.scratch("held", DType.INT32, X.shape)
    for i, j in k.grid(X.shape):
        held[i, j] = x.raw(i, j) * 2
    k.barrier()
    for i, j in k.grid(X.shape):
        y[i, j] = held.raw(i, 3 - j) + x.raw(i, j)


def running_sum(k: Any, x: Any, y: Any) -> None:
    """Row after row, each the sum of those above it: a barrier inside a sequential loop."""
    total = k.scratch("total", DType.INT32, (4,))
    for (j,) in k.grid((4,)):
        total[j] = 0
    k.barrier()
    for (i,) in k.reduce((3,)):
        for (j,) in k.grid((4,)):
            total[j] = total.raw(j) + x.raw(i, j)
        k.barrier()
        for (j,) in k.grid((4,)):
            y[i, j] = total.raw(3 - j)
        k.barrier()


def named_outside(k: Any, x: Any, y: Any) -> None:
    """A name from outside the grid is computed again by each thread that uses it."""
    first = k.let("first", x.raw(0, 1))
    second = k.let("second", first + x.raw(2, 3))
    for i, j in k.grid(X.shape):
        y[i, j] = x.raw(i, j) * second


def one_thread(k: Any, x: Any, y: Any) -> None:
    """No parallel loop at all."""
    total = k.local("total", 0)
    for i, j in k.reduce(X.shape):
        total += x.raw(i, j)
        y[i, j] = total.value


EXPECTED = {
    two_stages: 2 * X[:, ::-1] + X,
    running_sum: np.cumsum(X, axis=0)[:, ::-1],
    named_outside: X * 12,
    one_thread: np.cumsum(X).reshape(3, 4),
}


@requires("host compiler")
@pytest.mark.parametrize("body", EXPECTED, ids=lambda b: b.__name__)
def test_c_computes_it_whole(body: Any):
    assert_computes(device("c"), body)


@requires_package("wgpu")
@requires("vulkan")
@pytest.mark.parametrize("body", EXPECTED, ids=lambda b: b.__name__)
def test_webgpu_computes_it_cut(body: Any):
    assert_computes(device("webgpu"), body)


@requires("nvrtc", "c++ compiler")
@pytest.mark.parametrize("body", EXPECTED, ids=lambda b: b.__name__)
def test_cuda_computes_it_cut(body: Any, monkeypatch: pytest.MonkeyPatch):
    assert_computes(cupy_on_cpu.install(monkeypatch).CudaBackend(), body)


def assert_computes(backend: Any, body: Any) -> None:
    executable = backend.compile(toy_graph({"x": X}, SAME, body))
    for _ in range(2):  # a second run finds what the first has left in scratch
        np.testing.assert_array_equal(executable.run({"x": X})["y"], EXPECTED[body])


def test_grids_and_turns():
    first, *turned = stages_of(running_sum)
    assert [loop.extent for loop in first.grid] == [4]
    assert first.turned == ()
    assert [[loop.extent for loop in stage.turned] for stage in turned] == [[3], [3]]
    order = [(turned.index(stage), at) for stage, at in in_turn(turned)]
    assert order == [(0, (0,)), (1, (0,)), (0, (1,)), (1, (1,)), (0, (2,)), (1, (2,))]


def test_a_stage_has_only_its_own_buffers():
    first, second = stages_of(two_stages)
    assert [b.name for b in first.buffers] == ["x0", "held"]
    assert [b.name for b in second.buffers] == ["x0", "y", "held"]
    assert (first.threads, second.threads) == (12, 12)


def a_changing_local(k: Any, x: Any, y: Any) -> None:
    total = k.local("total", 0)
    for i, j in k.reduce(X.shape):
        total += x.raw(i, j)
    for i, j in k.grid(X.shape):
        y[i, j] = total.value


def a_name_for_a_result(k: Any, x: Any, y: Any) -> None:
    for i, j in k.grid(X.shape):
        y[i, j] = x.raw(i, j)
    k.barrier()
    last = k.let("last", y.raw(2, 3))
    for (j,) in k.grid((4,)):
        y[0, j] = last


def a_barrier_in_a_grid(k: Any, x: Any, y: Any) -> None:
    for i, j in k.grid(X.shape):
        y[i, j] = x.raw(i, j)
        k.barrier()


def a_grid_under_a_condition(k: Any, x: Any, y: Any) -> None:
    with k.when(x.raw(0, 0) > 0):
        for i, j in k.grid(X.shape):
            y[i, j] = x.raw(i, j)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (a_changing_local, "'total' goes from one stage to another"),
        (a_name_for_a_result, "'last' goes from one stage to another"),
        (a_barrier_in_a_grid, "a barrier stands inside a parallel loop"),
        (a_grid_under_a_condition, "stands under a condition"),
    ],
    ids=lambda b: getattr(b, "__name__", ""),
)
def test_what_cannot_be_cut_is_said(body: Any, message: str):
    with pytest.raises(GraphError, match=message):
        stages_of(body)


@requires_package("wgpu")
@requires("vulkan")
def test_a_backend_lists_what_it_cannot_run():
    graph: Graph = toy_graph({"x": X}, SAME, a_barrier_in_a_grid)
    with pytest.raises(UnsupportedError, match=r"node 'y'  toy  a barrier stands inside a parallel loop"):
        device("webgpu").compile(graph)
