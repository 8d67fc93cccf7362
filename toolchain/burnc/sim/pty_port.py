"""The UART of an emulated board as a pseudo-terminal: any program opens it as it would a real serial port."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from types import TracebackType
from typing import Protocol, Self

from burnc.errors import SimulationError, ToolMissingError
from burnc.protocol.transport import Transport

_CHUNK_BYTES = 4096
_FOREVER_S = 1e6


class EmulatedUart(Transport, Protocol):
    """An emulated board, as far as a port is concerned."""

    def close(self) -> None:
        """Ends the emulator."""


class PtyPort:
    """Carries bytes between a pseudo-terminal and an emulated board, which it closes with itself.

    When the emulated board ends, the port vanishes, as that of a board whose plug is pulled.

    Args:
        board: started with ``silence_limit_s=math.inf``: nobody need speak to it.

    Attributes:
        path: what programs open.

    Raises:
        ToolMissingError: the operating system has no pseudo-terminals.
    """

    def __init__(self, board: EmulatedUart) -> None:
        try:
            import pty
            import tty
        except ImportError as error:
            board.close()
            raise ToolMissingError("this operating system has no pseudo-terminals") from error
        self._board = board
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        self.path = os.ttyname(self._slave)
        # The slave stays open here, else the master reports a hang-up whenever no program has it open.
        os.set_blocking(self._master, False)
        self._wake_read, self._wake_write = os.pipe()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._from_host, name="pty-in", daemon=True),
            threading.Thread(target=self._to_host, name="pty-out", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the emulated board and the port. May be called twice."""
        if self._closed:
            return
        self._closed = True
        self._wake()
        self._board.close()
        for thread in self._threads:
            thread.join()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _wake(self) -> None:
        os.write(self._wake_write, b"\0")  # and is never read: both threads shall see it

    def _from_host(self) -> None:
        while True:
            ready, _, _ = select.select([self._master, self._wake_read], [], [])
            if self._wake_read in ready:
                return
            try:
                self._board.write(os.read(self._master, _CHUNK_BYTES))
            except (OSError, SimulationError):
                return

    def _to_host(self) -> None:
        with contextlib.suppress(OSError, SimulationError):
            while True:
                data = self._board.read(_CHUNK_BYTES, _FOREVER_S)
                while data:
                    woken, _, _ = select.select([self._wake_read], [self._master], [])
                    if woken:
                        break
                    data = data[os.write(self._master, data) :]
        self._wake()
        self._threads[0].join()
        self._hang_up()

    def _hang_up(self) -> None:
        os.close(self._master)
        os.close(self._slave)
