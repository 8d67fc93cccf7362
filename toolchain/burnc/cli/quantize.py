"""``burnc quantize``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from burnc.cli.options import PATH, force_option, json_option, model_options, quantize_options, state_options
from burnc.cli.output import say, write_json
from burnc.cli.progress import progress
from burnc.cli.render import percent, short, table

if TYPE_CHECKING:
    from burnc.reports import QuantizeReport

REPORT_SAMPLES = 50


@click.command("quantize")
@model_options
@click.option("--calibration", type=PATH, required=True, metavar="DATA", help="A data set: .npz, .npy, .csv or IDX.")
@click.option("-o", "--output", type=PATH, required=True, metavar="OUT.onnx", help="The int8 model (QDQ) to write.")
@quantize_options
@click.option(
    "--io-type",
    type=click.Choice(["int8", "float"]),
    default="int8",
    show_default=True,
    help="Element type of the model's inputs and outputs.",
)
@click.option("--allow-float", is_flag=True, help="Leave operators without an int8 form in float instead of refusing.")
@click.option("--report", "with_report", is_flag=True, help="Say for every node how much accuracy is lost there.")
@force_option
@json_option
def command(
    model: Path,
    dims: Mapping[str, int],
    batch: int | None,
    calibration: Path,
    output: Path,
    samples: int | None,
    observer: str,
    per_tensor: bool,
    io_type: Literal["int8", "float"],
    allow_float: bool,
    with_report: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Make an int8 model out of a float one.

    Refuses, with a list, where an operator would stay float.
    """
    from burnc.files import require_free
    from burnc.model import load
    from burnc.pipeline import QuantizeOptions

    require_free(output, force=force)
    options = QuantizeOptions(
        observer=observer,
        samples=samples,
        per_axis=not per_tensor,
        io_type=io_type,
        require_int8=not allow_float,
        error_samples=REPORT_SAMPLES if with_report else 0,
    )
    float_model = load(model, dims, batch=batch, **state_options())
    with progress() as callback:
        quantized = float_model.quantize(calibration, options, callback)
    quantized.save(output, force=force)
    assert quantized.quantize_report is not None
    report = replace(quantized.quantize_report, output=str(output))
    for warning in report.warnings:
        say(f"warning: {warning}")
    for left in report.left_in_float:
        say(f"left in float: {left}")
    if as_json:
        write_json(report.to_json())
    else:
        _show(report)


def _show(report: QuantizeReport) -> None:
    share = percent(report.int8_values / report.values) if report.values else percent(0)
    click.echo(
        f"{report.output}: {report.int8_values} of {report.values} tensors are int8 ({share}), "
        f"calibrated on {report.samples} samples"
    )
    if not report.nodes:
        return
    click.echo("\nsignal to quantization noise of each node's result; 'alone' is what the node itself adds")
    table(
        ("node", "operator", ">dB", ">alone", ""),
        [
            (
                short(node.node) or node.value,
                node.op,
                f"{node.sqnr_db:.1f}",
                "" if node.own_sqnr_db is None else f"{node.own_sqnr_db:.1f}",
                "<- low" if node.flagged else "",
            )
            for node in report.nodes
        ],
    )
