"""``burnc export``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from burnc.cli.options import (
    PATH,
    board_option,
    cores_option,
    force_option,
    json_option,
    max_ram_option,
    model_options,
    optimize_option,
    quantize_options,
    ram_budget_option,
    state_options,
)
from burnc.cli.output import say, write_json
from burnc.cli.progress import progress
from burnc.cli.render import bands_rows, lines, number, ram_rows, short, table

if TYPE_CHECKING:
    from burnc.reports import ExportReport


@click.command("export")
@model_options
@board_option
@click.option("-o", "--output", type=PATH, required=True, metavar="DIR", help="The folder to write.")
@click.option("--calibration", type=PATH, metavar="DATA", help="Quantize the float model on this data set first.")
@quantize_options
@click.option(
    "--io-type",
    type=click.Choice(["int8", "float"]),
    help="Element type of a quantized model's inputs and outputs; else as a TFLite file declares them, int8 for ONNX.",
)
@click.option(
    "--project", type=click.Choice(["bare", "cmake"]), help="Around the C: complete firmware, or a CMake library."
)
@click.option(
    "--io",
    type=click.Choice(["arena", "caller"]),
    default="arena",
    show_default=True,
    help="Where inputs and outputs lie: in the arena, or in buffers of the caller.",
)
@click.option("--name", default="", metavar="NAME", help="Prefix of C names and files; else the model file's name.")
@optimize_option
@ram_budget_option
@cores_option
@max_ram_option
@click.option("--measure", is_flag=True, help="Compile, and read the sizes from the ELF; bare projects get its images.")
@force_option
@json_option
def command(
    model: Path,
    dims: Mapping[str, int],
    batch: int | None,
    board: str,
    output: Path,
    calibration: Path | None,
    samples: int | None,
    observer: str,
    per_tensor: bool,
    io_type: Literal["int8", "float"] | None,
    project: str | None,
    io: str,
    name: str,
    optimize: str,
    ram_budget: int | None,
    cores: int,
    max_ram: int | None,
    measure: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Write the model as C, or a project around it."""
    from burnc.boards import load_board
    from burnc.files import require_free
    from burnc.model import load
    from burnc.pipeline import ExportOptions, QuantizeOptions

    load_board(board)
    require_free(output, force=force)
    loaded = load(
        model, dims, batch=batch, **state_options(), float_edges=None if io_type is None else io_type == "float"
    )
    if calibration is not None:
        options = QuantizeOptions(
            observer=observer, samples=samples, per_axis=not per_tensor, io_type=io_type or "int8", require_int8=True
        )
        with progress() as callback:
            loaded = loaded.quantize(calibration, options, callback)
        assert loaded.quantize_report is not None
        for warning in loaded.quantize_report.warnings:
            say(f"warning: {warning}")
    settings = ExportOptions(name, io, optimize, project, measure, ram_budget, cores, max_ram)
    report = loaded.export(board, output, settings, force=force)
    if as_json:
        write_json(report.to_json())
    else:
        _show(report, output)


def _show(report: ExportReport, output: Path) -> None:
    how = "measured" if report.measured else "estimated; --measure compiles and reads the ELF"
    click.echo(f"wrote {len(report.files)} files to {output} for the board {report.board}\n")
    table(
        ("layer", "operator", ">MACs", "kernel", ">output bytes"),
        [(short(la.name), la.op, number(la.macs), la.kernel, number(la.output_bytes)) for la in report.layers],
    )
    click.echo()
    lines(
        [
            ("flash", f"{number(report.flash_bytes)} bytes", f"{number(report.weights_bytes)} of them weights ({how})"),
            (
                "RAM",
                f"{number(report.ram_bytes)} bytes",
                f"{number(report.arena_bytes)} of them arena; stack not included",
            ),
            *ram_rows(report.in_ram_bytes, report.in_ram),
            *bands_rows(report.bands, report.arena_bytes),
            ("MACs", number(report.macs), ""),
        ]
    )
