"""UF2, the format that bootloaders take as a file dropped on a USB drive.

The file is a row of blocks of 512 bytes; each carries 256 bytes of the image, its address and its place in the row
(https://github.com/microsoft/uf2).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from burnc.errors import InputError

PAYLOAD_BYTES = 256
_BLOCK_BYTES = 512
_HEADER = struct.Struct("<8I")
_MAGIC_START = (0x0A324655, 0x9E5D5157)
_MAGIC_END = struct.pack("<I", 0x0AB16F30)
_FLAG_NOT_MAIN_FLASH = 0x1
_FLAG_FAMILY_PRESENT = 0x2000


@dataclass(frozen=True)
class Uf2Image:
    """What a UF2 file holds: a flat image, the address it belongs to, and the chip family it is for."""

    address: int
    content: bytes
    family: int | None


def pack_uf2(content: bytes, *, address: int, family: int) -> bytes:
    """The UF2 file for an image at an address; the last block is filled up with 0xff, as erased flash."""
    count = -(-len(content) // PAYLOAD_BYTES)
    blocks = []
    for number in range(count):
        start = number * PAYLOAD_BYTES
        payload = content[start : start + PAYLOAD_BYTES].ljust(PAYLOAD_BYTES, b"\xff")
        header = _HEADER.pack(
            *_MAGIC_START, _FLAG_FAMILY_PRESENT, address + start, PAYLOAD_BYTES, number, count, family
        )
        blocks.append((header + payload).ljust(_BLOCK_BYTES - 4, b"\0") + _MAGIC_END)
    return b"".join(blocks)


def unpack_uf2(data: bytes, *, where: str = "") -> Uf2Image:
    """Read a UF2 file back; gaps between blocks read as 0xff.

    Args:
        data: the whole file.
        where: the file's name, for errors.

    Raises:
        InputError: it is not a UF2 file, it is damaged, or it holds several families.
    """
    if not data or len(data) % _BLOCK_BYTES:
        raise InputError(f"not a UF2 file: {len(data)} bytes are no multiple of {_BLOCK_BYTES}", where=where)
    payloads: dict[int, bytes] = {}
    families: set[int | None] = set()
    numbers: set[int] = set()
    total = len(data) // _BLOCK_BYTES
    for start in range(0, len(data), _BLOCK_BYTES):
        block = data[start : start + _BLOCK_BYTES]
        magic0, magic1, flags, address, size, number, count, family = _HEADER.unpack_from(block)
        if (magic0, magic1) != _MAGIC_START or block[-4:] != _MAGIC_END:
            raise InputError(f"not a UF2 file: block {start // _BLOCK_BYTES} lacks its marks", where=where)
        if size > _BLOCK_BYTES - _HEADER.size - 4 or count != total or number >= total or number in numbers:
            raise InputError(f"the UF2 file is damaged at block {start // _BLOCK_BYTES}", where=where)
        numbers.add(number)
        if flags & _FLAG_NOT_MAIN_FLASH:
            continue
        families.add(family if flags & _FLAG_FAMILY_PRESENT else None)
        payloads[address] = block[_HEADER.size : _HEADER.size + size]
    if len(families) != 1:
        raise InputError(f"the UF2 file is for {len(families)} chip families, not for one", where=where)
    return Uf2Image(min(payloads), _join(payloads, where), families.pop())


def _join(payloads: dict[int, bytes], where: str) -> bytes:
    addresses = sorted(payloads)
    content = bytearray()
    for address in addresses:
        gap = address - addresses[0] - len(content)
        if not 0 <= gap < 1 << 24:
            raise InputError(f"the UF2 file's blocks do not form one image at address 0x{address:08x}", where=where)
        content += b"\xff" * gap + payloads[address]
    return bytes(content)
