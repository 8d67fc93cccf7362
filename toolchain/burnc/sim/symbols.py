"""Names for addresses in messages about a firmware."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path


def describe_address(firmware: Path, address: int) -> str:
    """``0x10000234 <name+0x12>``, or the bare number when the file has no symbols."""
    for start, size, name in _functions(firmware):
        if start <= address < start + size:
            return f"0x{address:08x} <{name}+0x{address - start:x}>"
    return f"0x{address:08x}"


@lru_cache(maxsize=4)
def _functions(firmware: Path) -> tuple[tuple[int, int, str], ...]:
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    try:
        with firmware.open("rb") as file:
            table = ELFFile(file).get_section_by_name(".symtab")
            if not isinstance(table, SymbolTableSection):
                return ()
            return tuple(
                (symbol["st_value"] & ~1, symbol["st_size"], symbol.name)
                for symbol in table.iter_symbols()
                if symbol["st_info"]["type"] == "STT_FUNC"
            )
    except (ELFError, OSError):
        return ()
