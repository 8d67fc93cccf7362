"""Operators that the standard defines by others: their function bodies, node by node.

An operator without a mapping of its own is replaced by the body that its schema in the ``onnx`` package gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import helper, inliner, numpy_helper

from burnc.ir import Array, TensorType

_SMALL = 4096
"""Bytes of a constant that is shown to the body: axes and shapes, not weights."""


@dataclass(frozen=True)
class StandardBody:
    """The nodes that stand for one, in order, and what is known of their results' types."""

    nodes: list[onnx.NodeProto]
    types: list[onnx.ValueInfoProto]


def standard_body(node: onnx.NodeProto, inputs: Sequence[TensorType | Array | None], opset: int) -> StandardBody | None:
    """The standard's definition of a node by other operators; None where it gives none.

    Args:
        inputs: the type of each input, or its data where it is constant.
        opset: of the model.
    """
    schema = _schema(node, opset)
    if schema is None:
        return None
    model = _model(_complete(node, schema), inputs, opset)
    try:
        key = (node.domain, node.op_type)
        inlined = inliner.inline_selected_functions(model, [key], inline_schema_functions=True)
        typed = onnx.shape_inference.infer_shapes(inlined, check_type=False, strict_mode=False)
    except Exception:  # noqa: BLE001 - onnx's C++ raises whatever it likes; then there is no body for such inputs
        return None
    if any((n.domain, n.op_type) == key for n in typed.graph.node):
        return None
    _rename(typed.graph, node)
    return StandardBody(list(typed.graph.node), list(typed.graph.value_info))


def _schema(node: onnx.NodeProto, opset: int) -> onnx.defs.OpSchema | None:
    """That of an operator with a body."""
    if node.domain != "" or not onnx.defs.has(node.op_type):
        return None
    try:
        schema = onnx.defs.get_schema(node.op_type, opset)
    except onnx.defs.SchemaError:
        return None
    # onnx's type stubs leave these two out.
    has_body = getattr(schema, "has_function", False) or getattr(schema, "has_context_dependent_function", False)
    return schema if has_body else None


def _complete(node: onnx.NodeProto, schema: onnx.defs.OpSchema) -> onnx.NodeProto:
    """The node with all attributes that have a default: the inliner does not fill them in."""
    whole = onnx.NodeProto()
    whole.CopyFrom(node)
    given = {attribute.name for attribute in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in given and attribute.default_value.name:
            whole.attribute.append(attribute.default_value)
    return whole


def _model(node: onnx.NodeProto, inputs: Sequence[TensorType | Array | None], opset: int) -> onnx.ModelProto:
    """A model of the node alone; small constants are in it, so that their values are seen."""
    typed, held = {}, {}
    for name, given in zip(node.input, inputs, strict=True):
        if not name or given is None:
            continue
        dtype = given.dtype.numpy if isinstance(given, TensorType) else given.dtype
        typed[name] = helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), given.shape)
        if not isinstance(given, TensorType) and given.nbytes <= _SMALL:
            held[name] = numpy_helper.from_array(np.ascontiguousarray(given).reshape(given.shape), name)
    fed = [value for name, value in typed.items() if name not in held]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    graph = helper.make_graph([node], "standard", fed, outputs, list(held.values()))
    graph.value_info.extend(value for name, value in typed.items() if name in held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def _rename(graph: onnx.GraphProto, node: onnx.NodeProto) -> None:
    """Inner tensors and nodes are named after the node, so that they meet none of the model's."""
    outer = {*node.input, *node.output}

    def named(name: str) -> str:
        return name if not name or name in outer else f"{node.name}/{name}"

    for inner in graph.node:
        inner.input[:] = [named(name) for name in inner.input]
        inner.output[:] = [named(name) for name in inner.output]
        inner.name = next((name for name in inner.output if name), inner.op_type)
    for value in graph.value_info:
        value.name = named(value.name)
