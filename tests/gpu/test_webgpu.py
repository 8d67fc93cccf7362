"""The nine models on WebGPU, and what the backend says where it cannot run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burnc.backends import device
from burnc.backends.model_inputs import random_inputs
from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import BurncError, UnsupportedError
from burnc.ir import DType, Graph, TensorType
from conformance.check import differences
from gpu.nine_models import FLOAT, INT8, float_graph, int8_graph
from gpu.toy_kernels import elementwise, toy_graph
from requirements import requires, requires_package

pytestmark = [requires_package("wgpu"), requires("vulkan")]


@pytest.mark.parametrize("path", [*INT8, *FLOAT], ids=lambda p: p.stem)
def test_int8_model_is_bit_exact(path: Path):
    graph = int8_graph(path)
    inputs = random_inputs(graph, 2)
    assert differences(device("webgpu").compile(graph), NumpyReference().compile(graph), inputs) == []


@pytest.mark.parametrize("path", FLOAT, ids=lambda p: p.stem)
def test_float_model_is_within_tolerance(path: Path):
    graph = float_graph(path)
    inputs = random_inputs(graph, 2)
    assert differences(device("webgpu").compile(graph), NumpyReference().compile(graph), inputs) == []


def test_inner_values_are_kept():
    graph = int8_graph(INT8[0])
    keep = [node.output for node in graph.nodes if node.output not in graph.outputs]
    executables = [backend.compile(graph, keep=keep) for backend in (device("webgpu"), NumpyReference())]
    assert differences(*executables, random_inputs(graph, 1)) == []


def test_more_arrays_than_the_gpu_binds():
    backend: Any = device("webgpu")
    most = backend._gpu.limits["max-storage-buffers-per-shader-stage"]
    ones = np.ones(1, np.int32)

    def total(k: Any, *tensors: Any) -> None:
        *operands, y = tensors
        acc = k.local("acc", 0)
        for operand in operands:
            acc += operand.raw(0)
        y[0] = acc.value

    def graph(count: int) -> Graph:
        return toy_graph({f"x{i}": ones for i in range(count)}, TensorType(DType.INT32, (1,)), total)

    fitting = graph(most - 1)
    assert backend.compile(fitting).run({v.name: ones for v in fitting.inputs})["y"] == most - 1
    with pytest.raises(UnsupportedError, match=f"takes {most + 1} arrays, this GPU binds {most} at once"):
        backend.compile(graph(most))


def test_a_grid_larger_than_one_dimension_of_workgroups():
    x = np.arange(65535 * 64 + 1000, dtype=np.int32)
    graph, inputs = elementwise({"x": x}, DType.INT32, lambda _, v: v + 1)
    np.testing.assert_array_equal(device("webgpu").compile(graph).run(inputs)["y"], x + 1)


def test_an_argument_is_refused():
    with pytest.raises(BurncError, match="takes no argument"):
        device("webgpu:0")


def test_no_adapter_is_one_line():
    program = (
        "from burnc.backends import device\n"
        "from burnc.errors import ToolMissingError\n"
        "try: device('webgpu')\n"
        "except ToolMissingError as error: print(error)\n"
    )
    # A Vulkan loader that finds no driver.
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"VK_DRIVER_FILES": "/nowhere", "VK_ICD_FILENAMES": "/nowhere"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("WebGPU finds no graphics adapter on this computer\n  next:")
    assert done.stderr == ""
