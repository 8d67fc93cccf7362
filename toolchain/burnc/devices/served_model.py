"""A model that firmware serves on a board, emulated or real: written to and read from over the protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from burnc.backends.protocol import check_inputs
from burnc.boards import Board
from burnc.errors import BurncError
from burnc.ir import Array, Graph
from burnc.protocol.client import Client
from burnc.protocol.messages import RunReport
from burnc.sim.simulator import CostUnit


@dataclass(frozen=True)
class BoardRun:
    """Outputs by name, and what the board says of the run."""

    outputs: dict[str, Array]
    report: RunReport


class ServedModel(ABC):
    """Firmware on a board as something that runs; how the board is reached is for the kinds of boards to say.

    ``unit`` is what the reports' cycles are: instructions on an emulator that knows nothing of time.

    Args:
        graph: its inputs and outputs are the firmware's, in the same order.
    """

    unit: CostUnit = "cycles"

    def __init__(self, board: Board, graph: Graph) -> None:
        self.board = board
        self.graph = graph
        self.last_report: RunReport | None = None
        self._client: Client | None = None

    @abstractmethod
    def connect(self) -> Client:
        """Open a session with the firmware, whose state is clear then."""

    @abstractmethod
    def disconnect(self) -> None:
        """End what ``connect`` began."""

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """One inference; outputs and kept values by name.

        Raises:
            SimulationError: the firmware faulted or fell silent. PortError: the port is gone.
            ProtocolError: the firmware answered nonsense.
        """
        return self.measured_run(inputs).outputs

    def reset(self) -> None:
        """Clear the model's state; one that has not started yet starts with a clear one."""
        if self._client is not None:
            self._client.reset_state()

    def measured_run(self, inputs: Mapping[str, Array], *, measure_stack: bool = False) -> BoardRun:
        """One inference with cycles, and the stack where asked for."""
        arrays = check_inputs(self.graph, inputs)
        client = self._session()
        for index, value in enumerate(self.graph.inputs):
            client.write_input(index, np.ascontiguousarray(arrays[value.name]).tobytes())
        report = self.counted(client.run(profile=True, measure_stack=measure_stack))
        if report.status != 0:
            raise BurncError(f"the model on the board returned status {report.status}", where=self.board.name)
        outputs = {}
        for index, value in enumerate(self.graph.outputs):
            flat = np.frombuffer(client.read_output(index), value.type.dtype.numpy)
            outputs[value.name] = flat.reshape(value.type.shape).copy()
        self.last_report = report
        return BoardRun(outputs, report)

    def counted(self, report: RunReport) -> RunReport:
        """The report with better counts than the firmware's own, where the board has them."""
        return report

    def close(self) -> None:
        """End the session; the next run would begin another."""
        self._client = None
        self.disconnect()

    def _session(self) -> Client:
        if self._client is None:
            self._client = self.connect()
        return self._client
