"""Tensors of a TFLite file as types and constants of the IR.

Some forms of storage become others on the way: uint8 quantization becomes int8 (zero point and integers are 128 less,
so that every real number stays what it was), float16 constants become float32, int4 ones int8.
"""

from __future__ import annotations

import math

import numpy as np

from burnc.errors import GraphError, ModelFileError
from burnc.importers.tflite.reading import FileTensor
from burnc.ir import Array, DType, QuantParams, TensorType

CARRIED = {
    "BOOL": DType.BOOL,
    "FLOAT32": DType.FLOAT32,
    "FLOAT64": DType.FLOAT64,
    "INT8": DType.INT8,
    "INT16": DType.INT16,
    "INT32": DType.INT32,
    "INT64": DType.INT64,
    "UINT8": DType.UINT8,
    "UINT16": DType.UINT16,
    "UINT32": DType.UINT32,
    "UINT64": DType.UINT64,
}
CONSTANTS = {"FLOAT16": DType.FLOAT32, "INT4": DType.INT8}
QUANTIZED = ("INT4", "INT8", "INT16", "INT32", "INT64", "UINT8")
LARGEST_TENSOR = 2**31 - 1
OFFSET = 128  # from uint8 to int8


def why_not_carried(tensor: FileTensor) -> str:
    """Why the IR cannot hold the tensor; '' where it can."""
    if tensor.is_sparse:
        return f"tensor {tensor.name!r} is stored sparse; only dense tensors are supported"
    if tensor.type in CARRIED or (tensor.type in CONSTANTS and tensor.data is not None):
        return ""
    why = f"tensor {tensor.name!r} is {tensor.type}"
    if tensor.type in CONSTANTS:
        return f"{why}, which only constants may be"
    return f"{why}; supported are {', '.join(sorted(CARRIED))}"


def is_offset(tensor: FileTensor) -> bool:
    """Whether the tensor is quantized as uint8, which becomes int8."""
    return tensor.type == "UINT8" and bool(tensor.scale)


def stored_as(tensor: FileTensor) -> str:
    """What a constant or quantized tensor of another form became, '' where its form is the IR's own."""
    return tensor.type if is_offset(tensor) or tensor.type in CONSTANTS else ""


def tensor_type(tensor: FileTensor, where: str) -> TensorType:
    """The type of a tensor that the IR can hold.

    Raises:
        ModelFileError: its shape is impossible, or its quantization does not go with it.
    """
    declared = declared_type(tensor, where)
    if not is_offset(tensor):
        return declared
    quant = declared.quant
    assert quant is not None
    signed = QuantParams(quant.scale, tuple(zero - OFFSET for zero in quant.zero_point), quant.axis)
    return TensorType(DType.INT8, declared.shape, signed)


def declared_type(tensor: FileTensor, where: str) -> TensorType:
    """The type that the file declares: uint8 quantization as it is.

    Raises:
        ModelFileError: as ``tensor_type``.
    """
    place = f"{where}, tensor {tensor.name!r}"
    dtype = CARRIED.get(tensor.type) or CONSTANTS[tensor.type]
    if any(size < 0 for size in tensor.shape):
        raise ModelFileError(f"shape {list(tensor.shape)} has a negative size", where=place)
    if math.prod(tensor.shape) * dtype.bytes > LARGEST_TENSOR:
        raise ModelFileError(f"shape {list(tensor.shape)} is larger than 2 GB", where=place)
    return TensorType(dtype, tensor.shape, _quant(tensor, dtype, place))


def _quant(tensor: FileTensor, dtype: DType, place: str) -> QuantParams | None:
    if not tensor.scale or tensor.type not in QUANTIZED:
        return None
    # A vector has one axis to vary along; converters of old wrote the weights' axis beside a depthwise bias.
    count, axis = len(tensor.scale), tensor.quantized_dimension if len(tensor.shape) > 1 else 0
    zero_point = tensor.zero_point or (0,) * count
    if count > 1 and not (0 <= axis < len(tensor.shape) and tensor.shape[axis] == count):
        raise ModelFileError(f"{count} scales along axis {axis} do not go with shape {list(tensor.shape)}", where=place)
    low, high = dtype.limits
    if any(not low <= z <= high for z in zero_point):
        raise ModelFileError(f"a zero point lies outside {tensor.type}", where=place)
    try:
        return QuantParams(tensor.scale, zero_point, None if count == 1 else axis)
    except GraphError as error:
        raise ModelFileError(error.what, where=place) from error


def constant_data(tensor: FileTensor, type: TensorType, where: str) -> Array:
    """The elements of a constant.

    Raises:
        ModelFileError: it has too few or too many bytes.
    """
    data = tensor.data
    assert data is not None
    stored = np.dtype(np.float16) if tensor.type == "FLOAT16" else type.dtype.numpy
    needed = (type.size + 1) // 2 if tensor.type == "INT4" else type.size * stored.itemsize
    if data.nbytes != needed:
        raise ModelFileError(
            f"shape {list(type.shape)} of {tensor.type} needs {needed} bytes, the file has {data.nbytes}",
            where=f"{where}, tensor {tensor.name!r}",
        )
    if type.dtype is DType.BOOL:
        flags: Array = data != 0
        return flags.reshape(type.shape)
    if tensor.type == "INT4":
        return _unpacked(data, type.size).reshape(type.shape)
    if is_offset(tensor):
        data = data ^ np.uint8(OFFSET)
    elements: Array = data.view(stored.newbyteorder("<")).astype(type.dtype.numpy)
    return elements.reshape(type.shape)


def _unpacked(data: Array, count: int) -> Array:
    """Two signed numbers of four bits a byte, the low half first."""
    halves = np.stack([data << 4, data & 0xF0], axis=-1).reshape(-1)[:count]
    signed: Array = halves.view(np.int8) >> 4
    return signed
