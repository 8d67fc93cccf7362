"""`burnc flash`: what it is given wrongly, one clear line each; the drive in place of a board."""

from __future__ import annotations

import pytest

from burnc.compilers.uf2 import pack_uf2
from burnc.flash import uf2_drive
from cli.conftest import run
from flash.fake_machine import INFO_TEXT
from requirements import requires

RP2040 = 0xE48BFF56


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "firmware.uf2"
    path.write_bytes(pack_uf2(bytes(1000), address=0x10000000, family=RP2040))
    return path


@pytest.fixture
def drive(tmp_path):
    """A folder that looks like the drive of a board, and stays as it is."""
    folder = tmp_path / "RPI-RP2"
    folder.mkdir()
    (folder / "INFO_UF2.TXT").write_text(INFO_TEXT.format("RPI-RP2"))
    return folder


@pytest.fixture
def board_is_quick(monkeypatch, drive):
    """The board restarts as soon as the file is there, and has no serial port."""
    monkeypatch.setattr(uf2_drive, "RESTART_TIMEOUT_S", 0.0)
    copy = uf2_drive._copy

    def copy_and_restart(data, folder, progress):
        copy(data, folder, progress)
        (folder / "INFO_UF2.TXT").unlink()

    monkeypatch.setattr(uf2_drive, "_copy", copy_and_restart)


def test_either_a_target_or_the_bootloader(file):
    assert "either TARGET or --bootloader" in run("flash", "--board", "pico", status=2).stderr
    assert "either TARGET or" in run("flash", file, "--bootloader", "--board", "pico", status=2).stderr


@pytest.mark.parametrize("name", ["none.uf2", "none.onnx"])
def test_a_file_that_is_not_there(tmp_path, drive, name):
    said = run("flash", tmp_path / name, "--board", "pico", "--port", drive, status=2).stderr
    assert "cannot be read: No such file" in said
    assert name in said


def test_a_folder_that_is_no_project(tmp_path, drive):
    assert "burnc.json" in run("flash", tmp_path, "--board", "pico", "--port", drive, status=2).stderr


def test_boards_that_cannot_be_flashed(file):
    assert "no way of flashing the board host" in run("flash", file, "--board", "host", status=2).stderr
    assert "did you mean" in run("flash", file, "--board", "piko", status=2).stderr


def test_a_port_that_is_not_there(tmp_path):
    path = tmp_path / "behind.uf2"
    path.write_bytes(pack_uf2(bytes(1000), address=0x10004000, family=RP2040))
    error = run("flash", path, "--board", "pico", "--port", "/dev/none", "--json", status=2).json["error"]
    assert error["what"] == "there is no port /dev/none"


def test_a_file_for_another_chip(tmp_path, drive):
    path = tmp_path / "other.uf2"
    path.write_bytes(pack_uf2(bytes(1000), address=0x10000000, family=0xE48BFF59))
    for port in (drive, "/dev/none"):
        said = run("flash", path, "--board", "pico", "--port", port, status=2).stderr
        assert "the image is for RP2350, the Raspberry Pi Pico is RP2040" in said
    assert not (drive / "firmware.uf2").exists()


@pytest.mark.usefixtures("board_is_quick")
def test_a_file_is_copied_as_it_is(file, drive):
    report = run("flash", file, "--board", "pico", "--port", drive, "--json").json
    assert (report["method"], report["port"], report["address"]) == ("uf2", str(drive), 0x10000000)
    assert not report["verified"]
    assert report["answers"] is None
    assert (drive / "firmware.uf2").read_bytes() == file.read_bytes()


@requires("arm compiler")
@pytest.mark.usefixtures("board_is_quick")
def test_the_bootloader_goes_onto_the_drive(drive):
    report = run("flash", "--bootloader", "--board", "pico", "--port", drive, "--json").json
    assert report["model"] is None
    assert 4000 < report["image_bytes"] < 12288
    assert (drive / "firmware.uf2").stat().st_size > 8000


def test_a_board_that_does_not_take_the_file(file, drive, monkeypatch):
    monkeypatch.setattr(uf2_drive, "RESTART_TIMEOUT_S", 0.0)
    said = run("flash", file, "--board", "pico", "--port", drive, status=2).stderr
    assert "the board has not taken it" in said


def test_the_bootloader_does_not_replace_itself():
    said = run("flash", "--bootloader", "--method", "serial", "--port", "x", "--board", "pico", status=2).stderr
    assert "not through itself" in said
