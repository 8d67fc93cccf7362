"""The pipe that the protocol runs over: a serial port, or the UART of an emulated board."""

from __future__ import annotations

from typing import Protocol


class Transport(Protocol):
    """A two-way stream of bytes without boundaries. It may lose and damage bytes, but keeps their order."""

    def write(self, data: bytes) -> None:
        """Sends all of ``data``."""

    def read(self, max_bytes: int, timeout_s: float) -> bytes:
        """At least one and at most ``max_bytes`` bytes; empty when none has come within ``timeout_s`` seconds."""
