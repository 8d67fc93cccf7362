"""The power fails in the middle of each flash operation in turn: the board still enters its bootloader."""

from __future__ import annotations

import shutil

import pytest

from burnc.boards import load_board
from burnc.errors import SimulationError
from burnc.flash.bootloader import BootloaderClient, enter_bootloader, flash_application
from burnc.protocol.client import Client
from burnc.protocol.exchange import Exchange
from burnc.sim.simulated_board import open_simulator
from requirements import requires

pytestmark = requires("arm compiler", "node", "rp2040js")

PICO = load_board("pico")
OPERATIONS = 13  # the old seal is erased, the old application too, ten pieces are written, and a new seal
MOMENTS = [*(n + 0.5 for n in range(1, OPERATIONS)), OPERATIONS, OPERATIONS + 0.02, OPERATIONS + 0.05]


def ignore(what: str, done: int, total: int) -> None:
    pass


@pytest.fixture(scope="module")
def flashed_before(tmp_path_factory, bootloader, toy):
    """The flash of a board that holds an application."""
    kept = tmp_path_factory.mktemp("before") / "flash.bin"
    with open_simulator(PICO, bootloader, flash_file=kept) as board:
        flash_application(Exchange(board, reply_timeout_s=30.0), PICO, toy, ignore)
    return kept


def test_number_of_operations(start, tmp_path, flashed_before, larger_toy):
    kept = shutil.copy(flashed_before, tmp_path / "flash.bin")
    board = start(kept)
    flash_application(Exchange(board, reply_timeout_s=30.0), PICO, larger_toy, ignore)
    assert board.statistics().flash_operations == OPERATIONS


@pytest.mark.parametrize("moment", MOMENTS)
def test_power_fails_at(start, tmp_path, flashed_before, larger_toy, moment):
    kept = shutil.copy(flashed_before, tmp_path / "flash.bin")
    exchange = Exchange(start(kept, power_fails_at=moment), reply_timeout_s=30.0)
    with pytest.raises(SimulationError, match="power-failure"):
        flash_application(exchange, PICO, larger_toy, ignore)
    exchange = Exchange(start(kept), reply_timeout_s=30.0)
    assert BootloaderClient(exchange).info().application is None
    assert flash_application(exchange, PICO, larger_toy, ignore).hello.model == "toy"
    assert enter_bootloader(exchange).application is not None


def test_power_fails_behind_the_seal(start, tmp_path, flashed_before, larger_toy):
    kept = shutil.copy(flashed_before, tmp_path / "flash.bin")
    exchange = Exchange(start(kept, power_fails_at=OPERATIONS + 0.5), reply_timeout_s=30.0)
    with pytest.raises(SimulationError, match="power-failure"):
        flash_application(exchange, PICO, larger_toy, ignore)
    assert Client(Exchange(start(kept), reply_timeout_s=30.0)).hello().model == "toy"
