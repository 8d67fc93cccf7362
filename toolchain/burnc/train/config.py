"""``train.toml``: what to train on what, read into frozen dataclasses. Unknown keys are refused by name."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from burnc.errors import InputError
from burnc.ir.model_card import KINDS
from burnc.quant import OBSERVERS
from burnc.train.loop import SCHEDULES

OPTIMIZERS = ("adam", "sgd")


@dataclass(frozen=True)
class DataConfig:
    """``[data]``.

    Attributes:
        file: a data set, relative to the configuration.
        kind: what a sample is. shape: of one sample; images are [height, width, channels].
        scale, mean, deviation: a stored number n is fed as (n * scale - mean) / deviation.
        held_out: so many samples are not trained on and tell the accuracy. validation: so many more, drawn from the
            rest, choose the best epoch; 0 keeps the last one.
        labels: names of the classes.
        shift: while training, images move by up to so many pixels.
    """

    file: str
    shape: tuple[int, ...]
    labels: tuple[str, ...]
    input: str = "input"
    kind: str = "table"
    scale: float = 1.0
    mean: float = 0.0
    deviation: float = 1.0
    held_out: int = 0
    validation: int = 0
    shift: int = 0
    description: str = ""


@dataclass(frozen=True)
class TrainingConfig:
    """``[training]``. ``seconds`` is a budget for all of training; 0 for none."""

    epochs: int
    batch: int = 64
    seed: int = 0
    optimizer: str = "adam"
    learning_rate: float = 1e-3
    schedule: str = "cosine"
    weight_decay: float = 0.0
    momentum: float = 0.9
    seconds: float = 0.0


@dataclass(frozen=True)
class QuantizationConfig:
    """``[quantization]``. With 0 epochs the network is quantized after training, without seeing int8 while it learns.

    Attributes:
        frozen_after: this part of the epochs calibrates activation ranges anew; then they stay.
        samples: so many training samples are calibrated on.
    """

    epochs: int = 2
    learning_rate: float = 2e-4
    observer: str = "min-max"
    samples: int = 500
    frozen_after: float = 0.5


@dataclass(frozen=True)
class GoalConfig:
    """``[goal]``: least accuracy, float and int8, and the most that int8 may lose, all from 0 to 1."""

    accuracy: float = 0.0
    int8_loss: float = 1.0


@dataclass(frozen=True)
class TrainConfig:
    """A whole configuration.

    Attributes:
        layers: tables with ``kind`` and the layer's arguments; none where a module is given in their place.
        path: the file that was read; the data file is looked for beside it.
    """

    name: str
    data: DataConfig
    training: TrainingConfig
    quantization: QuantizationConfig = field(default_factory=QuantizationConfig)
    goal: GoalConfig = field(default_factory=GoalConfig)
    layers: tuple[Mapping[str, Any], ...] = ()
    path: Path = Path("train.toml")


_SECTIONS = {"data": DataConfig, "training": TrainingConfig, "quantization": QuantizationConfig, "goal": GoalConfig}
_NAMES = ("name", "layers", *_SECTIONS)


def read_config(path: Path) -> TrainConfig:
    """Read ``train.toml``.

    Raises:
        InputError: the file is missing, is no TOML, or a key is unknown, missing or of another type; it names the key.
    """
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror or error}", where=str(path)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"the file is no TOML: {error}", where=str(path)) from None
    _refuse_unknown(table, _NAMES, "", path)
    layers = table.get("layers")
    if not isinstance(layers, list) or not layers or not all(isinstance(each, dict) for each in layers):
        raise InputError("layers must be a list of tables, each with a kind", where=f"{path}, key layers")
    sections: dict[str, Any] = {}
    for name, kind in _SECTIONS.items():
        if name in table or any(_is_needed(f) for f in fields(kind)):
            sections[name] = _section(kind, table.get(name, {}), name, path)
    name = _typed(table.get("name", path.stem), str, "name", path)
    config = TrainConfig(name, layers=tuple(layers), path=path, **sections)
    _check(config)
    return config


def _is_needed(each: Any) -> bool:
    return each.default is MISSING and each.default_factory is MISSING


def _section(kind: Any, table: Any, section: str, path: Path) -> Any:
    if not isinstance(table, dict):
        raise InputError(f"[{section}] must be a table", where=f"{path}, key {section}")
    _refuse_unknown(table, [f.name for f in fields(kind)], f"{section}.", path)
    values: dict[str, Any] = {}
    for each in fields(kind):
        key = f"{section}.{each.name}"
        if each.name in table:
            values[each.name] = _typed(table[each.name], _TYPES[each.type], key, path)
        elif _is_needed(each):
            raise InputError(f"key {key} is missing", where=str(path), hint="docs/training.md lists the keys")
    return kind(**values)


_TYPES: dict[Any, Any] = {
    "str": str, "int": int, "float": float, "tuple[int, ...]": (tuple, int), "tuple[str, ...]": (tuple, str),
}  # fmt: skip


def _typed(value: Any, kind: Any, key: str, path: Path) -> Any:
    if isinstance(kind, tuple):
        if isinstance(value, list):
            return tuple(_typed(each, kind[1], key, path) for each in value)
    elif kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    elif isinstance(value, kind) and not isinstance(value, bool):
        return value
    wanted = f"a list of {kind[1].__name__}" if isinstance(kind, tuple) else f"of type {kind.__name__}"
    raise InputError(f"key {key} must be {wanted}, it is {value!r}", where=str(path))


def _refuse_unknown(table: Mapping[str, Any], known: Any, prefix: str, path: Path) -> None:
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, list(known), n=1)
            hint = f"did you mean {prefix}{near[0]}?" if near else f"known are {', '.join(known)}"
            raise InputError(f"key {prefix}{key} is unknown", where=str(path), hint=hint)


def _check(config: TrainConfig) -> None:
    data, training, quantization = config.data, config.training, config.quantization
    choices = (
        ("data.kind", data.kind, KINDS),
        ("training.optimizer", training.optimizer, OPTIMIZERS),
        ("training.schedule", training.schedule, tuple(SCHEDULES)),
        ("quantization.observer", quantization.observer, tuple(OBSERVERS)),
    )
    for key, value, known in choices:
        if value not in known:
            raise InputError(
                f"key {key}: {value!r} is unknown", where=str(config.path), hint=f"known: {', '.join(known)}"
            )
    positive = (
        ("training.epochs", training.epochs), ("training.batch", training.batch),
        ("training.learning_rate", training.learning_rate), ("quantization.samples", quantization.samples),
        ("data.held_out", data.held_out), ("data.deviation", data.deviation),
        ("data.shape", min(data.shape, default=0)), ("data.labels", len(data.labels)),
    )  # fmt: skip
    for key, number in positive:
        if number <= 0:
            raise InputError(f"key {key} must be positive, it is {number}", where=str(config.path))
    not_negative = (
        ("data.validation", data.validation), ("data.shift", data.shift), ("training.seed", training.seed),
        ("training.seconds", training.seconds), ("quantization.epochs", quantization.epochs),
    )  # fmt: skip
    for key, number in not_negative:
        if number < 0:
            raise InputError(f"key {key} must not be negative, it is {number}", where=str(config.path))
    if data.shift and len(data.shape) != 3:
        raise InputError("key data.shift moves images, whose data.shape has 3 numbers", where=str(config.path))
