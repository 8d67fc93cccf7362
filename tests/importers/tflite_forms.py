"""Forms that TFLite Micro takes of each operator: element types, broadcasts, activations, paddings, axes, options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tflite

from burnc.ir import Array, DType, QuantParams, TensorType
from oracles.tflite_operator import Constant, Operator, int32

SAME, VALID = tflite.Padding.SAME, tflite.Padding.VALID
ACTIVATIONS = range(4)
ZERO_POINTS = {"int8": -7, "int16": 0, "uint8": 121}
SUMS = {"float32": "float32", "int8": "int32", "int16": "int64"}
FIXED = {
    ("LOGISTIC", "int8"): (1 / 256, -128), ("SOFTMAX", "int8"): (1 / 256, -128), ("TANH", "int8"): (1 / 128, 0),
    ("LOG_SOFTMAX", "int8"): (16 / 256, 127), ("LOGISTIC", "int16"): (2**-15, 0), ("TANH", "int16"): (2**-15, 0),
    ("SOFTMAX", "int16"): (2**-15, 0),
}  # fmt: skip


class Forms:
    """Makes operators over one element type."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        self.step = 0.0005 if dtype == "int16" else 0.05
        self.rng = np.random.default_rng(11)

    def tensor(self, *shape: int, factor: float = 1.0) -> TensorType:
        quant = None
        if self.dtype in ZERO_POINTS:
            quant = QuantParams.per_tensor(self.step * factor, ZERO_POINTS[self.dtype])
        return TensorType(DType(self.dtype), shape, quant)

    def constant(self, *shape: int, low: int = -90, high: int = 90) -> Any:
        if self.dtype == "float32":
            return self.rng.uniform(low / 45, high / 45, shape).astype(np.float32)
        if self.dtype == "bool":
            return self.rng.integers(0, 2, shape).astype(bool)
        data = self.rng.integers(low, high + 1, shape).astype(self.dtype)
        return Constant(data, self.tensor().quant) if self.dtype in ZERO_POINTS else data

    def weights(self, shape: Sequence[int], axis: int | None) -> Any:
        if self.dtype == "float32":
            return self.rng.normal(0, 0.5, shape).astype(np.float32)
        data = self.rng.integers(-127, 128, shape).astype(np.int8)
        if axis is None:
            return Constant(data, QuantParams.per_tensor(0.02))
        return Constant(data, QuantParams.per_axis(self.rng.uniform(0.01, 0.05, shape[axis]).tolist(), axis))

    def bias(self, weights: Any, count: int) -> Any:
        if self.dtype == "float32":
            return self.rng.normal(0, 1, count).astype(np.float32)
        scales = tuple(float(np.float32(self.step) * np.float32(s)) for s in weights.quant.scale)
        quant = QuantParams(scales, (0,) * len(scales), None if weights.quant.axis is None else 0)
        return Constant(self.rng.integers(-3000, 3000, count).astype(SUMS[self.dtype]), quant)

    def elementwise(self) -> Iterator[Operator]:
        shapes = (
            ((2, 3, 4), (2, 3, 4)),
            ((2, 3, 4), ()),
            ((2, 1, 4), (3, 1)),
            ((4,), (2, 3, 4)),
            ((2, 3), (1, 1, 2, 1)),
        )
        flag = TensorType(DType.BOOL, ())
        for a, b in shapes:
            operands, y = [self.tensor(*a), self.tensor(*b, factor=1.3)], np.broadcast_shapes(a, b)
            for code, options in (("ADD", "AddOptions"), ("SUB", "SubOptions"), ("MUL", "MulOptions")):
                yield Operator(code, operands, [self.tensor(*y, factor=2)], options)
            yield Operator("SQUARED_DIFFERENCE", operands, [self.tensor(*y, factor=4)])
            same = [self.tensor(*a), self.tensor(*b)]
            for code in ("MAXIMUM", "MINIMUM"):
                yield Operator(code, same, [self.tensor(*y)], "MaximumMinimumOptions")
            # Over int16 it has GREATER alone, and reads scales there that nothing has set.
            codes = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
            for code in codes if self.dtype != "int16" else ():
                yield Operator(code, operands, [TensorType(DType.BOOL, y)])
            for code in ("LOGICAL_AND", "LOGICAL_OR") if self.dtype == "bool" else ():
                yield Operator(code, same, [self.tensor(*y)])
            slope = self.constant(*b, low=1)
            yield Operator("PRELU", [operands[0], slope], [self.tensor(*y, factor=2)])
            yield Operator("DIV", [self.tensor(*a), self.constant(*b, low=60)], [self.tensor(*y)], "DivOptions")
            yield Operator("FLOOR_DIV", [self.tensor(*a), slope], [self.tensor(*y)])
        for activation in ACTIVATIONS:
            given = {"FusedActivationFunction": activation}
            for code in ("SUB", "MUL", "ADD"):
                yield Operator(code, [self.tensor(5, 40)] * 2, [self.tensor(5, 40)], f"{code.title()}Options", given)
        yield Operator("LOGICAL_NOT", [self.tensor(2, 3)], [self.tensor(2, 3)])
        condition = TensorType(DType.BOOL, (2, 3))
        yield Operator("SELECT_V2", [condition, self.tensor(3), self.tensor(1)], [self.tensor(2, 3)], "SelectV2Options")
        yield Operator("SELECT_V2", [flag, self.tensor(2, 3), self.tensor(2, 3)], [self.tensor(2, 3)])
        yield Operator("SELECT", [condition, self.tensor(2, 3), self.tensor(2, 3)], [self.tensor(2, 3)])

    def unary(self) -> Iterator[Operator]:
        codes = [
            "ABS",
            "EXP",
            "NEG",
            "SQUARE",
            "SIN",
            "COS",
            "FLOOR",
            "CEIL",
            "ROUND",
            "ELU",
            "HARD_SWISH",
            "RELU",
            "TANH",
            "LOGISTIC",
            "LOG_SOFTMAX",
            "SOFTMAX",
        ]
        for code in codes:
            for shape in ((2, 3, 4), (57,)):
                options = ("SoftmaxOptions", {"Beta": 0.7}) if code == "SOFTMAX" else ("", {})
                y = self.tensor(*shape, factor=1.5)
                if (code, self.dtype) in FIXED:
                    y = y.with_quant(QuantParams.per_tensor(*FIXED[code, self.dtype]))
                yield Operator(code, [self.tensor(*shape)], [y], *options)
        yield Operator("RELU6", [self.tensor(9, 9)], [self.tensor(9, 9)])
        yield Operator("ZEROS_LIKE", [self.tensor(2, 3)], [self.tensor(2, 3)])
        unit = TensorType(DType.INT8, (4, 3), QuantParams.per_tensor(1 / 128))
        y = unit if self.dtype == "int8" else self.tensor(4, 3)
        yield Operator("L2_NORMALIZATION", [self.tensor(4, 3)], [y], "L2NormOptions")
        for alpha in (0.0, 0.3, 1.5, -0.2):
            given = {"Alpha": alpha}
            yield Operator("LEAKY_RELU", [self.tensor(9, 9)], [self.tensor(9, 9, factor=2)], "LeakyReluOptions", given)

    def products(self) -> Iterator[Operator]:
        sizes = (
            (5, 5, 3, 4, 3, 3, (1, 1), (1, 1)), (7, 6, 2, 3, 3, 2, (2, 2), (1, 1)), (8, 8, 2, 2, 3, 3, (1, 1), (2, 2)),
            (4, 4, 8, 5, 1, 1, (1, 1), (1, 1)), (9, 5, 1, 4, 5, 3, (3, 2), (1, 1)),
        )  # fmt: skip
        for number, (h, w, ci, co, kh, kw, stride, dilation) in enumerate(sizes):
            for padding in (SAME, VALID):
                image = [self._places(*v, padding) for v in zip((h, w), (kh, kw), stride, dilation, strict=True)]
                axis, activation = (None, 0)[number % 2], (number + padding) % 4
                fields = {
                    "Padding": padding, "StrideH": stride[0], "StrideW": stride[1], "DilationHFactor": dilation[0],
                    "DilationWFactor": dilation[1], "FusedActivationFunction": activation,
                }  # fmt: skip
                x = self.tensor(2, h, w, ci)
                kernel = self.weights((co, kh, kw, ci), axis)
                operands = [x, kernel, self.bias(kernel, co) if number % 3 else None]
                yield Operator("CONV_2D", operands, [self.tensor(2, *image, co, factor=4)], "Conv2DOptions", fields)
                kernel = self.weights((1, kh, kw, 2 * ci), None if axis is None else 3)
                operands, fields = [x, kernel, self.bias(kernel, 2 * ci)], {**fields, "DepthMultiplier": 2}
                y = [self.tensor(2, *image, 2 * ci, factor=4)]
                yield Operator("DEPTHWISE_CONV_2D", operands, y, "DepthwiseConv2DOptions", fields)
        kernel = self.weights((4, 3, 3, 2), 0)
        fields = {"Padding": SAME, "StrideH": 1, "StrideW": 1}
        grouped = [self.tensor(1, 5, 5, 4), kernel, None]
        yield Operator("CONV_2D", grouped, [self.tensor(1, 5, 5, 4, factor=4)], "Conv2DOptions", fields)
        layers = (
            ((3, 8), (3, 5), False), ((2, 3, 8), (6, 5), False), ((2, 3, 8), (2, 3, 5), True),
            ((1, 2, 2, 4), (2, 5), False),
        )  # fmt: skip
        for number, (given, got, keep) in enumerate(layers):
            kernel = self.weights((5, 8), (None, 0)[number % 2])
            operands = [self.tensor(*given), kernel, self.bias(kernel, 5) if number else None]
            fields = {"FusedActivationFunction": number, "KeepNumDims": keep}
            yield Operator("FULLY_CONNECTED", operands, [self.tensor(*got, factor=4)], "FullyConnectedOptions", fields)
        if self.dtype == "int8":
            skewed = Constant(self.rng.integers(-127, 128, (5, 8)).astype(np.int8), QuantParams.per_tensor(0.02, 5))
            operands = [self.tensor(3, 8), skewed, None]
            yield Operator("FULLY_CONNECTED", operands, [self.tensor(3, 5, factor=4)], "FullyConnectedOptions")
        for a, b, y in (
            ((2, 3), (3, 4), (2, 4)),
            ((1, 2, 3), (3, 3, 4), (3, 2, 4)),
            ((2, 1, 2, 3), (1, 3, 3, 4), (2, 3, 2, 4)),
        ):
            for adjoint in (0, 1, 2, 3):
                left = (*a[:-2], a[-1], a[-2]) if adjoint & 1 else a
                right = (*b[:-2], b[-1], b[-2]) if adjoint & 2 else b
                fields = {"AdjX": bool(adjoint & 1), "AdjY": bool(adjoint & 2)}
                operands = [self.tensor(*left), self.tensor(*right, factor=0.6)]
                yield Operator("BATCH_MATMUL", operands, [self.tensor(*y, factor=4)], "BatchMatMulOptions", fields)
        for padding in (SAME, VALID):
            for h, w, ci, co, k, stride in ((3, 3, 2, 4, 3, 2), (2, 2, 3, 2, 4, 1), (4, 3, 2, 2, 2, 3)):
                extent = [n * stride if padding == SAME else (n - 1) * stride + k for n in (h, w)]
                kernel = self.weights((co, k, k, ci), 0)
                operands = [int32(1, *extent, co), kernel, self.tensor(1, h, w, ci), self.bias(kernel, co)]
                fields = {"Padding": padding, "StrideH": stride, "StrideW": stride}
                y = [self.tensor(1, *extent, co, factor=4)]
                yield Operator("TRANSPOSE_CONV", operands, y, "TransposeConvOptions", fields)

    @staticmethod
    def _places(size: int, kernel: int, stride: int, dilation: int, padding: int) -> int:
        return -(-size // stride) if padding == SAME else (size - (kernel - 1) * dilation - 1) // stride + 1

    def windows(self) -> Iterator[Operator]:
        for h, w, kh, kw, s1, s2 in ((5, 5, 2, 2, 2, 2), (5, 6, 3, 2, 1, 2), (4, 4, 4, 4, 1, 1), (6, 4, 2, 3, 3, 1)):
            for padding in (SAME, VALID):
                size = [self._places(n, k, s, 1, padding) for n, k, s in ((h, kh, s1), (w, kw, s2))]
                fields = {
                    "Padding": padding, "StrideH": s1, "StrideW": s2, "FilterHeight": kh, "FilterWidth": kw,
                    "FusedActivationFunction": (h + padding) % 4,
                }  # fmt: skip
                for code in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"):
                    yield Operator(code, [self.tensor(2, h, w, 3)], [self.tensor(2, *size, 3)], "Pool2DOptions", fields)
        for h, w, high, wide in ((2, 3, 4, 6), (4, 4, 2, 2), (3, 5, 7, 4), (1, 1, 3, 3)):
            for corners, centers in ((False, False), (True, False), (False, True)):
                fields = {"AlignCorners": corners, "HalfPixelCenters": centers}
                operands, y = [self.tensor(2, h, w, 3), int32(high, wide)], [self.tensor(2, high, wide, 3)]
                yield Operator("RESIZE_BILINEAR", operands, y, "ResizeBilinearOptions", fields)
                yield Operator("RESIZE_NEAREST_NEIGHBOR", operands, y, "ResizeNearestNeighborOptions", fields)

    def reductions(self) -> Iterator[Operator]:
        for shape, axes in (((2, 3, 4), (0, 2)), ((1, 4, 4, 3), (2, 1)), ((2, 3, 4), (-1,)), ((1, 4, 4, 3), (1,))):
            along = [axis % len(shape) for axis in axes]
            for keep in (False, True):
                y = [1 if i in along else n for i, n in enumerate(shape) if keep or i not in along]
                for code in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"):
                    factor = 2 if code in ("MEAN", "SUM") else 1
                    operands, fields = [self.tensor(*shape), int32(*axes)], {"KeepDims": keep}
                    yield Operator(code, operands, [self.tensor(*y, factor=factor)], "ReducerOptions", fields)
        for code in ("REDUCE_ALL", "REDUCE_ANY"):
            yield Operator(code, [self.tensor(2, 3, 4), int32(0, 2)], [self.tensor(3)], "ReducerOptions")
        for code, options in (("ARG_MAX", "ArgMaxOptions"), ("ARG_MIN", "ArgMinOptions")):
            for axis in (0, -1):
                y = TensorType(DType.INT32, (3, 4) if axis == 0 else (2, 3))
                given = {"OutputType": tflite.TensorType.INT32}
                yield Operator(code, [self.tensor(2, 3, 4), int32(axis)[0]], [y], options, given)

    def movement(self) -> Iterator[Operator]:
        x, y = self.tensor(2, 3, 4), self.tensor(6, 4)
        yield Operator("RESHAPE", [x, int32(-1, 4)], [y])
        yield Operator("RESHAPE", [x], [y], "ReshapeOptions")
        yield Operator("TRANSPOSE", [self.tensor(1, 2, 3, 4), int32(0, 3, 1, 2)], [self.tensor(1, 4, 2, 3)])
        yield Operator("SQUEEZE", [self.tensor(1, 3, 1, 2)], [self.tensor(3, 2)], "SqueezeOptions")
        yield Operator("EXPAND_DIMS", [self.tensor(2, 3), int32(-3)[0]], [self.tensor(1, 2, 3)])
        fields = {"Axis": -1}
        parts = [self.tensor(2, 3), self.constant(2, 1), self.tensor(2, 2)]
        yield Operator("CONCATENATION", parts, [self.tensor(2, 6)], "ConcatenationOptions", fields)
        yield Operator("PACK", [x] * 2, [self.tensor(2, 3, 2, 4)], "PackOptions", {"ValuesCount": 2, "Axis": -2})
        yield Operator("UNPACK", [x], [self.tensor(2, 4)] * 3, "UnpackOptions", {"Num": 3, "Axis": -2})
        yield Operator(
            "SPLIT", [int32(-2), self.tensor(4, 6)], [self.tensor(2, 6)] * 2, "SplitOptions", {"NumSplits": 2}
        )
        outputs = [self.tensor(4, n) for n in (1, 5)]
        yield Operator(
            "SPLIT_V", [self.tensor(4, 6), int32(1, -1), int32(1)[0]], outputs, "SplitVOptions", {"NumSplits": 2}
        )
        yield Operator("SLICE", [x, int32(1, 0, 2), int32(1, -1, 2)], [self.tensor(1, 3, 2)])
        for begin, end, stride, masks, shape in (
            ((-1, 0, 0), (0, 3, 4), (1, 1, 2), {"ShrinkAxisMask": 1}, (3, 2)),
            ((1, 9, -1), (2, 0, -9), (1, -2, -1), {"BeginMask": 1, "EndMask": 6}, (2, 2, 4)),
            ((1,), (2,), (1,), {}, (1, 3, 4)),
        ):
            lists = [int32(*v) for v in (begin, end, stride)]
            yield Operator("STRIDED_SLICE", [x, *lists], [self.tensor(*shape)], "StridedSliceOptions", masks)
        pads = int32((1, 0), (0, 2))
        yield Operator("PAD", [self.tensor(2, 3), pads], [self.tensor(3, 5)], "PadOptions")
        yield Operator("PADV2", [self.tensor(2, 3), pads, self.constant(1)], [self.tensor(3, 5)], "PadV2Options")
        for mode in (0, 1):
            yield Operator(
                "MIRROR_PAD", [self.tensor(2, 3), pads], [self.tensor(3, 5)], "MirrorPadOptions", {"Mode": mode}
            )
        rows = int32(4, 0, 2)
        yield Operator("GATHER", [self.tensor(2, 5, 3), rows], [self.tensor(2, 3, 3)], "GatherOptions", {"Axis": -2})
        yield Operator("GATHER", [self.tensor(5, 3), int32(2)[0]], [self.tensor(3)], "GatherOptions", {"Axis": 0})
        batched = {"Axis": 1, "BatchDims": 1}
        yield Operator(
            "GATHER",
            [self.tensor(2, 5, 3), rows[None, [0, 1]].repeat(2, 0)],
            [self.tensor(2, 2, 3)],
            "GatherOptions",
            batched,
        )
        yield Operator(
            "GATHER_ND", [self.tensor(4, 5, 3), int32((0, 1), (3, 4))], [self.tensor(2, 3)], "GatherNdOptions"
        )
        yield Operator("BROADCAST_TO", [self.tensor(1, 3, 1), int32(2, 3, 4)], [x])
        if self.dtype == "int32":
            yield Operator("BROADCAST_ARGS", [int32(3, 1), int32(2, 1, 4)], [self.tensor(3)])
        yield Operator("REVERSE_V2", [x, int32(1)], [x])
        yield Operator("EMBEDDING_LOOKUP", [int32(2, 0, 2), self.constant(4, 5)], [self.tensor(3, 5)])
        yield Operator("FILL", [int32(2, 3, 4), self.tensor()], [x])
        yield Operator("ADD_N", [x, x, x], [x])
        yield Operator(
            "DEPTH_TO_SPACE",
            [self.tensor(1, 2, 3, 8)],
            [self.tensor(1, 4, 6, 2)],
            "DepthToSpaceOptions",
            {"BlockSize": 2},
        )
        yield Operator(
            "SPACE_TO_DEPTH",
            [self.tensor(1, 4, 6, 2)],
            [self.tensor(1, 2, 3, 8)],
            "SpaceToDepthOptions",
            {"BlockSize": 2},
        )
        crops = int32((0, 1), (1, 1))
        yield Operator("BATCH_TO_SPACE_ND", [self.tensor(4, 2, 3, 2), int32(2, 2), crops], [self.tensor(1, 3, 4, 2)])
        yield Operator("SPACE_TO_BATCH_ND", [self.tensor(2, 4, 3), int32(2), int32((0, 0))], [self.tensor(4, 2, 3)])
        yield Operator(
            "CUMSUM", [self.tensor(2, 5), int32(1)[0]], [self.tensor(2, 5)], "CumsumOptions", {"Reverse": True}
        )
        for to in ("float32", "int8", "int16", "int32", "int64", "bool"):
            plain = [TensorType(DType(kind), (2, 3)) for kind in (self.dtype, to)]
            yield Operator("CAST", plain[:1], plain[1:], "CastOptions")

    def all(self) -> Iterator[Operator]:
        yield from self.elementwise()
        yield from self.unary()
        if self.dtype in SUMS:
            yield from self.products()
        yield from self.windows()
        yield from self.reductions()
        yield from self.movement()

    def feed(self, type_: TensorType) -> Array:
        """Any numbers of a quantized tensor, small ones of others."""
        if type_.dtype is DType.BOOL:
            return self.rng.integers(0, 2, type_.shape).astype(bool)
        if type_.dtype.is_float:
            return self.rng.normal(0, 2, type_.shape).astype(np.float32)
        low, high = type_.dtype.limits if type_.quant is not None else (-9, 9)
        return self.rng.integers(low, high + 1, type_.shape).astype(type_.dtype.numpy)
