"""Random TFLite files: small nets of operators that TFLite Micro takes, int8, int16 or float, from a seed.

What each operator computes alone is tested elsewhere; here the passes, which see several of them, must change nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from burnc.ir import Array, DType, QuantParams, TensorType
from oracles.tflite_operator import int32
from oracles.tflite_writer import _Writer

STEPS = 8
LARGEST = 4000  # elements of a tensor
FIXED = {
    ("SOFTMAX", "int8"): (1 / 256, -128), ("LOGISTIC", "int8"): (1 / 256, -128), ("TANH", "int8"): (1 / 128, 0),
    ("SOFTMAX", "int16"): (2**-15, 0), ("LOGISTIC", "int16"): (2**-15, 0), ("TANH", "int16"): (2**-15, 0),
}  # fmt: skip


class RandomNet:
    """A net while it grows: each step reads a tensor that nothing has read yet, where one fits.

    Attributes:
        fed: types of the inputs.
        outputs: types of what nothing reads.
    """

    def __init__(self, seed: int, kind: str) -> None:
        self.kind = kind
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.w = _Writer()
        self.made: list[tuple[int, TensorType]] = []
        self.read: set[int] = set()
        self.log: list[str] = []
        sides = [(1, *(self.random.randint(3, 8) for _ in range(2)), self.random.randint(1, 4)) for _ in range(2)]
        self.inputs = [self._new(self.type(side)) for side in sides[: self.random.choice((1, 1, 2))]]
        for _ in range(STEPS):
            self.random.choice(OPERATORS)(self)

    @property
    def fed(self) -> list[TensorType]:
        return [type_ for _, type_ in self.made[: len(self.inputs)]]

    def write(self, *, unsigned: bool = False) -> bytes:
        """The file; ``unsigned``: with int8 written as uint8, as converters of old did."""
        if unsigned:
            self._raise()
        unread = [i for i, _ in self.made[len(self.inputs) :] if i not in self.read]
        self.outputs = [type_ for i, type_ in self.made if i in unread]
        return self.w.finish(self.inputs, unread)

    def _raise(self) -> None:
        for index, (name, type_, buffer, *rest) in enumerate(self.w.tensors):
            if type_ is None or type_.dtype is not DType.INT8 or type_.quant is None:
                continue
            quant = replace(type_.quant, zero_point=tuple(zero + 128 for zero in type_.quant.zero_point))
            self.w.tensors[index] = (name, TensorType(DType.UINT8, type_.shape, quant), buffer, *rest)
            held = self.w.buffers[buffer]
            if held is not None:
                self.w.buffers[buffer] = held.view(np.uint8) ^ np.uint8(128)

    def feed(self, type_: TensorType) -> Array:
        if type_.quant is None:
            return self.numbers.normal(0, 1, type_.shape).astype(np.float32)
        low, high = type_.dtype.limits
        return self.numbers.integers(low, high + 1, type_.shape).astype(type_.dtype.numpy)

    # What operators are made of.

    def params(self) -> QuantParams | None:
        if self.kind == "float32":
            return None
        scale = float(self.numbers.uniform(0.01, 0.2))
        if self.kind == "int16":
            return QuantParams.per_tensor(scale / 100)
        return QuantParams.per_tensor(scale, self.random.choice((0, -128, 127, self.random.randint(-60, 60))))

    def type(self, shape: Sequence[int]) -> TensorType:
        return TensorType(DType(self.kind), tuple(shape), self.params())

    def pick(self, rank: int | None = None) -> tuple[int, TensorType] | None:
        fits = [(i, t) for i, t in self.made if rank in (None, t.rank) and t.rank and t.size <= LARGEST]
        return self.random.choice([p for p in fits if p[0] not in self.read] or fits or [None])

    def alike(self, type_: TensorType, *, equal: bool) -> int:
        """A tensor of that shape, with equal parameters if they must be."""
        fits = [i for i, t in self.made if t.shape == type_.shape and (t.quant == type_.quant or not equal)]
        return self.random.choice(fits)

    def emit(self, code: str, inputs: Sequence[int], type_: TensorType, options: str = "", **fields: Any) -> None:
        self.read |= set(inputs)
        self.log.append(f"{code} {list(type_.shape)}")
        self.w.operator(code, inputs, [self._new(type_)], options, **fields)

    def _new(self, type_: TensorType) -> int:
        index = self.w.new_tensor(f"t{len(self.w.tensors)}", type_)
        self.made.append((index, type_))
        return index

    def list(self, *values: Any) -> int:
        return self.w.constant(f"c{len(self.w.tensors)}", int32(*values))

    def constant(self, shape: Sequence[int]) -> int:
        type_ = self.type(shape)
        return self.w.constant(f"c{len(self.w.tensors)}", self.feed(type_), type_.quant)

    def weights(self, shape: Sequence[int], axis: int, x: TensorType) -> tuple[int, int]:
        """Weights along whose axis the results lie, and a bias or none."""
        name, count = f"w{len(self.w.tensors)}", shape[axis]
        has_bias = self.random.random() < 0.7
        if self.kind == "float32":
            kernel = self.w.constant(name, self.numbers.normal(0, 0.4, shape).astype(np.float32))
            bias = self.w.constant(f"{name}b", self.numbers.normal(0, 1, count).astype(np.float32)) if has_bias else -1
            return kernel, bias
        scales = self.numbers.uniform(0.002, 0.02, count if self.random.random() < 0.7 else 1).tolist()
        zeros, along = (0,) * len(scales), len(scales) > 1
        data = self.numbers.integers(-127, 128, shape).astype(np.int8)
        kernel = self.w.constant(name, data, QuantParams(tuple(scales), zeros, axis if along else None))
        if not has_bias:
            return kernel, -1
        sums = tuple(float(np.float32(x.scale) * np.float32(s)) for s in scales)
        data = self.numbers.integers(-4000, 4000, count).astype(np.int32 if self.kind == "int8" else np.int64)
        return kernel, self.w.constant(f"{name}b", data, QuantParams(sums, zeros, 0 if along else None))

    @property
    def activation(self) -> dict[str, int]:
        return {"FusedActivationFunction": self.random.choice((0, 0, 1, 2, 3))}


def _window(net: RandomNet, image: Sequence[int]) -> tuple[list[int], list[int], dict[str, int]]:
    kernel = [net.random.randint(1, min(3, n)) for n in image]
    stride = [net.random.choice((1, 2)) for _ in image]
    padding = net.random.choice((0, 1))
    places = [-(-n // s) if padding == 0 else (n - k) // s + 1 for n, k, s in zip(image, kernel, stride, strict=True)]
    fields = {"Padding": padding, "StrideH": stride[0], "StrideW": stride[1], **net.activation}
    return kernel, places, fields


def convolution(net: RandomNet) -> None:
    if (picked := net.pick(4)) is None:
        return
    x, (n, *image, channels) = picked[0], picked[1].shape
    kernel, places, fields = _window(net, image)
    if net.random.random() < 0.5:
        filters = net.random.randint(1, 5)
        operands = net.weights((filters, *kernel, channels), 0, picked[1])
        net.emit("CONV_2D", [x, *operands], net.type((n, *places, filters)), "Conv2DOptions", **fields)
        return
    factor = net.random.choice((1, 2))
    operands = [i for i in net.weights((1, *kernel, channels * factor), 3, picked[1]) if i >= 0]
    y = net.type((n, *places, channels * factor))
    net.emit("DEPTHWISE_CONV_2D", [x, *operands], y, "DepthwiseConv2DOptions", DepthMultiplier=factor, **fields)


def pool(net: RandomNet) -> None:
    if (picked := net.pick(4)) is None:
        return
    x, (n, *image, channels) = picked[0], picked[1].shape
    kernel, places, fields = _window(net, image)
    code = net.random.choice(("MAX_POOL_2D", "AVERAGE_POOL_2D"))
    fields |= {"FilterHeight": kernel[0], "FilterWidth": kernel[1]}
    net.emit(code, [x], picked[1].with_shape((n, *places, channels)), "Pool2DOptions", **fields)


def resize(net: RandomNet) -> None:
    picked = net.pick(4)
    if picked is None or net.kind == "int16":
        return
    x, (n, *_, channels) = picked[0], picked[1].shape
    size, centers = [net.random.randint(1, 9) for _ in range(2)], net.random.random() < 0.4
    code, options = net.random.choice(
        (("RESIZE_BILINEAR", "ResizeBilinearOptions"), ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions"))
    )
    fields = {"AlignCorners": not centers and net.random.random() < 0.4, "HalfPixelCenters": centers}
    net.emit(code, [x, net.list(*size)], picked[1].with_shape((n, *size, channels)), options, **fields)


def fully_connected(net: RandomNet) -> None:
    if (picked := net.pick()) is None:
        return
    x, shape = picked[0], picked[1].shape
    results, keep = net.random.randint(1, 6), net.random.random() < 0.5
    operands = net.weights((results, shape[-1]), 0, picked[1])
    y = net.type((*shape[:-1], results) if keep else (picked[1].size // shape[-1], results))
    net.emit("FULLY_CONNECTED", [x, *operands], y, "FullyConnectedOptions", KeepNumDims=keep, **net.activation)


def product(net: RandomNet) -> None:
    picked = net.pick()
    if picked is None or picked[1].rank < 2:
        return
    x, shape = picked[0], picked[1].shape
    columns = net.random.randint(1, 4)
    right = net.constant((*(1,) * (len(shape) - 2), shape[-1], columns))
    net.emit("BATCH_MATMUL", [x, right], net.type((*shape[:-1], columns)), "BatchMatMulOptions")


def arithmetic(net: RandomNet) -> None:
    if (picked := net.pick()) is None:
        return
    x, shape = picked[0], picked[1].shape
    code = net.random.choice(("ADD", "SUB", "MUL"))
    other = net.alike(picked[1], equal=False)
    if net.random.random() < 0.5:
        other = net.constant(net.random.choice((shape[-1:], shape, (1,) * len(shape))))
    pair = [x, other] if net.random.random() < 0.7 else [other, x]
    net.emit(code, pair, net.type(shape), f"{code.title()}Options", **net.activation)


def extremum(net: RandomNet) -> None:
    if (picked := net.pick()) is None:
        return
    pair = [picked[0], net.alike(picked[1], equal=True)]
    net.emit(net.random.choice(("MAXIMUM", "MINIMUM")), pair, picked[1], "MaximumMinimumOptions")


def unary(net: RandomNet) -> None:
    if (picked := net.pick()) is None:
        return
    x, type_ = picked
    code = net.random.choice(("RELU", "RELU6", "LEAKY_RELU", "HARD_SWISH", "SOFTMAX", "LOGISTIC", "TANH", "ABS"))
    if code == "HARD_SWISH" and net.kind == "int16":
        return
    if (code, net.kind) in FIXED:
        type_ = type_.with_quant(QuantParams.per_tensor(*FIXED[code, net.kind]))
    elif code != "RELU6" and net.random.random() < 0.6:
        type_ = type_.with_quant(net.params())
    options: dict[str, dict[str, Any]] = {
        "SOFTMAX": {"options": "SoftmaxOptions", "Beta": 1.0},
        "LEAKY_RELU": {"options": "LeakyReluOptions", "Alpha": float(net.numbers.uniform(-0.2, 1.2))},
    }
    net.emit(code, [x], type_, **options.get(code, {}))


def requantization(net: RandomNet) -> None:
    picked = net.pick()
    if picked is not None and net.kind != "float32":
        net.emit("QUANTIZE", [picked[0]], picked[1].with_quant(net.params()), "QuantizeOptions")


def floats_between(net: RandomNet) -> None:
    """An operator on real numbers between integers."""
    picked = net.pick()
    if picked is None or net.kind == "float32":
        return
    real = TensorType(DType.FLOAT32, picked[1].shape)
    first, second = (net.w.new_tensor(f"t{len(net.w.tensors)}", real) for _ in range(2))
    net.read.add(picked[0])
    net.w.operator("DEQUANTIZE", [picked[0]], [first], "DequantizeOptions")
    net.w.operator(net.random.choice(("RELU", "ABS", "NEG", "HARD_SWISH")), [first], [second])
    net.emit("QUANTIZE", [second], picked[1].with_quant(net.params()), "QuantizeOptions")


def padding(net: RandomNet) -> None:
    if (picked := net.pick()) is None:
        return
    shape = picked[1].shape
    pads = [(net.random.randint(0, 2) if i else 0, net.random.randint(0, 1)) for i in range(len(shape))]
    padded = [n + a + b for n, (a, b) in zip(shape, pads, strict=True)]
    net.emit("PAD", [picked[0], net.list(*pads)], picked[1].with_shape(padded), "PadOptions")


def joining(net: RandomNet) -> None:
    if (picked := net.pick()) is None:
        return
    x, type_ = picked
    axis = net.random.randrange(type_.rank)
    shape = [n * 2 if i == axis else n for i, n in enumerate(type_.shape)]
    pair = [x, net.alike(type_, equal=True)]
    net.emit("CONCATENATION", pair, type_.with_shape(shape), "ConcatenationOptions", Axis=axis)


def transposition(net: RandomNet) -> None:
    if (picked := net.pick()) is None:
        return
    axes = list(range(picked[1].rank))
    net.random.shuffle(axes)
    y = picked[1].with_shape([picked[1].shape[i] for i in axes])
    net.emit("TRANSPOSE", [picked[0], net.list(*axes)], y, "TransposeOptions")


def reshaping(net: RandomNet) -> None:
    if (picked := net.pick()) is None:
        return
    x, type_ = picked
    size, last = type_.size, type_.shape[-1]
    shape = net.random.choice([(1, size), (size // last, last), (1, 1, size // last, last), (1, last, size // last, 1)])
    net.emit("RESHAPE", [x, net.list(*shape)], type_.with_shape(shape))


def slicing(net: RandomNet) -> None:
    if (picked := net.pick()) is None:
        return
    begin = [net.random.randrange(n) for n in picked[1].shape]
    end = [net.random.randint(b + 1, n) for b, n in zip(begin, picked[1].shape, strict=True)]
    step = [net.random.choice((1, 1, 2)) for _ in begin]
    y = picked[1].with_shape([-(-(e - b) // s) for b, e, s in zip(begin, end, step, strict=True)])
    lists = [net.list(*values) for values in (begin, end, step)]
    net.emit("STRIDED_SLICE", [picked[0], *lists], y, "StridedSliceOptions")


def averaging(net: RandomNet) -> None:
    picked = net.pick()
    if picked is None or picked[1].rank < 3:
        return
    x, type_ = picked
    axes = sorted(net.random.sample(range(1, type_.rank), net.random.randint(1, type_.rank - 2)))
    keep = net.random.random() < 0.5
    shape = [1 if i in axes else n for i, n in enumerate(type_.shape) if keep or i not in axes]
    y = net.type(shape) if net.random.random() < 0.7 else type_.with_shape(shape)
    net.emit("MEAN", [x, net.list(*axes)], y, "ReducerOptions", KeepDims=keep)


OPERATORS: tuple[Callable[[RandomNet], None], ...] = (
    convolution, convolution, pool, resize, fully_connected, product, arithmetic, arithmetic, extremum, unary, unary,
    requantization, floats_between, padding, joining, transposition, reshaping, slicing, averaging,
)  # fmt: skip
