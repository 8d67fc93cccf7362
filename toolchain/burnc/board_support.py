"""The support code that firmware for a board is made with: startup, port, linker script, protocol harness."""

from __future__ import annotations

from pathlib import Path

from burnc.boards import Board, Build, Memory
from burnc.errors import BoardError


def build_of(board: Board) -> Build:
    """The board's build table.

    Raises:
        BoardError: the board does not say how firmware for it is built.
    """
    if board.build is None:
        raise BoardError(
            f"the board {board.key} does not say how firmware for it is built",
            hint="add a [build] table to its file (docs/adding_a_board.md), or export C for your own project",
        )
    return board.build


def support_sources(board: Board) -> list[Path]:
    """The board's C and assembler files, and those that all boards without a C library share.

    Raises:
        BoardError: the board does not say how firmware for it is built.
    """
    support = build_of(board).support
    folders = [support, support.parent]
    return [path for folder in folders for suffix in ("*.S", "*.c") for path in sorted(folder.glob(suffix))]


def support_include_dirs(board: Board) -> list[Path]:
    """Where ``burnc_port.h`` and the headers of the board's support code lie.

    Raises:
        BoardError: the board does not say how firmware for it is built.
    """
    support = build_of(board).support
    return [support, support.parent]


def board_defines(board: Board) -> list[str]:
    """The macros that carry the board file's figures into its support code."""
    defines = [f"BURNC_UART_BAUD={board.uart.baud}u"] if board.uart else []
    if board.usb_id:
        vendor, product = board.usb_id
        defines += [f"BURNC_USB_VENDOR=0x{vendor:04x}u", f"BURNC_USB_PRODUCT=0x{product:04x}u"]
    return defines


def linker_script(board: Board) -> str:
    """The board's complete linker script: its regions FLASH and RAM, then the script of its support code.

    Raises:
        BoardError: the board does not say how firmware for it is built, or lists no flash or no RAM.
    """
    script = build_of(board).link_script.read_text(encoding="utf-8")

    def region(name: str, attributes: str, memory: Memory | None) -> str:
        if memory is None:
            raise BoardError(f"the board {board.key} lists no memory of the kind {name.lower()}")
        return f"  {name} ({attributes}) : ORIGIN = 0x{memory.origin:08x}, LENGTH = {memory.size}\n"

    flash = region("FLASH", "rx", board.first_memory("flash"))
    ram = region("RAM", "rwx", board.first_memory("ram"))
    return f"MEMORY\n{{\n{flash}{ram}}}\n\n{script}"


def harness_sources(board: Board) -> list[Path]:
    """The C files that serve a model over the board's port (docs/protocol.md); they lie beside their headers.

    Raises:
        BoardError: the board does not say how firmware for it is built.
    """
    return sorted((build_of(board).support.parent / "common").glob("*.c"))
