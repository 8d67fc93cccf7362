"""The computer that boards are plugged into: its serial ports, its USB drives, its clock. Tests bring their own."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

INFO_FILE = "INFO_UF2.TXT"
_READ_POLL_S = 0.1
_WRITE_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class PortInfo:
    """A serial port: what opens it and, where it is a USB device, its vendor and product and its serial number."""

    path: str
    usb: tuple[int, int] | None = None
    serial_number: str | None = None


class OpenPort(Protocol):
    """What burnc uses of pyserial's ``Serial``."""

    @property
    def in_waiting(self) -> int: ...

    def read(self, size: int = 1, /) -> bytes: ...

    def write(self, data: bytes, /) -> int | None: ...

    def close(self) -> None: ...


class Machine(Protocol):
    """What flashing needs of a computer."""

    def ports(self) -> Sequence[PortInfo]:
        """Serial ports that are there now."""

    def open_port(self, path: str, baud: int) -> OpenPort:
        """Open a port for this program alone; reads return within a tenth of a second. Raises OSError and others."""

    def holder(self, path: str) -> str:
        """Who else has the port open, as ``minicom (process 123)``; empty where that cannot be told."""

    def drives(self) -> Sequence[Path]:
        """Mounted USB drives that take UF2 files."""

    def unmounted(self, label: str) -> str:
        """The block device of a drive with that label that is plugged in and not mounted; empty if there is none."""

    def now(self) -> float:
        """Seconds on a clock that only goes forward."""

    def sleep(self, seconds: float) -> None: ...


class ThisMachine:
    """The computer that burnc runs on."""

    def ports(self) -> list[PortInfo]:
        from serial.tools.list_ports import comports

        return [
            PortInfo(p.device, None if p.vid is None else (p.vid, p.pid), p.serial_number)
            for p in sorted(comports(), key=lambda p: str(p.device))
        ]

    def open_port(self, path: str, baud: int) -> OpenPort:
        import serial

        settings = {"baudrate": baud, "timeout": _READ_POLL_S, "write_timeout": _WRITE_TIMEOUT_S}
        if "://" not in path:
            settings["exclusive"] = True  # on Linux and macOS; Windows never shares a port
        port: OpenPort = serial.serial_for_url(path, **settings)
        return port

    def holder(self, path: str) -> str:
        wanted = os.path.realpath(path)
        for folder in Path("/proc").glob("[0-9]*/fd"):  # empty where there is no /proc
            try:
                if any(os.path.realpath(link) == wanted for link in folder.iterdir()):
                    name = (folder.parent / "comm").read_text().strip()
                    if int(folder.parent.name) != os.getpid():
                        return f"{name} (process {folder.parent.name})"
            except OSError:  # another user's process, or one that has just ended
                continue
        return ""

    def drives(self) -> list[Path]:
        return [folder for folder in _mounted_folders() if (folder / INFO_FILE).is_file()]

    def unmounted(self, label: str) -> str:
        link = Path("/dev/disk/by-label") / label
        return os.path.realpath(link) if label and link.exists() else ""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def _mounted_folders() -> list[Path]:
    if sys.platform == "win32":
        return [Path(f"{letter}:\\") for letter in "DEFGHIJKLMNOPQRSTUVWXYZ"]
    if sys.platform == "darwin":
        return sorted(Path("/Volumes").iterdir())
    try:
        lines = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    # Spaces and their like in a mount point are written as octal escapes.
    places = [line.split()[1] for line in lines if len(line.split()) > 2 and line.split()[2] in ("vfat", "msdos")]
    return [Path(place.replace("\\040", " ")) for place in places]
