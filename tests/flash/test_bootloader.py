"""The resident bootloader on the emulated Pico: what it tells, writes, refuses, seals and starts."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace

import pytest

from burnc.boards import load_board
from burnc.compilers.bootloader import build_bootloader
from burnc.compilers.compile import WARNING_FLAGS
from burnc.compilers.cores import core_flags
from burnc.compilers.toolchains import CCompiler, identify, ziglang_command
from burnc.errors import InputError, ProtocolError
from burnc.flash.bootloader import BootloaderClient, Image, enter_bootloader, flash_application
from burnc.protocol.client import Client
from burnc.protocol.exchange import Exchange, RefusedError
from burnc.protocol.framing import FrameReader, encode_frame
from burnc.protocol.messages import BootInfo, BootRequest, ErrorCode
from burnc.sim.simulated_board import open_simulator
from requirements import requires

pytestmark = requires("arm compiler", "node", "rp2040js")

PICO = load_board("pico")
BASE, SIZE, OWN = 0x10000000, 2 << 20, 16 << 10
APPLICATION = BASE + OWN


def ignore(what: str, done: int, total: int) -> None:
    pass


@pytest.fixture
def board(start):
    return start()


@pytest.fixture
def exchange(board):
    return Exchange(board, reply_timeout_s=30.0)


@pytest.fixture
def client(exchange):
    return BootloaderClient(exchange)


def test_info_describes_the_board(client):
    assert client.info() == BootInfo(
        version=1,
        board="pico",
        flash_base=BASE,
        flash_bytes=SIZE,
        sector=4096,
        page=256,
        writable=(APPLICATION, BASE + SIZE),
        most_erased=65536,
        max_payload=1024,
        application=None,
    )


def test_info_answers_hosts_of_every_version(board):
    board.write(encode_frame(bytes([BootRequest.INFO, 7]) + b"what later versions say"))
    (frame,) = read_frames(board, 1)
    assert frame[:4] == bytes([BootRequest.INFO | 0x80, 7, 1, 0])


def test_flash_then_boot(exchange, board, toy):
    seen = []
    done = flash_application(exchange, PICO, toy, lambda *step: seen.append(step))
    assert done.hello.model == "toy"
    assert done.written == len(toy.content) + -len(toy.content) % 256
    assert [s[0] for s in seen] == sorted(s[0] for s in seen)  # erasing, then writing
    assert seen[-1] == ("writing", done.written, done.written)
    assert board.resets == ["watchdog"]
    client = Client(exchange)
    data = bytes(i % 250 for i in range(700))
    client.write_input(0, data)
    assert client.run().status == 0
    assert client.read_output(0) == bytes(b + 1 for b in data)


def test_the_same_image_is_not_written_again(exchange, board, toy):
    flash_application(exchange, PICO, toy, ignore)
    operations = board.statistics().flash_operations
    assert flash_application(exchange, PICO, toy, ignore).written == 0
    assert board.statistics().flash_operations == operations
    assert flash_application(exchange, PICO, toy, ignore, again=True).written > 0


def test_another_image_replaces_it(exchange, toy, larger_toy):
    flash_application(exchange, PICO, larger_toy, ignore)
    flash_application(exchange, PICO, toy, ignore)
    info = enter_bootloader(exchange)
    assert info.application is not None
    assert info.application[:2] == (APPLICATION, len(toy.content) + -len(toy.content) % 256)


def test_flash_outlives_the_power(start, tmp_path, toy):
    kept = tmp_path / "flash.bin"
    board = start(kept)
    flash_application(Exchange(board, reply_timeout_s=30.0), PICO, toy, ignore)
    board.close()
    assert kept.stat().st_size == SIZE
    again = start(kept)
    assert again.client().hello().model == "toy"
    assert again.resets == []


def test_an_application_can_be_left_for_the_bootloader_and_started_again(exchange, client, toy):
    flash_application(exchange, PICO, toy, ignore)
    Client(exchange).enter_bootloader()
    assert client.info().application is not None
    client.boot(stay=True)
    assert client.info().application is not None
    client.boot()
    assert Client(exchange).hello().model == "toy"


@requires("ziglang")
def test_built_with_clang_it_works_too(tmp_path, toy):
    command = ziglang_command()
    assert command is not None
    core = PICO.cpu.core
    compiler = CCompiler(command, *identify(command), core, core_flags(core).zig_flags)
    firmware = build_bootloader(PICO, tmp_path, flags=WARNING_FLAGS, compiler=compiler)
    assert (firmware.address, firmware.compiler.kind) == (BASE, "zig")
    assert firmware.flash_bytes < 8192
    with open_simulator(PICO, firmware.elf) as board:
        exchange = Exchange(board, reply_timeout_s=30.0)
        assert flash_application(exchange, PICO, toy, ignore).hello.model == "toy"


def test_a_bootloader_says_so_to_who_expects_an_application(exchange):
    with pytest.raises(ProtocolError, match="in its bootloader") as caught:
        Client(exchange).hello()
    assert "burnc flash" in caught.value.hint


def test_erases_only_what_is_not_its_own(client, board):
    for address, size in [
        (BASE, 4096),  # itself
        (APPLICATION - 4096, 4096),  # the seal
        (APPLICATION - 4096, 8192),
        (BASE + SIZE, 4096),
        (BASE + SIZE - 4096, 8192),
        (APPLICATION, 0),
        (APPLICATION, 1024),
        (APPLICATION + 1024, 4096),
        (APPLICATION, 65536 + 4096),
        (0x20000000, 4096),
        (0, 4096),
        (0xFFFFF000, 4096),
        (APPLICATION, 0xFFFFF000),
    ]:
        refused(client.erase, address, size)
    assert board.statistics().flash_operations == 0


def test_writes_only_where_it_is_not(client, board):
    for address, size in [
        (BASE, 256),
        (APPLICATION - 256, 256),
        (APPLICATION - 256, 512),
        (BASE + SIZE, 256),
        (BASE + SIZE - 256, 512),
        (APPLICATION, 0),
        (APPLICATION, 255),
        (APPLICATION + 1, 256),
        (0x20000000, 256),
        (0xFFFFFF00, 256),
    ]:
        refused(client.write, address, b"x" * size)
    assert board.statistics().flash_operations == 0


def test_reads_no_more_than_flash(client):
    refused(client.crc, 0x20000000, 4)
    refused(client.crc, BASE + SIZE - 4, 8)
    assert client.crc(BASE + SIZE - 4, 4) == zlib.crc32(b"\xff" * 4)
    assert client.crc(APPLICATION, 0) == 0


def test_a_frame_that_is_too_long_is_survived(client, board):
    board.write(encode_frame(bytes([BootRequest.WRITE, 1]) + b"x" * 5000))
    (frame,) = read_frames(board, 1)
    assert frame == bytes([0xFF, 0, ErrorCode.BAD_FRAME])
    assert client.info().version == 1


def test_unknown_requests_are_told(exchange, board):
    for number, code in ((0x04, ErrorCode.IN_BOOTLOADER), (0x60, ErrorCode.UNKNOWN_COMMAND)):
        board.write(encode_frame(bytes([number, 9])))
        assert read_frames(board, 1) == [bytes([0xFF, 9, code])]


def test_flash_that_was_not_erased_is_noticed(client, board):
    client.erase(APPLICATION, 4096)
    client.write(APPLICATION, b"\x0f" * 256)
    client.write(APPLICATION, b"\x0f" * 256)  # the same again is no harm
    with pytest.raises(ProtocolError, match="does not hold what was written to 0x10004000"):
        client.write(APPLICATION, b"\xf0" * 256)


def test_repeated_requests_do_no_harm(board, client, toy):
    """Each is sent three times, as by a host that has lost the replies."""
    content = toy.content + b"\xff" * (-len(toy.content) % 256)
    head = struct.pack("<II", toy.address, len(content) + -len(content) % 4096)
    requests = [bytes([BootRequest.ERASE, 1]) + head]
    for at in range(0, len(content), 1024):
        piece = content[at : at + 1024]
        requests.append(bytes([BootRequest.WRITE, 2]) + struct.pack("<I", toy.address + at) + piece)
    seal = struct.pack("<4I", toy.address, len(content), toy.address + 256, zlib.crc32(content))
    requests.append(bytes([BootRequest.SEAL, 3]) + seal)
    for request in requests:
        board.write(encode_frame(request) * 3)
        replies = read_frames(board, 3)
        assert replies[0] == replies[1] == replies[2]
        assert replies[0][0] == request[0] | 0x80
    assert client.info().application == (toy.address, len(content), zlib.crc32(content))


class TestSeal:
    """What is no application is not sealed, and what is sealed no more is not started."""

    @pytest.fixture
    def written(self, client, toy):
        content = toy.content + b"\xff" * (-len(toy.content) % 256)
        client.erase(toy.address, len(content) + -len(content) % 4096)
        for at in range(0, len(content), 1024):
            client.write(toy.address + at, content[at : at + 1024])
        return toy.address, len(content), toy.address + 256, zlib.crc32(content)

    def test_good(self, client, written):
        client.seal(*written)
        address, size, _, crc = written
        assert client.info().application == (address, size, crc)

    def test_bad(self, client, written):
        address, size, vectors, crc = written
        for wrong in [
            (address, size, vectors, crc ^ 1),
            (address, size - 4, vectors, crc),
            (address, size, vectors + 4, crc),  # not where a vector table can lie
            (address, size, vectors - 256, crc),  # the second-stage boot is no vector table
            (address, size, vectors + 0x100000, crc),
            (address, size, BASE + 256, crc),
            (BASE, size, vectors, crc),
            (address, 0, vectors, 0),
            (address, 4, address, crc),
            (address, 0xFFFFFFFF, vectors, crc),
        ]:
            refused(client.seal, *wrong)
        assert client.info().application is None

    def test_broken_by_an_erase_anywhere(self, client, written):
        client.seal(*written)
        client.erase(BASE + SIZE - 4096, 4096)
        assert client.info().application is None

    def test_broken_by_a_write_anywhere(self, client, written):
        client.seal(*written)
        client.write(BASE + SIZE - 4096, b"x" * 256)
        assert client.info().application is None

    def test_refusals_do_not_break_it(self, client, written):
        client.seal(*written)
        refused(client.erase, BASE, 4096)
        refused(client.seal, *written[:3], 0)
        assert client.info().application is not None

    def test_an_application_that_has_changed_is_not_started(self, start, tmp_path, toy):
        kept = tmp_path / "flash.bin"
        board = start(kept)
        flash_application(Exchange(board, reply_timeout_s=30.0), PICO, toy, ignore)
        board.close()
        flash = bytearray(kept.read_bytes())
        flash[OWN + 1000] ^= 1
        kept.write_bytes(flash)
        exchange = Exchange(start(kept), reply_timeout_s=30.0)
        assert BootloaderClient(exchange).info().application is None
        assert flash_application(exchange, PICO, toy, ignore).hello.model == "toy"


def test_an_image_for_another_board_is_refused(exchange, board, toy):
    with pytest.raises(InputError, match="is that of the board 'pico', the image is for 'mine'"):
        flash_application(exchange, replace(PICO, key="mine"), toy, ignore)
    assert board.statistics().flash_operations == 0


@pytest.mark.parametrize("address", [BASE, APPLICATION - 4096, APPLICATION + 256, BASE + SIZE - 4096, BASE + SIZE])
def test_an_image_for_another_place_is_refused(exchange, board, toy, address):
    with pytest.raises(InputError, match=r"leaves 0x10004000 \.\. 0x10200000 to applications"):
        flash_application(exchange, PICO, Image(address, toy.content), ignore)
    assert board.statistics().flash_operations == 0


def refused(action, *arguments) -> None:
    with pytest.raises(RefusedError) as caught:
        action(*arguments)
    assert caught.value.code == ErrorCode.BAD_ARGUMENTS


def read_frames(board, count: int) -> list[bytes]:
    reader, frames = FrameReader(), []
    while len(frames) < count:
        frames += reader.feed(board.read(4096, 60.0))
    return frames
