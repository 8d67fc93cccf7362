"""Frames survive the line or are known to be damaged; C and Python agree on every byte."""

from __future__ import annotations

import ctypes
import subprocess
import zlib
from collections.abc import Callable

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from burnc.protocol.framing import Damage, FrameReader, cobs_decode, cobs_encode, decode_frame, encode_frame
from burnc.resources import data_folder
from requirements import requires

# Few different bytes and lengths around 254 make runs of every kind.
payloads = st.binary(max_size=600) | st.lists(st.sampled_from([0, 1, 255]), max_size=600).map(bytes)
runs = st.sampled_from([bytes([1]) * n + tail for n in (253, 254, 255, 508, 509) for tail in (b"", b"\0", b"\0\1")])


@given(payloads | runs)
@example(b"")
@example(bytes(1000))
def test_cobs_round_trip(data):
    encoded = cobs_encode(data)
    assert b"\0" not in encoded
    assert len(encoded) <= len(data) + len(data) // 254 + 1
    assert cobs_decode(encoded) == data


@pytest.mark.parametrize(
    ("data", "encoded"),
    [
        (b"", b"\x01"),
        (b"\0", b"\x01\x01"),
        (b"\0\0", b"\x01\x01\x01"),
        (b"\x11\x22\0\x33", b"\x03\x11\x22\x02\x33"),
        (b"\x11\0\0\0", b"\x02\x11\x01\x01\x01"),
        (bytes(range(1, 255)), b"\xff" + bytes(range(1, 255))),
        (bytes(255), b"\x01" * 256),
        (bytes(range(1, 256)), b"\xff" + bytes(range(1, 255)) + b"\x02\xff"),
    ],
)
def test_cobs_as_published(data, encoded):
    assert cobs_encode(data) == encoded


@pytest.mark.parametrize("encoded", [b"\x05\x01", b"\0", b"\x02\x01\0", b"\xff\x01"])
def test_cobs_refuses_what_it_never_wrote(encoded):
    with pytest.raises(ValueError, match="COBS"):
        cobs_decode(encoded)


@given(st.lists(payloads), st.integers(1, 50))
def test_frames_are_found_however_the_stream_is_cut(messages, step):
    stream = b"".join(encode_frame(message) for message in messages)
    reader = FrameReader()
    found = [frame for at in range(0, len(stream), step) for frame in reader.feed(stream[at : at + step])]
    assert found == messages


@given(payloads, st.data())
def test_one_damaged_byte_is_always_noticed(payload, data):
    frame = encode_frame(payload)
    at = data.draw(st.integers(0, len(frame) - 2))
    damaged = bytearray(frame)
    damaged[at] ^= data.draw(st.integers(1, 255))
    assert all(isinstance(found, Damage) for found in FrameReader().feed(bytes(damaged)))


@given(payloads.filter(bool), st.data())
def test_a_lost_byte_is_always_noticed(payload, data):
    frame = encode_frame(payload)
    at = data.draw(st.integers(0, len(frame) - 2))
    shorter = frame[:at] + frame[at + 1 :]
    assume(shorter != frame)
    assert all(isinstance(found, Damage) for found in FrameReader().feed(shorter))


@given(st.binary(max_size=100), payloads)
def test_the_frame_after_noise_is_read(noise, payload):
    assert FrameReader().feed(noise + b"\0" + encode_frame(payload))[-1] == payload


def test_reader_forgets_a_part_on_request():
    reader = FrameReader()
    assert reader.feed(b"\x03\x01") == []
    reader.clear()
    assert reader.feed(encode_frame(b"x")) == [b"x"]


@pytest.fixture(scope="session")
def c_frames(tmp_path_factory):
    """The firmware's framing, compiled for the host."""
    folder = data_folder("boards") / "support" / "common"
    library = tmp_path_factory.mktemp("frames") / "frames.so"
    command = ["cc", "-std=c99", "-O1", "-shared", "-fPIC", "-Wall", "-Werror"]
    subprocess.run([*command, str(folder / "burnc_frames.c"), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def c_encode(library: ctypes.CDLL, payload: bytes) -> bytes:
    sent = bytearray()
    put: Callable[[int], None] = sent.append
    callback = ctypes.CFUNCTYPE(None, ctypes.c_uint8)(put)
    buffer = ctypes.create_string_buffer(payload, len(payload) + 4)
    library.burnc_frame_send(buffer, len(payload), callback)
    return bytes(sent)


def c_decode(library: ctypes.CDLL, encoded: bytes) -> bytes | Damage:
    buffer = ctypes.create_string_buffer(encoded, len(encoded))
    count, crc = ctypes.c_uint32(), ctypes.c_uint32()
    status = library.burnc_frame_open(buffer, len(encoded), ctypes.byref(count), ctypes.byref(crc))
    if status != 0:
        return {1: Damage.COBS, 2: Damage.CRC}[status]
    payload = buffer.raw[: count.value]
    assert crc.value == zlib.crc32(payload)
    return payload


@requires("host compiler")
@given(payload=payloads | runs)
def test_c_and_python_write_the_same_frames(c_frames, payload):
    assert c_encode(c_frames, payload) == encode_frame(payload)
    assert c_decode(c_frames, encode_frame(payload)[:-1]) == payload


@requires("host compiler")
@given(noise=st.binary(min_size=1, max_size=300).map(lambda noise: noise.replace(b"\0", b"\1")))
def test_c_and_python_refuse_the_same_noise(c_frames, noise):
    assert c_decode(c_frames, noise) == decode_frame(noise)


def test_known_answer_of_the_specification():
    assert encode_frame(bytes([1, 7, 1, 0])).hex(" ") == "04 01 07 01 05 bd 9f ac 85 00"
