"""The drag-and-drop way with fake boards; tests/cases/test_flash.py has what users of other tools ran into."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burnc.boards import load_board
from burnc.compilers.uf2 import pack_uf2
from burnc.errors import InputError, PortError
from burnc.flash.machine import PortInfo, ThisMachine
from burnc.flash.uf2_drive import flash_uf2
from flash.fake_machine import INFO_TEXT, PICO_FIRMWARE, FakeMachine, FakePico

PICO = load_board("pico")
FILE = pack_uf2(bytes(1000), address=0x10000000, family=0xE48BFF56)


def ignore(what: str, done: int, total: int) -> None:
    pass


@pytest.fixture
def machine():
    return FakeMachine()


def test_a_folder_in_place_of_a_drive(tmp_path):
    (tmp_path / "INFO_UF2.TXT").write_text(INFO_TEXT.format("RPI-RP2"))
    done = flash_uf2(PICO, FILE, ThisMachine(), ignore, drive=tmp_path, await_restart=False)
    assert (done.drive, done.port) == (tmp_path, None)
    assert (tmp_path / "firmware.uf2").read_bytes() == FILE


def test_a_folder_that_is_no_drive(machine, tmp_path):
    with pytest.raises(PortError, match="not the drive of a board"):
        flash_uf2(PICO, FILE, machine, ignore, drive=tmp_path)


def test_no_board(machine):
    with pytest.raises(PortError, match="no USB drive of a Raspberry Pi Pico came within 60 s") as caught:
        flash_uf2(PICO, FILE, machine, ignore)
    assert "BOOTSEL" in caught.value.hint
    assert 60 < machine.time < 62


def test_a_board_that_is_plugged_in_late(machine, tmp_path):
    pico = FakePico(machine, tmp_path)
    machine.after(30.0, pico.show_drive)
    flash_uf2(PICO, FILE, machine, ignore)
    assert pico.images == [FILE]


def test_several_drives(machine, tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        FakePico(machine, tmp_path / name).show_drive()
    with pytest.raises(PortError, match="several boards wait for firmware") as caught:
        flash_uf2(PICO, FILE, machine, ignore)
    assert "--port" in caught.value.hint


def test_several_boards_with_firmware(machine):
    machine.port_list = [PortInfo(f"/dev/ttyACM{n}", PICO_FIRMWARE, str(n)) for n in range(2)]
    with pytest.raises(PortError, match="several boards of this kind are plugged in: /dev/ttyACM0, /dev/ttyACM1"):
        flash_uf2(PICO, FILE, machine, ignore)
    assert machine.opened == []


def test_ports_of_other_devices_are_left_alone(machine):
    machine.port_list = [PortInfo("/dev/ttyUSB0", (0x0403, 0x6001), "A1"), PortInfo("/dev/ttyS0")]
    with pytest.raises(PortError, match="no USB drive"):
        flash_uf2(PICO, FILE, machine, ignore)
    assert machine.opened == []


def test_a_board_without_the_touch(machine, tmp_path):
    board = replace(PICO, flash_methods=tuple(replace(m, touch_1200=False) for m in PICO.flash_methods))
    FakePico(machine, tmp_path).start_firmware()
    with pytest.raises(PortError, match="no USB drive"):
        flash_uf2(board, FILE, machine, ignore)
    assert machine.opened == []


def test_a_drive_that_does_not_take_the_file(machine, tmp_path):
    pico = FakePico(machine, tmp_path)
    pico.show_drive()
    machine.watch = lambda: None
    with pytest.raises(PortError, match="the board has not taken it"):
        flash_uf2(PICO, FILE, machine, ignore)


def test_a_drive_that_refuses(machine, tmp_path):
    pico = FakePico(machine, tmp_path)
    pico.show_drive()
    (tmp_path / "RPI-RP2" / "firmware.uf2").mkdir()
    machine.watch = lambda: None
    with pytest.raises(PortError, match="the drive does not take the file"):
        flash_uf2(PICO, FILE, machine, ignore)


def test_firmware_without_a_port_is_not_waited_for(machine, tmp_path):
    board = replace(PICO, usb_id=None)
    pico = FakePico(machine, tmp_path, delays=[1000.0])
    pico.show_drive()
    assert flash_uf2(board, FILE, machine, ignore).port is None
    assert machine.time < 5


def test_firmware_whose_port_does_not_come(machine, tmp_path):
    pico = FakePico(machine, tmp_path, delays=[1000.0])
    pico.show_drive()
    assert flash_uf2(PICO, FILE, machine, ignore).port is None


def test_the_port_of_another_board_is_not_taken_for_the_flashed_one(machine, tmp_path):
    other = PortInfo("/dev/ttyACM0", PICO_FIRMWARE, None)
    machine.port_list = [other]
    pico = FakePico(machine, tmp_path, serial_number=None)
    pico.show_drive()
    assert flash_uf2(PICO, FILE, machine, ignore).port == PortInfo("/dev/ttyACM3", PICO_FIRMWARE, None)


def test_a_board_file_that_does_not_name_the_drive(machine, tmp_path):
    board = replace(PICO, flash_methods=tuple(replace(m, options={}) for m in PICO.flash_methods))
    pico = FakePico(machine, tmp_path, board_id="SOMETHING")
    pico.show_drive()
    flash_uf2(board, FILE, machine, ignore)
    assert pico.images == [FILE]


def test_damaged_file(machine):
    with pytest.raises(InputError, match="not a UF2 file"):
        flash_uf2(PICO, FILE[:-1], machine, ignore)
