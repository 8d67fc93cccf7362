"""Writes int8 IR graphs as .tflite files, so that TFLite Micro can be asked what they compute."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import flatbuffers
import numpy as np
import tflite

from burnc.ir import Array, DType, Graph, Node, QuantParams, TensorType, Value
from burnc.ops.spatial import Padding, same_padding

NO_PADDING = Padding()
SAME, VALID = 0, 1

TENSOR_TYPES = {
    DType.FLOAT32: tflite.TensorType.FLOAT32,
    DType.INT8: tflite.TensorType.INT8,
    DType.INT16: tflite.TensorType.INT16,
    DType.INT32: tflite.TensorType.INT32,
    DType.INT64: tflite.TensorType.INT64,
    DType.BOOL: tflite.TensorType.BOOL,
    DType.FLOAT16: tflite.TensorType.FLOAT16,
    DType.UINT8: tflite.TensorType.UINT8,
    DType.UINT32: tflite.TensorType.UINT32,
}

ACTIVATIONS = {
    (-math.inf, math.inf): tflite.ActivationFunctionType.NONE,
    (0.0, math.inf): tflite.ActivationFunctionType.RELU,
    (-1.0, 1.0): tflite.ActivationFunctionType.RELU_N1_TO_1,
    (0.0, 6.0): tflite.ActivationFunctionType.RELU6,
}


class NotExpressibleError(Exception):
    """TFLite, or its Micro interpreter, has no form of this node."""


def write_tflite(graph: Graph) -> bytes:
    """The graph as a .tflite file.

    Raises:
        NotExpressibleError: some node has no TFLite form.
    """
    from oracles.tflite_elementwise import ELEMENTWISE
    from oracles.tflite_movement import MOVEMENT

    writer = _Writer()
    for value in graph.inputs:
        writer.tensor(value)
    for node in graph.nodes:
        write = _NODES.get(node.op) or ELEMENTWISE.get(node.op) or MOVEMENT.get(node.op)
        if write is None:
            raise NotExpressibleError(f"{node.op} has no TFLite form here")
        write(writer, node)
    return writer.finish([writer.tensor(v) for v in graph.inputs], [writer.tensor(v) for v in graph.outputs])


def expressible(graph: Graph) -> bool:
    """Whether the graph can be asked of TFLite Micro."""
    try:
        write_tflite(graph)
    except NotExpressibleError:
        return False
    return True


class _Writer:
    """One subgraph, the first of a file, or one beside it."""

    def __init__(self, first: _Writer | None = None) -> None:
        self.b: Any = first.b if first else flatbuffers.Builder(4096)
        self.buffers: list[Array | None] = first.buffers if first else [None]
        self.codes: list[int] = first.codes if first else []
        self.subgraphs: list[_Writer] = first.subgraphs if first else []
        self.index = len(self.subgraphs)
        self.subgraphs.append(self)
        self.tensors: list[tuple[str, TensorType | None, int, bool]] = []
        self.operators: list[tuple[int, list[int], list[int], str, Mapping[str, Any]]] = []
        self.of_value: dict[Value, int] = {}
        self.packed: set[int] = set()
        self.inputs: list[int] = []
        self.outputs: list[int] = []

    def subgraph(self) -> _Writer:
        """Another one of the same file; its ``inputs`` and ``outputs`` are to be set."""
        return _Writer(self)

    def tensor(self, value: Value | None) -> int:
        if value is None:
            return -1
        if value not in self.of_value:
            self.of_value[value] = self.new_tensor(value.name, value.type, value.data)
        return self.of_value[value]

    def new_tensor(self, name: str, type_: TensorType, data: Array | None = None) -> int:
        buffer = 0
        if data is not None:
            buffer = len(self.buffers)
            self.buffers.append(data)
        return self._add(name, type_, buffer)

    def variable_tensor(self, name: str, type_: TensorType) -> int:
        """A tensor that an operator keeps between runs."""
        return self._add(name, type_, 0, is_variable=True)

    def handle(self, name: str, container: str = "") -> int:
        """Index of a resource tensor that stands for the variable of that name."""
        made = self._add(f"{name}_handle", None, 0)
        self.operator("VAR_HANDLE", [], [made], "VarHandleOptions", SharedName=name, Container=container)
        return made

    def _add(self, name: str, type_: TensorType | None, buffer: int, *, is_variable: bool = False) -> int:
        self.tensors.append((name, type_, buffer, is_variable))
        return len(self.tensors) - 1

    def constant(self, name: str, data: Array, quant: QuantParams | None = None) -> int:
        return self.new_tensor(name, TensorType(DType.of(data), data.shape, quant), data)

    def four_bits(self, name: str, data: Array, quant: QuantParams) -> int:
        """Index of a constant of -8 .. 7, two in a byte, the first in its low half."""
        index = self.constant(name, data, quant)
        halves = np.resize(data.reshape(-1), data.size + data.size % 2).astype(np.uint8) & 15
        self.buffers[-1] = halves[::2] | halves[1::2] << 4
        self.packed.add(index)
        return index

    def operator(
        self, code: str, inputs: Sequence[int], outputs: Sequence[int], options: str = "", **fields: Any
    ) -> None:
        number = getattr(tflite.BuiltinOperator, code)
        if number not in self.codes:
            self.codes.append(number)
        self.operators.append((self.codes.index(number), list(inputs), list(outputs), options, fields))

    def padded(self, x: Value, pads: Sequence[tuple[int, int]], value: int | None = None) -> int:
        """Index of a tensor that is ``x`` padded with a quantized number; with the zero point if it is None."""
        shape = [b + n + e for (b, e), n in zip(pads, x.type.shape, strict=True)]
        result = self.new_tensor(f"{x.name}_padded", x.type.with_shape(shape))
        paddings = self.constant(f"{x.name}_pads", np.array(pads, np.int32))
        if value is None:
            self.operator("PAD", [self.tensor(x), paddings], [result], "PadOptions")
        else:
            filler = self.constant(f"{x.name}_pad_value", np.array([value], x.type.dtype.numpy), x.type.quant)
            self.operator("PADV2", [self.tensor(x), paddings, filler], [result], "PadV2Options")
        return result

    def finish(self, inputs: Sequence[int], outputs: Sequence[int]) -> bytes:
        """The file; the arguments are those of this subgraph, the first one."""
        b = self.b
        self.inputs, self.outputs = list(inputs), list(outputs)
        buffers = [self._buffer(data) for data in self.buffers]
        subgraphs = [s.written() for s in self.subgraphs]
        codes = [self._code(c) for c in self.codes]
        subgraphs_at = self._offsets(tflite.ModelStartSubgraphsVector, subgraphs)
        buffers_at = self._offsets(tflite.ModelStartBuffersVector, buffers)
        codes_at = self._offsets(tflite.ModelStartOperatorCodesVector, codes)
        tflite.ModelStart(b)
        tflite.ModelAddVersion(b, 3)
        tflite.ModelAddOperatorCodes(b, codes_at)
        tflite.ModelAddSubgraphs(b, subgraphs_at)
        tflite.ModelAddBuffers(b, buffers_at)
        b.Finish(tflite.ModelEnd(b), b"TFL3")
        return bytes(b.Output())

    def written(self) -> int:
        """Offset of this subgraph in the flatbuffer."""
        b = self.b
        tensors = [self._tensor(*t, four_bits=i in self.packed) for i, t in enumerate(self.tensors)]
        operators = [self._operator(*o) for o in self.operators]
        tensors_at = self._offsets(tflite.SubGraphStartTensorsVector, tensors)
        operators_at = self._offsets(tflite.SubGraphStartOperatorsVector, operators)
        inputs_at = b.CreateNumpyVector(np.array(self.inputs, np.int32))
        outputs_at = b.CreateNumpyVector(np.array(self.outputs, np.int32))
        tflite.SubGraphStart(b)
        tflite.SubGraphAddTensors(b, tensors_at)
        tflite.SubGraphAddInputs(b, inputs_at)
        tflite.SubGraphAddOutputs(b, outputs_at)
        tflite.SubGraphAddOperators(b, operators_at)
        return int(tflite.SubGraphEnd(b))

    def _offsets(self, start: Callable[..., Any], offsets: Sequence[int]) -> int:
        start(self.b, len(offsets))
        for offset in reversed(offsets):
            self.b.PrependUOffsetTRelative(offset)
        return int(self.b.EndVector())

    def _buffer(self, data: Array | None) -> int:
        at = None
        if data is not None:
            at = self.b.CreateNumpyVector(np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8))
        tflite.BufferStart(self.b)
        if at is not None:
            tflite.BufferAddData(self.b, at)
        return int(tflite.BufferEnd(self.b))

    def _tensor(self, name: str, type_: TensorType | None, buffer: int, is_variable: bool, *, four_bits: bool) -> int:
        b = self.b
        name_at = b.CreateString(name)
        shape_at = b.CreateNumpyVector(np.array(type_.shape if type_ else (), np.int32))
        quant_at = None
        if type_ is not None and type_.quant is not None:
            scale_at = b.CreateNumpyVector(np.array(type_.quant.scale, np.float32))
            zero_at = b.CreateNumpyVector(np.array(type_.quant.zero_point, np.int64))
            tflite.QuantizationParametersStart(b)
            tflite.QuantizationParametersAddScale(b, scale_at)
            tflite.QuantizationParametersAddZeroPoint(b, zero_at)
            tflite.QuantizationParametersAddQuantizedDimension(b, type_.quant.axis or 0)
            quant_at = tflite.QuantizationParametersEnd(b)
        tflite.TensorStart(b)
        tflite.TensorAddShape(b, shape_at)
        kind = TENSOR_TYPES[type_.dtype] if type_ else tflite.TensorType.RESOURCE
        tflite.TensorAddType(b, tflite.TensorType.INT4 if four_bits else kind)
        tflite.TensorAddBuffer(b, buffer)
        tflite.TensorAddIsVariable(b, is_variable)
        tflite.TensorAddName(b, name_at)
        if quant_at is not None:
            tflite.TensorAddQuantization(b, quant_at)
        return int(tflite.TensorEnd(b))

    def _operator(
        self, code: int, inputs: Sequence[int], outputs: Sequence[int], options: str, fields: Mapping[str, Any]
    ) -> int:
        b = self.b
        inputs_at = b.CreateNumpyVector(np.array(inputs, np.int32))
        outputs_at = b.CreateNumpyVector(np.array(outputs, np.int32))
        options_at = None
        if options:
            written = {f: b.CreateString(v) if isinstance(v, str) else v for f, v in fields.items()}
            getattr(tflite, f"{options}Start")(b)
            for field, number in written.items():
                getattr(tflite, f"{options}Add{field}")(b, number)
            options_at = getattr(tflite, f"{options}End")(b)
        tflite.OperatorStart(b)
        tflite.OperatorAddOpcodeIndex(b, code)
        tflite.OperatorAddInputs(b, inputs_at)
        tflite.OperatorAddOutputs(b, outputs_at)
        if options_at is not None:
            tflite.OperatorAddBuiltinOptionsType(b, getattr(tflite.BuiltinOptions, options))
            tflite.OperatorAddBuiltinOptions(b, options_at)
        return int(tflite.OperatorEnd(b))

    def _code(self, number: int) -> int:
        tflite.OperatorCodeStart(self.b)
        tflite.OperatorCodeAddDeprecatedBuiltinCode(self.b, min(number, 127))
        tflite.OperatorCodeAddBuiltinCode(self.b, number)
        # TFLite kernels refuse versions that are too old for what they are given.
        tflite.OperatorCodeAddVersion(self.b, 1)
        return int(tflite.OperatorCodeEnd(self.b))


def _activation(node: Node) -> int:
    limits = (node.attrs.activation_min, node.attrs.activation_max)
    if limits not in ACTIVATIONS:
        raise NotExpressibleError(f"activation range {limits} is none of TFLite's")
    return int(ACTIVATIONS[limits])


def _same_padding(node: Node, kernel: tuple[int, int], dilation: tuple[int, int]) -> Padding:
    _, height, width, _ = node.input(0).type.shape
    (top, bottom), (left, right) = (
        same_padding(size, kernel[axis], node.attrs.stride[axis], dilation[axis], upper=True)
        for axis, size in enumerate((height, width))
    )
    return Padding(top, left, bottom, right)


def _spatial_pads(pad: Padding) -> list[tuple[int, int]]:
    return [(0, 0), (pad.top, pad.bottom), (pad.left, pad.right), (0, 0)]


def _conv2d(w: _Writer, node: Node) -> None:
    a, weights = node.attrs, node.input(1)
    kernel = weights.type.shape[1:3]
    x, padding = w.tensor(node.input(0)), VALID
    if a.pad != NO_PADDING and a.pad == _same_padding(node, kernel, a.dilation):
        padding = SAME
    elif a.pad != NO_PADDING:
        x = w.padded(node.input(0), _spatial_pads(a.pad))
    options = {
        "Padding": padding,
        "StrideH": a.stride[0],
        "StrideW": a.stride[1],
        "DilationHFactor": a.dilation[0],
        "DilationWFactor": a.dilation[1],
        "FusedActivationFunction": _activation(node),
    }
    bias = w.tensor(node.inputs[2]) if len(node.inputs) > 2 else -1
    channels = node.input(0).type.shape[3]
    if a.groups == channels and a.groups > 1:
        check_bias(node)
        assert weights.data is not None
        quant = weights.type.quant
        moved = quant.with_axis(3) if quant is not None and quant.axis is not None else quant
        packed = w.constant(f"{weights.name}_1hwc", weights.data.transpose(3, 1, 2, 0), moved)
        multiplier = weights.type.shape[0] // channels
        inputs = [x, packed, bias] if bias >= 0 else [x, packed]
        w.operator(
            "DEPTHWISE_CONV_2D",
            inputs,
            [w.tensor(node.output)],
            "DepthwiseConv2DOptions",
            DepthMultiplier=multiplier,
            **options,
        )
        return
    inputs = [x, w.tensor(weights), bias] if bias >= 0 else [x, w.tensor(weights)]
    w.operator("CONV_2D", inputs, [w.tensor(node.output)], "Conv2DOptions", **options)


def check_bias(node: Node) -> None:
    """CONV_2D and FULLY_CONNECTED alone read an int32 bias over int16 as what it is."""
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    if node.input(0).type.dtype is DType.INT16 and bias is not None and bias.type.dtype is DType.INT32:
        raise NotExpressibleError("TFLite Micro takes the bias for int64")


def _fully_connected(w: _Writer, node: Node) -> None:
    inputs = [w.tensor(v) for v in node.present_inputs]
    if len(inputs) == 2:
        inputs.append(-1)
    w.operator(
        "FULLY_CONNECTED",
        inputs,
        [w.tensor(node.output)],
        "FullyConnectedOptions",
        FusedActivationFunction=_activation(node),
        KeepNumDims=node.input(0).type.rank != 2,
    )


def _matmul(w: _Writer, node: Node) -> None:
    if min(v.type.rank for v in node.present_inputs) < 2:
        raise NotExpressibleError("BATCH_MATMUL wants matrices")
    inputs = [w.tensor(v) for v in node.present_inputs]
    w.operator("BATCH_MATMUL", inputs, [w.tensor(node.output)], "BatchMatMulOptions", AdjX=False, AdjY=False)


def _elementwise(code: str, options: str) -> Callable[[_Writer, Node], None]:
    def write(w: _Writer, node: Node) -> None:
        inputs = [w.tensor(v) for v in node.present_inputs]
        w.operator(code, inputs, [w.tensor(node.output)], options, FusedActivationFunction=_activation(node))

    return write


def _pool(code: str) -> Callable[[_Writer, Node], None]:
    def write(w: _Writer, node: Node) -> None:
        a = node.attrs
        if a.dilation != (1, 1) or getattr(a, "counted", NO_PADDING) != NO_PADDING:
            raise NotExpressibleError("TFLite's pools have no dilation and count no padding")
        if node.input(0).type.quant != node.output.type.quant:
            raise NotExpressibleError("TFLite's pools keep the parameters")
        x, padding = w.tensor(node.input(0)), VALID
        if a.pad != NO_PADDING and a.pad == _same_padding(node, a.kernel, (1, 1)):
            padding = SAME
        elif a.pad != NO_PADDING and code == "MAX_POOL_2D":
            x = w.padded(node.input(0), _spatial_pads(a.pad), node.input(0).type.dtype.limits[0])
        elif a.pad != NO_PADDING:
            raise NotExpressibleError("TFLite's average pool has no explicit padding")
        w.operator(
            code,
            [x],
            [w.tensor(node.output)],
            "Pool2DOptions",
            Padding=padding,
            StrideH=a.stride[0],
            StrideW=a.stride[1],
            FilterHeight=a.kernel[0],
            FilterWidth=a.kernel[1],
            FusedActivationFunction=_activation(node),
        )

    return write


def _softmax(w: _Writer, node: Node) -> None:
    a, rank = node.attrs, node.output.type.rank
    if a.axis not in (-1, rank - 1):
        raise NotExpressibleError("TFLite's softmax takes the last axis")
    w.operator("SOFTMAX", [w.tensor(node.input(0))], [w.tensor(node.output)], "SoftmaxOptions", Beta=a.beta)


def _concat(w: _Writer, node: Node) -> None:
    inputs = [w.tensor(v) for v in node.present_inputs]
    w.operator("CONCATENATION", inputs, [w.tensor(node.output)], "ConcatenationOptions", Axis=node.attrs.axis)


def _pad(w: _Writer, node: Node) -> None:
    a = node.attrs
    x = w.tensor(node.input(0))
    paddings = w.constant(f"{node.name}_pads", np.array(a.pads, np.int32))
    if a.mode == "reflect":
        w.operator("MIRROR_PAD", [x, paddings], [w.tensor(node.output)], "MirrorPadOptions", Mode=0)
        return
    if a.mode != "constant":
        raise NotExpressibleError(f"TFLite has no padding by {a.mode}")
    if a.value == 0.0:
        w.operator("PAD", [x, paddings], [w.tensor(node.output)], "PadOptions")
        return
    from burnc.ops.pad import quantized_value

    type_ = node.input(0).type
    filler = w.constant(f"{node.name}_value", np.array([quantized_value(a, type_)], type_.dtype.numpy), type_.quant)
    w.operator("PADV2", [x, paddings, filler], [w.tensor(node.output)], "PadV2Options")


def _reshape(w: _Writer, node: Node) -> None:
    shape = w.constant(f"{node.name}_shape", np.array(node.attrs.shape, np.int32))
    w.operator("RESHAPE", [w.tensor(node.input(0)), shape], [w.tensor(node.output)])


def _transpose(w: _Writer, node: Node) -> None:
    permutation = w.constant(f"{node.name}_perm", np.array(node.attrs.permutation, np.int32))
    inputs = [w.tensor(node.input(0)), permutation]
    w.operator("TRANSPOSE", inputs, [w.tensor(node.output)], "TransposeOptions")


def _gather(w: _Writer, node: Node) -> None:
    if node.input(1).type.dtype is not DType.INT32 or node.input(1).type.rank != 1:
        raise NotExpressibleError("TFLite Micro gathers at a row of int32 indices")
    inputs = [w.tensor(v) for v in node.present_inputs]
    w.operator("GATHER", inputs, [w.tensor(node.output)], "GatherOptions", Axis=node.attrs.axis, BatchDims=0)


def _resize(w: _Writer, node: Node) -> None:
    a, x = node.attrs, node.input(0).type
    known = {
        ("linear", "half_pixel", "round_prefer_floor"),
        ("linear", "asymmetric", "round_prefer_floor"),
        ("linear", "align_corners", "round_prefer_floor"),
        ("nearest", "half_pixel", "round_prefer_ceil"),
        ("nearest", "asymmetric", "floor"),
        ("nearest", "align_corners", "round_prefer_ceil"),
    }
    is_image = x.rank == 4 and (a.shape[0], a.shape[3]) == (x.shape[0], x.shape[3])
    if (a.mode, a.coordinates, a.rounding) not in known or a.scales or not is_image:
        raise NotExpressibleError(f"TFLite does not resize {a}")
    code, options = {
        "linear": ("RESIZE_BILINEAR", "ResizeBilinearOptions"),
        "nearest": ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions"),
    }[a.mode]
    size = w.constant(f"{node.name}_size", np.array(a.shape[1:3], np.int32))
    flags = {"AlignCorners": a.coordinates == "align_corners", "HalfPixelCenters": a.coordinates == "half_pixel"}
    w.operator(code, [w.tensor(node.input(0)), size], [w.tensor(node.output)], options, **flags)


def _clip(w: _Writer, node: Node) -> None:
    limits = (node.attrs.activation_min, node.attrs.activation_max)
    codes = {(0.0, math.inf): "RELU", (0.0, 6.0): "RELU6"}
    if limits not in codes:
        raise NotExpressibleError(f"TFLite Micro clips to no {limits}")
    if codes[limits] == "RELU6" and node.input(0).type.quant != node.output.type.quant:
        raise NotExpressibleError("TFLite Micro's RELU6 takes equal parameters for granted")
    w.operator(codes[limits], [w.tensor(node.input(0))], [w.tensor(node.output)])


def _quantize(w: _Writer, node: Node) -> None:
    if node.input(0).type.quant is None and node.rounding != "half_away":
        raise NotExpressibleError(f"TFLite does not round {node.rounding}")
    w.operator("QUANTIZE", [w.tensor(node.input(0))], [w.tensor(node.output)], "QuantizeOptions")


def _dequantize(w: _Writer, node: Node) -> None:
    w.operator("DEQUANTIZE", [w.tensor(node.input(0))], [w.tensor(node.output)], "DequantizeOptions")


_NODES: dict[str, Callable[[_Writer, Node], None]] = {
    "add": _elementwise("ADD", "AddOptions"),
    "average_pool2d": _pool("AVERAGE_POOL_2D"),
    "clip": _clip,
    "concat": _concat,
    "conv2d": _conv2d,
    "dequantize": _dequantize,
    "fully_connected": _fully_connected,
    "gather": _gather,
    "matmul": _matmul,
    "max_pool2d": _pool("MAX_POOL_2D"),
    "mul": _elementwise("MUL", "MulOptions"),
    "pad": _pad,
    "quantize": _quantize,
    "reshape": _reshape,
    "resize": _resize,
    "softmax": _softmax,
    "transpose": _transpose,
}
