"""The client against a line that loses, damages and repeats, with a model of the harness at its other end."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Iterable

import pytest

from burnc import __version__
from burnc.errors import ProtocolError
from burnc.protocol.client import Client
from burnc.protocol.framing import Damage, FrameReader, encode_frame
from burnc.protocol.messages import ErrorCode, Request

BYTES = 1200
MAX_PAYLOAD = 512


def text(value: str) -> bytes:
    return bytes([len(value)]) + value.encode()


class Harness:
    """What docs/protocol.md asks of a firmware; its model adds 1 to each of `BYTES` bytes in place."""

    def __init__(self, protocol: int = 1) -> None:
        self.protocol = protocol
        self.arena = bytearray(BYTES)
        self.runs = 0
        self.last_crc: int | None = None
        self.reader = FrameReader()

    def receive(self, data: bytes) -> list[bytes]:
        return [encode_frame(self.answer(frame)) for frame in self.reader.feed(data)]

    def answer(self, frame: bytes | Damage) -> bytes:
        if isinstance(frame, Damage):
            code = ErrorCode.BAD_CRC if frame is Damage.CRC else ErrorCode.BAD_FRAME
            return bytes([0xFF, 0, code])
        kind, sequence, body = frame[0], frame[1], frame[2:]
        repeated = self.last_crc == zlib.crc32(frame)
        self.last_crc = zlib.crc32(frame)
        return bytes([kind | 0x80, sequence]) + self.serve(kind, body, repeated)

    def serve(self, kind: int, body: bytes, repeated: bool) -> bytes:
        match kind:
            case Request.HELLO:
                counts = struct.pack("<IHHHI", 1_000_000, MAX_PAYLOAD, 1, 1, 300)
                names = text("model") + text("ab" * 32) + text("board")
                return struct.pack("<H", self.protocol) + text("9.8.7") + counts + names
            case Request.TENSOR:
                return struct.pack("<I", BYTES) + text("out" if body[0] else "in")
            case Request.WRITE_INPUT:
                (offset,) = struct.unpack_from("<I", body, 2)
                self.arena[offset : offset + len(body) - 6] = body[6:]
            case Request.RUN:
                if not repeated:
                    self.runs += 1
                    self.arena = bytearray(b + 1 & 0xFF for b in self.arena)
                return struct.pack("<iQII", 0, 1 << 40, 96, 300 if body[0] & 1 else 0)
            case Request.READ_OUTPUT:
                _, offset, count = struct.unpack("<HIH", body)
                return bytes(self.arena[offset : offset + count])
            case Request.READ_PROFILE:
                first, count = struct.unpack("<IH", body)
                return struct.pack(f"<{count}I", *range(first, first + count))
        return b""


class Line:
    """A transport to a `Harness` on which `mishap` decides what becomes of each piece of data."""

    def __init__(self, harness: Harness, mishap=lambda data: [data]) -> None:
        self.harness = harness
        self.mishap = mishap
        self.incoming = bytearray()
        self.reads_in_vain = 0

    def write(self, data: bytes) -> None:
        for piece in self.mishap(data):
            for reply in self.harness.receive(piece):
                for part in self.mishap(reply):
                    self.incoming += part

    def read(self, max_bytes: int, timeout_s: float) -> bytes:
        if not self.incoming:
            self.reads_in_vain += 1
        data = bytes(self.incoming[:max_bytes])
        del self.incoming[:max_bytes]
        return data


def random_mishaps(seed: int, rate: float):
    """Loses, damages, shortens or repeats a piece of data with the given rate."""
    source = random.Random(seed)

    def mishap(data: bytes) -> Iterable[bytes]:
        if source.random() >= rate:
            return [data]
        at = source.randrange(len(data))
        match source.randrange(4):
            case 0:
                return []
            case 1:
                return [data[:at] + bytes([data[at] ^ source.randrange(1, 256)]) + data[at + 1 :]]
            case 2:
                return [data[:at]]
            case _:
                return [data, data]

    return mishap


def use(line: Line, **options) -> None:
    """One inference, checked."""
    client = Client(line, **options)
    data = bytes(i * 7 & 0xFF for i in range(BYTES))
    client.write_input(0, data)
    report = client.run(profile=True, measure_stack=True)
    assert (report.status, report.cycles, report.stack_bytes) == (0, 1 << 40, 96)
    assert report.layer_cycles == tuple(range(300))
    assert client.read_output(0) == bytes(b + 1 & 0xFF for b in data)
    assert line.harness.runs == 1


def test_clean_line():
    line = Line(Harness())
    use(line)
    assert line.reads_in_vain == 0


@pytest.mark.parametrize("seed", range(40))
def test_bad_line(seed):
    """The run happens once and the bytes are right, whatever the line does."""
    use(Line(Harness(), random_mishaps(seed, 0.3)), reply_timeout_s=0.002, run_timeout_s=0.002, attempts=60)


def test_dead_line_is_given_up():
    line = Line(Harness(), lambda data: [])
    with pytest.raises(ProtocolError, match="not answered HELLO: no answer, 3 times"):
        Client(line, reply_timeout_s=0.001, attempts=3).hello()


def test_line_that_damages_everything_is_given_up():
    line = Line(Harness(), lambda data: [b"\x01" + data])
    with pytest.raises(ProtocolError, match="damaged"):
        Client(line, reply_timeout_s=0.01, attempts=3).hello()


def test_other_protocol_version_is_refused_with_both_versions():
    with pytest.raises(ProtocolError) as caught:
        Client(Line(Harness(protocol=2))).hello()
    assert "burnc 9.8.7 and speaks protocol 2" in str(caught.value)
    assert f"burnc {__version__} and speaks protocol 1" in str(caught.value)


def test_other_protocol_version_may_have_another_hello():
    class Newer(Harness):
        def serve(self, kind: int, body: bytes, repeated: bool) -> bytes:
            return struct.pack("<H", 7) + text("2.0") + b"whatever"

    with pytest.raises(ProtocolError, match="protocol 7"):
        Client(Line(Newer())).hello()


@pytest.mark.parametrize("body", [b"", b"\x01", b"\x01\0\x05ab", struct.pack("<HBIHHHI", 1, 0, 1, 0, 1, 1, 1)])
def test_nonsense_is_called_nonsense(body):
    class Foreign(Harness):
        def serve(self, kind: int, body_: bytes, repeated: bool) -> bytes:
            return body

    with pytest.raises(ProtocolError, match="does not follow the protocol"):
        Client(Line(Foreign())).hello()


def test_refusal_names_its_reason():
    class Refusing(Harness):
        def answer(self, frame: bytes | Damage) -> bytes:
            assert isinstance(frame, bytes)
            if frame[0] == Request.RUN:
                return bytes([0xFF, frame[1], ErrorCode.UNKNOWN_COMMAND])
            return super().answer(frame)

    with pytest.raises(ProtocolError, match="refuses RUN: UNKNOWN_COMMAND"):
        Client(Line(Refusing())).run()


def test_sequence_numbers_wrap():
    line = Line(Harness())
    client = Client(line)
    for number in range(600):
        client.run()
        assert line.harness.runs == number + 1
