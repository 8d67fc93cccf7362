"""The ``cuda`` backend without a GPU: its kernels run on the CPU through a stand-in, and NVRTC compiles them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from backends.test_state import GRAPHS as STATEFUL
from backends.test_state import same, stream
from burnc.backends.model_inputs import random_inputs
from burnc.backends.numpy_reference import NumpyReference
from burnc.codegen.cuda_source import cuda_source
from burnc.codegen.launches import plan_launches
from burnc.errors import BurncError, ToolMissingError
from burnc.ir import Graph
from burnc.kernel.cuda import OPTIONS
from conformance.check import differences
from gpu import cupy_on_cpu
from gpu.nine_models import FLOAT, INT8, float_graph, int8_graph
from requirements import requires

pytestmark = requires("nvrtc", "c++ compiler")

GRAPHS = {f"{p.stem}-int8": (int8_graph, p) for p in (*INT8, *FLOAT)}
GRAPHS |= {f"{p.stem}-float": (float_graph, p) for p in FLOAT}


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Any:
    return cupy_on_cpu.install(monkeypatch)


@pytest.mark.parametrize("name", GRAPHS)
def test_model_equals_reference(name: str, cuda: Any):
    make, path = GRAPHS[name]
    graph = make(path)
    got = cuda.CudaBackend().compile(graph)
    assert differences(got, NumpyReference().compile(graph), random_inputs(graph, 2)) == []


@pytest.mark.parametrize("name", GRAPHS)
def test_nvrtc_compiles_model(name: str):
    from burnc_host.nvrtc import compile_cubin

    make, path = GRAPHS[name]
    source, names = cuda_source(plan_launches(make(path)).order)
    for architecture in ("sm_75", "sm_90"):
        cubin = compile_cubin(source, architecture)
        assert cubin.startswith(b"\x7fELF")
        assert [n for n in set(names) if n.encode() not in cubin] == []


def test_floats_are_neither_contracted_nor_flushed():
    from cuda.bindings import nvrtc

    source, _ = cuda_source(plan_launches(float_graph(FLOAT[1])).order)
    _, program = nvrtc.nvrtcCreateProgram(source.encode(), b"kernels.cu", 0, [], [])
    options = [option.encode() for option in ("-arch=compute_90", *OPTIONS)]
    nvrtc.nvrtcCompileProgram(program, len(options), options)
    _, size = nvrtc.nvrtcGetPTXSize(program)
    text = b" " * size
    nvrtc.nvrtcGetPTX(program, text)
    instructions = set(re.findall(r"\b(?:add|mul|fma|div)\.[a-z.]*f32\b", text.decode()))
    assert instructions == {"add.rn.f32", "mul.rn.f32", "div.rn.f32"}


def test_nvrtc_says_what_is_wrong():
    from burnc_host.nvrtc import compile_cubin

    with pytest.raises(BurncError, match=r"kernels.cu\(1\): error"):
        compile_cubin("nonsense\n", "sm_90")


def test_inner_values_are_kept(cuda: Any):
    graph: Graph = int8_graph(INT8[0])
    keep = [node.output for node in graph.nodes if node.output not in graph.outputs]
    executables = [backend.compile(graph, keep=keep) for backend in (cuda.CudaBackend(), NumpyReference())]
    assert differences(*executables, random_inputs(graph, 1)) == []


@pytest.mark.parametrize("name", STATEFUL)
def test_state_is_kept_and_reset(name: str, cuda: Any):
    wanted = stream(NumpyReference().compile(STATEFUL[name]))
    executable = cuda.CudaBackend().compile(STATEFUL[name])
    assert same(stream(executable), wanted)
    executable.reset()
    assert same(stream(executable), wanted)


def test_no_gpu_is_one_line(monkeypatch: pytest.MonkeyPatch):
    module = cupy_on_cpu.install(monkeypatch, devices=0)
    with pytest.raises(ToolMissingError, match="CUDA finds no GPU"):
        module.CudaBackend()


@pytest.mark.parametrize(("argument", "error"), [("1", ToolMissingError), ("first", BurncError)])
def test_a_gpu_that_is_not_there(argument: str, error: type[BurncError], cuda: Any):
    with pytest.raises(error, match=argument):
        cuda.CudaBackend(argument)
