"""Tables: with rich on a terminal, plain aligned text when piped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from burnc.cli.output import for_terminal, plain

if TYPE_CHECKING:
    from burnc.reports import BandsReport, PlacedReport

Row = Sequence[str]
_LONGEST_NAME = 44


def table(columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Print a table. A column whose name starts with ``>`` is aligned to the right."""
    names = [name.lstrip(">") for name in columns]
    right = [name.startswith(">") for name in columns]
    cells = [[plain(cell).replace("\n", " ") for cell in row] for row in rows]
    if for_terminal():
        _rich_table(names, right, cells)
    else:
        lines(cells, head=names, right=right)


def lines(rows: Sequence[Row], *, head: Row | None = None, right: Sequence[bool] = ()) -> None:
    """Print aligned columns, three spaces apart."""
    everything = [*([head] if head else []), *rows]
    if not everything:
        return
    widths = [max(map(len, column)) for column in zip(*everything, strict=True)]
    for row in everything:
        aligned = (
            cell.rjust(width) if index < len(right) and right[index] else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        click.echo("   ".join(aligned).rstrip())


def short(name: str) -> str:
    """A node's name for a table: TFLite joins the names of all that was fused, the first one says enough."""
    first = name.partition(";")[0]
    return (
        first
        if len(first) <= _LONGEST_NAME
        else f"{first[: _LONGEST_NAME // 2 - 1]}...{first[-_LONGEST_NAME // 2 + 2 :]}"
    )


def ram_rows(size: int | None, placed: Sequence[PlacedReport]) -> list[tuple[str, str, str]]:
    """What lies in RAM that could lie in flash; no rows where nothing does."""
    if not placed:
        return []
    saved = sum(item.saved_cycles for item in placed)
    why = f"of it weights and code; in flash a run would wait {number(saved)} cycles for them"
    return [("in RAM", f"{number(size)} bytes", why)]


def bands_rows(bands: BandsReport | None, arena_bytes: int | None) -> list[tuple[str, str, str]]:
    """What is computed in bands, and what that costs; no rows where nothing is."""
    if bands is None:
        return []
    layers = f"{short(bands.layers[0])} to {short(bands.layers[-1])}" if len(bands.layers) > 1 else bands.layers[0]
    cost = f"{number(bands.recomputed_macs)} MACs recomputed ({bands.recomputed_percent:.1f} %)"
    why = f"of {layers}; arena {number(bands.arena_bytes_before)} bytes without, {number(arena_bytes)} with; {cost}"
    return [("in bands", f"{bands.count} bands", why)]


def number(value: float | None) -> str:
    """A whole number with its digits in groups of three; empty for None."""
    return "" if value is None else f"{value:,.0f}".replace(",", " ")


def milliseconds(value: float | None) -> str:
    """Milliseconds to three digits."""
    if value is None:
        return ""
    return f"{value:.0f} ms" if value >= 100 else f"{value:.3g} ms"


def megahertz(hertz: int) -> str:
    """A clock frequency."""
    return f"{hertz / 1e6:g} MHz"


def percent(fraction: float) -> str:
    """A fraction in hundredths."""
    return f"{100 * fraction:.2f} %"


def _rich_table(names: Row, right: Sequence[bool], rows: Sequence[Row]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, is_right in zip(names, right, strict=True):
        drawn.add_column(name, justify="right" if is_right else "left", overflow="fold", no_wrap=is_right)
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))  # Text: nothing in a cell is markup
    Console().print(drawn)
