"""``burnc train``."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from burnc.cli.options import PATH, force_option, json_option
from burnc.cli.output import plain, say, write_json
from burnc.cli.progress import progress
from burnc.cli.render import number, percent

if TYPE_CHECKING:
    from burnc.train import TrainReport


@click.command("train")
@click.argument("config", type=PATH, metavar="CONFIG.toml")
@click.option("-o", "--output", type=PATH, metavar="DIR", help="Folder for the networks; else the model's name.")
@click.option("--epochs", type=click.IntRange(min=1), metavar="N", help="In place of the file's training.epochs.")
@click.option("--seconds", type=click.FloatRange(min=0), metavar="S", help="Wall-clock budget for all of training.")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="In place of the file's training.seed.")
@click.option("--on", "device", default="numpy", show_default=True, metavar="DEVICE", help="Where to train.")
@force_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    config: Path,
    output: Path | None,
    epochs: int | None,
    seconds: float | None,
    seed: int | None,
    device: str,
    force: bool,
    as_json: bool,
) -> None:
    """Train a network and make it int8: writes float.onnx and int8.onnx.

    Exit status 1 where the accuracy is below the file's goal; the networks are written all the same.
    """
    # Before numpy is loaded: for products as small as these, threads wait longer for each other than they compute.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    from burnc.backends import device as find_device
    from burnc.train import read_config, train_file

    settings = read_config(config)
    given = {"epochs": epochs, "seconds": seconds, "seed": seed}
    changes = {name: value for name, value in given.items() if value is not None}
    settings = replace(settings, training=replace(settings.training, **changes))  # type: ignore[arg-type]
    with progress() as callback:
        report = train_file(settings, find_device(device), output or Path(settings.name), callback, force=force)
    if as_json:
        write_json(report.to_json())
    else:
        _show(report)
    if not report.ok:
        ctx.exit(1)


def _show(report: TrainReport) -> None:
    stopped = ", ended by the budget" if report.stopped else ""
    size = f"{number(report.parameters)} parameters, {number(report.trained_on)} samples"
    click.echo(plain(f"{report.model} on {report.device}: {size}"))
    click.echo(f"{number(report.steps)} steps in {report.seconds:.0f} s{stopped}")
    click.echo(
        f"accuracy on {number(report.held_out)} held-out samples: float {percent(report.float_accuracy)}, "
        f"int8 {percent(report.int8_accuracy)}"
    )
    for file in report.files:
        click.echo(plain(file))
    if not report.ok:
        if min(report.float_accuracy, report.int8_accuracy) < report.goal:
            why = f"the accuracy is below the goal of {percent(report.goal)}"
        else:
            why = f"int8 lost {percent(report.float_accuracy - report.int8_accuracy)}, more than the goal allows"
        say(f"{why}: more epochs, or another network; the files are written all the same")
