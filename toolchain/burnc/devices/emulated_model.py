"""A model on an emulated board: its firmware is built, and the emulator starts with the first run."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from burnc.boards import Board
from burnc.compilers.firmware import Firmware
from burnc.devices.served_model import ServedModel
from burnc.errors import SimulationError
from burnc.ir import Graph
from burnc.protocol.client import Client
from burnc.protocol.messages import RunReport
from burnc.sim.simulated_board import open_simulator


class EmulatedModel(ServedModel):
    """Firmware and the emulated board it runs on; both go when this is collected.

    Args:
        layer_count: how many layers the firmware counts cycles of.
        build: makes the firmware in the folder that it is given.

    Attributes:
        flash_cache: whether the next session charges the cycles of the board's flash cache.
        guards: addresses that the next session forbids, where the emulator can (``open_simulator``).
    """

    flash_cache = False
    guards: Sequence[tuple[int, int]] = ()

    def __init__(self, board: Board, graph: Graph, layer_count: int, build: Callable[[Path], Firmware]) -> None:
        super().__init__(board, graph)
        folder = Path(tempfile.mkdtemp(prefix="burnc-board-"))
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.firmware = build(folder)
        self._layer_count = layer_count
        self._stop: Callable[[], object] = lambda: None
        self._layer_counts: Callable[[], tuple[int, ...] | None] = lambda: None

    def connect(self) -> Client:
        """Start the emulator."""
        simulator = open_simulator(self.board, self.firmware.elf, with_flash_cache=self.flash_cache, guards=self.guards)
        self._stop = weakref.finalize(self, simulator.close)
        self._layer_counts, self.unit = simulator.layer_counts, simulator.unit
        client = simulator.client()
        hello = client.hello()
        if hello.layer_count != self._layer_count:
            raise SimulationError("the firmware serves another model", where=hello.model)
        return client

    def counted(self, report: RunReport) -> RunReport:
        """The report with the emulator's exact counts where the firmware has no counter."""
        counts = self._layer_counts() if report.layer_cycles else None
        if counts is None:
            return report
        if len(counts) != len(report.layer_cycles):
            raise SimulationError(f"{len(counts)} of {len(report.layer_cycles)} layers were counted")
        return replace(report, cycles=sum(counts), layer_cycles=counts)

    def disconnect(self) -> None:
        """End the emulator."""
        self._stop()
