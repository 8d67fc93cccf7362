"""Optimizers: one step's update of a parameter, written in IR operators so that it is compiled with the rest.

What changes from step to step and is the same for all parameters (learning rate, bias correction) is computed here and
fed as scalars; what is kept for each parameter (moments) are its slots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from burnc.train.capture import Tensor


class Optimizer(Protocol):
    """One way to update parameters."""

    @property
    def slots(self) -> tuple[str, ...]:
        """Names of the arrays that are kept for each parameter, all zero at first."""

    def scalars(self, step: int, rate: float) -> dict[str, float]:
        """Numbers that the update of step 1, 2, ... reads at that learning rate."""

    def update(
        self, parameter: Tensor, gradient: Tensor, slots: Mapping[str, Tensor], scalars: Mapping[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """The parameter and its slots after the step."""


@dataclass(frozen=True)
class Sgd:
    """Stochastic gradient descent: v = momentum * v + g; p = p - rate * v.

    Attributes:
        decay: this part of the parameter is taken away with each step, times the rate (decoupled weight decay).
    """

    momentum: float = 0.9
    decay: float = 0.0

    @property
    def slots(self) -> tuple[str, ...]:
        return ("velocity",)

    def scalars(self, step: int, rate: float) -> dict[str, float]:  # noqa: ARG002  the protocol's signature
        return {"rate": rate}

    def update(
        self, parameter: Tensor, gradient: Tensor, slots: Mapping[str, Tensor], scalars: Mapping[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        velocity = slots["velocity"] * self.momentum + gradient
        change = velocity + parameter * self.decay if self.decay else velocity
        return parameter - change * scalars["rate"], {"velocity": velocity}


@dataclass(frozen=True)
class Adam:
    """Adam (Kingma and Ba, 2015), with decoupled weight decay (Loshchilov and Hutter, 2019).

    m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; p = p - rate * (m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps)
    + decay * p).
    """

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    decay: float = 0.0

    @property
    def slots(self) -> tuple[str, ...]:
        return ("mean", "square")

    def scalars(self, step: int, rate: float) -> dict[str, float]:
        return {
            "rate": rate,
            "mean_correction": 1.0 / (1.0 - self.beta1**step),
            "square_correction": 1.0 / (1.0 - self.beta2**step),
        }

    def update(
        self, parameter: Tensor, gradient: Tensor, slots: Mapping[str, Tensor], scalars: Mapping[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        mean = slots["mean"] * self.beta1 + gradient * (1.0 - self.beta1)
        square = slots["square"] * self.beta2 + gradient * gradient * (1.0 - self.beta2)
        deviation = (square * scalars["square_correction"]).op("sqrt") + self.epsilon
        change = mean * scalars["mean_correction"] / deviation
        if self.decay:
            change = change + parameter * self.decay
        return parameter - change * scalars["rate"], {"mean": mean, "square": square}
