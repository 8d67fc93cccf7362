"""Operators that the standard defines by others: their function bodies, node by node.

An operator without a mapping of its own is replaced by the body that its schema in the ``onnx`` package gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper, inliner, numpy_helper

from burnc.importers.onnx.opset import first_lines
from burnc.importers.onnx.structure import rename_tensors
from burnc.ir import Array, TensorType
from burnc.ops.mapping import RefusalError

_BODIES = "burnc.standard_body"

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
        opset: of the model's default domain.

    Raises:
        RefusalError: the standard does not allow the node such inputs and attributes.
    """
    schema = _schema(node, opset)
    # An input of unknown type is of one that is reported already, or is no tensor.
    if schema is None or any(name and given is None for name, given in zip(node.input, inputs, strict=True)):
        return None
    whole = _complete(node, schema)
    model = _model(whole, inputs, opset)
    try:  # onnx's functions that give bodies take for granted that ranks and types are right
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    except Exception as error:
        raise RefusalError(f"it breaks the ONNX standard: {first_lines(error)}") from error
    try:
        body = _function(schema, whole, model, opset)
        if body is None:
            return None
        model.functions.append(body)
        model.graph.node[0].domain = body.domain
        inlined = inliner.inline_local_functions(model, convert_version=True)
        typed = onnx.shape_inference.infer_shapes(inlined, check_type=False, strict_mode=False)
    except Exception:  # noqa: BLE001 - onnx's C++ raises whatever it likes; then there is no body for such inputs
        return None
    _rename(typed.graph, node)
    return StandardBody(list(typed.graph.node), list(typed.graph.value_info))


def _schema(node: onnx.NodeProto, opset: int) -> onnx.defs.OpSchema | None:
    """That of an operator with a body; those of other domains than the default one have a single version."""
    if not onnx.defs.has(node.op_type, node.domain):
        return None
    try:
        version = _newest(node.domain) if node.domain else opset
        schema = onnx.defs.get_schema(node.op_type, version, node.domain)
    except onnx.defs.SchemaError:
        return None
    # onnx's type stubs leave these two out.
    has_body = getattr(schema, "has_function", False) or getattr(schema, "has_context_dependent_function", False)
    return schema if has_body else None


def _newest(domain: str) -> int:
    return max(schema.since_version for schema in onnx.defs.get_all_schemas() if schema.domain == domain)


def _function(
    schema: onnx.defs.OpSchema, node: onnx.NodeProto, model: onnx.ModelProto, opset: int
) -> onnx.FunctionProto | None:
    """The body as a function of a domain of its own, in the newest form that the opset knows."""
    known: Any = schema  # onnx's type stubs leave out what gives bodies
    types = {value.name: value.type.SerializeToString() for value in [*model.graph.input, *model.graph.value_info]}
    given = [types.get(name, b"") for name in node.input]
    versions = known.function_opset_versions if known.has_function else known.context_dependent_function_opset_versions
    version = max((v for v in versions if node.domain or v <= opset), default=0)
    if not version:
        return None
    if known.has_function:
        text = known.get_function_with_opset_version(version)
    else:
        text = known.get_context_dependent_function_with_opset_version(version, node.SerializeToString(), given)
    if not text:
        return None
    body = onnx.FunctionProto()
    body.ParseFromString(text)
    body.domain = _BODIES
    return body


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
    imports = {"": opset, _BODIES: 1}
    if node.domain:
        imports[node.domain] = _newest(node.domain)
    ids = [helper.make_opsetid(domain, version) for domain, version in imports.items()]
    return helper.make_model(graph, opset_imports=ids, ir_version=10)


def _rename(graph: onnx.GraphProto, node: onnx.NodeProto) -> None:
    """Inner tensors and nodes are named after the node, so that they meet none of the model's."""
    outer = {*node.input, *node.output}

    def named(name: str) -> str:
        return name if not name or name in outer else f"{node.name}/{name}"

    for inner in graph.node:
        rename_tensors(inner, named)
        inner.name = next((name for name in inner.output if name), inner.op_type)
    for value in graph.value_info:
        value.name = named(value.name)
