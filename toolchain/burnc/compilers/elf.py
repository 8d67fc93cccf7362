"""Reads what the linker made: section and symbol sizes, and the flat image that goes into flash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from burnc.errors import CompileError


@dataclass(frozen=True)
class Section:
    """A section that occupies memory on the target. ``offset`` is its place in the ELF file; sizes in bytes."""

    name: str
    address: int
    size: int
    offset: int
    in_flash: bool
    in_ram: bool


@dataclass(frozen=True)
class Symbol:
    """A function or variable: its address and its size in bytes."""

    name: str
    address: int
    size: int
    kind: Literal["function", "data"]
    section: str


@dataclass(frozen=True)
class Segment:
    """Bytes that are to lie at a load address."""

    address: int
    content: bytes


@dataclass(frozen=True)
class Elf:
    """A linked program."""

    entry: int
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    segments: tuple[Segment, ...]

    @property
    def flash_bytes(self) -> int:
        """Code, constants and the initial values of variables."""
        return sum(section.size for section in self.sections if section.in_flash)

    @property
    def ram_bytes(self) -> int:
        """Variables (.data and .bss) and functions placed in RAM; the stack is not in it."""
        return sum(section.size for section in self.sections if section.in_ram)

    def section(self, name: str) -> Section | None:
        """The section of that name, or None."""
        return next((section for section in self.sections if section.name == name), None)

    def symbol(self, name: str) -> Symbol | None:
        """The function or variable of that name, or None."""
        return next((symbol for symbol in self.symbols if symbol.name == name), None)


def read_elf(path: Path) -> Elf:
    """Read a linked program.

    Raises:
        CompileError: the file is not an ELF file.
    """
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with path.open("rb") as stream:
            file = ELFFile(stream)
            return Elf(
                entry=int(file["e_entry"]),
                sections=tuple(_sections(file, _copied(file))),
                symbols=tuple(_symbols(file)),
                segments=tuple(_segments(file)),
            )
    except (ELFError, OSError) as error:
        raise CompileError(f"not a readable ELF file: {error}", where=str(path)) from error


def flat_image(segments: Sequence[Segment], *, fill: int = 0xFF) -> tuple[int, bytes]:
    """Load address and bytes of the image that the segments form; gaps read as erased flash.

    Raises:
        CompileError: there is nothing to load, or segments overlap.
    """
    ordered = sorted(segments, key=lambda segment: segment.address)
    if not ordered:
        raise CompileError("the program has nothing to load")
    start = ordered[0].address
    image = bytearray()
    for segment in ordered:
        gap = segment.address - start - len(image)
        if gap < 0:
            raise CompileError(f"two segments overlap at address 0x{segment.address:08x}")
        image += bytes([fill]) * gap + segment.content
    return start, bytes(image)


_ALLOCATED = 0x2  # SHF_ALLOC
_WRITABLE = 0x1  # SHF_WRITE
_SYMBOL_KINDS: dict[str, Literal["function", "data"]] = {"STT_FUNC": "function", "STT_OBJECT": "data"}


def _copied(file: Any) -> list[range]:
    """Addresses of what is loaded elsewhere, and copied there at start-up."""
    segments = [s for s in file.iter_segments("PT_LOAD") if s["p_vaddr"] != s["p_paddr"]]
    return [range(s["p_vaddr"], s["p_vaddr"] + s["p_memsz"]) for s in segments]


def _sections(file: Any, copied: Sequence[range]) -> Iterator[Section]:
    for section in file.iter_sections():
        flags = section["sh_flags"]
        if flags & _ALLOCATED and section["sh_size"]:
            yield Section(
                name=section.name,
                address=section["sh_addr"],
                size=section["sh_size"],
                offset=section["sh_offset"],
                in_flash=section["sh_type"] != "SHT_NOBITS",
                in_ram=bool(flags & _WRITABLE) or any(section["sh_addr"] in addresses for addresses in copied),
            )


def _symbols(file: Any) -> Iterator[Symbol]:
    table = file.get_section_by_name(".symtab")
    for symbol in table.iter_symbols() if table else ():
        kind = _SYMBOL_KINDS.get(symbol["st_info"]["type"])
        index = symbol["st_shndx"]
        if kind and isinstance(index, int):
            section = file.get_section(index).name
            yield Symbol(symbol.name, symbol["st_value"], symbol["st_size"], kind, section)


def _segments(file: Any) -> Iterator[Segment]:
    for segment in file.iter_segments("PT_LOAD"):
        if segment["p_filesz"]:
            yield Segment(segment["p_paddr"], segment.data())
