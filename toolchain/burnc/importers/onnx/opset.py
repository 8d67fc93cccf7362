"""Every model is brought to one opset, so that operator mappings know one form of each operator."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import onnx
from onnx import checker, defs, helper, shape_inference, version_converter

from burnc.errors import ModelFileError, Unsupported, UnsupportedError
from burnc.importers.onnx.reading import all_nodes, subgraphs
from burnc.ops import onnx_mappings
from burnc.ops.mapping import OldForm

OPSET = 21
"""The operator mappings' opset. Later ones are left as they are: they add types and operators and change no form."""


def default_opset(model: onnx.ModelProto) -> int | None:
    """Version of the standard's own domain; None where the model does not import it."""
    return next((entry.version for entry in model.opset_import if entry.domain == ""), None)


def check(model: onnx.ModelProto, where: str) -> None:
    """Run onnx's own checker.

    Raises:
        ModelFileError: the model breaks the standard.
        UnsupportedError: lists the nodes whose operators the model's opset does not have.
    """
    unknown = _unknown(model)
    if unknown:
        raise UnsupportedError(unknown, where=where)
    try:
        checker.check_model(model)
    except Exception as error:
        raise ModelFileError(f"the model breaks the ONNX standard: {first_lines(error)}", where=where) from error


def _unknown(model: onnx.ModelProto) -> list[Unsupported]:
    """The nodes at which the checker would stop one by one."""
    opset = default_opset(model)
    own = {function.name for function in model.functions if function.domain == ""}
    return [
        Unsupported(
            node.name or next(iter(node.output), ""), node.op_type, f"opset {opset} of ONNX has no such operator"
        )
        for node in all_nodes(model.graph.node)
        if opset is not None and node.domain == "" and node.op_type not in own and not _has(node.op_type, opset)
    ]


def _has(op: str, opset: int) -> bool:
    try:
        return not defs.get_schema(op, opset, "").deprecated
    except defs.SchemaError:
        return False


def convert(model: onnx.ModelProto) -> tuple[onnx.ModelProto, str]:
    """The model at ``OPSET``, and why it could not be converted ('' where it could).

    A model without the default domain, or already as new, is returned as it is.
    """
    opset = default_opset(model)
    if opset is None or opset >= OPSET:
        return model, ""
    lost = _lost_in_conversion(model, opset)
    if lost:
        return model, lost
    if _means_the_same(model, opset):
        return _renumbered(model), ""
    implied = _implied(model, opset)
    try:
        converted = version_converter.convert_version(model, OPSET)
    except Exception as error:  # noqa: BLE001 - the converter's C++ raises whatever it likes
        return model, first_lines(error)
    if [v.type for v in converted.graph.input] != [v.type for v in model.graph.input]:
        return model, "onnx's converter gives its inputs other shapes"  # it does so for Scan of opset 8
    for node in converted.graph.node:
        attributes = implied.get(node.output[0], {}) if node.output else {}
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
    return converted, ""


def _means_the_same(model: onnx.ModelProto, opset: int) -> bool:
    """Whether no operator of the standard's own domain in the model has changed up to ``OPSET``."""
    if model.functions:
        return False
    kinds = {node.op_type for node in model.graph.node if node.domain == ""}
    if any(attribute.HasField("g") or attribute.graphs for node in model.graph.node for attribute in node.attribute):
        return False
    return all(_since(kind, opset) == _since(kind, OPSET) != 0 for kind in kinds)


@cache
def _since(kind: str, opset: int) -> int:
    """The opset in which an operator got the form that it has in ``opset``; 0 where there is none."""
    try:
        return int(defs.get_schema(kind, opset, "").since_version)
    except defs.SchemaError:
        return 0


def _renumbered(model: onnx.ModelProto) -> onnx.ModelProto:
    renumbered = onnx.ModelProto()
    renumbered.CopyFrom(model)
    for entry in renumbered.opset_import:
        if entry.domain == "":
            entry.version = OPSET
    return renumbered


def _implied(model: onnx.ModelProto, opset: int) -> dict[str, Mapping[str, str]]:
    """First result -> the attributes that its node has in effect, and that the converter does not write."""
    return {
        node.output[0]: form.attributes
        for form in _old_forms(opset)
        for node in model.graph.node
        if node.domain == "" and node.op_type in form.names and node.output
    }


def _old_forms(opset: int) -> list[OldForm]:
    """What the operators of an opset meant that the converter does not know."""
    forms = [mapping.old for _, mapping in onnx_mappings().values() if mapping.old is not None]
    return [form for form in forms if opset < form.before]


def _lost_in_conversion(model: onnx.ModelProto, opset: int) -> str:
    """The first attribute that the converter would drop without a word, and with it the node's meaning."""
    mappings = onnx_mappings()
    for node in all_nodes(model.graph.node):
        spec_and_mapping = mappings.get((node.domain, node.op_type))
        lost = spec_and_mapping[1].lost if spec_and_mapping else {}
        for attribute in node.attribute:
            if lost.get(attribute.name) == attribute.i and attribute.name in lost:
                return f"node {node.name!r}: {node.op_type} with {attribute.name}={attribute.i}"
    # The converter renames what subgraphs compute, so what it leaves out cannot be added to them.
    for form in _old_forms(opset):
        for node in model.graph.node:
            for graph in subgraphs(node):
                if any(inner.op_type in form.names and inner.domain == "" for inner in all_nodes(graph.node)):
                    return f"node {node.name!r}: {form.names[0]} in its body is of opset {opset}"
    return ""


def infer_shapes(model: onnx.ModelProto, where: str) -> onnx.ModelProto:
    """The model with the shapes that onnx can infer.

    Raises:
        ModelFileError: inference fails.
    """
    try:
        return shape_inference.infer_shapes(model, check_type=False, strict_mode=False)
    except Exception as error:
        raise ModelFileError(f"shape inference fails: {first_lines(error)}", where=where) from error


def first_lines(error: Exception) -> str:
    """An onnx message in one line, without the C++ stack that follows it."""
    lines = [line.strip() for line in str(error).splitlines()]
    return " ".join(line for line in lines[:3] if line)[:300]
