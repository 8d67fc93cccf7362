"""Evaluates nodes whose inputs are all constant, so that shape arithmetic disappears."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator

from burnc.ir import Array, Graph, Value
from burnc.ops.evaluate import evaluate as evaluate_node

KEPT = frozenset({"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"})
"""Quantization of constants stays: the int8 weights are the model."""

RANDOM = frozenset(
    {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
)

LARGEST_RESULT = 2**24
"""Elements. More fits no microcontroller, and a few nodes can make any amount of memory out of nothing."""

_SMALL = 4096


class NotEvaluatedError(Exception):
    """Why a node of constants has no value at import."""


class TooLargeError(NotEvaluatedError):
    """Its value would be huge, so nothing else must compute it either."""


def is_evaluable(node: onnx.NodeProto) -> bool:
    """Whether the node, given constants, is one that is replaced by its results."""
    has_subgraph = any(a.HasField("g") or a.graphs for a in node.attribute)
    return node.domain == "" and node.op_type not in KEPT | RANDOM and not has_subgraph


def evaluate_own(graph: Graph, results: Sequence[Value]) -> list[Array] | None:
    """What nodes that read constants alone compute, by our own operators; None where their constants make no sense.

    These come first: onnx's reference implementation is wrong about some operators (LpNormalization with p = 1).

    Raises:
        TooLargeError: a result would be huge.
    """
    known: dict[Value, Array] = {}
    for node in graph.nodes:
        if any(value.type.size > LARGEST_RESULT for value in node.outputs):
            raise TooLargeError(f"its constant result would have {max(v.type.size for v in node.outputs)} elements")
        try:
            found = evaluate_node(node, [known.get(v, v.data) if v is not None else None for v in node.inputs])
        except (ArithmeticError, LookupError, TypeError, ValueError):
            return None
        known.update(zip(node.outputs, found, strict=True))
    arrays = [known.get(value, value.data) for value in results]
    return [array for array in arrays if array is not None]


def evaluate(node: onnx.NodeProto, inputs: Sequence[Array | None], opset: int) -> list[Array]:
    """The results of one node, by onnx's reference implementation.

    Raises:
        TooLargeError: the result would be huge.
        NotEvaluatedError: onnx cannot compute it.
    """
    model = _single_node_model(node, inputs, opset)
    feeds = {value.name: inputs[list(node.input).index(value.name)] for value in model.graph.input}
    try:
        inferred = shape_inference.infer_shapes(model)
        _check_size(inferred)
        with np.errstate(all="ignore"):
            results = ReferenceEvaluator(model).run(None, feeds)
    except NotEvaluatedError:
        raise
    except Exception as error:
        raise NotEvaluatedError(f"its constants cannot be evaluated: {type(error).__name__}: {error}") from error
    arrays = [np.asarray(result) for result in results]
    if any(array.dtype == object for array in arrays):
        raise NotEvaluatedError("its result is no tensor")
    _check_types(inferred, arrays)
    return arrays


def _single_node_model(node: onnx.NodeProto, inputs: Sequence[Array | None], opset: int) -> onnx.ModelProto:
    """Small inputs become initializers, so that shape inference sees their values."""
    fed, held, seen = [], [], set()
    for name, array in zip(node.input, inputs, strict=True):
        if array is None or name in seen:
            continue
        seen.add(name)
        if array.nbytes <= _SMALL:
            held.append(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
        else:
            element = helper.np_dtype_to_tensor_dtype(array.dtype)
            fed.append(helper.make_tensor_value_info(name, element, array.shape))
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    graph = helper.make_graph([node], "constants", fed, outputs, held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=onnx.IR_VERSION)


def _check_size(model: onnx.ModelProto) -> None:
    for value in model.graph.output:
        size = 1
        for dim in value.type.tensor_type.shape.dim:
            size *= max(dim.dim_value, 1)
        if size > LARGEST_RESULT:
            raise TooLargeError(f"its constant result would have {size} elements")


def _check_types(inferred: onnx.ModelProto, arrays: Sequence[Array]) -> None:
    """The reference implementation is wrong about some results (GlobalMaxPool of 3 axes); shape inference knows."""
    for value, array in zip(inferred.graph.output, arrays, strict=True):
        tensor = value.type.tensor_type
        sizes = [dim.dim_value if dim.HasField("dim_value") else -1 for dim in tensor.shape.dim]
        is_known = tensor.HasField("shape") and min(sizes, default=0) >= 0
        if is_known and tuple(sizes) != array.shape:
            raise NotEvaluatedError(f"onnx makes {list(array.shape)} of its constants, which should be {sizes}")
