"""The nine models on WebGPU, and what the backend says where it cannot run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from burnc.backends import device
from burnc.backends.model_inputs import random_inputs
from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import BurncError
from conformance.check import differences
from gpu.nine_models import FLOAT, INT8, float_graph, int8_graph
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
