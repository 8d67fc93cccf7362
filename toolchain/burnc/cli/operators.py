"""``burnc operators``."""

from __future__ import annotations

from dataclasses import asdict

import click

from burnc.cli.options import json_option
from burnc.cli.output import SCHEMA, write_json
from burnc.cli.render import table


@click.command("operators")
@json_option
def command(as_json: bool) -> None:
    """List the operators that models may hold."""
    from burnc.ops.described import described_operators

    found = described_operators()
    if as_json:
        write_json({"schema": SCHEMA, "operators": [asdict(operator) for operator in found]})
    else:
        table(
            ("operator", "ONNX", "TFLite", "int8", "int16", "meaning"),
            [
                (op.name, ", ".join(op.onnx), ", ".join(op.tflite), _yes(op.int8), _yes(op.int16), op.meaning)
                for op in found
            ],
        )


def _yes(holds: bool) -> str:
    return "yes" if holds else ""
