"""``burnc validate``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from burnc.cli.options import count_option, inputs_option, json_option, model_options, state_options
from burnc.cli.output import plain, say, write_json
from burnc.cli.render import lines, megahertz, milliseconds

if TYPE_CHECKING:
    from burnc.reports import TargetVerdict, ValidateReport

RANDOM_INPUTS = 10


@click.command("validate")
@model_options
@click.option(
    "--on", "devices", multiple=True, required=True, metavar="DEVICE", help="numpy, c, a board ...; may be repeated."
)
@inputs_option
@count_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    model: Path,
    dims: Mapping[str, int],
    batch: int | None,
    devices: tuple[str, ...],
    inputs: Path | None,
    count: int | None,
    as_json: bool,
) -> None:
    """Compare devices with the numpy reference, bit for bit.

    Exit status 1 says that a device differs or is unavailable.
    """
    from burnc.model import load

    loaded = load(model, dims, batch=batch, **state_options())
    runs = loaded.inputs(inputs)[:count] if inputs is not None else loaded.inputs(count or RANDOM_INPUTS)
    report = loaded.validate(runs, on=devices)
    if as_json:
        write_json(report.to_json())
    else:
        _show(report)
    if not report.ok:
        ctx.exit(1)


def _show(report: ValidateReport) -> None:
    lines([(plain(t.name), t.verdict, _inputs(t), _speed(t)) for t in report.targets])
    for target in report.targets:
        first = target.first_difference
        if first is not None:
            click.echo(
                plain(
                    f"{target.name}: first difference at node {first.node!r} ({first.op}), index {first.index}: "
                    f"expected {first.expected:g}, got {first.got:g}; {target.mismatches} elements differ"
                )
            )
        elif target.why:
            say(f"{target.name}: {target.why}")


def _inputs(target: TargetVerdict) -> str:
    return f"{target.inputs} input{'s' if target.inputs > 1 else ''}" if target.inputs else ""


def _speed(target: TargetVerdict) -> str:
    if target.latency_ms is None or target.clock_hz is None:
        return ""
    return f"{milliseconds(target.latency_ms)} at {megahertz(target.clock_hz)}"
