"""Faults that users of comparable tools reported, as far as flashing is concerned; each test is named by its case."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from burnc.boards import load_board
from burnc.compilers.uf2 import pack_uf2
from burnc.errors import InputError, PortError
from burnc.flash.machine import PortInfo
from burnc.flash.uf2_drive import WAITING, flash_uf2
from cli.conftest import run
from flash.fake_machine import FakeMachine, FakePico

PICO = load_board("pico")
RP2040, RP2350 = 0xE48BFF56, 0xE48BFF59


def ignore(what: str, done: int, total: int) -> None:
    pass


def image(number: int, family: int = RP2040) -> bytes:
    return pack_uf2(bytes([number]) * 1000, address=0x10000000, family=family)


@pytest.fixture
def machine():
    return FakeMachine()


# U161: a second flash in a row, while the device is not back yet.


def test_u161_twenty_flashes_in_a_row(machine, tmp_path):
    rng = random.Random(161)
    pico = FakePico(machine, tmp_path, delays=[rng.uniform(0.2, 5.0) for _ in range(39)])
    pico.start_firmware()
    seen = set()
    for number in range(20):
        flash_uf2(PICO, image(number), machine, lambda what, *_: seen.add(what))
    assert pico.images == [image(number) for number in range(20)]
    assert pico.touches == 20
    assert {WAITING, "copying", "waiting for the board to restart"} == seen


def test_u161_second_flash_while_the_device_is_away(machine, tmp_path):
    pico = FakePico(machine, tmp_path, delays=[0.2, 5.0])
    pico.start_firmware()
    for number in range(20):
        flash_uf2(PICO, image(number), machine, ignore, await_restart=False)
    machine.sleep(1)
    assert pico.images == [image(number) for number in range(20)]


# U163: another port name after the touch; a drive that is mounted late or not at all.


def test_u163_port_is_tracked_by_its_serial_number(machine, tmp_path):
    other = PortInfo("/dev/ttyACM0", (0x2E8A, 0x000A), "another Pico")
    machine.port_list = [other]
    pico = FakePico(machine, tmp_path, delays=[2.0])
    pico.start_firmware()
    before = pico.port
    assert before is not None
    done = flash_uf2(PICO, image(1), machine, ignore, port=before.path)
    assert done.port is not None
    assert done.port.path != before.path
    assert done.port.serial_number == before.serial_number
    assert machine.opened == [(before.path, 1200)]


def test_u163_drive_that_is_mounted_late(machine, tmp_path):
    pico = FakePico(machine, tmp_path, mounts=False)
    machine.after(0.0, pico.show_drive)
    machine.after(3.0, lambda: machine.drive_list.append(tmp_path / "RPI-RP2"))
    machine.after(3.0, machine.unmounted_devices.clear)
    flash_uf2(PICO, image(1), machine, ignore)
    assert pico.images == [image(1)]


def test_u163_drive_that_nobody_mounts(machine, tmp_path):
    pico = FakePico(machine, tmp_path, mounts=False)
    pico.start_firmware()
    with pytest.raises(PortError, match="drive /dev/sdz1 is not mounted") as caught:
        flash_uf2(PICO, image(1), machine, ignore)
    assert "mount -b /dev/sdz1" in caught.value.hint
    assert machine.time < 15


# U165: a board that is in its boot ROM already.


def test_u165_board_in_bootsel_is_flashed_straight_away(machine, tmp_path):
    pico = FakePico(machine, tmp_path)
    pico.show_drive()
    flash_uf2(PICO, image(1), machine, ignore)
    assert pico.images == [image(1)]
    assert pico.touches == 0
    assert machine.opened == []


# U167: an image for another chip.


def test_u167_rp2040_image_and_rp2350_board(machine, tmp_path):
    pico = FakePico(machine, tmp_path, board_id="RP2350")
    pico.show_drive()
    with pytest.raises(InputError, match="the image is for RP2040, the board is RP2350"):
        flash_uf2(PICO, image(1), machine, ignore)
    with pytest.raises(InputError, match="the image is for RP2040, the board is RP2350"):
        flash_uf2(PICO, image(1), machine, ignore, drive=tmp_path / "RP2350")
    machine.sleep(1)
    assert pico.images == []


def test_u167_rp2350_image_and_rp2040_board(machine, tmp_path):
    pico = FakePico(machine, tmp_path)
    pico.show_drive()
    with pytest.raises(InputError, match="the image is for RP2350, the Raspberry Pi Pico is RP2040"):
        flash_uf2(PICO, image(1, RP2350), machine, ignore)
    pico2 = replace(
        PICO,
        image=replace(PICO.image, uf2_family=RP2350),
        flash_methods=tuple(replace(m, options={"board_id": "RP2350"}) for m in PICO.flash_methods),
    )
    with pytest.raises(InputError, match="the image is for RP2350, the board is RP2040"):
        flash_uf2(pico2, image(1, RP2350), machine, ignore)
    machine.sleep(1)
    assert pico.images == []


# U174: a port that another program has open.

HOLDER = """
import os, pty, sys, tty, serial
master, slave = pty.openpty()
tty.setraw(slave)
port = serial.Serial(os.ttyname(slave), exclusive=True)
print(port.port, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def taken_port():
    """The path of a port, and the number of the process that has it."""
    command = [sys.executable, "-c", HOLDER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        yield holder.stdout.readline().strip(), holder.pid
        holder.stdin.close()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_u174_port_of_another_program(taken_port, tmp_path):
    port, process = taken_port
    file = tmp_path / "x.uf2"
    file.write_bytes(pack_uf2(bytes(1000), address=0x10004000, family=RP2040))
    said = run("flash", file, "--board", "pico", "--port", port, status=2).stderr
    assert f"error: the port {port} is in use by " in said
    assert "close that program" in said
    if sys.platform == "linux":
        assert f"(process {process})" in said


def test_u174_is_an_answer_of_validate_too(taken_port):
    port, _ = taken_port
    model = Path(__file__).parents[1] / "models" / "tflm_hello_world_int8.tflite"
    answer = run("validate", model, "--on", f"serial:{port}", "--json", status=1).json
    (target,) = answer["targets"]
    assert target["verdict"] == "unavailable"
    assert f"the port {port} is in use by " in target["why"]
