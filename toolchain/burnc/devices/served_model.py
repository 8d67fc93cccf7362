"""A model that firmware serves on an emulated board: written to and read from over the protocol."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from burnc.backends.protocol import check_inputs
from burnc.boards import Board
from burnc.compilers.firmware import Firmware
from burnc.errors import BurncError, SimulationError
from burnc.ir import Array, Graph
from burnc.protocol.client import Client
from burnc.protocol.messages import RunReport
from burnc.sim.simulated_board import SimulatedRp2040, open_simulator


@dataclass(frozen=True)
class BoardRun:
    """Outputs by name, and what the board says of the run."""

    outputs: dict[str, Array]
    report: RunReport


class ServedModel:
    """Firmware and the emulated board it runs on, which starts with the first run; both go when this is collected.

    Args:
        graph: its inputs and outputs are the firmware's, in the same order.
        layer_count: how many layers the firmware counts cycles of.
        build: makes the firmware in the folder that it is given.
    """

    def __init__(self, board: Board, graph: Graph, layer_count: int, build: Callable[[Path], Firmware]) -> None:
        self.board = board
        self.graph = graph
        folder = Path(tempfile.mkdtemp(prefix="burnc-board-"))
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.firmware = build(folder)
        self.last_report: RunReport | None = None
        self._layer_count = layer_count
        self._simulator: SimulatedRp2040 | None = None
        self._client: Client | None = None

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """One inference; outputs and kept values by name.

        Raises:
            SimulationError: the firmware faulted or fell silent. ProtocolError: it answered nonsense.
        """
        return self.measured_run(inputs).outputs

    def reset(self) -> None:
        """Clear the model's state; one that has not started yet starts with a clear one."""
        if self._client is not None:
            self._client.reset_state()

    def measured_run(self, inputs: Mapping[str, Array], *, measure_stack: bool = False) -> BoardRun:
        """One inference with cycles, and the stack where asked for."""
        arrays = check_inputs(self.graph, inputs)
        client = self._connect()
        for index, value in enumerate(self.graph.inputs):
            client.write_input(index, np.ascontiguousarray(arrays[value.name]).tobytes())
        report = client.run(profile=True, measure_stack=measure_stack)
        if report.status != 0:
            raise BurncError(f"the model on the board returned status {report.status}", where=self.board.name)
        outputs = {}
        for index, value in enumerate(self.graph.outputs):
            flat = np.frombuffer(client.read_output(index), value.type.dtype.numpy)
            outputs[value.name] = flat.reshape(value.type.shape).copy()
        self.last_report = report
        return BoardRun(outputs, report)

    def close(self) -> None:
        """End the emulator; the next run would start it anew."""
        if self._simulator is not None:
            self._simulator.close()
        self._simulator = self._client = None

    def _connect(self) -> Client:
        if self._client is None:
            self._simulator = open_simulator(self.board, self.firmware.elf)
            weakref.finalize(self, self._simulator.close)
            client = self._simulator.client()
            hello = client.hello()
            if hello.layer_count != self._layer_count:
                raise SimulationError("the firmware serves another model", where=hello.model)
            self._client = client
        return self._client
