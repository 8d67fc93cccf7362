"""A computer with boards plugged in, on a clock of its own: ports and drives come and go as scheduled."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from pathlib import Path

from burnc.flash.machine import INFO_FILE, OpenPort, PortInfo

PICO_FIRMWARE = (0x2E8A, 0x000A)
INFO_TEXT = "UF2 Bootloader v3.0\nModel: Raspberry Pi RP2\nBoard-ID: {}\n"


class FakePort:
    """An open port; ``answers`` is what there is to read, ``lost`` makes it fail as one that was pulled out."""

    def __init__(self, on_close: Callable[[], None] = lambda: None) -> None:
        self.answers = bytearray()
        self.written = bytearray()
        self.lost = False
        self.is_closed = False
        self.wait: Callable[[], None] = lambda: None
        self._on_close = on_close

    @property
    def in_waiting(self) -> int:
        return len(self.answers)

    def read(self, size: int = 1, /) -> bytes:
        self._fail_if_lost()
        if not self.answers:
            self.wait()
        data = bytes(self.answers[:size])
        del self.answers[:size]
        return data

    def write(self, data: bytes, /) -> int:
        self._fail_if_lost()
        self.written += data
        return len(data)

    def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self._on_close()

    def _fail_if_lost(self) -> None:
        if self.lost:
            raise OSError(errno.EIO, "Input/output error")


class FakeMachine:
    """Implements ``Machine``; each look at the computer lets a little time pass."""

    def __init__(self) -> None:
        self.time = 0.0
        self.port_list: list[PortInfo] = []
        self.drive_list: list[Path] = []
        self.unmounted_devices: dict[str, str] = {}
        self.opened: list[tuple[str, int]] = []
        self.open_error: Exception | None = None
        self.make_port: Callable[[str, int], FakePort] = lambda path, baud: FakePort()
        self.watch: Callable[[], None] = lambda: None
        self._events: list[tuple[float, Callable[[], None]]] = []

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Have something happen later."""
        self._events.append((self.time + seconds, action))

    def ports(self) -> Sequence[PortInfo]:
        self._look()
        return list(self.port_list)

    def open_port(self, path: str, baud: int) -> OpenPort:
        self._look()
        self.opened.append((path, baud))
        if self.open_error is not None:
            raise self.open_error
        if all(port.path != path for port in self.port_list):
            raise FileNotFoundError(errno.ENOENT, f"could not open port {path}")
        port = self.make_port(path, baud)
        port.wait = lambda: self.sleep(0.1)
        return port

    def holder(self, path: str) -> str:  # noqa: ARG002  nobody has it
        return ""

    def drives(self) -> Sequence[Path]:
        self._look()
        return list(self.drive_list)

    def unmounted(self, label: str) -> str:
        return self.unmounted_devices.get(label, "")

    def now(self) -> float:
        self.time += 0.001
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds
        self._look()

    def _look(self) -> None:
        due = [event for event in self._events if event[0] <= self.time]
        self._events = [event for event in self._events if event[0] > self.time]
        for _, action in due:
            action()
        self.watch()


class FakePico:
    """A Pico whose firmware has a USB serial port: a touch brings its drive, a copied file its firmware.

    Args:
        delays: seconds that each coming takes, used in turn; a going takes none.
    """

    def __init__(
        self,
        machine: FakeMachine,
        folder: Path,
        *,
        delays: Sequence[float] = (1.0,),
        board_id: str = "RPI-RP2",
        serial_number: str | None = "E66",
        mounts: bool = True,
    ) -> None:
        self.images: list[bytes] = []
        self.touches = 0
        self._machine = machine
        self._drive = folder / board_id
        self._drive.mkdir()
        (self._drive / INFO_FILE).write_text(INFO_TEXT.format(board_id))
        self._board_id = board_id
        self._delays = list(delays)
        self._serial_number = serial_number
        self._mounts = mounts
        self._port: PortInfo | None = None
        self._port_number = 3
        machine.watch = self._take_file
        machine.make_port = self._open

    @property
    def port(self) -> PortInfo | None:
        return self._port

    def start_firmware(self) -> None:
        """Its serial port is there, under another name each time."""
        self._port = PortInfo(f"/dev/ttyACM{self._port_number}", PICO_FIRMWARE, self._serial_number)
        self._port_number += 2
        self._machine.port_list.append(self._port)

    def show_drive(self) -> None:
        if self._mounts:
            self._machine.drive_list.append(self._drive)
        else:
            self._machine.unmounted_devices[self._board_id] = "/dev/sdz1"

    def _open(self, path: str, baud: int) -> FakePort:  # noqa: ARG002  it has one
        return FakePort(self._touch if baud == 1200 else lambda: None)

    def _touch(self) -> None:
        self.touches += 1
        assert self._port is not None
        self._machine.port_list.remove(self._port)
        self._port = None
        self._machine.after(self._next_delay(), self.show_drive)

    def _take_file(self) -> None:
        copied = self._drive / "firmware.uf2"
        if self._drive in self._machine.drive_list and copied.exists():
            self.images.append(copied.read_bytes())
            copied.unlink()
            self._machine.drive_list.remove(self._drive)
            self._machine.after(self._next_delay(), self.start_firmware)

    def _next_delay(self) -> float:
        delay = self._delays.pop(0)
        self._delays.append(delay)
        return delay
