"""The host's side of the resident bootloader: an image goes into flash, is verified, sealed and started.

docs/flashing.md is the specification of its messages.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from burnc.boards import Board
from burnc.compilers.boot2 import BOOT2_BYTES
from burnc.errors import InputError, ProtocolError
from burnc.protocol.client import Client
from burnc.protocol.exchange import Exchange, NoAnswerError, RefusedError
from burnc.protocol.messages import BOOTLOADER_VERSION, Body, BootInfo, BootRequest, ErrorCode, Hello

Progress = Callable[[str, int, int], None]
"""Told what is done, and how many bytes of how many."""

_ERASE_TIMEOUT_S = 5.0  # 64 KiB take a W25Q16JV 2 s at worst
_CRC_TIMEOUT_S = 10.0
_RESTART_ATTEMPTS = 10
_FROM_AN_APPLICATION = (ErrorCode.NO_SESSION, ErrorCode.UNKNOWN_COMMAND)


@dataclass(frozen=True)
class Image:
    """What goes into flash: bytes, their address, and the UF2 family they are for (None where that is not known)."""

    address: int
    content: bytes
    family: int | None = None


@dataclass(frozen=True)
class Flashed:
    """``written`` is how many bytes were sent, 0 where the board held this very image; ``hello`` what answers now."""

    written: int
    hello: Hello


class BootloaderClient:
    """One method a message; all of them raise ProtocolError when the bootloader does not answer or declines."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def info(self, *, attempts: int | None = None) -> BootInfo:
        """What the bootloader says of itself.

        Raises:
            RefusedError: an application answers instead.
            ProtocolError: also when it speaks another version of these messages; it names both.
        """
        self._exchange.end_noise()
        body = Body(self._exchange.ask(BootRequest.INFO, struct.pack("<H", BOOTLOADER_VERSION), attempts=attempts))
        try:
            (version,) = body.unpack("H")
            if version != BOOTLOADER_VERSION:
                raise ProtocolError(
                    f"the bootloader on the board speaks version {version} of its messages, "
                    f"this burnc version {BOOTLOADER_VERSION}",
                    hint="renew the bootloader: docs/flashing.md",
                )
            board = body.text()
            base, size, sector, page, begin, end, most_erased, payload, sealed, *application = body.unpack("7IHB3I")
        except ValueError as error:
            raise _nonsense(BootRequest.INFO) from error
        at, length, crc = application
        held = (at, length, crc) if sealed else None
        return BootInfo(version, board, base, size, sector, page, (begin, end), most_erased, payload, held)

    def erase(self, address: int, size: int) -> None:
        """Erases whole sectors; the application that was there is no longer started."""
        self._exchange.ask(BootRequest.ERASE, struct.pack("<II", address, size), timeout_s=_ERASE_TIMEOUT_S)

    def write(self, address: int, data: bytes) -> None:
        """Programs whole pages of erased flash.

        Raises:
            ProtocolError: also when flash does not hold ``data`` afterwards.
        """
        body = self._exchange.ask(BootRequest.WRITE, struct.pack("<I", address) + data)
        if self._word(BootRequest.WRITE, body) != zlib.crc32(data):
            raise ProtocolError(
                f"flash does not hold what was written to 0x{address:08x}",
                hint="flash again; if it fails at the same address, the flash chip is worn out",
            )

    def crc(self, address: int, size: int) -> int:
        """CRC-32 of a range of flash."""
        body = self._exchange.ask(BootRequest.CRC, struct.pack("<II", address, size), timeout_s=_CRC_TIMEOUT_S)
        return self._word(BootRequest.CRC, body)

    def seal(self, address: int, size: int, vectors: int, crc: int) -> None:
        """Declares that range an application, whose vector table is at ``vectors``."""
        body = struct.pack("<4I", address, size, vectors, crc)
        self._exchange.ask(BootRequest.SEAL, body, timeout_s=_CRC_TIMEOUT_S)

    def boot(self, *, stay: bool = False) -> None:
        """Restarts the board: into the application, or into the bootloader once more."""
        try:
            self._exchange.ask(BootRequest.BOOT, bytes([stay]))
        except RefusedError as error:
            if error.code not in _FROM_AN_APPLICATION:
                raise  # else the reply was lost, and the application has answered the repeated request

    @staticmethod
    def _word(request: BootRequest, body: bytes) -> int:
        if len(body) != 4:
            raise _nonsense(request)
        return int.from_bytes(body, "little")


def enter_bootloader(exchange: Exchange, restarted: Callable[[], None] = lambda: None) -> BootInfo:
    """Find the bootloader; an application that answers instead is asked to restart into it.

    Args:
        restarted: called when the board restarts, before it is spoken to again.

    Raises:
        ProtocolError: nobody answers, or the application has no bootloader to restart into.
    """
    bootloader = BootloaderClient(exchange)
    try:
        return bootloader.info()
    except RefusedError as error:
        if error.code not in _FROM_AN_APPLICATION:
            raise
    except NoAnswerError as error:
        raise NoAnswerError(
            "nothing on the port answers, neither burnc's bootloader nor a firmware that burnc made",
            where=error.what,
            hint="check the port and the wiring (docs/flashing.md); a new board first needs the bootloader",
        ) from error
    try:
        Client(exchange).enter_bootloader()
    except ProtocolError as error:
        cause = error.__cause__
        if not (isinstance(cause, RefusedError) and cause.code == ErrorCode.IN_BOOTLOADER):
            raise  # else the reply was lost, and the bootloader has answered the repeated request
    restarted()
    return bootloader.info(attempts=_RESTART_ATTEMPTS)


def flash_application(
    exchange: Exchange,
    board: Board,
    image: Image,
    progress: Progress,
    restarted: Callable[[], None] = lambda: None,
    *,
    again: bool = False,
) -> Flashed:
    """Put an application behind the bootloader and start it. It may be repeated after any failure.

    Args:
        restarted: called when the board restarts, before it is spoken to again.
        again: write it even where the board holds it already.

    Raises:
        InputError: the image is not for this board or not for this place in flash.
        ProtocolError: the board does not answer, or flash does not hold what was written.
    """
    info = enter_bootloader(exchange, restarted)
    content = image.content + b"\xff" * (-len(image.content) % info.page)
    _check(info, board, image.address, len(content))
    crc = zlib.crc32(content)
    bootloader = BootloaderClient(exchange)
    written = 0
    if again or info.application != (image.address, len(content), crc):
        _erase(bootloader, info, image.address, len(content), progress)
        _write(bootloader, info, image.address, content, progress)
        if bootloader.crc(image.address, len(content)) != crc:
            raise ProtocolError("flash does not hold the image that was written", hint="flash it again")
        vectors = image.address + (BOOT2_BYTES if board.image.boot2_crc else 0)
        bootloader.seal(image.address, len(content), vectors, crc)
        written = len(content)
    bootloader.boot()
    restarted()
    return Flashed(written, _await_application(exchange))


def _check(info: BootInfo, board: Board, address: int, size: int) -> None:
    if info.board != board.key:
        raise InputError(
            f"the bootloader on the port is that of the board {info.board!r}, the image is for {board.key!r}",
            hint="choose another port, or build for that board",
        )
    begin, end = info.writable
    if not begin <= address < end or address + size > end or address % info.sector:
        raise InputError(
            f"the image belongs to 0x{address:08x} .. 0x{address + size:08x}, "
            f"the bootloader leaves 0x{begin:08x} .. 0x{end:08x} to applications",
            hint="give the model or its exported folder: `burnc flash` links it behind the bootloader",
        )


def _erase(bootloader: BootloaderClient, info: BootInfo, address: int, size: int, progress: Progress) -> None:
    end = address + size + -size % info.sector
    at = address
    while at < end:
        block = min(info.most_erased - at % info.most_erased, end - at)  # whole blocks are erased much faster
        bootloader.erase(at, block)
        at += block
        progress("erasing", min(at - address, size), size)


def _write(bootloader: BootloaderClient, info: BootInfo, address: int, content: bytes, progress: Progress) -> None:
    step = info.max_payload - info.max_payload % info.page
    for offset in range(0, len(content), step):
        piece = content[offset : offset + step]
        if piece.count(0xFF) != len(piece):  # that is how erased flash reads
            bootloader.write(address + offset, piece)
        progress("writing", offset + len(piece), len(content))


def _await_application(exchange: Exchange) -> Hello:
    trouble: ProtocolError | None = None
    for _ in range(_RESTART_ATTEMPTS):
        try:
            return Client(exchange).hello()
        except NoAnswerError as error:
            trouble = error
    raise ProtocolError(
        "the image was written, verified and sealed, but the firmware does not answer", where=str(trouble)
    )


def _nonsense(request: BootRequest) -> ProtocolError:
    return ProtocolError(f"the bootloader's reply to {request.name} does not follow the protocol")
