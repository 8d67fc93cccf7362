"""boards/*.toml are read whole; what is wrong in one is named with its file and key."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from burnc.boards import all_boards, load_board
from burnc.compilers.cores import HOST, core_flags
from burnc.errors import BoardError
from burnc.resources import data_folder

GOOD = """
name = "Test board"
mcu = "test"
aliases = ["tb"]
[cpu]
core = "cortex-m4"
count = 1
clock_hz = 80_000_000
"""


@pytest.fixture
def describe(tmp_path):
    """Write a board file and load it."""

    def load(text: str):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return load_board(str(path))

    return load


def test_every_board_has_its_own_names():
    names = [name.casefold() for board in all_boards() for name in {board.key, *board.aliases}]
    assert len(names) == len(set(names))
    assert {"host", "pico"} <= set(names)


@pytest.mark.parametrize("board", all_boards(), ids=lambda board: board.key)
def test_every_board_has_a_known_core(board):
    if board.cpu.core != HOST:
        assert core_flags(board.cpu.core).gcc_flags


def test_pico():
    board = load_board("pico")
    assert (board.name, board.mcu, board.sim_engine) == ("Raspberry Pi Pico", "rp2040", "rp2040js")
    assert (board.cpu.core, board.cpu.count, board.cpu.clock_hz) == ("cortex-m0plus", 2, 125_000_000)
    assert (board.flash_bytes, board.ram_bytes) == (2 << 20, 264 << 10)
    flash = board.first_memory("flash")
    assert flash is not None
    assert (flash.origin, flash.sector) == (0x10000000, 4096)
    assert flash.cache is not None
    assert flash.cache.size == 16 << 10
    assert board.usb_id == (0x2E8A, 0x000A)
    assert board.flash_methods[0].method == "uf2"
    assert board.flash_methods[0].usb == (0x2E8A, 0x0003)
    assert board.flash_methods[0].touch_1200
    assert board.flash_methods[0].options == {"board_id": "RPI-RP2"}
    assert board.bootloader is not None
    assert (board.bootloader.size, board.bootloader.page) == (16 << 10, 256)


def test_host_has_no_limits():
    board = load_board("host")
    assert (board.flash_bytes, board.ram_bytes, board.build, board.cpu.clock_hz) == (None, None, None, None)


@pytest.mark.parametrize("name", ["PICO", "raspberry-pi-pico", "Raspberry Pi Pico", " rp2040 "])
def test_names_and_aliases(name):
    assert load_board(name).key == "pico"


def test_unknown_board_names_the_nearest():
    with pytest.raises(BoardError) as caught:
        load_board("pcio")
    assert "'pcio'" in caught.value.what
    assert "did you mean pico" in caught.value.hint


def test_unknown_board_unlike_any_lists_all():
    with pytest.raises(BoardError) as caught:
        load_board("zzzzzzzz")
    assert "host, " in caught.value.hint
    assert "pico" in caught.value.hint


def test_a_path_is_a_board_too(describe):
    board = describe(GOOD)
    assert (board.key, board.cpu.core, board.build) == ("mine", "cortex-m4", None)


def test_a_board_elsewhere_may_bring_its_own_support_code(tmp_path):
    boards = data_folder("boards")
    shutil.copytree(boards / "support", tmp_path / "support")
    shutil.copy(boards / "pico.toml", tmp_path / "other.toml")
    board = load_board(str(tmp_path / "other.toml"))
    assert board.build is not None
    assert board.build.support == (tmp_path / "support" / "rp2040").resolve()


def test_support_code_elsewhere_needs_what_all_boards_share(tmp_path):
    shutil.copytree(data_folder("boards") / "support" / "rp2040", tmp_path / "support" / "rp2040")
    path = tmp_path / "own.toml"
    path.write_text(GOOD + '[build]\nsupport = "rp2040"\nlink_script = "rp2040.ld"\n', encoding="utf-8")
    with pytest.raises(BoardError, match="lies beside no folder support/common: copy"):
        load_board(str(path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = ", "not valid TOML"),
        (GOOD.replace('mcu = "test"', ""), "mcu is missing"),
        (GOOD.replace('name = "Test board"', "name = 7"), "name must be text, not 7"),
        (GOOD.replace("count = 1", "count = true"), "cpu.count must be a whole number, not True"),
        (GOOD.replace("count = 1", "count = 0"), "cpu.count must be positive"),
        (GOOD.replace("clock_hz", "clok_hz"), "cpu.clok_hz is not known here"),
        (GOOD.replace('["tb"]', "[1]"), "aliases must be a list of texts"),
        (GOOD.replace("[cpu]", "[gpu]"), "cpu is missing"),
        (GOOD + '[[memory]]\nname = "m"\nkind = "rom"\n', "memory[0].kind must be flash or ram"),
        (GOOD + '[[flash]]\nmethod = "uf2"\nusb = [1]\n', "flash[0].usb must be a list of vendor and product number"),
        (GOOD + '[build]\nsupport = "nowhere"\n', "build.support names the folder support/nowhere"),
        (GOOD + '[build]\nsupport = "rp2040"\nlink_script = "x.ld"\n', "build.link_script names x.ld"),
        (
            GOOD + '[build]\nsupport = "rp2040"\nlink_script = "rp2040.ld"\n',
            "memory must list a flash and a ram region",
        ),
    ],
)
def test_what_is_wrong_is_named(describe, text, said):
    with pytest.raises(BoardError) as caught:
        describe(text)
    assert said in caught.value.what
    assert caught.value.where.endswith("mine.toml")


@pytest.mark.parametrize(
    ("size", "page", "said"),
    [
        (16_384, 100, "bootloader.page must divide the sector of 4096 bytes"),
        (4096, 256, "bootloader.size must be two sectors of 4096 bytes or more"),
        (10_000, 256, "bootloader.size must be two sectors"),
        (2 << 20, 256, "less than the flash"),
        (0, 256, "bootloader.size must be positive"),
    ],
)
def test_bootloader_figures(tmp_path, size, page, said):
    text = (data_folder("boards") / "pico.toml").read_text()
    path = tmp_path / "mine.toml"
    path.write_text(text.replace("size = 16_384\npage = 256", f"size = {size}\npage = {page}"))
    with pytest.raises(BoardError) as caught:
        load_board(str(path))
    assert said in caught.value.what


def test_a_bootloader_needs_a_build(describe):
    with pytest.raises(BoardError, match=r"bootloader needs a \[build\] table"):
        describe(GOOD + "[bootloader]\nsize = 8192\npage = 256\n")


def test_missing_file(tmp_path):
    with pytest.raises(BoardError, match="does not exist"):
        load_board(str(tmp_path / "none.toml"))


def test_no_python_source_names_a_board():
    package = Path(__file__).resolve().parents[2] / "toolchain" / "burnc" / "compilers"
    for path in [*package.glob("*.py"), package.parent / "boards.py"]:
        assert "rp2040" not in path.read_text().casefold(), path
