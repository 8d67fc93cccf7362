"""Which way is chosen: by what the board offers, by the port that was named, by what is plugged in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burnc.boards import load_board
from burnc.errors import BoardError, InputError
from burnc.flash.machine import PortInfo
from burnc.flash.methods import Way, choose_way
from flash.fake_machine import INFO_TEXT, PICO_FIRMWARE, FakeMachine

PICO = load_board("pico")
BEHIND = 16384


@pytest.fixture
def machine():
    return FakeMachine()


@pytest.fixture
def drive(tmp_path):
    (tmp_path / "INFO_UF2.TXT").write_text(INFO_TEXT.format("RPI-RP2"))
    return tmp_path


def test_without_a_port_the_drive_is_looked_for(machine):
    assert choose_way(PICO, machine) == Way("uf2", None, None, 0)


def test_a_serial_port_means_the_bootloader(machine):
    assert choose_way(PICO, machine, "/dev/ttyUSB0") == Way("serial", "/dev/ttyUSB0", None, BEHIND)


def test_a_drive_means_the_drive(machine, drive):
    assert choose_way(PICO, machine, str(drive)) == Way("uf2", None, drive, 0)


def test_a_port_to_be_touched(machine):
    assert choose_way(PICO, machine, "/dev/ttyACM0", "uf2") == Way("uf2", "/dev/ttyACM0", None, 0)


def test_the_only_port(machine):
    machine.port_list = [PortInfo("/dev/ttyS0"), PortInfo("/dev/ttyACM0", PICO_FIRMWARE, "E66")]
    assert choose_way(PICO, machine, None, "serial").port == "/dev/ttyACM0"
    machine.port_list = machine.port_list[:1]
    assert choose_way(PICO, machine, None, "serial").port == "/dev/ttyS0"


def test_no_or_several_ports(machine):
    with pytest.raises(InputError) as caught:
        choose_way(PICO, machine, None, "serial")
    assert "no serial port is there" in caught.value.hint
    machine.port_list = [PortInfo("/dev/ttyS0"), PortInfo("/dev/ttyS1")]
    with pytest.raises(InputError) as caught:
        choose_way(PICO, machine, None, "serial")
    assert "/dev/ttyS0, /dev/ttyS1" in caught.value.hint


def test_a_drive_is_no_serial_port(machine, drive):
    with pytest.raises(InputError, match="is a drive"):
        choose_way(PICO, machine, str(drive), "serial")


def test_boards_that_offer_less(machine):
    drive_only = replace(PICO, bootloader=None)
    assert choose_way(drive_only, machine, "/dev/ttyACM0") == Way("uf2", "/dev/ttyACM0", None, 0)
    with pytest.raises(BoardError, match="cannot be flashed by 'serial'") as caught:
        choose_way(drive_only, machine, None, "serial")
    assert caught.value.hint == "its ways are: uf2"
    serial_only = replace(PICO, flash_methods=())
    machine.port_list = [PortInfo("/dev/ttyUSB0")]
    assert choose_way(serial_only, machine) == Way("serial", "/dev/ttyUSB0", None, BEHIND)
    with pytest.raises(BoardError, match="no way of flashing the board host"):
        choose_way(load_board("host"), machine)
