"""``burnc inspect``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from burnc.cli.options import (
    cores_option,
    json_option,
    max_ram_option,
    model_options,
    ram_budget_option,
    state_options,
)
from burnc.cli.output import error_json, plain, say, write_json
from burnc.cli.render import bands_rows, lines, megahertz, milliseconds, number, ram_rows, short, table
from burnc.errors import UnsupportedError

if TYPE_CHECKING:
    from burnc.reports import InspectReport


NODES_SHOWN = 3


@click.command("inspect")
@model_options
@click.option("--board", metavar="B", help="Say also whether the model fits this board and how long a run takes.")
@ram_budget_option
@cores_option
@max_ram_option
@click.option("--tensors", is_flag=True, help="List the type and shape of every tensor.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    model: Path,
    dims: Mapping[str, int],
    batch: int | None,
    board: str | None,
    ram_budget: int | None,
    cores: int,
    max_ram: int | None,
    tensors: bool,
    as_json: bool,
) -> None:
    """Operators, MACs, parameters, and all that is not supported.

    With --board exit status 1 says that the model does not fit.
    """
    from burnc import pipeline
    from burnc.model import load

    if board is None and (ram_budget is not None or max_ram is not None or cores > 1):
        raise click.UsageError("--ram-budget, --max-ram and --cores say something of a board: --board is needed")
    try:
        loaded = load(model, dims, batch=batch, **state_options())
        report = loaded.inspect(board, ram_budget=ram_budget, cores=cores, max_ram=max_ram)
    except UnsupportedError as error:
        if as_json:
            write_json({**pipeline.inspect_refused(model, error).to_json(), "error": error_json(error)["error"]})
            say(f"error: {error}")
            ctx.exit(error.exit_status)
        raise
    if as_json:
        write_json(report.to_json())
    else:
        _show(report, tensors, board)
    if report.fits is False:
        ctx.exit(1)


def _show(report: InspectReport, tensors: bool, board: str | None) -> None:
    lines(
        [
            ("model", plain(f"{report.model} ({report.format})")),
            *(("input", plain(f"{tensor.name}  {tensor.type}")) for tensor in report.inputs),
            *(("output", plain(f"{tensor.name}  {tensor.type}")) for tensor in report.outputs),
            *(("state", plain(f"{tensor.name}  {tensor.type}")) for tensor in report.states),
            ("MACs", number(report.macs)),
            ("parameters", number(report.parameters)),
        ]
    )
    click.echo()
    table(("operator", ">nodes"), [(name, str(count)) for name, count in report.operators.items()])
    if tensors:
        click.echo()
        table(("tensor", "type"), [(tensor.name, tensor.type) for tensor in report.tensors])
    if report.changes:
        click.echo()
        table(("rewritten by", ">places", "at"), [(c.name, str(c.count), _places(c.nodes)) for c in report.changes])
    for note in report.notes:
        click.echo(plain(f"note: {note}"))
    if board is not None:
        _show_board(report, board)


def _places(nodes: Sequence[str]) -> str:
    """The first few; all of them are in the JSON."""
    shown = ", ".join(short(name) for name in nodes[:NODES_SHOWN])
    return f"{shown} and {len(nodes) - NODES_SHOWN} more" if len(nodes) > NODES_SHOWN else shown


def _show_board(report: InspectReport, name: str) -> None:
    from burnc.boards import load_board

    board = load_board(name)
    limits = {"flash": board.flash_bytes, "RAM": board.ram_bytes}
    rows: list[tuple[str, ...]] = [
        (kind, f"{number(size)} bytes" + (f" of {number(limits[kind])}" if limits[kind] else ""), "")
        for kind, size in (("flash", report.flash_bytes), ("RAM", report.ram_bytes))
    ]
    rows += [("arena", f"{number(report.arena_bytes)} bytes", ""), *ram_rows(report.in_ram_bytes, report.in_ram)]
    rows += bands_rows(report.bands, report.arena_bytes)
    if report.latency_ms is not None and board.cpu.clock_hz:
        waits = (report.cycles_with_flash_cache or report.cycles or 0) - (report.cycles or 0)
        counted = f"{number(report.cycles)} cycles" + (f" and {number(waits)} that it waits for flash" if waits else "")
        rows.append(("one run", f"{milliseconds(report.latency_ms)} at {megahertz(board.cpu.clock_hz)}", counted))
    click.echo(f"\n{board.name}: {'fits' if report.fits else 'does not fit'} (estimated)")
    lines(rows)
    if report.advice:
        click.echo(f"next: {report.advice}")
