"""Tiny TFLite files with what a graph of burnc cannot say: custom operators, odd names, several subgraphs."""

from __future__ import annotations

from collections.abc import Sequence

import flatbuffers
import numpy as np
import tflite


def _vector(b: flatbuffers.Builder, start, offsets: Sequence[int]) -> int:
    start(b, len(offsets))
    for offset in reversed(offsets):
        b.PrependUOffsetTRelative(offset)
    return b.EndVector()


def _tensor(b: flatbuffers.Builder, name: str, type_: int, scaled: bool) -> int:
    name_at = b.CreateString(name)
    shape_at = b.CreateNumpyVector(np.array([1, 4], np.int32))
    quantization = None
    if scaled:
        scale_at = b.CreateNumpyVector(np.array([0.5], np.float32))
        zero_at = b.CreateNumpyVector(np.array([0], np.int64))
        tflite.QuantizationParametersStart(b)
        tflite.QuantizationParametersAddScale(b, scale_at)
        tflite.QuantizationParametersAddZeroPoint(b, zero_at)
        quantization = tflite.QuantizationParametersEnd(b)
    tflite.TensorStart(b)
    tflite.TensorAddName(b, name_at)
    tflite.TensorAddShape(b, shape_at)
    tflite.TensorAddType(b, type_)
    if quantization is not None:
        tflite.TensorAddQuantization(b, quantization)
    return tflite.TensorEnd(b)


def chain_file(
    names: Sequence[str],
    builtin: int = tflite.BuiltinOperator.RELU,
    custom: str = "",
    type_: int = tflite.TensorType.INT8,
    subgraphs: int = 1,
) -> bytes:
    """Tensors of [1,4], each computed from the one before by the same operator."""
    b = flatbuffers.Builder(1024)
    graphs = [_subgraph(b, names, type_) for _ in range(subgraphs)]
    custom_at = b.CreateString(custom) if custom else None
    tflite.OperatorCodeStart(b)
    tflite.OperatorCodeAddBuiltinCode(b, builtin)
    tflite.OperatorCodeAddDeprecatedBuiltinCode(b, min(builtin, 127))
    tflite.OperatorCodeAddVersion(b, 1)
    if custom_at is not None:
        tflite.OperatorCodeAddCustomCode(b, custom_at)
    code = tflite.OperatorCodeEnd(b)
    tflite.BufferStart(b)
    buffer = tflite.BufferEnd(b)
    graphs_at = _vector(b, tflite.ModelStartSubgraphsVector, graphs)
    codes_at = _vector(b, tflite.ModelStartOperatorCodesVector, [code])
    buffers_at = _vector(b, tflite.ModelStartBuffersVector, [buffer])
    tflite.ModelStart(b)
    tflite.ModelAddVersion(b, 3)
    tflite.ModelAddOperatorCodes(b, codes_at)
    tflite.ModelAddSubgraphs(b, graphs_at)
    tflite.ModelAddBuffers(b, buffers_at)
    b.Finish(tflite.ModelEnd(b), b"TFL3")
    return bytes(b.Output())


def _subgraph(b: flatbuffers.Builder, names: Sequence[str], type_: int) -> int:
    scaled = type_ == tflite.TensorType.INT8
    tensors_at = _vector(b, tflite.SubGraphStartTensorsVector, [_tensor(b, n, type_, scaled) for n in names])
    operators = []
    for index in range(1, len(names)):
        inputs_at = b.CreateNumpyVector(np.array([index - 1], np.int32))
        outputs_at = b.CreateNumpyVector(np.array([index], np.int32))
        tflite.OperatorStart(b)
        tflite.OperatorAddInputs(b, inputs_at)
        tflite.OperatorAddOutputs(b, outputs_at)
        operators.append(tflite.OperatorEnd(b))
    operators_at = _vector(b, tflite.SubGraphStartOperatorsVector, operators)
    inputs_at = b.CreateNumpyVector(np.array([0], np.int32))
    outputs_at = b.CreateNumpyVector(np.array([len(names) - 1], np.int32))
    name_at = b.CreateString("main")
    tflite.SubGraphStart(b)
    tflite.SubGraphAddTensors(b, tensors_at)
    tflite.SubGraphAddInputs(b, inputs_at)
    tflite.SubGraphAddOutputs(b, outputs_at)
    tflite.SubGraphAddOperators(b, operators_at)
    tflite.SubGraphAddName(b, name_at)
    return tflite.SubGraphEnd(b)


def custom_operator_file(custom: str) -> bytes:
    """X -> custom operator -> y."""
    return chain_file(["x", "y"], tflite.BuiltinOperator.CUSTOM, custom)


def named_tensors_file(names: Sequence[str]) -> bytes:
    """A chain of RELUs over tensors of these names."""
    return chain_file(names)
