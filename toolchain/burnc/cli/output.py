"""What goes to stdout and stderr: JSON, and text that cannot play tricks on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import click

from burnc.errors import BurncError, UnsupportedError

SCHEMA = 1


def write_json(data: Mapping[str, Any]) -> None:
    """One JSON object on stdout."""
    click.echo(json.dumps(data, indent=2, allow_nan=False))


def error_json(error: BurncError) -> dict[str, Any]:
    """An error as other tools read it."""
    body: dict[str, Any] = {"what": error.what, "where": error.where, "hint": error.hint}
    if isinstance(error, UnsupportedError):
        body["unsupported"] = [{"node": item.node, "op": item.op, "why": item.why} for item in error.items]
    return {"schema": SCHEMA, "error": body}


def plain(text: str) -> str:
    """Text with control characters escaped: names in a model file may hold any."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


def say(text: str) -> None:
    """A line for people, on stderr."""
    click.echo(plain(text), err=True)


def for_terminal(stream: Any = None) -> bool:
    """Whether a stream (stdout by default) is a terminal that can do more than write lines."""
    import os

    return bool((stream or sys.stdout).isatty()) and os.environ.get("TERM") != "dumb"
