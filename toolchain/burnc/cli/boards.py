"""``burnc boards``."""

from __future__ import annotations

import click

from burnc.cli.options import json_option
from burnc.cli.output import SCHEMA, write_json
from burnc.cli.render import megahertz, number, table


@click.command("boards")
@json_option
def command(as_json: bool) -> None:
    """List the boards."""
    from burnc.boards import all_boards

    boards = all_boards()
    if as_json:
        described = [
            {
                "key": board.key,
                "name": board.name,
                "aliases": list(board.aliases),
                "mcu": board.mcu,
                "core": board.cpu.core,
                "cores": board.cpu.count,
                "clock_hz": board.cpu.clock_hz,
                "flash_bytes": board.flash_bytes,
                "ram_bytes": board.ram_bytes,
                "emulator": board.sim_engine,
            }
            for board in boards
        ]
        write_json({"schema": SCHEMA, "boards": described})
        return
    table(
        ("board", "name", "cores", ">clock", ">flash bytes", ">RAM bytes", "emulator", "aliases"),
        [
            (
                board.key,
                board.name,
                f"{board.cpu.count} x {board.cpu.core}" if board.cpu.count > 1 else board.cpu.core,
                megahertz(board.cpu.clock_hz) if board.cpu.clock_hz else "",
                number(board.flash_bytes),
                number(board.ram_bytes),
                board.sim_engine or "",
                ", ".join(board.aliases),
            )
            for board in boards
        ],
    )
