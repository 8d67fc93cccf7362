"""From a configuration to a float and an int8 network: read, train, train under quantization, measure, write."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from burnc.backends import Backend
from burnc.errors import InputError
from burnc.exporters.onnx import onnx_bytes
from burnc.files import require_free, write_folder
from burnc.ir import Array, DType, Graph, TensorType, Value
from burnc.ir.model_card import ModelCard
from burnc.passes import canonical_passes, run_passes
from burnc.quant import OBSERVERS, load_dataset
from burnc.reports import Report
from burnc.train.capture import capture, variables_as_arrays
from burnc.train.config import TrainConfig
from burnc.train.data import Batches, class_labels, split
from burnc.train.layers import build_layers
from burnc.train.loop import SCHEDULES, EpochReport, Progress, Trained, accuracy, constant_rate, silent, train
from burnc.train.losses import softmax_cross_entropy
from burnc.train.modules import Module
from burnc.train.optimizers import Adam, Optimizer, Sgd
from burnc.train.qat import QuantizationAware
from burnc.train.step import TrainingStep

FLOAT_FILE, INT8_FILE = "float.onnx", "int8.onnx"
SCORES = "scores"
QUANTIZED_PART = 0.3
"""The part of a wall-clock budget that is kept for training under quantization."""


@dataclass(frozen=True)
class TrainReport(Report):
    """What training gave. Accuracies are on the ``held_out`` samples, from 0 to 1; ``ok`` says that the goal is met."""

    model: str
    device: str
    parameters: int
    trained_on: int
    held_out: int
    seed: int
    steps: int
    seconds: float
    stopped: bool
    epochs: list[EpochReport]
    quantized_epochs: list[EpochReport]
    float_accuracy: float
    int8_accuracy: float
    goal: float
    ok: bool
    files: list[str]


@dataclass(frozen=True)
class TrainedNetwork:
    """Both forms of a network, with their model cards, and the report."""

    float_graph: Graph
    int8_graph: Graph
    report: TrainReport

    def save(self, folder: Path, *, force: bool = False) -> TrainReport:
        """Write ``float.onnx`` and ``int8.onnx`` (QDQ); the folder appears whole or not at all.

        Raises:
            InputError: the folder is taken.
        """
        files = {FLOAT_FILE: onnx_bytes(self.float_graph), INT8_FILE: onnx_bytes(self.int8_graph)}
        write_folder(folder, files, force=force)
        return replace(self.report, files=[str(folder / name) for name in files])


@dataclass(frozen=True)
class Samples:
    """Real inputs [N, ...] float32 and class numbers [N] int64."""

    inputs: Array
    labels: Array

    def __getitem__(self, part: slice) -> Samples:
        return Samples(self.inputs[part], self.labels[part])


def train_network(
    config: TrainConfig, device: Backend, progress: Progress = silent, *, network: Module | None = None
) -> TrainedNetwork:
    """Train what the configuration says.

    Args:
        network: a module of one's own in place of the configuration's layers; it holds the float parameters afterwards.

    Raises:
        InputError: the data or the layers do not fit. BurncError: the loss became NaN, or the device cannot train.
    """
    start = time.monotonic()
    if network is None:
        network = build_layers(config.layers, config.data.shape, config.path)
    network.initialize(config.training.seed)
    training, validation, held_out = _samples(config, _classes(network, config))
    seconds = config.training.seconds or math.inf
    until = start + (seconds * (1 - QUANTIZED_PART) if config.quantization.epochs else seconds)
    trained = _train_float(config, network, training, validation, device, until, progress)
    network.load(trained.state)
    float_graph = _inference_graph(config, network)
    aware = QuantizationAware(
        float_graph,
        {config.data.input: training.inputs[: config.quantization.samples]},
        OBSERVERS[config.quantization.observer],
    )
    quantized = _train_quantized(config, aware, training, validation, device, start + seconds, progress)
    int8_graph = aware.int8_graph()
    scores = [accuracy(g, held_out.inputs, held_out.labels, device) for g in (float_graph, int8_graph)]
    for graph, score in zip((float_graph, int8_graph), scores, strict=True):
        _card(config, score, len(held_out.labels), quantized=graph is int8_graph).write(graph.metadata)
    goal = config.goal
    report = TrainReport(
        model=config.name,
        device=device.name,
        parameters=network.parameter_count(),
        trained_on=len(training.labels),
        held_out=len(held_out.labels),
        seed=config.training.seed,
        steps=trained.steps + quantized.steps,
        seconds=time.monotonic() - start,
        stopped=trained.stopped or quantized.stopped,
        epochs=trained.epochs,
        quantized_epochs=quantized.epochs,
        float_accuracy=scores[0],
        int8_accuracy=scores[1],
        goal=goal.accuracy,
        ok=min(scores) >= goal.accuracy and scores[0] - scores[1] <= goal.int8_loss,
        files=[],
    )
    return TrainedNetwork(float_graph, int8_graph, report)


def train_file(
    config: TrainConfig, device: Backend, output: Path, progress: Progress = silent, *, force: bool = False
) -> TrainReport:
    """Train and write both networks into the folder ``output``.

    Raises:
        InputError: the folder is taken; and as ``train_network``.
    """
    require_free(output, force=force)
    return train_network(config, device, progress).save(output, force=force)


def _classes(network: Module, config: TrainConfig) -> int:
    inputs = {config.data.input: TensorType(DType.FLOAT32, (1, *config.data.shape))}
    shape = capture(network, inputs).output.type.shape
    if shape != (1, len(config.data.labels)):
        raise InputError(
            f"the network's result is {list(shape)}, there are {len(config.data.labels)} labels",
            where=f"{config.path}, keys layers and data.labels",
        )
    return len(config.data.labels)


def _samples(config: TrainConfig, classes: int) -> tuple[Samples, Samples, Samples]:
    """What is trained on, what chooses the best epoch (may be empty), and what is held out."""
    data, seed = config.data, config.training.seed
    value = Value(data.input, TensorType(DType.FLOAT32, (1, *data.shape)))
    dataset = load_dataset(config.path.parent / data.file, inputs=[value], card=_input_card(config))
    rest, held_out = split(dataset, data.held_out, 0)
    validation = None
    if data.validation:
        rest, validation = split(rest, data.validation, 1 + seed)
    if len(rest) < config.training.batch:
        raise InputError(
            f"{len(rest)} samples to train on do not fill a batch of {config.training.batch}",
            where=f"{config.path}, key training.batch",
        )
    training, apart = (Samples(p.inputs[data.input], class_labels(p, classes)) for p in (rest, held_out))
    if validation is None:
        return training, training[:0], apart
    return training, Samples(validation.inputs[data.input], class_labels(validation, classes)), apart


def _optimizer(config: TrainConfig) -> Optimizer:
    settings = config.training
    if settings.optimizer == "sgd":
        return Sgd(settings.momentum, settings.weight_decay)
    return Adam(decay=settings.weight_decay)


def _targets(config: TrainConfig) -> TensorType:
    return TensorType(DType.INT64, (config.training.batch,))


def _train_float(
    config: TrainConfig,
    network: Module,
    training: Samples,
    validation: Samples,
    device: Backend,
    until: float,
    progress: Progress,
) -> Trained:
    settings, data = config.training, config.data
    inputs = {data.input: TensorType(DType.FLOAT32, (settings.batch, *data.shape))}
    captured = capture(network, inputs, training=True, name=config.name)
    step = TrainingStep(
        captured, _targets(config), softmax_cross_entropy, _optimizer(config), device, variables_as_arrays(network)
    )

    def score(state: Mapping[str, Array]) -> float:
        network.load(dict(state))
        return accuracy(_inference_graph(config, network), validation.inputs, validation.labels, device)

    return train(
        step,
        Batches(training.inputs, training.labels, settings.batch, settings.seed, data.shift),
        data.input,
        epochs=settings.epochs,
        rate=SCHEDULES[settings.schedule](settings.learning_rate),
        until=until,
        score=score if len(validation.labels) else None,
        progress=progress,
    )


def _train_quantized(
    config: TrainConfig,
    aware: QuantizationAware,
    training: Samples,
    validation: Samples,
    device: Backend,
    until: float,
    progress: Progress,
) -> Trained:
    """Train under quantization; leaves the best parameters in ``aware``."""
    settings, data = config.training, config.data
    epochs = config.quantization.epochs
    if not epochs:
        return Trained({}, [], 0, 0.0, stopped=False)
    optimizer = replace(_optimizer(config), decay=0.0)  # type: ignore[type-var]
    step = TrainingStep(
        aware.captured(settings.batch), _targets(config), softmax_cross_entropy, optimizer, device, aware.arrays
    )
    best = dict(aware.arrays)

    def before_epoch(epoch: int) -> None:
        aware.arrays = {name: step.state[name] for name in aware.arrays}
        if 0 < epoch <= epochs * config.quantization.frozen_after:
            aware.calibrate()
        step.operands = aware.scales()

    def score(state: Mapping[str, Array]) -> float:
        aware.arrays = {name: state[name] for name in aware.arrays}
        return accuracy(aware.int8_graph(), validation.inputs, validation.labels, device)

    trained = train(
        step,
        Batches(training.inputs, training.labels, settings.batch, settings.seed + 1, data.shift),
        data.input,
        epochs=epochs,
        rate=constant_rate(config.quantization.learning_rate),
        until=until,
        score=score if len(validation.labels) else None,
        before_epoch=before_epoch,
        progress=progress,
        what="training in int8",
    )
    aware.arrays = {name: trained.state[name] for name in best}
    return trained


def _inference_graph(config: TrainConfig, network: Module) -> Graph:
    inputs = {config.data.input: TensorType(DType.FLOAT32, (1, *config.data.shape))}
    graph = capture(network, inputs, name=config.name, output=SCORES).graph
    run_passes(graph, canonical_passes())
    return graph


def _card(config: TrainConfig, score: float, samples: int, *, quantized: bool) -> ModelCard:
    quantization = config.quantization
    how = f"{quantization.samples} samples, {quantization.observer}, {quantization.epochs} epochs in int8"
    return replace(
        _input_card(config),
        calibration=how if quantized else "",
        accuracy=score,
        samples=samples,
    )


def _input_card(config: TrainConfig) -> ModelCard:
    data = config.data
    return ModelCard(data.kind, data.scale, data.mean, data.deviation, data.labels, data=data.description)
