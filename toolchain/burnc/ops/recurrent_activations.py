"""The activations that ONNX's recurrent operators name, written once for arrays and for kernels.

Sources: ONNX RNN-22, GRU-22, LSTM-22.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from burnc.errors import GraphError


class Mathematics(Protocol):
    """What cells are computed with: a KernelBuilder on expressions, ``OnArrays`` on arrays."""

    def call(self, name: str, x: Any, /) -> Any: ...

    def minimum(self, a: Any, b: Any, /) -> Any: ...

    def maximum(self, a: Any, b: Any, /) -> Any: ...

    def select(self, condition: Any, a: Any, b: Any, /) -> Any: ...

    def let(self, name: str, value: Any, /) -> Any: ...


class OnArrays:
    """Whole arrays in place of a kernel's scalars; ``xp`` is numpy or cupy."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp

    def call(self, name: str, x: Any, /) -> Any:
        return getattr(self.xp, name)(x)

    def minimum(self, a: Any, b: Any, /) -> Any:
        return self.xp.minimum(a, np.float32(b))

    def maximum(self, a: Any, b: Any, /) -> Any:
        return self.xp.maximum(a, np.float32(b))

    def select(self, condition: Any, a: Any, b: Any, /) -> Any:
        return self.xp.where(condition, *(np.float32(v) if isinstance(v, float) else v for v in (a, b)))

    def let(self, _name: str, value: Any, /) -> Any:
        return value


@dataclass(frozen=True)
class Activation:
    """An activation.

    Attributes:
        real: (mathematics, alpha, beta, x) -> y.
        alpha, beta: their defaults; None where the function does not have that factor, NaN where the factor must be
            given, as the standard names no default or onnxruntime takes another.
    """

    real: Callable[[Mathematics, float, float, Any], Any]
    alpha: float | None = None
    beta: float | None = None


def sigmoid(m: Mathematics, x: Any) -> Any:
    # The bound keeps exp finite, as infinity is not defined on every target; 1e-35 is 0 in effect.
    return 1.0 / (m.call("exp", m.minimum(-x, 80.0)) + 1.0)


def _elu(m: Mathematics, alpha: float, beta: float, x: Any) -> Any:
    # exp(x) - 1 = 2 t / (1 - t) with t = tanh(x / 2), where nothing cancels for x < 0.
    half = m.let("half", m.call("tanh", m.minimum(x, 0.0) * 0.5))
    return m.select(x < 0, (half + half) / (1.0 - half) * alpha, x)


def _softplus(m: Mathematics, alpha: float, beta: float, x: Any) -> Any:
    power = m.call("exp", m.select(x < 0, x, -x))
    return m.maximum(x, 0.0) + m.call("log", power + 1.0)


ACTIVATIONS = {
    "relu": Activation(lambda m, a, b, x: m.maximum(x, 0.0)),
    "tanh": Activation(lambda m, a, b, x: m.call("tanh", x)),
    "sigmoid": Activation(lambda m, a, b, x: sigmoid(m, x)),
    "affine": Activation(lambda m, a, b, x: x * a + b, math.nan, math.nan),
    "leakyrelu": Activation(lambda m, a, b, x: m.select(x < 0, x * a, x), 0.01),
    "thresholdedrelu": Activation(lambda m, a, b, x: m.select(x > a, x, 0.0), math.nan),
    "scaledtanh": Activation(lambda m, a, b, x: m.call("tanh", x * b) * a, math.nan, math.nan),
    "hardsigmoid": Activation(lambda m, a, b, x: m.minimum(m.maximum(x * a + b, 0.0), 1.0), 0.2, 0.5),
    "elu": Activation(_elu, 1.0),
    "softsign": Activation(lambda m, a, b, x: x / (m.select(x < 0, -x, x) + 1.0)),
    "softplus": Activation(_softplus),
}
SPELLINGS = ("Relu", "Tanh", "Sigmoid", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu")
ONNX_NAMES = {name.lower(): name for name in (*SPELLINGS, "Softsign", "Softplus")}


def with_factors(names: Sequence[str], alphas: Sequence[float], betas: Sequence[float]) -> tuple[list[float], ...]:
    """For each activation its alpha and beta: those that have one take the next of the list, or their default.

    Raises:
        GraphError: the list is too short for one that has no default.
    """
    given = iter(alphas), iter(betas)
    found: tuple[list[float], list[float]] = [], []
    for name in names:
        defaults = ACTIVATIONS[name].alpha, ACTIVATIONS[name].beta
        for default, numbers, column in zip(defaults, given, found, strict=True):
            column.append(0.0 if default is None else float(next(numbers, default)))
            if math.isnan(column[-1]):
                raise GraphError(f"activation {ONNX_NAMES[name]} needs its activation_alpha and activation_beta")
    return found


def listed_factors(names: Sequence[str], alphas: Sequence[float], betas: Sequence[float]) -> tuple[list[float], ...]:
    """The other way: the lists as ONNX has them."""
    return (
        [factor for name, factor in zip(names, alphas, strict=True) if ACTIVATIONS[name].alpha is not None],
        [factor for name, factor in zip(names, betas, strict=True) if ACTIVATIONS[name].beta is not None],
    )
