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
    """List the operators that models may hold, with the number of conformance cases behind each kind."""
    from burnc.ops.described import described_operators

    found = described_operators()
    if as_json:
        write_json({"schema": SCHEMA, "operators": [asdict(operator) for operator in found]})
    else:
        table(
            ("operator", "ONNX", "TFLite", ">float", ">int8", ">int16", "meaning"),
            [
                (
                    op.name,
                    ", ".join(op.onnx),
                    ", ".join(op.tflite),
                    *map(_count, (op.float_cases, op.int8_cases, op.int16_cases)),
                    op.meaning,
                )
                for op in found
            ],
        )


def _count(cases: int | None) -> str:
    return "" if cases is None else str(cases or "yes")
