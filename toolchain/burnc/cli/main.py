"""The program ``burnc``: finds the command, and turns whatever went wrong into one message and an exit status."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from burnc.cli.output import error_json, plain, write_json
from burnc.errors import BurncError
from burnc.version import VERSION

# Command -> module in this package with a click command named `command`, in the order of `burnc --help`.
COMMANDS = {
    "demo": "demo",
    "inspect": "inspect",
    "quantize": "quantize",
    "export": "export",
    "simulate": "simulate",
    "validate": "validate",
    "evaluate": "evaluate",
    "train": "train",
    "bench": "bench",
    "flash": "flash",
    "boards": "boards",
    "backends": "backends",
    "operators": "operators",
    "doctor": "doctor",
}

EXIT_FAULT = 70  # EX_SOFTWARE of sysexits.h: neither the user's input nor an answer
EXIT_INTERRUPTED = 130
EXIT_PIPE_CLOSED = 141  # what a shell reports of a program that SIGPIPE ended


DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class PipeClosedError(Exception):
    """Whoever read standard output has gone. click itself would end the program with 1, which is an answer here."""


class Commands(click.Group):
    """Loads a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"burnc.cli.{COMMANDS[cmd_name]}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            status = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError as error:
            raise PipeClosedError from error
        return status

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command; ends the program with its exit status."""
        given: Sequence[str] | None = extra.get("args", args[0] if args else None)
        as_json = "--json" in (sys.argv[1:] if given is None else given)
        extra["standalone_mode"] = False
        try:
            status = super().main(*args, **extra) or 0
        except click.ClickException as error:
            error.show()
            status = error.exit_code
            if as_json:
                write_json(error_json(BurncError(plain(error.format_message()))))
        except BurncError as error:
            click.echo(plain(f"error: {error}"), err=True)
            status = error.exit_status
            if as_json:
                write_json(error_json(error))
        except (KeyboardInterrupt, click.Abort):
            click.echo("interrupted", err=True)
            status = EXIT_INTERRUPTED
        except (PipeClosedError, BrokenPipeError):
            _discard_output()
            status = EXIT_PIPE_CLOSED
        except Exception as error:  # noqa: BLE001  whatever it is, the user gets one message
            if isinstance(error, OSError) and error.errno in DISK_FULL:
                reported = BurncError(f"nothing more can be written: {error.strerror}", where=error.filename or "")
                click.echo(plain(f"error: {reported}"), err=True)
                status = reported.exit_status
            else:
                _report_fault(error)
                reported = BurncError(f"this is a fault in burnc: {type(error).__name__}")
                status = EXIT_FAULT
            _write_what_can_be_written(reported if as_json else None)
        sys.exit(status)


def _report_fault(error: Exception) -> None:
    import traceback

    if os.environ.get("BURNC_TRACEBACK") == "1":
        traceback.print_exception(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    click.echo(plain(f"error: this is a fault in burnc: {type(error).__name__} at {place}: {error}"), err=True)
    click.echo(
        "  next:  please report it with the command, the model if you can share it, and the output of this command run"
        f" with BURNC_TRACEBACK=1 (burnc {VERSION}, Python {sys.version.split()[0]})",
        err=True,
    )


def _write_what_can_be_written(error: BurncError | None) -> None:
    """The error as JSON, if any, and what is still to be flushed."""
    try:
        if error is not None:
            write_json(error_json(error))
        sys.stdout.flush()
    except OSError:
        _discard_output()


def _discard_output() -> None:
    # The interpreter flushes stdout when it ends, which would fail once more.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, message="burnc %(version)s")
def cli() -> None:
    """From a neural network file (ONNX, TFLite) to a microcontroller: plain C99, proven bit for bit.

    Every command takes --json: one JSON object on stdout. Exit status: 0 done, 1 the answer is no, 2 wrong input.
    """


def _end(number: int, frame: object) -> None:
    sys.exit(128 + number)  # as a shell reports it; on the way out, temporary folders and child processes go


def main() -> None:
    """The entry point of the program."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started this program
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, PTH123  it stays open to the end
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")  # a name from a model may hold what the terminal cannot show
    cli.main(prog_name="burnc")
