"""The messages inside the frames: request types, their layouts, and the replies as objects. All little-endian."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

PROTOCOL_VERSION = 1
BOOTLOADER_VERSION = 1
REPLY = 0x80
ERROR_REPLY = 0xFF
RUN_WITH_PROFILE = 1
RUN_WITH_STACK = 2


class Request(IntEnum):
    """The first byte of a request; a reply carries it with ``REPLY`` added."""

    HELLO = 0x01
    TENSOR = 0x02
    WRITE_INPUT = 0x03
    RUN = 0x04
    READ_OUTPUT = 0x05
    READ_PROFILE = 0x06
    RESET_STATE = 0x07
    REBOOT = 0x08
    ENTER_BOOTLOADER = 0x09


class BootRequest(IntEnum):
    """Requests to the resident bootloader; none of their numbers means anything to the harness."""

    INFO = 0x41
    ERASE = 0x42
    WRITE = 0x43
    CRC = 0x44
    SEAL = 0x45
    BOOT = 0x46


class ErrorCode(IntEnum):
    """Why the firmware has not served a request."""

    BAD_FRAME = 1
    BAD_CRC = 2
    UNKNOWN_COMMAND = 3
    BAD_ARGUMENTS = 4
    NO_SESSION = 5
    NO_BOOTLOADER = 6
    IN_BOOTLOADER = 7


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of the model on the board."""

    name: str
    bytes: int


@dataclass(frozen=True)
class Hello:
    """What the firmware says of itself.

    Attributes:
        protocol: version of the protocol; equal to ``PROTOCOL_VERSION``, or the client has refused.
        version: the burnc that generated the firmware.
        clock_hz: CPU clock of the board.
        max_payload: the most tensor bytes that one message carries.
    """

    protocol: int
    version: str
    clock_hz: int
    max_payload: int
    layer_count: int
    model: str
    model_sha256: str
    board: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]


@dataclass(frozen=True)
class BootInfo:
    """What the resident bootloader says of itself and its board. Addresses are absolute, sizes in bytes.

    Attributes:
        version: of the bootloader's messages.
        board: key of the board that it was built for.
        writable: first address that an application may use, and the one behind the last.
        most_erased: the most bytes that one request erases.
        max_payload: the most bytes that one request writes.
        application: first address, size and CRC-32 of the sealed application; None where there is none.
    """

    version: int
    board: str
    flash_base: int
    flash_bytes: int
    sector: int
    page: int
    writable: tuple[int, int]
    most_erased: int
    max_payload: int
    application: tuple[int, int, int] | None


@dataclass(frozen=True)
class RunReport:
    """One run of the model.

    Attributes:
        status: what the model's run function returned; 0 is success.
        cycles: CPU cycles of the whole run.
        stack_bytes: what the run took of the stack from its call on, without the harness around it; None unless asked
            for.
        layer_cycles: cycles of each layer; empty unless asked for and compiled in.
        helper_stack_bytes: the most that the stack of a second core, which helps, has held; None unless asked for, or
            where there is none.
    """

    status: int
    cycles: int
    stack_bytes: int | None
    layer_cycles: tuple[int, ...]
    helper_stack_bytes: int | None = None


class Body:
    """Reads the body of a reply from front to back.

    Raises:
        ValueError: (every method) the body is too short or is not text where text is due.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def unpack(self, layout: str) -> tuple[int, ...]:
        """The numbers of a ``struct`` layout, without byte-order mark."""
        size = struct.calcsize("<" + layout)
        if self._at + size > len(self._data):
            raise ValueError("too short")
        values = struct.unpack_from("<" + layout, self._data, self._at)
        self._at += size
        return values

    @property
    def is_read(self) -> bool:
        """Nothing is left."""
        return self._at == len(self._data)

    def text(self) -> str:
        """A string led by its length in one byte."""
        (length,) = self.unpack("B")
        end = self._at + length
        if end > len(self._data):
            raise ValueError("too short")
        raw = self._data[self._at : end]
        self._at = end
        return raw.decode("utf-8", errors="replace")  # a long name may be cut inside a character
