"""What tests of passes share: small ONNX models and graphs, run before and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper

from burnc.backends.numpy_reference import NumpyReference
from burnc.importers.onnx import import_onnx
from burnc.ir import Array, Builder, DType, Graph, QuantParams, TensorType, Value, verify
from burnc.ops import operators
from burnc.passes import Pass, canonical_passes, run_passes


def floats(*shape: int, seed: int = 0, low: float = -1.0, high: float = 1.0) -> Array:
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def started(*shape: int, quant: QuantParams | None = None) -> tuple[Graph, Builder, Value]:
    """A graph with one input x, float or int8, and a builder for it."""
    graph = Graph("net")
    b = Builder(graph, operators())
    return graph, b, b.input("x", TensorType(DType.FLOAT32 if quant is None else DType.INT8, shape, quant))


def inputs_of(graph: Graph, seed: int = 0) -> dict[str, Array]:
    """Random numbers for the inputs of a graph."""
    rng = np.random.default_rng(seed)
    return {
        v.name: rng.uniform(-2, 2, v.type.shape).astype(np.float32)
        if v.type.dtype.is_float
        else rng.integers(-128, 128, v.type.shape).astype(v.type.dtype.numpy)
        for v in graph.inputs
    }


def run(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Results by name, computed by the numpy reference."""
    return NumpyReference().compile(graph).run(inputs)


def changed(passes: Pass | Sequence[Pass], graph: Graph, outputs: Sequence[Value]) -> int:
    """Run passes over a graph, of which no result may change; in how many places they did something."""
    graph.outputs = list(outputs)
    verify(graph)
    inputs = inputs_of(graph)
    before = run(graph, inputs)
    count = sum(c.count for c in run_passes(graph, passes if isinstance(passes, Sequence) else [passes]))
    verify(graph)
    assert_alike(run(graph, inputs), before)
    return count


def assert_alike(got: Mapping[str, Array], expected: Mapping[str, Array]) -> None:
    """The same names, shapes and numbers; floats may differ by the order of their sums."""
    assert list(got) == list(expected)
    for name, wanted in expected.items():
        assert (got[name].shape, got[name].dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(got[name], wanted, rtol=2e-5, atol=2e-5)


def ops_of(graph: Graph) -> list[str]:
    return [n.op for n in graph.nodes]


def counted(graph: Graph) -> Counter[str]:
    return Counter(ops_of(graph))


def onnx_model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Sequence[int]],
    outputs: Sequence[str],
    constants: Mapping[str, Array],
    opset: int = 21,
) -> onnx.ModelProto:
    """A model of float inputs."""
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s) for n, s in inputs.items()],
        [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, None) for n in outputs],
        [numpy_helper.from_array(a, n) for n, a in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def run_onnxruntime(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Results by name, without onnxruntime's own rewrites."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, dict(inputs)), strict=True))


def canonical(model: onnx.ModelProto) -> Graph:
    """The model in canonical form, which gives what onnxruntime makes of the file as it stands."""
    graph = import_onnx(model)
    run_passes(graph, canonical_passes())
    inputs = inputs_of(graph)
    assert_alike(run(graph, inputs), run_onnxruntime(model, inputs))
    return graph
