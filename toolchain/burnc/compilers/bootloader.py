"""Builds a board's resident bootloader, which takes applications over a serial line (docs/flashing.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from burnc.board_support import (
    bootloader_defines,
    bootloader_of,
    bootloader_sources,
    build_of,
    linker_script,
)
from burnc.boards import Board
from burnc.compilers.firmware import Firmware, build_firmware
from burnc.compilers.toolchains import CCompiler


def build_bootloader(
    board: Board, out_dir: Path, *, flags: Sequence[str] = (), compiler: CCompiler | None = None
) -> Firmware:
    """The bootloader as firmware for the start of flash; the linker sees to it that it stays below its last sector.

    Raises:
        BoardError: burnc has no bootloader for the board.
        CompileError, DoesNotFitError, ToolMissingError: as ``build_firmware``.
    """
    shared = build_of(board).support.parent
    script = out_dir / "bootloader_board.ld"
    out_dir.mkdir(parents=True, exist_ok=True)
    script.write_text(linker_script(_without_applications(board)), encoding="utf-8", newline="\n")
    return build_firmware(
        board,
        bootloader_sources(board),
        out_dir=out_dir,
        name="bootloader",
        include_dirs=[shared / "bootloader", shared / "common"],
        optimize="size",
        defines=bootloader_defines(board),
        flags=flags,
        compiler=compiler,
        link_script=script,
    )


def _without_applications(board: Board) -> Board:
    """The board with no more flash than the bootloader's code may take."""
    size = bootloader_of(board).size
    flash = board.first_memory("flash")
    assert flash is not None
    assert flash.sector is not None
    small = replace(flash, size=size - flash.sector)
    return replace(board, memories=tuple(small if memory is flash else memory for memory in board.memories))
