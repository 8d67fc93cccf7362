"""One training step as one graph: forward, loss, gradients and the optimizer's update, compiled for a device."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from burnc.backends import Backend
from burnc.ir import Array, Builder, DType, TensorType, Value, verify
from burnc.ops import operators
from burnc.passes.autodiff import differentiate
from burnc.train.capture import Capture, Captured, Tensor
from burnc.train.losses import Loss
from burnc.train.optimizers import Optimizer

TARGETS = "targets"


class TrainingStep:
    """A compiled step and the state that it takes and returns.

    Every piece of state is an input of the graph and, under another name, an output; ``run`` feeds the one back as the
    other. So any backend can train, and what is kept between steps is plain to see.

    Attributes:
        state: parameters, buffers and the optimizer's slots by name, float32.
        operands: further inputs of the graph that stay the same from step to step until they are changed here.

    Args:
        captured: the network; its graph is taken over and grows.
        targets: type of what the loss compares the result with, labels [N] int64 say.
        initial: arrays for the captured parameters and buffers.
    """

    def __init__(
        self,
        captured: Captured,
        targets: TensorType,
        loss: Loss,
        optimizer: Optimizer,
        device: Backend,
        initial: Mapping[str, Array],
    ) -> None:
        self._optimizer = optimizer
        self.operands: dict[str, Array] = {}
        tracer = _resume(captured)
        output = Tensor(tracer, captured.output)
        wanted = tracer.input(TARGETS, targets)
        self._loss = loss(output, wanted).value
        scalars = {name: tracer.input(f"optimizer.{name}", _SCALAR) for name in optimizer.scalars(1, 0.0)}
        gradients = differentiate(tracer.graph, self._loss, list(captured.parameters.values()))
        tracer.builder = Builder(tracer.graph, operators())  # one that knows the names of the gradients
        self._next: dict[str, Value] = {}
        self.state: dict[str, Array] = {}
        for (name, value), gradient in zip(captured.parameters.items(), gradients, strict=True):
            slots = {slot: tracer.input(f"{name}.{slot}", value.type) for slot in optimizer.slots}
            parameter, changed = optimizer.update(Tensor(tracer, value), Tensor(tracer, gradient), slots, scalars)
            self._next[name] = parameter.value
            self.state[name] = np.array(initial[name], np.float32)
            for slot, tensor in changed.items():
                self._next[f"{name}.{slot}"] = tensor.value
                self.state[f"{name}.{slot}"] = np.zeros(value.type.shape, np.float32)
        for name in captured.buffers:
            self.state[name] = np.array(initial[name], np.float32)
        self._next.update(captured.updates)
        self.graph = tracer.graph
        self.graph.outputs = [self._loss, *dict.fromkeys(self._next.values())]
        verify(self.graph)
        self._executable = device.compile(self.graph)

    def run(self, inputs: Mapping[str, Array], targets: Array, number: int, rate: float) -> float:
        """One step on a batch, which changes ``state``; returns the loss before it.

        Args:
            number: 1 for the first step. rate: the learning rate.
        """
        scalars = self._optimizer.scalars(number, rate)
        feeds = {f"optimizer.{name}": np.array(value, np.float32) for name, value in scalars.items()}
        results = self._executable.run({**self.state, **self.operands, **feeds, **inputs, TARGETS: targets})
        for name, value in self._next.items():
            self.state[name] = results[value.name]
        return float(results[self._loss.name])


_SCALAR = TensorType(DType.FLOAT32, ())


def _resume(captured: Captured) -> Capture:
    """A capture that goes on with that graph."""
    tracer = Capture(captured.graph.name, training=True)
    tracer.graph = captured.graph
    tracer.builder = Builder(captured.graph, operators())
    return tracer
