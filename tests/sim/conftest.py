"""Firmware for the tests of this folder, built once a session, and emulated boards that end with their test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from burnc.boards import load_board
from burnc.compilers.compile import WARNING_FLAGS
from burnc.compilers.firmware import build_firmware
from burnc.resources import data_folder
from burnc.sim.simulated_board import SimulatedRp2040, open_simulator

HERE = Path(__file__).parent / "firmware"
PICO = load_board("pico")

Build = Callable[..., Path]
Start = Callable[..., SimulatedRp2040]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Builds sources into firmware for the Pico, once for each name; returns the ELF."""
    built: dict[str, Path] = {}

    def build_once(name: str, sources: list[Path], flags: Sequence[str] = ()) -> Path:
        if name not in built:
            common = data_folder("boards") / "support" / "common"
            built[name] = build_firmware(
                PICO, sources, out_dir=tmp_path_factory.mktemp(name), name=name, include_dirs=[common], flags=flags
            ).elf
        return built[name]

    return build_once


@pytest.fixture(scope="session")
def probe(build: Build) -> Path:
    return build("probe", [HERE / "probe.c"])


@pytest.fixture(scope="session")
def toy_model(build: Build) -> Path:
    harness = data_folder("boards") / "support" / "common"
    return build("toy_model", [HERE / "toy_model.c", *sorted(harness.glob("*.c"))], WARNING_FLAGS)


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts firmware on an emulated Pico that ends with the test."""
    with ExitStack() as boards:

        def open_board(
            firmware: Path, *, with_flash_cache: bool = False, silence_limit_s: float = 60.0
        ) -> SimulatedRp2040:
            return boards.enter_context(
                open_simulator(PICO, firmware, with_flash_cache=with_flash_cache, silence_limit_s=silence_limit_s)
            )

        yield open_board
