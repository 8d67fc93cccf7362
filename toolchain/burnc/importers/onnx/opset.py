"""Every model is brought to one opset, so that operator mappings know one form of each operator."""

from __future__ import annotations

import onnx
from onnx import checker, shape_inference, version_converter

from burnc.errors import ModelFileError

OPSET = 21
"""The operator mappings' opset. Later ones are left as they are: they add types and operators and change no form."""


def default_opset(model: onnx.ModelProto) -> int | None:
    """Version of the standard's own domain; None where the model does not import it."""
    return next((entry.version for entry in model.opset_import if entry.domain == ""), None)


def check(model: onnx.ModelProto, where: str) -> None:
    """Run onnx's own checker.

    Raises:
        ModelFileError: the model breaks the standard.
    """
    try:
        checker.check_model(model)
    except Exception as error:
        raise ModelFileError(f"the model breaks the ONNX standard: {first_lines(error)}", where=where) from error


def convert(model: onnx.ModelProto) -> tuple[onnx.ModelProto, str]:
    """The model at ``OPSET``, and why it could not be converted ('' where it could).

    A model without the default domain, or already as new, is returned as it is.
    """
    opset = default_opset(model)
    if opset is None or opset >= OPSET:
        return model, ""
    old_batch_norm = _per_activation_batch_norm(model)
    if old_batch_norm:
        return model, old_batch_norm
    try:
        return version_converter.convert_version(model, OPSET), ""
    except Exception as error:  # noqa: BLE001 - the converter's C++ raises whatever it likes
        return model, first_lines(error)


def _per_activation_batch_norm(model: onnx.ModelProto) -> str:
    """The converter drops opset 7's ``spatial=0`` without a word, and with it the meaning."""
    for node in model.graph.node:
        if node.op_type == "BatchNormalization" and any(a.name == "spatial" and a.i == 0 for a in node.attribute):
            return f"node {node.name!r}: BatchNormalization with spatial=0"
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
