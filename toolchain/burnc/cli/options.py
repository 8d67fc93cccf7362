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
inputs_option = click.option(
    "--inputs", type=PATH, metavar="X.npz", help="Arrays by input name, samples along the first axis; else random."
)
count_option = click.option("--count", type=click.IntRange(min=1), metavar="N", help="Run only so many inputs.")


def model_options(command: F) -> F:
    """MODEL, and how its open dimensions are bound: parameters ``model``, ``dims`` and ``batch``."""
    return model_argument(dimension_options(command))


def dimension_options(command: F) -> F:
    """How a model's open dimensions are bound: parameters ``dims`` and ``batch``."""
    for option in (
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
