"""``burnc bench``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from burnc.cli.options import PATH, dimension_options, json_option, state_options
from burnc.cli.output import say, write_json
from burnc.cli.render import number, table

if TYPE_CHECKING:
    from burnc.bench import BenchReport


@click.command("bench")
@click.argument("models", type=PATH, nargs=-1, metavar="[MODEL]...")
@click.option("--suite", type=click.Choice(["mcu"]), default="mcu", show_default=True, help="What is measured.")
@click.option("--board", "boards", multiple=True, metavar="B", help="Only this board; may be given several times.")
@dimension_options
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    models: tuple[Path, ...],
    suite: str,
    boards: tuple[str, ...],
    dims: Mapping[str, int],
    batch: int | None,
    as_json: bool,
) -> None:
    """Measure models on emulated boards: cycles, flash, RAM, and whether every output is right.

    Without MODEL it is the keyword spotting network that comes with burnc. Exit status 1 says that something was not
    equal.
    """
    from burnc.bench import BenchReport, boards_named, mcu_suite
    from burnc.model import load
    from burnc.resources import data_folder

    wanted = boards_named(boards)
    paths = models or (data_folder("examples") / "kws_pico" / "mlperf_kws_dscnn_int8.tflite",)
    rows = []
    for path in paths:
        for row in mcu_suite(path, load(path, dims, batch=batch, **state_options()), wanted):
            say(f"{row.model} on {row.board}, {row.optimize}: {row.why or 'done'}")
            rows.append(row)
    report = BenchReport(suite, rows)
    if as_json:
        write_json(report.to_json())
    else:
        _show(report)
    if not report.ok:
        ctx.exit(1)


def _show(report: BenchReport) -> None:
    def figure(value: int | None) -> str:
        return "" if value is None else number(value)

    table(
        (
            "model",
            "board",
            "optimized for",
            ">cycles",
            ">with flash cache",
            ">instructions",
            ">flash",
            ">RAM",
            ">arena",
            ">stack",
            "outputs",
        ),
        [
            (
                row.model,
                row.board,
                row.optimize,
                figure(row.cycles if row.unit == "cycles" else None),
                figure(row.cycles_with_flash_cache),
                figure(row.cycles if row.unit == "instructions" else None),
                figure(row.flash_bytes),
                figure(row.ram_bytes),
                figure(row.arena_bytes),
                figure(row.stack_bytes),
                row.why or ("bit-exact" if row.bit_exact else "within tolerance" if row.right else "DIFFER"),
            )
            for row in report.rows
        ],
    )
