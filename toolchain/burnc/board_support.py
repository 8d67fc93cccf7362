"""The support code that firmware for a board is made with: startup, port, linker script, protocol harness."""

from __future__ import annotations

from pathlib import Path

from burnc.boards import Board, Bootloader, Build, MemoryKind
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
    if board.cpu.clock_hz is not None:
        defines.append(f"BURNC_CLOCK_HZ={board.cpu.clock_hz}u")
    if board.usb_id:
        vendor, product = board.usb_id
        defines += [f"BURNC_USB_VENDOR=0x{vendor:04x}u", f"BURNC_USB_PRODUCT=0x{product:04x}u"]
    return defines


def linker_script(board: Board, *, flash_offset: int = 0) -> str:
    """The board's complete linker script: its regions FLASH and RAM, then the script of its support code.

    Args:
        flash_offset: bytes at the start of flash that are left to a bootloader.

    Raises:
        BoardError: the board does not say how firmware for it is built, or lists no flash or no RAM.
    """
    script = build_of(board).link_script.read_text(encoding="utf-8")
    flash = _region(board, "flash", "FLASH (rx)", flash_offset)
    ram = _region(board, "ram", "RAM (rwx)", 0)
    return f"MEMORY\n{{\n{flash}{ram}}}\n\n{script}"


def move_in_flash(script: str, board: Board, flash_offset: int) -> str:
    """A linker script that ``linker_script`` made for the start of flash, for a program behind a bootloader.

    Raises:
        BoardError: the script is of another make.
    """
    at_start = _region(board, "flash", "FLASH (rx)", 0)
    if script.count(at_start) != 1:
        raise BoardError(
            f"the linker script does not place the program at the start of the {board.key}'s flash",
            hint="export the model again",
        )
    return script.replace(at_start, _region(board, "flash", "FLASH (rx)", flash_offset))


def _region(board: Board, kind: MemoryKind, name: str, offset: int) -> str:
    memory = board.first_memory(kind)
    if memory is None:
        raise BoardError(f"the board {board.key} lists no memory of the kind {kind}")
    return f"  {name} : ORIGIN = 0x{memory.origin + offset:08x}, LENGTH = {memory.size - offset}\n"


def bootloader_of(board: Board) -> Bootloader:
    """The board's resident bootloader.

    Raises:
        BoardError: it has none.
    """
    if board.bootloader is None:
        raise BoardError(
            f"burnc has no resident bootloader for the board {board.key}",
            hint="docs/flashing.md tells which ways of flashing there are",
        )
    return board.bootloader


def bootloader_sources(board: Board) -> list[Path]:
    """The C files of the resident bootloader: what all boards share, the messages, and the chip family's part.

    Raises:
        BoardError: the board has none.
    """
    bootloader_of(board)
    support = build_of(board).support
    shared = support.parent
    folders = [shared / "bootloader", support / "bootloader"]
    own = [path for folder in folders for path in sorted(folder.glob("*.c"))]
    return [*own, shared / "common" / "burnc_frames.c", shared / "common" / "burnc_messages.c"]


def bootloader_defines(board: Board) -> list[str]:
    """The macros that carry the board's memory map into its bootloader.

    Raises:
        BoardError: the board has no bootloader.
    """
    bootloader = bootloader_of(board)
    flash, ram = board.first_memory("flash"), board.first_memory("ram")
    assert flash is not None  # boards.py has seen to it
    assert ram is not None
    return [
        f'BURNC_BOARD="{board.key}"',
        f"BURNC_FLASH_BASE=0x{flash.origin:08x}u",
        f"BURNC_FLASH_BYTES={flash.size}u",
        f"BURNC_FLASH_SECTOR_BYTES={flash.sector}u",
        f"BURNC_FLASH_PAGE_BYTES={bootloader.page}u",
        f"BURNC_BOOTLOADER_BYTES={bootloader.size}u",
        f"BURNC_RAM_BASE=0x{ram.origin:08x}u",
        f"BURNC_RAM_BYTES={ram.size}u",
    ]


def harness_sources(board: Board) -> list[Path]:
    """The C files that serve a model over the board's port (docs/protocol.md); they lie beside their headers.

    Raises:
        BoardError: the board does not say how firmware for it is built.
    """
    return sorted((build_of(board).support.parent / "common").glob("*.c"))
