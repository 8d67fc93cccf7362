"""Reads an ONNX file and refuses what is damaged before anything else looks at it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
from onnx import numpy_helper

from burnc.errors import ModelFileError
from burnc.importers.onnx.external import load_external_data
from burnc.ir import Array

LARGEST_TENSOR = 2**31 - 1
"""Bytes. No microcontroller holds more, and protobuf cannot carry it."""


@dataclass(frozen=True)
class OnnxFile:
    """A model with all its tensors in it.

    Attributes:
        where: what error messages call it.
        sha256: of the bytes it was read from.
        ir_version: as the file has it.
    """

    model: onnx.ModelProto
    where: str
    sha256: str
    ir_version: int


def read_onnx(source: Path | onnx.ModelProto) -> OnnxFile:
    """Read a model; a model already in memory is copied, never changed.

    Raises:
        ModelFileError: the file is missing, damaged, foreign, or newer than the installed ``onnx`` package.
    """
    if isinstance(source, onnx.ModelProto):
        data, where, folder = source.SerializeToString(deterministic=True), "model in memory", None
    else:
        data, where, folder = _read_bytes(source), str(source), source.parent
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
        _check_text(model)
    except Exception as error:
        raise ModelFileError("this is no ONNX model, or it is damaged", where=where, hint=_FORMAT_HINT) from error
    if not model.HasField("graph") or not model.opset_import:
        raise ModelFileError("this is no ONNX model: it holds no graph or no opset", where=where, hint=_FORMAT_HINT)
    _check_versions(model, where)
    load_external_data(all_tensors(model), folder, where)
    for tensor in all_tensors(model):
        check_tensor(tensor, where)
    return OnnxFile(model, where, hashlib.sha256(data).hexdigest(), model.ir_version)


_FORMAT_HINT = "download or export the file again; burnc reads .onnx and .tflite"


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"the file cannot be read: {error.strerror or error}", where=str(path)) from error


def _check_text(message: Any) -> None:
    """Protobuf hands text that is no UTF-8 over as bytes, which then fail wherever they are used."""
    waiting = [message]
    while waiting:
        for field, value in waiting.pop().ListFields():
            values = value if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) else [value]
            if field.type == field.TYPE_MESSAGE:
                waiting.extend(values)
            elif field.type == field.TYPE_STRING and any(isinstance(text, bytes) for text in values):
                raise ValueError(f"{field.name} is no UTF-8")


def _check_versions(model: onnx.ModelProto, where: str) -> None:
    newest = onnx.defs.onnx_opset_version()
    for entry in model.opset_import:
        if entry.domain == "ai.onnx":
            entry.domain = ""
        if entry.domain == "" and not 1 <= entry.version <= newest:
            raise ModelFileError(
                f"opset {entry.version} is outside what the installed onnx package knows (1 to {newest})",
                where=where,
                hint="update the onnx package, or export the model with an older opset",
            )
    if model.ir_version > onnx.IR_VERSION:
        raise ModelFileError(
            f"IR version {model.ir_version} is newer than the installed onnx package knows ({onnx.IR_VERSION})",
            where=where,
            hint="update the onnx package",
        )


def all_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """The nodes and, recursively, those of their subgraphs."""
    for node in nodes:
        yield node
        for graph in subgraphs(node):
            yield from all_nodes(graph.node)


def subgraphs(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def all_tensors(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Initializers and attributes, those of subgraphs and functions too."""
    yield from _graph_tensors(model.graph)
    for function in model.functions:
        yield from _node_tensors(function.node)


def _graph_tensors(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield sparse.values
        yield sparse.indices
    yield from _node_tensors(graph.node)


def _node_tensors(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.TensorProto]:
    for node in nodes:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
        for graph in subgraphs(node):
            yield from _graph_tensors(graph)


def check_tensor(tensor: onnx.TensorProto, where: str) -> None:
    """Refuse a tensor whose shape and data contradict each other, before anything allocates memory for it."""
    place = f"{where}, tensor {tensor.name!r}"
    elements = 1
    for size in tensor.dims:
        if size < 0:
            raise ModelFileError(f"shape {list(tensor.dims)} has a negative size", where=place)
        elements *= size
    if elements > LARGEST_TENSOR:
        raise ModelFileError(f"shape {list(tensor.dims)} has {elements} elements: over 2 GB", where=place)
    if tensor.HasField("raw_data") and tensor.data_type != onnx.TensorProto.STRING:
        bits = _bits_per_element(tensor, place)
        if len(tensor.raw_data) != -(-elements * bits // 8):
            raise ModelFileError(
                f"shape {list(tensor.dims)} does not go with {len(tensor.raw_data)} bytes of data", where=place
            )


_PACKED_BITS = {"INT4": 4, "UINT4": 4, "FLOAT4E2M1": 4, "INT2": 2, "UINT2": 2}


def _bits_per_element(tensor: onnx.TensorProto, place: str) -> int:
    try:
        name = onnx.TensorProto.DataType.Name(tensor.data_type)
        item_bits = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize * 8
    except (KeyError, ValueError, TypeError) as error:
        raise ModelFileError(f"element type number {tensor.data_type} is unknown", where=place) from error
    return _PACKED_BITS.get(name, item_bits)


def tensor_array(tensor: onnx.TensorProto, where: str) -> Array:
    """The tensor's elements in its shape.

    Raises:
        ModelFileError: data and shape contradict each other.
    """
    try:
        array: Array = numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError, OverflowError, NotImplementedError) as error:
        raise ModelFileError(f"the data is damaged: {error}", where=f"{where}, tensor {tensor.name!r}") from error
    return array
