"""Firmware onto a real board: built for the way that was chosen, written, verified, and greeted where it answers."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from burnc.boards import Board
from burnc.codegen.lower import LowerOptions, lower
from burnc.compilers.bootloader import build_bootloader
from burnc.compilers.firmware import Firmware
from burnc.compilers.uf2 import pack_uf2, unpack_uf2
from burnc.devices.exported_project import read_exported_project
from burnc.devices.model_firmware import build_serving_firmware
from burnc.errors import InputError
from burnc.flash.bootloader import Image, flash_application
from burnc.flash.machine import Machine, ThisMachine
from burnc.flash.methods import Way, choose_way
from burnc.flash.serial_port import SerialPort
from burnc.flash.uf2_drive import flash_uf2, require_family
from burnc.ir import Graph
from burnc.protocol.exchange import Exchange
from burnc.reports import FlashReport

Progress = Callable[[str, int, int], None]
Build = Callable[[Path, int], Firmware]
"""Builds firmware in a folder, leaving so many bytes at the start of flash to a bootloader."""


class BoardFlasher:
    """Flashes one board.

    Args:
        port: a serial port or the board's USB drive; found where None.
        method: ``serial`` or ``uf2``; None for what suits board and port.
        again: write an image that the board holds already once more.

    Every method raises BoardError, InputError: the board, port or image do not go together;
    CompileError, DoesNotFitError, ToolMissingError: the firmware cannot be built;
    PortError, ProtocolError: the board cannot be reached, or flash does not hold what was written.
    """

    def __init__(
        self,
        board: Board,
        port: str | None = None,
        method: str | None = None,
        *,
        again: bool = False,
        progress: Progress,
        machine: Machine | None = None,
    ) -> None:
        self._board = board
        self._machine = machine or ThisMachine()
        self._way = choose_way(board, self._machine, port, method)
        self._again = again
        self._progress = progress

    def flash_model(self, graph: Graph, *, optimize: str = "balanced") -> FlashReport:
        """Firmware that serves the model."""
        program = lower(graph, self._board, LowerOptions(name=graph.name, optimize=optimize))
        return self._build_and_put(
            graph.name,
            lambda out, offset: build_serving_firmware(program, out, profile=True, flash_offset=offset),
        )

    def flash_project(self, folder: Path) -> FlashReport:
        """The firmware of a folder that ``burnc export --project bare`` wrote."""
        project = read_exported_project(folder)
        if project.board != self._board.key:
            raise InputError(
                f"the project was exported for the board {project.board}, not {self._board.key}", where=str(folder)
            )
        return self._build_and_put(project.signature.name, project.build)

    def flash_file(self, path: Path) -> FlashReport:
        """A UF2 file as it is; it must have been linked for the way that is used."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"the file cannot be read: {error.strerror or error}", where=str(path)) from error
        uf2 = unpack_uf2(data, where=str(path))
        return self._put(path.stem, Image(uf2.address, uf2.content, uf2.family))

    def flash_bootloader(self) -> FlashReport:
        """The resident bootloader itself, by the USB drive."""
        if self._way.method != "uf2":
            raise InputError(
                "the bootloader goes onto a board by its USB drive, not through itself", hint="give --method uf2"
            )
        return self._build_and_put(None, lambda out, _: build_bootloader(self._board, out))

    def _build_and_put(self, model: str | None, build: Build) -> FlashReport:
        with tempfile.TemporaryDirectory(prefix="burnc-flash-") as folder:
            self._progress("building", 0, 1)
            firmware = build(Path(folder), self._way.flash_offset)
            image = Image(firmware.address, firmware.bin.read_bytes(), self._board.image.uf2_family)
        return self._put(model, image)

    def _put(self, model: str | None, image: Image) -> FlashReport:
        if image.family is not None:
            require_family(self._board, image.family)
        start = time.monotonic()
        put = self._put_serial if self._way.method == "serial" else self._put_uf2
        port, written, answers = put(self._way, image)
        return FlashReport(
            board=self._board.key,
            method=self._way.method,
            port=port,
            model=model,
            address=image.address,
            image_bytes=len(image.content),
            written_bytes=written,
            seconds=time.monotonic() - start,
            verified=self._way.method == "serial",
            answers=answers,
        )

    def _put_serial(self, way: Way, image: Image) -> tuple[str, int, str | None]:
        assert way.port is not None
        baud = self._board.uart.baud if self._board.uart else 115_200
        with SerialPort(way.port, baud, self._machine) as port:
            done = flash_application(
                Exchange(port), self._board, image, self._progress, port.restarted, again=self._again
            )
            return port.path, done.written, done.hello.model

    def _put_uf2(self, way: Way, image: Image) -> tuple[str, int, str | None]:
        if image.family is None:
            raise InputError("the image does not say which chip it is for", hint="build it with burnc")
        flash = self._board.first_memory("flash")
        if flash is not None and image.address != flash.origin:
            raise InputError(
                f"the image belongs behind a bootloader, to 0x{image.address:08x}; nothing would start it from there",
                hint="flash it with --method serial, or give the model or its exported folder",
            )
        file = pack_uf2(image.content, address=image.address, family=image.family)
        copied = flash_uf2(self._board, file, self._machine, self._progress, drive=way.drive, port=way.port)
        return (copied.port.path if copied.port else str(copied.drive)), len(image.content), None
