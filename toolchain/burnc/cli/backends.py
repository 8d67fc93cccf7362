"""``burnc backends``."""

from __future__ import annotations

import click

from burnc.cli.options import json_option
from burnc.cli.output import SCHEMA, write_json
from burnc.cli.render import table


@click.command("backends")
@json_option
def command(as_json: bool) -> None:
    """List the backends: where models run."""
    from burnc.backends.registry import installed

    found = installed()
    if as_json:
        listed = [{"name": b.name, "available": b.ok, "description": b.description, "why": b.why} for b in found]
        write_json({"schema": SCHEMA, "backends": listed})
    else:
        rows = [(b.name, b.description if b.ok else f"unavailable: {b.why}") for b in found]
        table(("backend", "what it is"), rows)
