"""Boards on QEMU: their firmware talks, faults and is counted."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from burnc.boards import all_boards, load_board
from burnc.compilers.compile import WARNING_FLAGS
from burnc.compilers.firmware import build_firmware
from burnc.errors import BoardError, InputError, SimulationError, ToolMissingError
from burnc.resources import data_folder
from burnc.sim.qemu import QemuMachine, SimulatedQemu, find_qemu
from burnc.sim.simulated_board import open_simulator
from burnc.sim.simulator import Simulator
from requirements import requires

HERE = Path(__file__).parent / "firmware"
# An address at which a board has nothing at all.
UNMAPPED = {
    "cortex-m33": 0x0F000000,
    "cortex-m4": 0x60000000,
    "cortex-m55": 0x0F000000,
    "microbit": 0x60000000,
    "rv32imc": 0x90000000,
}
BOARDS = [board.key for board in all_boards() if board.sim_engine == "qemu"]

pytestmark = requires("host compiler", "qemu-system-arm", "qemu-system-riscv32", "arm compiler", "ziglang")


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Builds a source into firmware for a board, once."""
    built: dict[tuple[str, str], Path] = {}

    def build_once(key: str, source: str, *more: Path) -> Path:
        if (key, source) not in built:
            common = data_folder("boards") / "support" / "common"
            built[key, source] = build_firmware(
                load_board(key), [HERE / source, *more], out_dir=tmp_path_factory.mktemp(key), include_dirs=[common],
                flags=WARNING_FLAGS, defines=[f"UNMAPPED=0x{UNMAPPED[key]:x}u"],
            ).elf  # fmt: skip
        return built[key, source]

    return build_once


@pytest.fixture
def start(build) -> Iterator[Callable[..., Simulator]]:
    opened: list[Simulator] = []

    def open_board(key: str = "microbit", **options) -> Simulator:
        opened.append(open_simulator(load_board(key), build(key, "portable_probe.c"), **options))
        assert read_exactly(opened[-1], 1) == b"!"
        return opened[-1]

    yield open_board
    for board in opened:
        board.close()


def read_exactly(board: Simulator, count: int) -> bytes:
    data = b""
    while len(data) < count:
        data += board.read(count - len(data), 60.0)
    return data


def counts(board: Simulator) -> tuple[int, ...]:
    board.write(b"p")
    assert read_exactly(board, 1) == b"p"
    found = board.layer_counts()
    assert found is not None
    return found


def test_the_boards():
    assert set(BOARDS) == UNMAPPED.keys()


@pytest.mark.parametrize("key", BOARDS)
def test_instructions_of_known_sequences(start, key):
    board = start(key)
    _, empty, ten_nops, thousand_nops, loop = counts(board)
    assert (ten_nops - empty, thousand_nops - empty, loop - empty) == (10, 1000, 201)
    assert empty <= 3  # the layer's number and the call
    assert board.unit == "instructions"


@pytest.mark.parametrize("key", BOARDS)
def test_counts_are_the_same_in_every_run_and_process(start, key):
    first, second = start(key), start(key)
    assert counts(first) == counts(first) == counts(second)


def test_counts_of_firmware_without_a_profile(build):
    common = data_folder("boards") / "support" / "common"
    elf = build("microbit", "toy_model.c", *sorted(common.glob("*.c")))
    with open_simulator(load_board("microbit"), elf) as board:
        client = board.client()
        assert client.hello().model == "toy"
        client.run()
        assert board.layer_counts() == ()


@pytest.mark.parametrize("key", BOARDS)
def test_the_harness_serves_and_survives_a_reboot(build, key):
    common = data_folder("boards") / "support" / "common"
    elf = build(key, "toy_model.c", *sorted(common.glob("*.c")))
    with open_simulator(load_board(key), elf) as board:
        client = board.client()
        data = bytes((7 * i) % 251 + 1 for i in range(700))
        client.write_input(0, data)
        report = client.run(measure_stack=True)
        assert report.status == 0
        assert report.stack_bytes is not None
        assert 0 < report.stack_bytes < 1024
        assert client.read_output(0) == bytes(b + 1 & 0xFF for b in data)
        client.reboot()
        assert client.hello().clock_hz == load_board(key).cpu.clock_hz
        assert client.read_output(1) == bytes(4)


FAULTS = [
    *[("microbit", letter) for letter in "abfgdu"],
    *[(key, letter) for key in BOARDS if key != "microbit" for letter in "fgu"],
]


@pytest.mark.parametrize(("key", "letter"), FAULTS)
def test_a_fault_names_its_place(start, key, letter):
    board = start(key, silence_limit_s=10.0)
    board.write(letter.encode())
    with pytest.raises(SimulationError, match="the firmware faulted") as caught:
        read_exactly(board, 100)
    assert board.fault is not None
    assert "<answer+" in caught.value.where or "<main+" in caught.value.where
    assert "'!'" in caught.value.hint
    with pytest.raises(SimulationError, match="the firmware faulted"):
        board.write(b"z")


def test_a_fault_names_the_address_where_the_core_does(start):
    for key in BOARDS:
        if key == "microbit":
            continue
        board = start(key)
        board.write(b"f")
        with pytest.raises(SimulationError, match=f"faulted at 0x{UNMAPPED[key]:08x}"):
            read_exactly(board, 100)


def test_cortex_m4_divides_and_reads_unaligned_words(start):
    board = start("cortex-m4")
    board.write(b"d")
    assert read_exactly(board, 1) == b"d"
    board.write(b"a")
    assert read_exactly(board, 5) == b"\0\0\0\0a"


@pytest.mark.parametrize("key", BOARDS)
def test_bytes_arrive_in_order_whatever_their_number(start, key):
    board = start(key)
    sent = bytes(range(0x80, 0x100)) * 20
    board.write(sent)
    assert read_exactly(board, len(sent)) == sent


def test_a_reset_starts_the_firmware_again(start):
    board = start()
    board.write(b"C")
    assert read_exactly(board, 1) == b"!"
    board.write(b"z")
    assert read_exactly(board, 1) == b"z"


def test_firmware_that_hangs_is_given_up(start):
    board = start(silence_limit_s=0.5)
    board.write(b"D")
    with pytest.raises(SimulationError, match=r"has not answered within 0\.5 s") as caught:
        board.read(1, 60.0)
    assert "instructions since power-on" in caught.value.where
    assert not is_running(board.process_id)
    with pytest.raises(SimulationError):
        board.write(b"z")


def test_reading_in_vain_returns_nothing(start):
    assert start().read(1, 0.01) == b""


def test_no_process_stays_behind(build):
    with open_simulator(load_board("microbit"), build("microbit", "portable_probe.c")) as board:
        assert is_running(board.process_id)
    assert not is_running(board.process_id)
    board.close()


KILLED_PARENT = """
import sys
from pathlib import Path
from burnc.boards import load_board
from burnc.sim.simulated_board import open_simulator
board = open_simulator(load_board("microbit"), Path(sys.argv[1]))
board.read(1, 60.0)
board.write(b"D")
print(board.process_id, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux can wait for a process that is not a child")
def test_qemu_ends_when_its_parent_is_killed(build):
    command = [sys.executable, "-c", KILLED_PARENT, str(build("microbit", "portable_probe.c"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        handle = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    ended, _, _ = select.select([handle], [], [], 60.0)
    os.close(handle)
    assert ended


def test_what_qemu_complains_about_is_quoted(build):
    machine = QemuMachine("qemu-system-arm", ("-machine", "nosuchboard"))
    with SimulatedQemu(build("microbit", "portable_probe.c"), machine) as board:
        with pytest.raises(SimulationError, match="ended by itself") as caught:
            board.read(1, 60.0)
        assert "unsupported machine" in caught.value.where


def test_missing_firmware(tmp_path):
    with pytest.raises(InputError):
        open_simulator(load_board("microbit"), tmp_path / "none.elf")


def test_missing_qemu():
    with pytest.raises(ToolMissingError, match="qemu-system-nothing"):
        find_qemu("qemu-system-nothing")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"program": "sh"}, "sim.program must name a qemu-system program, not 'sh'"),
        ({}, "sim.program must name"),
        ({"program": "qemu-system-arm", "arguments": "-machine x"}, "sim.arguments must be a list"),
        ({"program": "qemu-system-arm", "machine": "x"}, "sim.machine is not known"),
    ],
)
def test_a_board_that_is_described_wrongly(build, options, said):
    board = replace(load_board("microbit"), sim_options=options)
    with pytest.raises(BoardError) as caught:
        open_simulator(board, build("microbit", "portable_probe.c"))
    assert said in caught.value.what


def test_no_flash_cache(build):
    with pytest.raises(BoardError, match="no cache"):
        open_simulator(load_board("microbit"), build("microbit", "portable_probe.c"), with_flash_cache=True)


def is_running(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process_id}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
