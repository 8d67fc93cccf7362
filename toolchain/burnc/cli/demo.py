"""``burnc demo``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from burnc.cli.options import PATH, force_option, json_option
from burnc.cli.output import SCHEMA, plain, say, write_json
from burnc.cli.progress import progress
from burnc.cli.render import lines, megahertz, milliseconds, number, ram_rows, short, table

if TYPE_CHECKING:
    from burnc.demo import DemoReport

TITLES = {
    "mnist": "MNIST-8: a float ONNX network becomes int8 firmware for a Raspberry Pi Pico",
    "kws": "MLPerf Tiny keyword spotting: an int8 TFLite network on a Raspberry Pi Pico",
}


@click.command("demo")
@click.argument("which", type=click.Choice([*TITLES, "all"]), default="all")
@click.option(
    "-o",
    "--output",
    type=PATH,
    default=Path("burnc-demo"),
    show_default=True,
    metavar="DIR",
    help="Where the exported projects go, one folder a model.",
)
@force_option
@json_option
@click.pass_context
def command(ctx: click.Context, which: str, output: Path, force: bool, as_json: bool) -> None:
    """The main job on models that come with burnc.

    Needs a C compiler and Node.js, which `pip install burnc[pico]` brings. Exit status 1 says that something was
    not equal.
    """
    from burnc.demo import require_tools, run_kws, run_mnist
    from burnc.files import require_free

    chosen = list(TITLES) if which == "all" else [which]
    for name in chosen:
        if output.is_dir():
            require_free(output / name, force=force)
    require_tools()
    tell = say if as_json else lambda text: click.echo(plain(text))
    start = time.monotonic()
    reports = {}
    for name in chosen:
        tell(TITLES[name])
        run = {"mnist": run_mnist, "kws": run_kws}[name]
        with progress() as callback:
            reports[name] = run(
                output / name, lambda step, text: tell(f"  {step:<9} {text}"), force=force, progress=callback
            )
        if not as_json:
            _show(reports[name])
    if as_json:
        write_json({"schema": SCHEMA, "models": {name: report.to_json() for name, report in reports.items()}})
    tell(f"{time.monotonic() - start:.0f} s in all. Next: burnc inspect, quantize, export with a model of your own")
    if not all(report.ok for report in reports.values()):
        ctx.exit(1)


def _show(report: DemoReport) -> None:
    simulated, exported = report.simulate, report.export
    clock = simulated.clock_hz
    assert simulated.latency_ms is not None  # the demo's board counts cycles
    click.echo()
    table(
        ("layer", "operator", ">MACs", ">cycles", f">ms at {megahertz(clock)}"),
        [
            (short(la.name), la.op, number(la.macs), number(la.cycles), f"{la.cycles / clock * 1e3:.3f}")
            for la in simulated.layers
        ]
        + [("one run", "", number(exported.macs), number(simulated.cycles), f"{simulated.latency_ms:.3f}")],
    )
    click.echo()
    lines(
        [
            ("flash", f"{number(exported.flash_bytes)} bytes", f"{number(exported.weights_bytes)} of them weights"),
            ("arena", f"{number(exported.arena_bytes)} bytes", f"{number(exported.ram_bytes)} bytes of RAM in all"),
            *ram_rows(exported.in_ram_bytes, exported.in_ram),
            ("stack", f"{number(simulated.stack_bytes)} bytes", ""),
            ("one run", milliseconds(simulated.latency_ms), f"at {megahertz(clock)}"),
        ]
    )
    click.echo()
