"""What the emulated Pico does and what it does not let pass."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from burnc.boards import load_board
from burnc.errors import BoardError, InputError, SimulationError, ToolMissingError
from burnc.sim.simulated_board import SimulatedRp2040, open_simulator
from requirements import requires

pytestmark = requires("arm compiler", "node", "rp2040js")


def read_exactly(board: SimulatedRp2040, count: int) -> bytes:
    data = b""
    while len(data) < count:
        data += board.read(count - len(data), 60.0)
    return data


@pytest.fixture
def board(start, probe):
    """A Pico on which the probe firmware waits for a letter."""
    board = start(probe)
    assert read_exactly(board, 1) == b"!"
    return board


FAULTS = [
    ("a", "unaligned-load", 0x20000002),
    ("b", "unaligned-store", 0x20000001),
    ("c", "unaligned-load", 0x20000001),
    ("d", "unaligned-store", 0x20000003),
    ("e", "unaligned-load", 0x20000002),
    ("f", "unmapped-load", 0x30000000),
    ("g", "unmapped-store", 0x30000000),
    ("h", "unmapped-load", 0x20042000),
    ("i", "unmapped-load", 0x10200000),
    ("j", "null-pointer", 0),
    ("k", "null-pointer", 4),
    ("l", "store-to-flash", 0x10080000),
    ("m", "store-to-rom", 0x100),
    ("n", "execution-outside-memory", 0x30000000),
    ("o", "branch-to-arm-state", 0x10000100),
    ("p", "undefined-instruction", None),
    ("q", "undefined-instruction", None),
    ("r", "breakpoint", None),
    ("s", "not-emulated", 0xE000E010),
    ("t", "flash-busy", None),
    ("u", "flash-arguments", None),
    ("v", "flash-arguments", 0x10100100),
    ("w", "not-emulated", 0xD0000070),
]


@pytest.mark.parametrize(("letter", "kind", "address"), FAULTS, ids=[f"{f[0]}-{f[1]}" for f in FAULTS])
def test_fault_ends_the_run(board, letter, kind, address):
    board.write(letter.encode())
    board.wait_until_stopped(60.0)
    assert board.fault is not None
    assert board.fault.kind == kind
    assert board.fault.core == 0
    if address is not None:
        assert board.fault.address == address
    with pytest.raises(SimulationError, match=kind) as caught:
        board.read(1, 60.0)
    assert "core 0 at 0x" in caught.value.where


def test_fault_names_the_function(board):
    board.write(b"f")
    with pytest.raises(SimulationError) as caught:
        board.read(1, 60.0)
    assert "<" in caught.value.where
    assert "'!'" in caught.value.hint


def test_fault_on_core_1(board):
    board.write(b"x")
    board.wait_until_stopped(60.0)
    assert board.fault is not None
    assert (board.fault.kind, board.fault.core) == ("unmapped-store", 1)


def test_core_1_answers_through_the_fifo(board):
    board.write(b"B")
    assert int.from_bytes(read_exactly(board, 4), "little") == 1000 * 3 + 1
    instructions = board.statistics().instructions
    assert instructions[0] > 0
    assert instructions[1] > 0


def test_flash_functions_of_the_boot_rom(board):
    board.write(b"A")
    assert read_exactly(board, 257) == bytes(i ^ 0x5A for i in range(256)) + b"\xff"
    assert board.statistics().flash_operations == 2
    assert board.statistics().nanoseconds > 45e6  # a sector's erase time


def test_cycle_counter_goes_on_across_the_wraps_of_systick(board):
    board.write(b"H")
    cycles = int.from_bytes(read_exactly(board, 4), "little")
    assert cycles > 1 << 24
    assert 0 < cycles - 23_999_999 < 200  # the reads, and one or two interrupts


def test_watchdog_reset_starts_the_firmware_again(board):
    board.write(b"C")
    assert read_exactly(board, 1) == b"!"
    assert board.resets == ["watchdog"]
    board.write(b"z")
    assert read_exactly(board, 1) == b"z"
    assert board.statistics().resets == 1


def test_semihosting_exit(board):
    board.write(b"F")
    board.wait_until_stopped(60.0)
    assert board.exit_status == 0
    assert board.fault is None
    with pytest.raises(SimulationError, match="exit"):
        board.write(b"z")


def test_request_for_the_usb_boot_loader(board):
    board.write(b"G")
    with pytest.raises(SimulationError, match="usb-boot"):
        read_exactly(board, 1)


def test_bytes_arrive_in_order_whatever_their_number(board):
    sent = bytes(b for b in (ord("y"), ord("z"), ord("0"), 0xFF) for _ in range(257)) * 3
    board.write(sent)
    assert read_exactly(board, len(sent)) == sent


@pytest.mark.parametrize("letter", [b"D", b"E"], ids=["loop", "sleep"])
def test_firmware_that_hangs_is_given_up(start, probe, letter):
    board = start(probe, silence_limit_s=0.5)
    read_exactly(board, 1)
    board.write(letter)
    with pytest.raises(SimulationError, match=r"has not answered within 0\.5 s") as caught:
        board.read(1, 60.0)
    assert "core 0" in caught.value.where
    assert "<" in caught.value.where
    assert "'!'" in caught.value.hint
    assert not is_running(board.process_id)


def test_no_process_stays_behind(probe):
    with open_simulator(load_board("pico"), probe) as board:
        assert is_running(board.process_id)
    assert not is_running(board.process_id)
    board.close()


def test_process_ends_with_the_block_that_fails(probe):
    opened = []

    def fail() -> None:
        with open_simulator(load_board("pico"), probe) as board:
            opened.append(board.process_id)
            board.write(b"D")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not is_running(opened[0])


KILLED_PARENT = """
import sys
from pathlib import Path
from burnc.boards import load_board
from burnc.sim.simulated_board import open_simulator
board = open_simulator(load_board("pico"), Path(sys.argv[1]))
board.read(1, 60.0)
board.write(b"D")
print(board.process_id, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux can wait for a process that is not a child")
def test_process_ends_when_its_parent_is_killed(probe):
    command = [sys.executable, "-c", KILLED_PARENT, str(probe)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        handle = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    ended, _, _ = select.select([handle], [], [], 60.0)
    os.close(handle)
    assert ended


def test_reading_in_vain_returns_nothing(board):
    assert board.read(1, 0.01) == b""


def test_uf2_and_flash_image_start_like_the_elf(start, probe):
    for image in (probe.with_suffix(".bin"), probe.with_suffix(".uf2")):
        assert read_exactly(start(image), 1) == b"!"


def test_second_stage_with_a_wrong_checksum_does_not_start(start, probe, tmp_path):
    data = bytearray(probe.with_suffix(".bin").read_bytes())
    data[40] ^= 1
    damaged = tmp_path / "damaged.bin"
    damaged.write_bytes(data)
    with pytest.raises(SimulationError, match="no-boot") as caught:
        start(damaged).read(1, 60.0)
    assert "checksum" in caught.value.where


def test_missing_firmware(tmp_path):
    with pytest.raises(InputError):
        open_simulator(load_board("pico"), tmp_path / "none.elf")


def test_node_that_is_not_there(probe, tmp_path):
    with pytest.raises(ToolMissingError, match=r"Node\.js does not start"):
        SimulatedRp2040(probe, node=tmp_path / "node")


def test_image_that_does_not_fit_the_flash(start, tmp_path):
    large = tmp_path / "large.bin"
    large.write_bytes(bytes(2 * 1024 * 1024 + 1))
    with pytest.raises(SimulationError, match="ended by itself") as caught:
        start(large).read(1, 60.0)
    assert "outside flash and RAM" in caught.value.where


def test_board_without_emulator(probe):
    with pytest.raises(BoardError, match="cannot emulate"):
        open_simulator(replace(load_board("pico"), sim_engine=None), probe)


def is_running(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process_id}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
