"""Builds firmware for a board: its support code and the given sources become an ELF, a flat image and a UF2 file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from burnc.boards import Board, Build, Memory
from burnc.compilers.boot2 import BOOT2_BYTES, seal_boot2
from burnc.compilers.compile import CODE_FLAGS, OPTIMIZE_FLAGS, Optimize, compile_objects, link_program
from burnc.compilers.elf import Elf, Section, Symbol, flat_image, read_elf
from burnc.compilers.toolchains import CCompiler, find_compiler
from burnc.compilers.uf2 import pack_uf2
from burnc.errors import BoardError, CompileError, DoesNotFitError


@dataclass(frozen=True)
class Firmware:
    """Built firmware: its files and what the ELF says of it; sizes in bytes, the stack is not in ``ram_bytes``.

    ``uf2`` is None where the board takes no UF2. ``address`` is where the first byte of ``bin`` belongs.
    """

    elf: Path
    bin: Path
    uf2: Path | None
    address: int
    flash_bytes: int
    ram_bytes: int
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    compiler: CCompiler


def build_firmware(
    board: Board,
    sources: Sequence[Path],
    *,
    out_dir: Path,
    name: str = "firmware",
    include_dirs: Sequence[Path] = (),
    optimize: Optimize = "balanced",
    defines: Sequence[str] = (),
    flags: Sequence[str] = (),
    compiler: CCompiler | None = None,
) -> Firmware:
    """Compile and link the sources with the board's support code; one of them defines ``int main(void)``.

    The sources find ``burnc_port.h`` on the include path. The same sources and compiler give the same bytes, whatever
    the folders. Files: ``<name>.elf``, ``<name>.bin`` and, where the board takes it, ``<name>.uf2`` in ``out_dir``.

    Args:
        compiler: the compiler to use instead of the one that is found.
        flags: further compiler flags, as ``WARNING_FLAGS``; they apply to the support code too.

    Raises:
        BoardError: the board does not say how firmware for it is built.
        ToolMissingError: there is no compiler for the board.
        CompileError: a source does not compile, or the objects do not link.
        DoesNotFitError: the program is larger than the board's flash or RAM.
    """
    build = _build_of(board)
    compiler = compiler or find_compiler(board)
    defines = [*board_defines(board), *defines]
    code_flags = [*CODE_FLAGS, *build.flags, *flags]
    objects = compile_objects(
        compiler,
        sources,
        out_dir=out_dir / "objects",
        include_dirs=[*include_dirs, *support_include_dirs(board)],
        defines=defines,
        flags=[*code_flags, OPTIMIZE_FLAGS[optimize]],
    )
    objects += compile_objects(  # always small: none of it is in the way of a model
        compiler,
        support_sources(board),
        out_dir=out_dir / "objects" / "support",
        include_dirs=support_include_dirs(board),
        defines=defines,
        flags=[*code_flags, OPTIMIZE_FLAGS["size"]],
    )
    script = out_dir / f"{name}.ld"
    script.write_text(linker_script(board), encoding="utf-8", newline="\n")
    path = out_dir / f"{name}.elf"
    try:
        link_program(compiler, objects, output=path, flags=_link_flags(compiler, script))
    except CompileError as error:
        if any(sign in error.where for sign in _OVERFLOW_SIGNS):
            raise DoesNotFitError(
                f"the firmware does not fit the {board.name}", where=error.where, hint="use a smaller model"
            ) from error
        raise
    if board.image.boot2_crc:
        _seal_boot2_in(path)
    return _package(board, path, read_elf(path), compiler)


def support_sources(board: Board) -> list[Path]:
    """The board's C and assembler files, and those that all boards without a C library share.

    Raises:
        BoardError: the board does not say how firmware for it is built.
    """
    support = _build_of(board).support
    folders = [support, support.parent]
    return [path for folder in folders for suffix in ("*.S", "*.c") for path in sorted(folder.glob(suffix))]


def support_include_dirs(board: Board) -> list[Path]:
    """Where ``burnc_port.h`` and the headers of the board's support code lie.

    Raises:
        BoardError: the board does not say how firmware for it is built.
    """
    support = _build_of(board).support
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
    script = _build_of(board).link_script.read_text(encoding="utf-8")

    def region(name: str, attributes: str, memory: Memory | None) -> str:
        if memory is None:
            raise BoardError(f"the board {board.key} lists no memory of the kind {name.lower()}")
        return f"  {name} ({attributes}) : ORIGIN = 0x{memory.origin:08x}, LENGTH = {memory.size}\n"

    flash = region("FLASH", "rx", board.first_memory("flash"))
    ram = region("RAM", "rwx", board.first_memory("ram"))
    return f"MEMORY\n{{\n{flash}{ram}}}\n\n{script}"


# What GNU ld and lld say when a region is full, and the linker scripts when no stack is left.
_OVERFLOW_SIGNS = ("will not fit in region", "overflowed by", "no room is left in RAM")


def _build_of(board: Board) -> Build:
    if board.build is None:
        raise BoardError(
            f"the board {board.key} does not say how firmware for it is built",
            hint="add a [build] table to its file (docs/adding_a_board.md), or export C for your own project",
        )
    return board.build


def _link_flags(compiler: CCompiler, script: Path) -> list[str]:
    # -nostartfiles and not -nostdlib: the compiler's own helper routines (division, 64-bit shifts) must stay.
    flags = ["-nostartfiles", "-T", str(script), "-Wl,--gc-sections", "-Wl,--build-id=none", "-Wl,-z,max-page-size=256"]
    if compiler.kind == "zig":
        return [*flags, "-Os", "-g"]  # without -g it drops the symbol table; -Os picks its small helper routines
    if compiler.kind == "gcc":
        return [*flags, "-nodefaultlibs", "-lgcc"]
    return [*flags, "-fuse-ld=lld", "-nodefaultlibs"]


def _seal_boot2_in(path: Path) -> None:
    section = read_elf(path).section(".boot2")
    if section is None or section.size != BOOT2_BYTES:
        raise CompileError(f"the program has no section .boot2 of {BOOT2_BYTES} bytes", where=str(path))
    data = bytearray(path.read_bytes())
    place = slice(section.offset, section.offset + BOOT2_BYTES)
    data[place] = seal_boot2(bytes(data[place]))
    path.write_bytes(data)


def _package(board: Board, path: Path, elf: Elf, compiler: CCompiler) -> Firmware:
    address, image = flat_image(elf.segments)
    bin_path = path.with_suffix(".bin")
    bin_path.write_bytes(image)
    uf2_path = None
    if board.image.uf2_family is not None:
        uf2_path = path.with_suffix(".uf2")
        uf2_path.write_bytes(pack_uf2(image, address=address, family=board.image.uf2_family))
    return Firmware(
        elf=path,
        bin=bin_path,
        uf2=uf2_path,
        address=address,
        flash_bytes=elf.flash_bytes,
        ram_bytes=elf.ram_bytes,
        sections=elf.sections,
        symbols=elf.symbols,
        compiler=compiler,
    )
