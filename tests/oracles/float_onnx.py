"""onnxruntime as the oracle of float meaning: hand-written ONNX nodes, or a graph through burnc's own exporter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from burnc.ir import Array, Graph

OPSET = 21


def single_node_model(
    op_type: str,
    inputs: Mapping[str, Array],
    constants: Mapping[str, Array] | None = None,
    order: Sequence[str] | None = None,
    opset: int = OPSET,
    **attributes: Any,
) -> onnx.ModelProto:
    """A model of one node named ``node`` with output ``y``; ``order`` lists its operands ('' for an absent one)."""
    constants = constants or {}
    operands = list(order) if order is not None else [*inputs, *constants]
    node = helper.make_node(op_type, operands, ["y"], name="node", **attributes)
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), list(a.shape))
        for name, a in inputs.items()
    ]
    initializers = [numpy_helper.from_array(a, name) for name, a in constants.items()]
    graph = helper.make_graph([node], "single", declared, [_untyped("y")], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    inferred: onnx.ModelProto = onnx.shape_inference.infer_shapes(model, strict_mode=False)
    result = inferred.graph.output[0].type
    if not result.HasField("tensor_type"):  # the node is wrong on purpose
        result.tensor_type.elem_type = declared[0].type.tensor_type.elem_type
    return inferred


def _untyped(name: str) -> onnx.ValueInfoProto:
    info = onnx.ValueInfoProto()
    info.name = name
    return info


def run_onnx(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> list[Array]:
    """What onnxruntime computes, without its own rewrites."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return [np.asarray(y) for y in session.run(None, dict(inputs))]


def run_graph(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """A float graph, exported to ONNX and run by onnxruntime."""
    from burnc.exporters.onnx import export_onnx

    results = run_onnx(export_onnx(graph), inputs)
    return {v.name: y for v, y in zip(graph.outputs, results, strict=True)}
