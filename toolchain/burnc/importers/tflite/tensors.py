"""Tensors of a TFLite file as types and constants of the IR."""

from __future__ import annotations

import math

from burnc.errors import GraphError, ModelFileError
from burnc.importers.tflite.reading import FileTensor
from burnc.ir import Array, DType, QuantParams, TensorType

CARRIED = {
    "BOOL": DType.BOOL,
    "FLOAT32": DType.FLOAT32,
    "INT8": DType.INT8,
    "INT16": DType.INT16,
    "INT32": DType.INT32,
    "INT64": DType.INT64,
    "UINT8": DType.UINT8,
    "UINT16": DType.UINT16,
    "UINT32": DType.UINT32,
    "UINT64": DType.UINT64,
    "FLOAT16": DType.FLOAT16,
    "FLOAT64": DType.FLOAT64,
}
LARGEST_TENSOR = 2**31 - 1


def why_not_carried(tensor: FileTensor) -> str:
    """Why the IR cannot hold the tensor; '' where it can."""
    if tensor.type not in CARRIED:
        return f"tensor {tensor.name!r} is {tensor.type}; supported are {', '.join(sorted(CARRIED))}"
    if tensor.is_sparse:
        return f"tensor {tensor.name!r} is stored sparse; only dense tensors are supported"
    return ""


def tensor_type(tensor: FileTensor, where: str) -> TensorType:
    """The type of a tensor that the IR can hold.

    Raises:
        ModelFileError: its shape is impossible, or its quantization does not go with it.
    """
    place = f"{where}, tensor {tensor.name!r}"
    dtype = CARRIED[tensor.type]
    if any(size < 0 for size in tensor.shape):
        raise ModelFileError(f"shape {list(tensor.shape)} has a negative size", where=place)
    if math.prod(tensor.shape) * dtype.bytes > LARGEST_TENSOR:
        raise ModelFileError(f"shape {list(tensor.shape)} is larger than 2 GB", where=place)
    return TensorType(dtype, tensor.shape, _quant(tensor, place))


def _quant(tensor: FileTensor, place: str) -> QuantParams | None:
    if not tensor.scale or tensor.type not in ("INT8", "UINT8", "INT16", "INT32", "INT64"):
        return None
    # A vector has one axis to vary along; converters of old wrote the weights' axis beside a depthwise bias.
    count, axis = len(tensor.scale), tensor.quantized_dimension if len(tensor.shape) > 1 else 0
    zero_point = tensor.zero_point or (0,) * count
    if count > 1 and not (0 <= axis < len(tensor.shape) and tensor.shape[axis] == count):
        raise ModelFileError(f"{count} scales along axis {axis} do not go with shape {list(tensor.shape)}", where=place)
    low, high = CARRIED[tensor.type].limits
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
    assert tensor.data is not None
    if tensor.data.nbytes != type.nbytes:
        raise ModelFileError(
            f"shape {list(type.shape)} of {tensor.type} needs {type.nbytes} bytes, the file has {tensor.data.nbytes}",
            where=f"{where}, tensor {tensor.name!r}",
        )
    if type.dtype is DType.BOOL:
        flags: Array = tensor.data != 0
        return flags.reshape(type.shape)
    elements: Array = tensor.data.view(type.dtype.numpy.newbyteorder("<")).astype(type.dtype.numpy)
    return elements.reshape(type.shape)
