"""The drag-and-drop way: a board in its boot ROM is a USB drive, and the UF2 file that is copied there its firmware."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnc.boards import Board, FlashMethod
from burnc.compilers.uf2 import unpack_uf2
from burnc.errors import InputError, PortError
from burnc.flash.machine import INFO_FILE, Machine, PortInfo
from burnc.flash.serial_port import open_port

Progress = Callable[[str, int, int], None]

TOUCH_BAUD = 1200
WAITING = "waiting for the board's USB drive (hold BOOTSEL while plugging it in)"
DRIVE_TIMEOUT_S = 60.0
RESTART_TIMEOUT_S = 20.0
_POLL_S = 0.2
_TOUCH_AGAIN_S = 5.0
_AUTOMOUNT_S = 5.0  # desktops mount a drive within a second or two

# https://github.com/microsoft/uf2/blob/master/utils/uf2families.json
_FAMILIES: Mapping[int, str] = {
    0xE48BFF56: "RP2040",
    0xE48BFF59: "RP2350",
    0xE48BFF5A: "RP2350 (RISC-V)",
    0xE48BFF5B: "RP2350 (non-secure)",
}
# What a drive calls the board in its INFO_UF2.TXT.
_BOARD_IDS: Mapping[str, str] = {"RPI-RP2": "RP2040", "RP2350": "RP2350"}


@dataclass(frozen=True)
class Copied:
    """Where the file went, and the serial port of the firmware that started then (None where none came)."""

    drive: Path
    port: PortInfo | None


def uf2_method(board: Board) -> FlashMethod | None:
    """The board's way of taking UF2 files, if it has one."""
    return next((m for m in board.flash_methods if m.method == "uf2"), None)


def flash_uf2(
    board: Board,
    file: bytes,
    machine: Machine,
    progress: Progress,
    *,
    drive: Path | None = None,
    port: str | None = None,
    await_restart: bool = True,
) -> Copied:
    """Copy a UF2 file onto the board's drive, and wait until the board has restarted.

    Args:
        drive: the drive; waited for if None, and asked for through the firmware's serial port where the board can.
        port: the firmware's serial port, where several boards of the kind are plugged in.

    Raises:
        InputError: the file is damaged or for another chip; nothing was copied.
        PortError: no drive came, there are several, or it refused the file.
    """
    require_family(board, unpack_uf2(file).family)
    serial_number = _serial_number(machine, port)
    place = drive or _await_drive(board, machine, port, progress)
    _check_drive(board, place)
    others = machine.ports()  # the board that is flashed has none while it is a drive
    _copy(file, place, progress)
    if not await_restart:
        return Copied(place, None)

    def is_there() -> bool:  # a drive that was named need not be among those that are looked for
        return place in machine.drives() if drive is None else (place / INFO_FILE).is_file()

    return Copied(place, _await_restart(board, machine, is_there, others, serial_number, progress))


def require_family(board: Board, family: int | None) -> None:
    """See that an image is for the board's chip.

    Raises:
        InputError: it is for another one.
    """
    wanted = board.image.uf2_family
    if family != wanted:
        raise InputError(
            f"the image is for {_family(family)}, the {board.name} is {_family(wanted)}",
            hint="build for this board, or choose the board that the image is for",
        )


def _family(number: int | None) -> str:
    return "no particular chip" if number is None else _FAMILIES.get(number, f"UF2 family 0x{number:08x}")


def _check_drive(board: Board, drive: Path) -> None:
    found, wanted = _board_id(drive), _wanted_id(board)
    if wanted and found != wanted:
        there = _BOARD_IDS.get(found, found)
        raise InputError(
            f"the image is for {_BOARD_IDS.get(wanted, wanted)}, the board is {there}; nothing was copied",
            where=f"{drive / INFO_FILE}: Board-ID: {found}",
            hint="plug in the right board, or give its name with --board",
        )


def _wanted_id(board: Board) -> str:
    method = uf2_method(board)
    return str(method.options.get("board_id", "")) if method else ""


def _board_id(drive: Path) -> str:
    try:
        lines = (drive / INFO_FILE).read_text(encoding="ascii", errors="replace").splitlines()
    except OSError as error:
        raise PortError(
            "this is not the drive of a board that takes UF2 files",
            where=f"{drive / INFO_FILE}: {error.strerror}",
            hint="hold BOOTSEL while plugging the board in, and name the drive that appears",
        ) from error
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("Board-ID:")), "unknown")


def _await_drive(board: Board, machine: Machine, port: str | None, progress: Progress) -> Path:
    """The board's drive, as soon as it is there; a board that runs firmware is sent there by touching its port."""
    start = machine.now()
    touched: float | None = None
    unmounted_since: float | None = None
    while (waited := machine.now() - start) < DRIVE_TIMEOUT_S:
        drives = machine.drives()
        fitting = [d for d in drives if _wanted_id(board) in ("", _board_id(d))]
        if len(fitting) > 1:
            names = ", ".join(map(str, fitting))
            raise PortError(f"several boards wait for firmware: {names}", hint="name one of them with --port")
        if fitting:
            return fitting[0]
        if drives:
            _check_drive(board, drives[0])  # the wrong board is plugged in: say so at once
        device = machine.unmounted(_wanted_id(board))
        unmounted_since = None if not device else machine.now() if unmounted_since is None else unmounted_since
        if unmounted_since is not None and machine.now() - unmounted_since >= _AUTOMOUNT_S:
            raise PortError(
                f"the board's drive {device} is not mounted",
                hint=f"mount it (for example `udisksctl mount -b {device}`), and repeat the command",
            )
        if not device and (touched is None or machine.now() - touched > _TOUCH_AGAIN_S):
            touched = machine.now() if _touch(board, machine, port) else touched
        progress(WAITING, round(waited), round(DRIVE_TIMEOUT_S))
        machine.sleep(_POLL_S)
    raise PortError(
        f"no USB drive of a {board.name} came within {DRIVE_TIMEOUT_S:g} s",
        hint="hold its BOOTSEL button while plugging it in; a drive that is mounted elsewhere can be named with --port",
    )


def _touch(board: Board, machine: Machine, port: str | None) -> bool:
    """Open and close the firmware's serial port at 1200 baud, which sends it to the boot ROM; whether that was done."""
    method = uf2_method(board)
    if method is None or not method.touch_1200:
        return False
    candidates = [p.path for p in machine.ports() if (p.usb == board.usb_id if port is None else p.path == port)]
    if len(candidates) > 1:
        raise PortError(
            f"several boards of this kind are plugged in: {', '.join(candidates)}", hint="name one with --port"
        )
    if not candidates:
        return False
    open_port(machine, candidates[0], TOUCH_BAUD).close()
    return True


def _copy(file: bytes, drive: Path, progress: Progress) -> None:
    progress("copying", 0, len(file))
    target = drive / "firmware.uf2"
    try:
        with target.open("wb") as copy:
            copy.write(file)
            copy.flush()
            with contextlib.suppress(OSError):  # the board restarts with the last block, and takes its drive away
                os.fsync(copy.fileno())
    except OSError as error:
        raise PortError(
            f"the drive does not take the file: {error.strerror or error}", where=str(target), hint="try it again"
        ) from error
    progress("copying", len(file), len(file))


def _serial_number(machine: Machine, port: str | None) -> str | None:
    return next((p.serial_number for p in machine.ports() if p.path == port), None)


def _await_restart(
    board: Board,
    machine: Machine,
    is_there: Callable[[], bool],
    others: Sequence[PortInfo],
    serial_number: str | None,
    progress: Progress,
) -> PortInfo | None:
    """The firmware's serial port under the name it has now; None if the board's firmware has none, or none came."""
    start = machine.now()
    while (waited := machine.now() - start) < RESTART_TIMEOUT_S:
        if not is_there():
            back = [p for p in machine.ports() if p.usb is not None and p.usb == board.usb_id and p not in others]
            same = [p for p in back if serial_number is None or p.serial_number == serial_number]
            if same or board.usb_id is None:
                return same[0] if same else None
        progress("waiting for the board to restart", round(waited), round(RESTART_TIMEOUT_S))
        machine.sleep(_POLL_S)
    if is_there():
        raise PortError(
            "the file was copied, but the board has not taken it",
            hint="is the image for this chip? Unplug the board and try again",
        )
    return None
