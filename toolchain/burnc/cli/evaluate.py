"""``burnc evaluate``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from burnc.cli.options import PATH, json_option, model_options, state_options
from burnc.cli.output import plain, say, write_json
from burnc.cli.progress import progress
from burnc.cli.render import number, percent


@click.command("evaluate")
@model_options
@click.option("--data", type=PATH, required=True, metavar="D", help="A data set with labels: .npz, .csv.")
@click.option("--on", "device", default="numpy", show_default=True, metavar="DEVICE", help="Where to run.")
@click.option("--independent", is_flag=True, help="Clear the model's state before each sample: they are no stream.")
@json_option
def command(
    model: Path,
    dims: Mapping[str, int],
    batch: int | None,
    data: Path,
    device: str,
    independent: bool,
    as_json: bool,
) -> None:
    """Accuracy over a data set."""
    from burnc.model import load

    loaded = load(model, dims, batch=batch, **state_options())
    if loaded.graph.states and not independent:
        say("note: the model keeps state, and the samples are taken as one stream; --independent clears it before each")
    with progress() as callback:
        report = loaded.evaluate(data, on=device, progress=callback, independent=independent)
    if as_json:
        write_json(report.to_json())
    else:
        click.echo(
            plain(
                f"{report.model} on {report.device}: {percent(report.accuracy)} "
                f"({number(report.correct)} of {number(report.samples)})"
            )
        )
