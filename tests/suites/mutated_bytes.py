"""Damage to the bytes of any file, as lines, disks and hostile hands do it."""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random

WORDS = (0, 1, 2, 255, 0x7FFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0x40000000)


def flip_bits(data: bytes, random: Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8))):
        damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
    return bytes(damaged)


def flip_bits_of_structure(data: bytes, random: Random) -> bytes:
    """In the first or the last part, where the formats keep what is no weight."""
    damaged = bytearray(data)
    size = min(len(damaged), 1500)
    start = random.choice((0, len(damaged) - size))
    for _ in range(random.choice((1, 2, 4))):
        damaged[start + random.randrange(size)] ^= 1 << random.randrange(8)
    return bytes(damaged)


def lying_word(data: bytes, random: Random) -> bytes:
    """A length, an offset or a number that is not what it was."""
    damaged = bytearray(data)
    at = random.randrange(0, max(1, len(damaged) - 4), 4)
    old = struct.unpack_from("<I", damaged, at)[0]
    near = [(old + step) % 2**32 for step in (-4, -1, 1, 4)]
    struct.pack_into("<I", damaged, at, random.choice((*WORDS, *near)))
    return bytes(damaged)


def splice(data: bytes, random: Random) -> bytes:
    """A piece from elsewhere in the file lies over another, or between."""
    size = random.choice((1, 4, 16, 64, 256))
    start, at = random.randrange(len(data)), random.randrange(len(data))
    piece = data[start : start + size]
    return data[:at] + piece + data[at + (len(piece) if random.random() < 0.6 else 0) :]


def cut_out(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data))
    return data[:at] + data[at + random.choice((1, 3, 4, 16, 200)) :]


def truncate(data: bytes, random: Random) -> bytes:
    return data[: random.choice((0, 1, 7, 8, random.randrange(len(data)), random.randrange(len(data)), len(data) - 1))]


def blank(data: bytes, random: Random) -> bytes:
    """A piece is all zeros or all ones, as an erased sector."""
    at, size = random.randrange(len(data)), random.choice((4, 32, 512))
    piece = data[at : at + size]
    return data[:at] + bytes([random.choice((0, 255))]) * len(piece) + data[at + size :]


BYTES: dict[str, Callable[[bytes, Random], bytes]] = {
    "bit flips": flip_bits,
    "bit flips of the structure": flip_bits_of_structure,
    "a lying word": lying_word,
    "a spliced piece": splice,
    "a piece cut out": cut_out,
    "truncated": truncate,
    "a blank piece": blank,
}
