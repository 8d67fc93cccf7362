"""Frames on a serial line: COBS around payload and CRC-32, ended by a zero byte.

COBS leaves no zero inside a frame, so that a receiver that has lost its place finds it again at the next zero.
"""

from __future__ import annotations

import zlib
from enum import Enum

_CRC_BYTES = 4
_LONGEST_RUN = 254


class Damage(Enum):
    """What is wrong with a frame that arrived."""

    COBS = "not a frame"
    CRC = "wrong checksum"


def cobs_encode(data: bytes) -> bytes:
    """``data`` without zero bytes: each run of other bytes is led by its length + 1."""
    out = bytearray()
    at = 0
    while True:
        zero = data.find(b"\0", at, at + _LONGEST_RUN)
        end = zero if zero >= 0 else min(len(data), at + _LONGEST_RUN)
        out.append(end - at + 1)
        out += data[at:end]
        if end == len(data):
            return bytes(out)
        at = end + 1 if zero >= 0 else end


def cobs_decode(data: bytes) -> bytes:
    """The inverse of ``cobs_encode``.

    Raises:
        ValueError: ``data`` is not the encoding of anything.
    """
    out = bytearray()
    at = 0
    while at < len(data):
        code = data[at]
        end = at + code
        if code == 0 or end > len(data):
            raise ValueError("not a COBS encoding")
        out += data[at + 1 : end]
        at = end
        if code - 1 < _LONGEST_RUN and at < len(data):
            out.append(0)
    return bytes(out)


def encode_frame(payload: bytes) -> bytes:
    """The bytes to send for ``payload``, ending zero included."""
    return cobs_encode(payload + zlib.crc32(payload).to_bytes(_CRC_BYTES, "little")) + b"\0"


def decode_frame(encoded: bytes) -> bytes | Damage:
    """The payload of one received frame, given without its ending zero."""
    try:
        data = cobs_decode(encoded)
    except ValueError:
        return Damage.COBS
    if len(data) < _CRC_BYTES:
        return Damage.COBS
    payload, stored = data[:-_CRC_BYTES], data[-_CRC_BYTES:]
    return payload if zlib.crc32(payload).to_bytes(_CRC_BYTES, "little") == stored else Damage.CRC


class FrameReader:
    """Cuts a stream of bytes into frames."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def feed(self, data: bytes) -> list[bytes | Damage]:
        """The frames that ``data`` completes, in order. Empty frames (zeros in a row) are skipped."""
        self._pending += data
        *complete, rest = self._pending.split(b"\0")
        self._pending = bytearray(rest)
        return [decode_frame(bytes(encoded)) for encoded in complete if encoded]

    def clear(self) -> None:
        """Forgets a frame that has only partly arrived."""
        self._pending.clear()
