"""A bootloader and two applications behind it, built once a session, and emulated boards that end with their test."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from burnc.board_support import linker_script
from burnc.boards import load_board
from burnc.compilers.bootloader import build_bootloader
from burnc.compilers.compile import WARNING_FLAGS
from burnc.compilers.firmware import build_firmware
from burnc.flash.bootloader import Image
from burnc.resources import data_folder
from burnc.sim.pty_port import PtyPort
from burnc.sim.simulated_board import open_simulator
from burnc.sim.simulator import Simulator

PICO = load_board("pico")
TOY_MODEL = Path(__file__).parents[1] / "sim" / "firmware" / "toy_model.c"

Start = Callable[..., Simulator]


@pytest.fixture(scope="session")
def bootloader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ELF of the resident bootloader."""
    return build_bootloader(PICO, tmp_path_factory.mktemp("bootloader"), flags=WARNING_FLAGS).elf


@pytest.fixture(scope="session")
def build_toy(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Image]:
    """Builds the toy model's firmware; further bytes make it another image."""
    common = data_folder("boards") / "support" / "common"

    def build(offset: int, further: int = 0) -> Image:
        folder = tmp_path_factory.mktemp("toy")
        script = folder / "toy.ld"
        script.write_text(linker_script(PICO, flash_offset=offset))
        firmware = build_firmware(
            PICO,
            [TOY_MODEL, *sorted(common.glob("*.c"))],
            out_dir=folder,
            name="toy",
            include_dirs=[common],
            link_script=script,
        )
        content = firmware.bin.read_bytes() + bytes(i * 7 & 0xFF for i in range(further))
        return Image(firmware.address, content, PICO.image.uf2_family)

    return build


@pytest.fixture(scope="session")
def toy(build_toy: Callable[..., Image]) -> Image:
    """The toy model behind the bootloader."""
    assert PICO.bootloader is not None
    return build_toy(PICO.bootloader.size)


@pytest.fixture(scope="session")
def plain_toy(build_toy: Callable[..., Image]) -> Image:
    """The toy model at the start of flash."""
    return build_toy(0)


@pytest.fixture(scope="session")
def larger_toy(toy: Image) -> Image:
    """The same program with a few kilobytes behind it."""
    return Image(toy.address, toy.content + bytes(i * 7 & 0xFF for i in range(5000)), toy.family)


@pytest.fixture
def start(bootloader: Path) -> Iterator[Start]:
    """Switches on an emulated Pico that holds the bootloader; it goes off with the test, or when it is closed."""
    with ExitStack() as boards:

        def switch_on(flash_file: Path | None = None, *, power_fails_at: float | None = None) -> Simulator:
            return boards.enter_context(
                open_simulator(
                    PICO, bootloader, silence_limit_s=60.0, flash_file=flash_file, power_fails_at=power_fails_at
                )
            )

        yield switch_on


@pytest.fixture
def plug_in(bootloader: Path) -> Iterator[Callable[..., PtyPort]]:
    """The same, with its UART as a pseudo-terminal."""
    with ExitStack() as ports:

        def plug(flash_file: Path | None = None, *, power_fails_at: float | None = None) -> PtyPort:
            board = open_simulator(
                PICO, bootloader, silence_limit_s=math.inf, flash_file=flash_file, power_fails_at=power_fails_at
            )
            return ports.enter_context(PtyPort(board))

        yield plug
