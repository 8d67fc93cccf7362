"""The loop over epochs: learning rate, wall-clock budget, best parameters, progress; and accuracy."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from burnc.backends import Backend, Executable
from burnc.backends.model_inputs import model_input
from burnc.errors import BurncError, GraphError
from burnc.ir import Array, Graph
from burnc.passes.rebatch import rebatch
from burnc.train.data import Batches
from burnc.train.step import TrainingStep

Progress = Callable[[str, int, int], None]
EVALUATION_BATCH = 100


def silent(what: str, done: int, total: int) -> None:
    """A progress callback that shows nothing."""


def constant_rate(rate: float) -> Callable[[float], float]:
    return lambda part: rate


def cosine_rate(rate: float, warm_up: float = 0.05) -> Callable[[float], float]:
    """From 0 up to ``rate`` in the first part of training, then along half a cosine to 0."""

    def at(part: float) -> float:
        if part < warm_up:
            return rate * part / warm_up
        return rate * 0.5 * (1 + math.cos(math.pi * (part - warm_up) / (1 - warm_up)))

    return at


SCHEDULES = {"constant": constant_rate, "cosine": cosine_rate}


@dataclass(frozen=True)
class EpochReport:
    """One epoch: its mean loss, and accuracy where it was measured."""

    epoch: int
    loss: float
    accuracy: float | None
    seconds: float


@dataclass(frozen=True)
class Trained:
    """``state`` is that of the best epoch where accuracy was measured, else of the last one."""

    state: dict[str, Array]
    epochs: list[EpochReport]
    steps: int
    seconds: float
    stopped: bool


def train(
    step: TrainingStep,
    batches: Batches,
    input_name: str,
    *,
    epochs: int,
    rate: Callable[[float], float],
    until: float = math.inf,
    score: Callable[[Mapping[str, Array]], float] | None = None,
    before_epoch: Callable[[int], None] | None = None,
    progress: Progress = silent,
    what: str = "training",
) -> Trained:
    """Train for some epochs.

    Args:
        rate: the learning rate at a part, 0 to 1, of all steps. It does not look at the clock, so that the same seed
            gives the same parameters unless the budget ends training early.
        until: no step begins after this time of ``time.monotonic()``.
        score: accuracy of a state on samples that are not trained on; the best state is kept.
        before_epoch: called with the number of each epoch before it begins.

    Raises:
        BurncError: the loss became NaN or infinite.
    """
    start, number, total = time.monotonic(), 0, epochs * len(batches)
    reports: list[EpochReport] = []
    best, best_score, stopped = dict(step.state), -math.inf, False
    for epoch in range(epochs):
        if before_epoch is not None:
            before_epoch(epoch)
        losses: list[float] = []
        for inputs, targets in batches.epoch(epoch):
            if time.monotonic() >= until:
                stopped = True
                break
            number += 1
            loss = step.run({input_name: inputs}, targets, number, rate((number - 0.5) / total))
            if not math.isfinite(loss):
                raise BurncError(
                    f"the loss became {loss} in step {number}",
                    where=f"epoch {epoch + 1}, {what}",
                    hint="a lower learning rate, or data in a smaller range",
                )
            losses.append(loss)
            progress(what, number, total)
        found = score(step.state) if score is not None and losses else None
        if found is None or found >= best_score:
            best, best_score = dict(step.state), -math.inf if found is None else found
        mean = float(np.mean(losses)) if losses else math.nan
        reports.append(EpochReport(epoch + 1, mean, found, time.monotonic() - start))
        if stopped:
            break
    return Trained(best, reports, number, time.monotonic() - start, stopped)


def accuracy(graph: Graph, inputs: Array, labels: Array, device: Backend) -> float:
    """How often the largest score is the label's.

    Args:
        graph: one float or int8 input [1, ...], one output of scores.
        inputs: real numbers [N, ...]; an int8 input gets them quantized by its own parameters.
        labels: [N].
    """
    (value,) = graph.inputs
    correct, start = 0, 0
    executables: dict[int, tuple[int, Executable]] = {}
    while start < len(inputs):
        count = min(EVALUATION_BATCH, len(inputs) - start)
        if count not in executables:
            executables[count] = _compiled(graph, count, device)
        size, executable = executables[count]
        part = inputs[start : start + size]
        fed = np.concatenate([model_input(value, sample) for sample in part])
        scores = next(iter(executable.run({value.name: fed}).values())).reshape(len(part), -1)
        correct += int(np.count_nonzero(scores.argmax(axis=1) == labels[start : start + size]))
        start += size
    return correct / len(inputs)


def _compiled(graph: Graph, count: int, device: Backend) -> tuple[int, Executable]:
    """The graph for so many samples at once, or for one where it cannot be widened."""
    try:
        return count, device.compile(rebatch(graph, count) if count > 1 else graph)
    except GraphError:
        return 1, device.compile(graph)
