"""``burnc doctor``."""

from __future__ import annotations

from dataclasses import asdict

import click

from burnc.cli.options import json_option
from burnc.cli.output import SCHEMA, write_json
from burnc.cli.render import table


@click.command("doctor")
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Say which tools are found, which are missing, and how to get those.

    Exit status 1 says that something is missing that `burnc demo` needs.
    """
    from burnc.devices.doctor import diagnose

    findings = diagnose()
    missing = [finding.name for finding in findings if finding.found is None and finding.for_demo]
    if as_json:
        write_json({"schema": SCHEMA, "ok": not missing, "tools": [asdict(finding) for finding in findings]})
    else:
        table(
            ("tool", "found", "needed for"),
            [(f.name, f.found if f.found is not None else f"missing: {f.how_to_get}", f.needed_for) for f in findings],
        )
        verdict = f"`burnc demo` lacks: {', '.join(missing)}" if missing else "all that `burnc demo` needs is there"
        click.echo(f"\n{verdict}")
    if missing:
        ctx.exit(1)
