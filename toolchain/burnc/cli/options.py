"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def _dimensions(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> dict[str, int]:
    """``name=value`` pairs."""
    dims = {}
    for text in texts:
        name, _, size = text.rpartition("=")
        if not name or not size.strip().isdecimal() or int(size) < 1:
            raise click.BadParameter(f"{text!r} is not NAME=VALUE with a positive whole number (--dim sequence=16)")
        dims[name] = int(size)
    return dims


def _remembered(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """Keep an option for ``state_options`` instead of handing it to the command."""

    def keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        ctx.meta[f"burnc.{name}"] = _states(value) if name == "states" else value

    return keep


def _states(texts: tuple[str, ...]) -> dict[str, str]:
    """``input=output`` pairs."""
    pairs = dict(text.rsplit("=", 1) for text in texts if text.count("="))
    if len(pairs) < len(texts) or not all(part for pair in pairs.items() for part in pair):
        raise click.BadParameter(f"{', '.join(texts)} is not INPUT=OUTPUT (--state h0=hn)")
    return pairs


def state_options() -> dict[str, Any]:
    """What the running command's ``--state`` and ``--streaming`` say, as arguments for ``burnc.load``."""
    meta = click.get_current_context().meta
    return {name: meta[f"burnc.{name}"] for name in ("states", "streaming")}


PATH = click.Path(path_type=Path)

model_argument = click.argument("model", type=PATH)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
force_option = click.option("--force", is_flag=True, help="Replace what is there already.")
board_option = click.option("--board", required=True, metavar="B", help="Key or alias of a board; see `burnc boards`.")
optimize_option = click.option(
    "--optimize",
    type=click.Choice(["size", "balanced", "speed"]),
    default="balanced",
    show_default=True,
    help="What the compiler and the choice of kernels favour.",
)
ram_budget_option = click.option(
    "--ram-budget",
    type=click.IntRange(min=0),
    metavar="BYTES",
    help="RAM for weights and code that a board's flash is slow to read; else what 55 % of its RAM leaves.",
)
max_ram_option = click.option(
    "--max-ram",
    type=click.IntRange(min=1),
    metavar="BYTES",
    help="RAM that arena and state may take; where they need more, layers are computed in bands (docs/bands.md).",
)
cores_option = click.option(
    "--cores",
    type=click.IntRange(1, 2),
    default=1,
    show_default=True,
    metavar="N",
    help="2: a second core helps with each run, where the board has one (docs/two_cores.md).",
)
inputs_option = click.option(
    "--inputs", type=PATH, metavar="X.npz", help="Arrays by input name, samples along the first axis; else random."
)
count_option = click.option("--count", type=click.IntRange(min=1), metavar="N", help="Run only so many inputs.")


def model_options(command: F) -> F:
    """MODEL, and how its open dimensions are bound: parameters ``model``, ``dims`` and ``batch``."""
    return model_argument(dimension_options(command))


def dimension_options(command: F) -> F:
    """How a model is read: parameters ``dims`` and ``batch``; what becomes state is in ``state_options()``."""
    for option in (
        click.option(
            "--streaming",
            is_flag=True,
            expose_value=False,
            callback=_remembered("streaming"),
            help="Layers with memory keep it from run to run.",
        ),
        click.option(
            "--state",
            multiple=True,
            metavar="INPUT=OUTPUT",
            expose_value=False,
            callback=_remembered("states"),
            help="An input that holds, in the next run, what that output was; may be repeated.",
        ),
        click.option(
            "--batch", type=click.IntRange(min=1), metavar="N", help="Batch size where the file leaves it open."
        ),
        click.option(
            "--dim",
            "dims",
            multiple=True,
            metavar="NAME=VALUE",
            callback=_dimensions,
            help="Value of a dynamic dimension; may be repeated.",
        ),
    ):
        command = option(command)
    return command


def quantize_options(command: F) -> F:
    """How to quantize: parameters ``samples``, ``observer``, ``per_tensor``."""
    for option in (
        click.option("--per-tensor", is_flag=True, help="One weight scale a tensor instead of one an output channel."),
        click.option(
            "--observer",
            type=click.Choice(["min-max", "percentile", "mse"]),
            default="min-max",
            show_default=True,
            help="How a range is drawn from what calibration saw.",
        ),
        click.option(
            "--samples", type=click.IntRange(min=1), metavar="N", help="Calibrate on the first N samples; else all."
        ),
    ):
        command = option(command)
    return command
