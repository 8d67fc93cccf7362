"""A serial port as the line that the protocol runs over; what can go wrong with it, said clearly."""

from __future__ import annotations

import contextlib
import errno
from types import TracebackType
from typing import Self

from burnc.errors import PortError, ToolMissingError
from burnc.flash.machine import Machine, OpenPort, PortInfo, ThisMachine

# pyserial's own errors are OSErrors; it lets these others through when a device vanishes.
_TROUBLE: tuple[type[Exception], ...] = (OSError, ValueError, TypeError)
try:
    import termios
except ImportError:  # Windows
    pass
else:
    _TROUBLE += (termios.error,)

_TAKEN = (errno.EBUSY, errno.EAGAIN, errno.EWOULDBLOCK)
_POLL_S = 0.05
_COME_BACK_S = 20.0
_DENIED_HINT = "add yourself to the group that owns it (often `dialout`) and log in again"


class SerialPort:
    """An open serial port; a ``Transport``.

    Args:
        path: the port's name or a pyserial URL.
        baud: bits a second. A pseudo-terminal and a USB serial port take any.

    Raises:
        PortError: there is no such port, another program has it, or it is not permitted.
        ToolMissingError: pyserial is not installed.
    """

    def __init__(self, path: str, baud: int, machine: Machine | None = None) -> None:
        self._machine = machine or ThisMachine()
        self._baud = baud
        self._expected_back_until = 0.0
        self._info = _find(self._machine, path)
        self.path = path
        self._port: OpenPort | None = open_port(self._machine, path, baud)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write(self, data: bytes) -> None:
        """Send bytes.

        Raises:
            PortError: the port is gone.
        """
        try:
            self._open().write(data)
        except _TROUBLE as error:
            self._come_back(error)
            self._open().write(data)

    def read(self, max_bytes: int, timeout_s: float) -> bytes:
        """At least one byte, or nothing within ``timeout_s`` seconds.

        Raises:
            PortError: the port is gone.
        """
        deadline = self._machine.now() + timeout_s
        while True:
            try:
                port = self._open()
                data = port.read(1)
                if data:
                    return data + port.read(min(port.in_waiting, max_bytes - 1)) if max_bytes > 1 else data
            except _TROUBLE as error:
                self._come_back(error)
            if self._machine.now() >= deadline:
                return b""

    def restarted(self) -> None:
        """The board restarts: a USB serial port of its own goes away now and comes back, perhaps under another name."""
        self._expected_back_until = self._machine.now() + _COME_BACK_S

    def close(self) -> None:
        """Let other programs have the port. May be called twice."""
        if self._port is not None:
            with contextlib.suppress(*_TROUBLE):  # it is gone
                self._port.close()
            self._port = None

    def _open(self) -> OpenPort:
        if self._port is None:
            raise PortError(f"the port {self.path} is closed")
        return self._port

    def _come_back(self, error: Exception) -> None:
        self.close()
        while self._machine.now() < self._expected_back_until:
            info = self._where_it_is_now()
            if info is not None:
                try:
                    self._port = open_port(self._machine, info.path, self._baud)
                except PortError:  # its name is there before it can be opened
                    pass
                else:
                    self.path = info.path
                    return
            self._machine.sleep(_POLL_S)
        raise PortError(
            f"the port {self.path} is gone",
            where=str(error),
            hint="was the cable pulled, or did the board lose power? Plug it in again and repeat the command",
        ) from error

    def _where_it_is_now(self) -> PortInfo | None:
        ports = self._machine.ports()
        if self._info.usb is None:
            return next((p for p in ports if p.path == self._info.path), self._info)  # not every port is listed
        same = [p for p in ports if p.usb == self._info.usb]
        if self._info.serial_number is not None:
            return next((p for p in same if p.serial_number == self._info.serial_number), None)
        return next((p for p in same if p.path == self._info.path), same[0] if len(same) == 1 else None)


def open_port(machine: Machine, path: str, baud: int) -> OpenPort:
    """Open a port.

    Raises:
        PortError: there is no such port, another program has it, or it is not permitted.
        ToolMissingError: pyserial is not installed.
    """
    try:
        return machine.open_port(path, baud)
    except ModuleNotFoundError as error:
        raise ToolMissingError(
            "serial ports need the Python package pyserial, which is not installed", hint="pip install pyserial"
        ) from error
    except _TROUBLE as error:
        raise _explain(machine, path, error) from error


def _find(machine: Machine, path: str) -> PortInfo:
    try:
        return next((p for p in machine.ports() if p.path == path), PortInfo(path))
    except ModuleNotFoundError:
        return PortInfo(path)  # open_port says what is missing


def _explain(machine: Machine, path: str, error: Exception) -> PortError:
    number = getattr(error, "errno", None)
    text = str(error)
    denied = number == errno.EACCES or "PermissionError" in text or "Access is denied" in text
    if number in _TAKEN or (denied and "://" not in path and path.upper().startswith("COM")):
        holder = machine.holder(path)
        return PortError(
            f"the port {path} is in use by {holder or 'another program'}",
            hint="close that program (a serial monitor?) and try again",
        )
    if denied:
        return PortError(f"you may not open the port {path}", hint=_DENIED_HINT)
    if number in (errno.ENOENT, errno.ENODEV, errno.ENXIO) or "FileNotFoundError" in text:
        ports = ", ".join(p.path for p in machine.ports())
        return PortError(
            f"there is no port {path}",
            hint=f"ports that are there: {ports}" if ports else "no serial port is there; is the board plugged in?",
        )
    return PortError(f"the port {path} cannot be opened", where=text, hint="is it a serial port?")
