"""Layers to train: ``burnc.nn``. Images are NHWC; a layer's weights are laid out as its operator wants them.

A module of your own keeps layers as attributes and says what it does in ``forward``::

    class Net(nn.Module):
        def __init__(self):
            self.conv = nn.Conv2d(1, 8, 3)
            self.head = nn.Linear(8, 10)

        def forward(self, x):
            return self.head(nn.GlobalAveragePool()(self.conv(x)))
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from typing import Literal

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Array
from burnc.ops.average_pool2d import AveragePool2dAttrs
from burnc.ops.batch_norm import BatchNormAttrs
from burnc.ops.clip import ClipAttrs
from burnc.ops.conv2d import Conv2dAttrs
from burnc.ops.max_pool2d import MaxPool2dAttrs
from burnc.ops.reduce_sum import ReduceAttrs
from burnc.ops.spatial import NO_PADDING, Padding, Pair, same_padding
from burnc.train.capture import Tensor
from burnc.train.variables import Initializer, Variable

Size = int | Pair


def he_normal(fan_in: int) -> Initializer:
    """Normal with variance 2 / fan in (He et al., 2015), for weights before a ReLU."""
    return lambda rng, shape: rng.normal(0.0, math.sqrt(2.0 / fan_in), shape)


def constant(value: float) -> Initializer:
    return lambda rng, shape: np.full(shape, value)


class Module:
    """A part of a network: what it holds, and in ``forward`` what it does to symbolic tensors.

    Attributes:
        name: what the module that holds this one calls it. path: the names from the outermost on, joined by dots.
    """

    name = ""
    path = ""

    def forward(self, x: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def __call__(self, *inputs: Tensor) -> Tensor:
        with inputs[0].capture.scope(self.name):
            try:
                return self.forward(*inputs)
            except GraphError as error:
                shapes = ", ".join(str(list(x.shape)) for x in inputs)
                where = error.where or f"layer {self.path or type(self).__name__}, input {shapes}"
                raise GraphError(error.what, where=where, hint=error.hint) from None

    def children(self) -> Iterator[tuple[str, Module]]:
        """Modules that are attributes of this one, or stand in lists that are."""
        for name, held in vars(self).items():
            if isinstance(held, Module):
                yield name, held
            elif isinstance(held, list | tuple):
                yield from ((f"{name}{i}", each) for i, each in enumerate(held) if isinstance(each, Module))

    def name_variables(self, path: str = "") -> None:
        """Give every variable its path as name."""
        self.path = path
        for name, held in vars(self).items():
            if isinstance(held, Variable):
                held.name = f"{path}.{name}" if path else name
        for name, child in self.children():
            child.name = name
            child.name_variables(f"{path}.{name}" if path else name)

    def variables(self) -> list[Variable]:
        """Parameters and buffers of this module and of all inside, each once."""
        found = {held: None for held in vars(self).values() if isinstance(held, Variable)}
        for _, child in self.children():
            found.update(dict.fromkeys(child.variables()))
        return list(found)

    def parameter_count(self) -> int:
        """Elements of what is trained."""
        return sum(v.data.size for v in self.variables() if v.trained)

    def initialize(self, seed: int) -> None:
        """Fill every variable; the numbers depend on the seed and on the variable's name alone."""
        self.name_variables()
        for variable in self.variables():
            rng = np.random.default_rng([seed, zlib.crc32(variable.name.encode())])
            variable.data = np.asarray(variable.initializer(rng, variable.data.shape), np.float32)

    def load(self, arrays: dict[str, Array]) -> None:
        """Take over trained values by name.

        Raises:
            GraphError: one is missing or of another shape.
        """
        self.name_variables()
        for variable in self.variables():
            array = arrays.get(variable.name)
            if array is None or array.shape != variable.data.shape:
                got = "nothing" if array is None else str(list(array.shape))
                raise GraphError(f"{variable.name!r} must be {list(variable.data.shape)}, there is {got}")
            variable.data = np.array(array, np.float32)


class Sequential(Module):
    """Modules one after the other, named after their kinds: conv2d1, relu1, conv2d2, ..."""

    def __init__(self, *modules: Module) -> None:
        self.modules = list(modules)

    def children(self) -> Iterator[tuple[str, Module]]:
        counts: dict[str, int] = {}
        for module in self.modules:
            kind = type(module).__name__.lower()
            counts[kind] = counts.get(kind, 0) + 1
            yield f"{kind}{counts[kind]}", module

    def forward(self, x: Tensor) -> Tensor:
        for module in self.modules:
            x = module(x)
        return x


class Linear(Module):
    """y = x W' + b on the last axis; weight [outputs, inputs]."""

    def __init__(self, inputs: int, outputs: int, *, bias: bool = True) -> None:
        self.weight = Variable((outputs, inputs), he_normal(inputs))
        self.bias = Variable((outputs,), constant(0.0)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        bias = x.capture.variable(self.bias) if self.bias is not None else None
        return x.op("fully_connected", x.capture.variable(self.weight), bias)


class Conv2d(Module):
    """2-D convolution of [N, H, W, inputs]; weight [outputs, kh, kw, inputs / groups].

    Args:
        padding: rows and columns on every side, or ``same``: ceil(size / stride) results.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: Size,
        *,
        stride: Size = 1,
        padding: int | Literal["same"] = 0,
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        self.kernel, self.stride, self.dilation = _pair(kernel), _pair(stride), _pair(dilation)
        self.padding: int | Literal["same"] = padding
        self.groups = groups
        channels = inputs // groups
        self.weight = Variable((outputs, *self.kernel, channels), he_normal(math.prod(self.kernel) * channels))
        self.bias = Variable((outputs,), constant(0.0)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        pad = _padding(self.padding, x, self.kernel, self.stride, self.dilation)
        bias = x.capture.variable(self.bias) if self.bias is not None else None
        attrs = Conv2dAttrs(self.stride, self.dilation, pad, self.groups)
        return x.op("conv2d", x.capture.variable(self.weight), bias, attrs=attrs)


class DepthwiseConv2d(Conv2d):
    """A convolution of each channel by itself."""

    def __init__(
        self,
        channels: int,
        kernel: Size,
        *,
        stride: Size = 1,
        padding: int | Literal["same"] = 0,
        dilation: Size = 1,
        bias: bool = True,
    ) -> None:
        super().__init__(
            channels, channels, kernel, stride=stride, padding=padding, dilation=dilation, groups=channels, bias=bias
        )


class BatchNorm(Module):
    """Batch normalization along the last axis (Ioffe and Szegedy, 2015).

    Training uses the batch's mean and variance and lets the running ones follow by ``momentum``; captured for
    inference it is one batch_norm operator, which passes fold into the convolution before it.
    """

    def __init__(self, channels: int, *, momentum: float = 0.1, epsilon: float = 1e-5) -> None:
        self.momentum, self.epsilon = momentum, epsilon
        self.gamma = Variable((channels,), constant(1.0))
        self.beta = Variable((channels,), constant(0.0))
        self.mean = Variable((channels,), constant(0.0), trained=False)
        self.variance = Variable((channels,), constant(1.0), trained=False)

    def forward(self, x: Tensor) -> Tensor:
        gamma, beta, mean, variance = (x.capture.variable(v) for v in (self.gamma, self.beta, self.mean, self.variance))
        if not x.capture.training:
            return x.op("batch_norm", gamma, beta, mean, variance, attrs=BatchNormAttrs(self.epsilon))
        lead = ReduceAttrs(tuple(range(len(x.shape) - 1)))
        batch_mean = x.op("reduce_mean", attrs=lead)
        centred = x - batch_mean
        batch_variance = (centred * centred).op("reduce_mean", attrs=lead)
        count = math.prod(x.shape[:-1])
        unbiased = batch_variance * (count / max(1, count - 1))
        for variable, running, batch in ((self.mean, mean, batch_mean), (self.variance, variance, unbiased)):
            x.capture.update(variable, running * (1.0 - self.momentum) + batch * self.momentum)
        return centred * (gamma / (batch_variance + self.epsilon).op("sqrt")) + beta


class ReLU(Module):
    """max(x, 0), at most ``limit``: ReLU(6) is the ReLU6 of MobileNet."""

    def __init__(self, limit: float = math.inf) -> None:
        self.limit = limit

    def forward(self, x: Tensor) -> Tensor:
        return x.op("clip", attrs=ClipAttrs(0.0, self.limit))


class MaxPool(Module):
    """The largest element under each window; windows lie side by side unless a stride is given."""

    def __init__(self, kernel: Size, *, stride: Size | None = None, padding: int | Literal["same"] = 0) -> None:
        self.kernel = _pair(kernel)
        self.stride = self.kernel if stride is None else _pair(stride)
        self.padding: int | Literal["same"] = padding

    def forward(self, x: Tensor) -> Tensor:
        pad = _padding(self.padding, x, self.kernel, self.stride, (1, 1))
        return x.op("max_pool2d", attrs=MaxPool2dAttrs(self.kernel, self.stride, pad=pad))


class AveragePool(MaxPool):
    """The mean under each window; padding does not count."""

    def forward(self, x: Tensor) -> Tensor:
        pad = _padding(self.padding, x, self.kernel, self.stride, (1, 1))
        return x.op("average_pool2d", attrs=AveragePool2dAttrs(self.kernel, self.stride, pad=pad))


class GlobalAveragePool(Module):
    """[N, H, W, C] becomes [N, C]: the mean of each channel."""

    def forward(self, x: Tensor) -> Tensor:
        if len(x.shape) != 4:
            raise GraphError(f"input {list(x.shape)} must have 4 axes")
        return x.op("average_pool2d", attrs=AveragePool2dAttrs(x.shape[1:3])).reshape(x.shape[0], x.shape[3])


class Flatten(Module):
    """[N, ...] becomes [N, elements of a sample]."""

    def forward(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[0], math.prod(x.shape[1:]))


def _pair(size: Size) -> Pair:
    return (size, size) if isinstance(size, int) else size


def _padding(padding: int | Literal["same"], x: Tensor, kernel: Pair, stride: Pair, dilation: Pair) -> Padding:
    if padding == 0:
        return NO_PADDING
    if padding != "same":
        return Padding(padding, padding, padding, padding)
    if len(x.shape) != 4:
        raise GraphError(f"input {list(x.shape)} must have 4 axes")
    (top, bottom), (left, right) = (
        same_padding(x.shape[axis + 1], kernel[axis], stride[axis], dilation[axis], upper=True) for axis in (0, 1)
    )
    return Padding(top, left, bottom, right)
