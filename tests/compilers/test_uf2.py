"""UF2: what is packed is unpacked, and damage is noticed."""

from __future__ import annotations

import struct

import pytest

from burnc.compilers.uf2 import pack_uf2, unpack_uf2
from burnc.errors import InputError

FAMILY = 0xE48BFF56
IMAGE = bytes(range(256)) * 3 + b"tail"


@pytest.mark.parametrize("size", [1, 255, 256, 257, len(IMAGE)])
def test_round_trip(size):
    image = unpack_uf2(pack_uf2(IMAGE[:size], address=0x10000000, family=FAMILY))
    assert (image.address, image.family) == (0x10000000, FAMILY)
    assert image.content.rstrip(b"\xff") == IMAGE[:size].rstrip(b"\xff")
    assert len(image.content) % 256 == 0


def test_block_layout():
    data = pack_uf2(IMAGE, address=0x10000000, family=FAMILY)
    assert len(data) == 4 * 512
    assert data[:4] == b"UF2\n"
    assert struct.unpack_from("<8I", data, 512)[2:] == (0x2000, 0x10000100, 256, 1, 4, FAMILY)
    assert data[508:512] == struct.pack("<I", 0x0AB16F30)


def test_blocks_in_any_order_and_foreign_blocks():
    data = pack_uf2(IMAGE, address=0x2000, family=FAMILY)
    blocks = [data[start : start + 512] for start in range(0, len(data), 512)]
    foreign = bytearray(blocks[3])
    struct.pack_into("<2I", foreign, 8, 0x2001, 0)  # not for the main flash
    image = unpack_uf2(b"".join([blocks[2], bytes(foreign), blocks[0], blocks[1]]))
    assert (image.address, image.content) == (0x2000, IMAGE[:768])


def damaged(position: int, value: int) -> bytes:
    data = bytearray(pack_uf2(IMAGE, address=0, family=FAMILY))
    struct.pack_into("<I", data, position, value)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not a UF2 file"),
        (b"x" * 100, "no multiple of 512"),
        (b"x" * 512, "block 0 lacks its marks"),
        (damaged(512 + 508, 0), "block 1 lacks its marks"),
        (damaged(512 + 16, 9999), "damaged at block 1"),
        (damaged(512 + 20, 0), "damaged at block 1"),
        (damaged(512 + 24, 7), "damaged at block 1"),
        (damaged(512 + 28, 1), "2 chip families"),
        (damaged(512 + 12, 10), "do not form one image"),
        (damaged(1536 + 12, 0xFFFFFF00), "do not form one image"),
    ],
)
def test_damage(data, said):
    with pytest.raises(InputError, match=said) as caught:
        unpack_uf2(data, where="firmware.uf2")
    assert caught.value.where == "firmware.uf2"
