"""``burnc flash``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from burnc.cli.options import PATH, board_option, dimension_options, json_option, optimize_option, state_options
from burnc.cli.output import plain, write_json
from burnc.cli.progress import progress
from burnc.cli.render import lines, number

if TYPE_CHECKING:
    from burnc.devices.flash import BoardFlasher
    from burnc.pipeline import Progress
    from burnc.reports import FlashReport


@click.command("flash")
@click.argument("target", type=PATH, required=False)
@dimension_options
@board_option
@click.option("--port", metavar="P", help="The board's serial port, or its USB drive; else it is looked for.")
@click.option(
    "--method",
    type=click.Choice(["serial", "uf2"]),
    help="Through the resident bootloader, or by copying to the USB drive; else what suits board and port.",
)
@click.option("--bootloader", is_flag=True, help="Put burnc's resident bootloader onto the board; no TARGET.")
@click.option("--again", is_flag=True, help="Write the image even if the board holds it already.")
@optimize_option
@json_option
def command(
    target: Path | None,
    dims: Mapping[str, int],
    batch: int | None,
    board: str,
    port: str | None,
    method: str | None,
    bootloader: bool,
    again: bool,
    optimize: str,
    as_json: bool,
) -> None:
    """Put firmware onto a board, verify it and start it.

    TARGET is a model file, a folder that `burnc export --project bare` wrote, or a .uf2 file.
    """
    if (target is None) != bootloader:
        raise click.UsageError("give either TARGET or --bootloader")
    with progress() as callback:
        method = "uf2" if bootloader and method is None else method
        flasher = _flasher(board, port, method, again, callback)
        report = _flash(flasher, target, dims, batch, optimize)
    if as_json:
        write_json(report.to_json())
    else:
        _show(report)


def _flasher(board: str, port: str | None, method: str | None, again: bool, callback: Progress) -> BoardFlasher:
    from burnc.boards import load_board
    from burnc.devices.flash import BoardFlasher

    return BoardFlasher(load_board(board), port, method, again=again, progress=callback)


def _flash(
    flasher: BoardFlasher, target: Path | None, dims: Mapping[str, int], batch: int | None, optimize: str
) -> FlashReport:
    from burnc.model import load

    if target is None:
        return flasher.flash_bootloader()
    if target.is_dir():
        return flasher.flash_project(target)
    if target.suffix.lower() == ".uf2":
        return flasher.flash_file(target)
    return flasher.flash_model(load(target, dims, batch=batch, **state_options()).graph, optimize=optimize)


def _show(report: FlashReport) -> None:
    what = f"{number(report.image_bytes)} bytes at 0x{report.address:08x}"
    speed = report.written_bytes / report.seconds / 1000 if report.seconds else 0.0
    how = f"{report.seconds:.1f} s, {speed:.0f} kB/s" if report.written_bytes else "the board holds them already"
    rows = [("image", what), ("written", how), ("port", plain(report.port))]
    if report.verified:
        rows.append(("verified", "read back by its checksum, and sealed"))
    if report.answers is not None:
        rows.append(("answers", f"the model {plain(report.answers)!r}"))
    lines(rows)
