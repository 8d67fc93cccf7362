"""The checksum that a boot ROM demands of a second-stage boot: CRC-32 in the last four of its 256 bytes."""

from __future__ import annotations

BOOT2_BYTES = 256
_CODE_BYTES = BOOT2_BYTES - 4
_POLYNOMIAL = 0x04C11DB7


def boot2_checksum(code: bytes) -> int:
    """CRC-32 of polynomial 04c11db7, most significant bit first, from all ones, without a final inversion."""
    crc = 0xFFFFFFFF
    for byte in code:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ _POLYNOMIAL if crc & 0x80000000 else crc << 1) & 0xFFFFFFFF
    return crc


def seal_boot2(boot2: bytes) -> bytes:
    """The 256 bytes with their checksum in place.

    Raises:
        ValueError: there are not 256 bytes.
    """
    if len(boot2) != BOOT2_BYTES:
        raise ValueError(f"a second-stage boot has {BOOT2_BYTES} bytes, not {len(boot2)}")
    code = boot2[:_CODE_BYTES]
    return code + boot2_checksum(code).to_bytes(4, "little")
