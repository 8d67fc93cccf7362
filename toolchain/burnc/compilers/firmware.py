"""Builds firmware for a board: its support code and the given sources become an ELF, a flat image and a UF2 file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from burnc.board_support import board_defines, build_of, linker_script, support_include_dirs, support_sources
from burnc.boards import Board
from burnc.compilers.boot2 import BOOT2_BYTES, seal_boot2
from burnc.compilers.compile import CODE_FLAGS, OPTIMIZE_FLAGS, Optimize, compile_objects, link_program
from burnc.compilers.elf import Elf, Section, Symbol, flat_image, read_elf
from burnc.compilers.toolchains import CCompiler, find_compiler
from burnc.compilers.uf2 import pack_uf2
from burnc.errors import CompileError, DoesNotFitError


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
    link_script: Path | None = None,
) -> Firmware:
    """Compile and link the sources with the board's support code; one of them defines ``int main(void)``.

    The sources find ``burnc_port.h`` on the include path. The same sources and compiler give the same bytes, whatever
    the folders. Files: ``<name>.elf``, ``<name>.bin`` and, where the board takes it, ``<name>.uf2`` in ``out_dir``.

    Args:
        compiler: the compiler to use instead of the one that is found.
        link_script: a complete linker script to use instead of the board's.
        flags: further compiler flags, as ``WARNING_FLAGS``; they apply to the support code too.

    Raises:
        BoardError: the board does not say how firmware for it is built.
        ToolMissingError: there is no compiler for the board.
        CompileError: a source does not compile, or the objects do not link.
        DoesNotFitError: the program is larger than the board's flash or RAM.
    """
    build = build_of(board)
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
    text = linker_script(board) if link_script is None else link_script.read_text(encoding="utf-8")
    script.write_text(text, encoding="utf-8", newline="\n")
    path = out_dir / f"{name}.elf"
    try:
        link_program(compiler, objects, output=path, flags=_link_flags(compiler, script))
    except CompileError as error:
        signs = [line for line in error.where.splitlines() if any(sign in line for sign in _OVERFLOW_SIGNS)]
        if signs:
            raise DoesNotFitError(
                f"the firmware does not fit the {board.name}",
                where=f"the linker says: {signs[-1].rpartition('ld: ')[2].removeprefix('error: ').strip()}",
                hint="quantize the model, choose a smaller one, or a larger board (`burnc boards`)",
            ) from error
        raise
    if board.image.boot2_crc:
        _check_boot2_in(path)
    return _package(board, path, read_elf(path), compiler)


# What GNU ld and lld say when a region is full, and the linker scripts when no stack is left.
_OVERFLOW_SIGNS = ("will not fit in region", "overflowed by", "no room is left in RAM")


def _link_flags(compiler: CCompiler, script: Path) -> list[str]:
    # -nostartfiles and not -nostdlib: the compiler's own helper routines (division, 64-bit shifts) must stay.
    flags = ["-nostartfiles", "-T", str(script), "-Wl,--gc-sections", "-Wl,--build-id=none", "-Wl,-z,max-page-size=256"]
    if compiler.kind == "zig":
        return [*flags, "-Os", "-g"]  # without -g it drops the symbol table; -Os picks its small helper routines
    if compiler.kind == "gcc":
        return [*flags, "-nodefaultlibs", "-lgcc"]
    return [*flags, "-fuse-ld=lld", "-nodefaultlibs"]


def _check_boot2_in(path: Path) -> None:
    """The boot ROM runs no second-stage boot whose checksum is wrong; its source states it as a constant."""
    section = read_elf(path).section(".boot2")
    if section is None or section.size != BOOT2_BYTES:
        raise CompileError(f"the program has no section .boot2 of {BOOT2_BYTES} bytes", where=str(path))
    boot2 = path.read_bytes()[section.offset : section.offset + BOOT2_BYTES]
    sealed = seal_boot2(boot2)
    if boot2 != sealed:
        right = int.from_bytes(sealed[-4:], "little")
        raise CompileError(
            "the checksum of the second-stage boot is wrong", where=str(path), hint=f"boot2.S must end in 0x{right:08x}"
        )


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
