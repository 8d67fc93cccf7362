"""What the kernels of the hard operators are made of, and who must not know their names."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from burnc.backends import device
from burnc.backends.numpy_reference import NumpyReference
from burnc.codegen.rendered import build_kernel
from burnc.ir import Builder, DType, Graph, QuantParams, TensorType
from burnc.kernel.analysis import expressions
from burnc.ops import operators
from burnc.ops.resize import ResizeAttrs
from burnc.ops.softmax import SoftmaxAttrs
from burnc.passes.rebatch import rebatch
from conformance.single_node import int8_subjects
from requirements import requires

PACKAGE = Path(__file__).resolve().parents[2] / "toolchain/burnc"
HARD = ("lstm", "resize", "gather", "top_k", "softmax", "fully_connected")


def test_int8_softmax_needs_no_64_bits():
    """WGSL has none, and a Cortex-M0+ pays for them."""
    (subject,) = (s for s in int8_subjects() if s.name == "softmax-0-typical")
    (node,) = subject.graph().nodes
    assert isinstance(node.attrs, SoftmaxAttrs)
    assert {e.dtype for e in expressions(build_kernel(node))} <= {DType.INT8, DType.INT32, DType.BOOL}


def test_no_importer_or_renderer_knows_their_names():
    rooms = [
        *(PACKAGE / "importers").rglob("*.py"),
        *(PACKAGE / "exporters").glob("*.py"),
        *(PACKAGE / "kernel").glob("*.py"),
    ]
    rooms += (PACKAGE.parents[1] / "host_backends/burnc_host").glob("*.py")
    names = re.compile("|".join(rf"[\"']{name}[\"']" for name in HARD))
    assert [path.name for path in rooms if names.search(path.read_text(encoding="utf-8"))] == []


def test_a_resized_batch_stays_apart():
    graph = Graph("resized")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (1, 2, 2, 1)))
    graph.outputs = [b.node("resize", [x], ResizeAttrs((1, 4, 3, 1), (), "linear"), outputs=["y"])]
    arrays = np.random.default_rng(0).normal(size=(3, 2, 2, 1)).astype(np.float32)
    single = NumpyReference().compile(graph)
    together = NumpyReference().compile(rebatch(graph, 3)).run({"x": arrays})["y"]
    np.testing.assert_array_equal(together, np.concatenate([single.run({"x": a[None]})["y"] for a in arrays]))


@pytest.mark.parametrize("name", ["numpy", pytest.param("c", marks=requires("host compiler"))])
def test_odd_indices_and_nans(name: str):
    """Indices beyond both ends, and NaNs, have one result."""
    quant = QuantParams.per_tensor(1.0)
    graph = Graph("odd")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.INT8, (4,), quant))
    at = b.constant("at", np.array([-9, -4, -1, 0, 3, 4, 2**40], np.int64))
    real = b.input("real", TensorType(DType.FLOAT32, (6,)))
    values, order = b.nodes("top_k", [real], operators()["top_k"].attrs(6), outputs=["values", "order"])
    graph.outputs = [b.node("gather", [x, at], outputs=["y"], quant=quant), values, order]
    inputs = {"x": np.array([1, 2, 3, 4], np.int8), "real": np.array([1, np.nan, -np.inf, 7, np.nan, 1], np.float32)}
    results = device(name).compile(graph).run(inputs)
    assert results["y"].tolist() == [1, 1, 4, 1, 4, 4, 4]
    assert results["order"].tolist() == [1, 4, 3, 0, 5, 2]
