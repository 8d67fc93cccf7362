"""Reads a TFLite flatbuffer into plain data; nothing after this touches the file's own offsets.

Source: the TFLite schema (tensorflow/compiler/mlir/lite/schema/schema.fbs), through the PyPI package ``tflite``.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tflite

from burnc.errors import ModelFileError
from burnc.importers.tflite.options import enum_names, foreign_options, read_options
from burnc.ir import Array

OPERATORS = enum_names(tflite.BuiltinOperator)
TYPES = enum_names(tflite.TensorType)

_DAMAGE = (struct.error, IndexError, KeyError, ValueError, TypeError, OverflowError, AttributeError)
"""What the flatbuffer accessors run into where offsets lead nowhere."""


@dataclass(frozen=True)
class FileTensor:
    """A tensor of the file.

    Attributes:
        type: the schema's name of the element type (``INT8``).
        dynamic: axes whose size the file leaves open.
        data: the constant's bytes; None where it is no constant.
    """

    name: str
    type: str
    shape: tuple[int, ...]
    dynamic: tuple[int, ...]
    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    quantized_dimension: int
    is_variable: bool
    is_sparse: bool
    data: Array | None


@dataclass(frozen=True)
class FileOperator:
    """An operator of the file.

    Attributes:
        code: the schema's name (``CONV_2D``), or ``CUSTOM``.
        custom: name of a custom operator.
        inputs: tensor indices; -1 for an absent one.
    """

    code: str
    custom: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: dict[str, Any]


@dataclass(frozen=True)
class FileSubgraph:
    """A subgraph of the file; inputs and outputs are tensor indices."""

    index: int
    name: str
    tensors: tuple[FileTensor, ...]
    operators: tuple[FileOperator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class TfliteFile:
    """A model; its first subgraph is the one that runs."""

    where: str
    sha256: str
    description: str
    version: int
    subgraphs: tuple[FileSubgraph, ...]


def read_tflite(path: Path) -> TfliteFile:
    """Read a model file.

    Raises:
        ModelFileError: it is missing, damaged or foreign.
    """
    where = str(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"the file cannot be read: {error.strerror or error}", where=where) from error
    if data[4:8] != b"TFL3":
        raise ModelFileError(
            "this is no TFLite model: its identifier is not TFL3", where=where, hint="burnc reads .onnx and .tflite"
        )
    try:
        return _Reader(data, where).model()
    except _DAMAGE as error:
        raise ModelFileError(
            "the TFLite file is damaged: its tables lead outside the file",
            where=where,
            hint="download or convert the file again",
        ) from error


class _Reader:
    def __init__(self, data: bytes, where: str) -> None:
        self.data = data
        self.where = where
        self.elements_left = 1_000_000 + 16 * len(data)
        self.buffers: dict[int, Array | None] = {}

    def model(self) -> TfliteFile:
        root = tflite.Model.GetRootAs(self.data, 0)
        codes = [root.OperatorCodes(i) for i in range(self._count(root.OperatorCodesLength()))]
        subgraphs = [self._subgraph(root, codes, i) for i in range(self._count(root.SubgraphsLength()))]
        if not subgraphs:
            raise ModelFileError("the model has no subgraph", where=self.where, hint="convert the model again")
        return TfliteFile(
            where=self.where,
            sha256=hashlib.sha256(self.data).hexdigest(),
            description=_text(root.Description()),
            version=int(root.Version()),
            subgraphs=tuple(subgraphs),
        )

    def _subgraph(self, root: Any, codes: list[Any], index: int) -> FileSubgraph:
        graph = root.Subgraphs(index)
        return FileSubgraph(
            index=index,
            name=_text(graph.Name()) or ("" if index == 0 else f"subgraph_{index}"),
            tensors=tuple(self._tensor(root, graph.Tensors(i), i) for i in range(self._count(graph.TensorsLength()))),
            operators=tuple(
                self._operator(codes, graph.Operators(i)) for i in range(self._count(graph.OperatorsLength()))
            ),
            inputs=self._numbers(graph.InputsAsNumpy, graph.InputsLength),
            outputs=self._numbers(graph.OutputsAsNumpy, graph.OutputsLength),
        )

    def _count(self, length: int) -> int:
        """A vector has no more elements than the file has bytes, nor are there endless views of the same ones."""
        self.elements_left -= length
        if not 0 <= length <= len(self.data) or self.elements_left < 0:
            raise IndexError(length)
        return length

    def _numbers(self, array: Callable[[], Any], length: Callable[[], int]) -> tuple[Any, ...]:
        """A vector of numbers, empty where it is absent."""
        return tuple(array().tolist()) if self._count(length()) else ()

    def _operator(self, codes: list[Any], operator: Any) -> FileOperator:
        code = codes[operator.OpcodeIndex()]
        # Old files keep the code in a byte, new ones (also) in an int32.
        number = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
        name = OPERATORS.get(number, f"BUILTIN_{number}")
        foreign = foreign_options(operator, name)
        if foreign:
            raise ModelFileError(f"operator {name} has the options of another one ({foreign})", where=self.where)
        options = read_options(operator, self._count)
        options["version"] = int(code.Version())
        return FileOperator(
            code=name,
            custom=_text(code.CustomCode()),
            inputs=self._numbers(operator.InputsAsNumpy, operator.InputsLength),
            outputs=self._numbers(operator.OutputsAsNumpy, operator.OutputsLength),
            options=options,
        )

    def _tensor(self, root: Any, tensor: Any, index: int) -> FileTensor:
        shape = self._numbers(tensor.ShapeAsNumpy, tensor.ShapeLength)
        signature = self._numbers(tensor.ShapeSignatureAsNumpy, tensor.ShapeSignatureLength)
        scale: tuple[float, ...] = ()
        zero_point: tuple[int, ...] = ()
        dimension = 0
        quantization = tensor.Quantization()
        if quantization is not None:
            scale = self._numbers(quantization.ScaleAsNumpy, quantization.ScaleLength)
            zero_point = self._numbers(quantization.ZeroPointAsNumpy, quantization.ZeroPointLength)
            dimension = int(quantization.QuantizedDimension())
        return FileTensor(
            name=_text(tensor.Name()) or f"tensor_{index}",
            type=TYPES.get(tensor.Type(), f"type {tensor.Type()}"),
            shape=shape,
            dynamic=tuple(axis for axis, size in enumerate(signature) if size < 0),
            scale=scale,
            zero_point=zero_point,
            quantized_dimension=dimension,
            is_variable=bool(tensor.IsVariable()),
            is_sparse=tensor.Sparsity() is not None,
            data=self._buffer(root, int(tensor.Buffer())),
        )

    def _buffer(self, root: Any, index: int) -> Array | None:
        """The bytes of a constant; None for an empty buffer."""
        if index not in self.buffers:
            self.buffers[index] = self._read_buffer(root, index)
        return self.buffers[index]

    def _read_buffer(self, root: Any, index: int) -> Array | None:
        """Copied, for they lie in the file at any alignment."""
        if not 0 <= index < root.BuffersLength():
            raise IndexError(index)
        buffer = root.Buffers(index)
        if buffer is None:
            return None
        offset, size = int(buffer.Offset()), int(buffer.Size())
        if offset > 1:
            if offset + size > len(self.data):
                raise IndexError(offset)
            return np.frombuffer(self.data, np.uint8, size, offset).copy()
        if self._count(buffer.DataLength()) == 0:
            return None
        return np.array(buffer.DataAsNumpy(), np.uint8)


def _text(raw: bytes | None) -> str:
    return "" if raw is None else raw.decode("utf-8", "replace")
