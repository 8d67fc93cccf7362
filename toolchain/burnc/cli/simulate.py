"""``burnc simulate``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from burnc.cli.options import (
    cores_option,
    count_option,
    inputs_option,
    json_option,
    max_ram_option,
    model_options,
    optimize_option,
    ram_budget_option,
    state_options,
)
from burnc.cli.output import write_json
from burnc.cli.progress import progress
from burnc.cli.render import bands_rows, lines, megahertz, milliseconds, number, short, table

if TYPE_CHECKING:
    from burnc.pipeline import Progress
    from burnc.reports import SimulateReport


@click.command("simulate")
@model_options
@click.option("--board", metavar="B", help="Key or alias of a board; an exported project knows its own.")
@inputs_option
@count_option
@optimize_option
@ram_budget_option
@cores_option
@max_ram_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    model: Path,
    dims: Mapping[str, int],
    batch: int | None,
    board: str | None,
    inputs: Path | None,
    count: int | None,
    optimize: str,
    ram_budget: int | None,
    cores: int,
    max_ram: int | None,
    as_json: bool,
) -> None:
    """Run firmware on an emulated board.

    MODEL is a model file, or a folder that `burnc export --project bare` wrote. Exit status 1 says that outputs
    differ from the reference.
    """
    with progress() as callback:
        report = (
            _simulate_project(model, board, inputs, count, callback)
            if model.is_dir()
            else _simulate_model(
                model, dims, batch, board, inputs, count, optimize, ram_budget, cores, max_ram, callback
            )
        )
    if as_json:
        write_json(report.to_json())
    else:
        _show(report)
    if report.matches_reference is False:
        ctx.exit(1)


def _simulate_project(
    folder: Path, board: str | None, inputs: Path | None, count: int | None, callback: Progress
) -> SimulateReport:
    from burnc.boards import load_board
    from burnc.pipeline import simulate_project

    return simulate_project(folder, load_board(board) if board else None, inputs, count, callback)


def _simulate_model(
    model: Path,
    dims: Mapping[str, int],
    batch: int | None,
    board: str | None,
    inputs: Path | None,
    count: int | None,
    optimize: str,
    ram_budget: int | None,
    cores: int,
    max_ram: int | None,
    callback: Progress,
) -> SimulateReport:
    from burnc.boards import load_board
    from burnc.model import load

    if board is None:
        raise click.UsageError(
            f"{model} is no folder of an exported project; to simulate a model file, --board is needed"
        )
    load_board(board)
    loaded = load(model, dims, batch=batch, **state_options())
    runs = loaded.inputs(inputs)[:count] if inputs is not None else loaded.inputs(count or 1)
    return loaded.simulate(
        board, runs, optimize=optimize, ram_budget=ram_budget, cores=cores, max_ram=max_ram, progress=callback
    )


def _show(report: SimulateReport) -> None:
    total = report.cycles or 1
    timed = report.latency_ms is not None
    table(
        ("layer", "operator", ">MACs", f">{report.unit}", *([">time"] if timed else []), ">share"),
        [
            (
                short(layer.name),
                layer.op,
                number(layer.macs),
                number(layer.cycles),
                *([milliseconds(layer.cycles / report.clock_hz * 1e3)] if timed else []),
                f"{100 * layer.cycles / total:.0f} %",
            )
            for layer in report.layers
        ],
    )
    click.echo()
    energy = "" if report.energy_uj is None else f", about {number(report.energy_uj)} uJ"
    time = "" if report.latency_ms is None else f"{milliseconds(report.latency_ms)} at {megahertz(report.clock_hz)}, "
    waits = report.cycles_with_flash_cache
    counted = f"{number(report.cycles)} {report.unit}"
    if waits is not None:
        counted = f"{number(waits)} cycles with the waits for flash, {number(report.cycles)} without"
    rows = [
        ("one run", f"{time}{counted}{energy}"),
        ("flash", f"{number(report.flash_bytes)} bytes, with the harness"),
        ("RAM", f"{number(report.ram_bytes)} bytes, with the harness; {number(report.arena_bytes)} of them arena"),
    ]
    rows += [(name, f"{what}, {why}") for name, what, why in bands_rows(report.bands, report.arena_bytes)]
    if report.stack_bytes is not None:
        helper = report.helper_stack_bytes
        more = f", {number(helper)} bytes on the second core" if helper is not None else ""
        rows.append(("stack", f"{number(report.stack_bytes)} bytes{more}"))
    if report.matches_reference is not None:
        verdict = (
            "as the reference's" if report.matches_reference else "NOT as the reference's (`burnc validate` says where)"
        )
        rows.append(("outputs", f"{verdict}, {report.inferences} runs"))
    lines(rows)
