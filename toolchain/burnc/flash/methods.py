"""Which way firmware goes onto a board: what its TOML file offers, and what is plugged in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from burnc.boards import Board
from burnc.errors import BoardError, InputError
from burnc.flash.machine import INFO_FILE, Machine
from burnc.flash.uf2_drive import uf2_method

Method = Literal["serial", "uf2"]


@dataclass(frozen=True)
class Way:
    """How to flash: the method, and the serial port or the drive where it is known beforehand.

    Attributes:
        flash_offset: bytes at the start of flash that the firmware must leave alone.
    """

    method: Method
    port: str | None
    drive: Path | None
    flash_offset: int


def choose_way(board: Board, machine: Machine, port: str | None = None, method: str | None = None) -> Way:
    """The way onto a board.

    Without ``method``, a drive (or no ``port``) means the USB drive where the board has one, and a serial port means
    the resident bootloader.

    Raises:
        BoardError: the board offers no such way. InputError: there is no such method, or it needs a port.
    """
    offered: dict[str, bool] = {"serial": board.bootloader is not None, "uf2": uf2_method(board) is not None}
    if not any(offered.values()):
        raise BoardError(f"burnc knows no way of flashing the board {board.key}", hint="docs/adding_a_board.md")
    drive = Path(port) if port is not None and is_drive(Path(port)) else None
    chosen = method or _by_port(offered, port, drive)
    if not offered.get(chosen, False):
        ways = ", ".join(name for name, is_there in offered.items() if is_there)
        raise BoardError(f"the board {board.key} cannot be flashed by {chosen!r}", hint=f"its ways are: {ways}")
    if chosen == "uf2":
        return Way("uf2", None if drive else port, drive, 0)
    assert board.bootloader is not None
    if drive is not None:
        raise InputError(f"{port} is a drive, the bootloader is on a serial port")
    return Way("serial", port or _only_port(board, machine), None, board.bootloader.size)


def is_drive(folder: Path) -> bool:
    """Whether a folder is where a board in its boot ROM shows itself."""
    return (folder / INFO_FILE).is_file()


def _by_port(offered: dict[str, bool], port: str | None, drive: Path | None) -> Method:
    if port is None or drive is not None:
        return "uf2" if offered["uf2"] else "serial"
    return "serial" if offered["serial"] else "uf2"


def _only_port(board: Board, machine: Machine) -> str:
    ports = machine.ports()
    own = [p.path for p in ports if p.usb is not None and p.usb == board.usb_id] or [p.path for p in ports]
    if len(own) == 1:
        return own[0]
    listed = f"ports that are there: {', '.join(own)}" if own else "no serial port is there; is the board plugged in?"
    raise InputError("which serial port the board is on is not clear", hint=f"name it with --port; {listed}")
