"""The ``board`` backend: a graph as firmware on an emulated board."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from burnc.backends.protocol import SUPPORTED, Backend, Support, check_inputs
from burnc.boards import Board, load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.program import Program
from burnc.codegen.rendered import build_kernel
from burnc.compilers.firmware import Firmware
from burnc.devices.model_firmware import build_serving_firmware
from burnc.errors import BurncError, GraphError, SimulationError
from burnc.ir import Array, Graph, Node, Value, with_outputs
from burnc.protocol.client import Client
from burnc.protocol.messages import RunReport
from burnc.sim.simulated_board import SimulatedRp2040, open_simulator


@dataclass(frozen=True)
class BoardRun:
    """Outputs by name, and what the board says of the run."""

    outputs: dict[str, Array]
    report: RunReport


class BoardBackend(Backend):
    """Runs graphs as firmware on the board's emulator.

    Args:
        board: key or alias of a board that burnc can emulate.
    """

    name = "board"

    def __init__(self, board: str = "pico", *, optimize: str = "balanced", profile: bool = True) -> None:
        self.board = load_board(board)
        self.name = self.board.key
        self._optimize = optimize
        self._profile = profile

    def supports(self, node: Node) -> Support:
        try:
            build_kernel(node)
        except GraphError as error:
            return Support.no(error.what)
        return SUPPORTED

    def compile(self, graph: Graph, keep: Sequence[Value] = ()) -> BoardExecutable:
        """Build the firmware; the emulator starts with the first run.

        Raises:
            UnsupportedError: an operator has no kernel.
            BoardError, CompileError, DoesNotFitError, ToolMissingError: the firmware cannot be built.
        """
        self.require_support(graph)
        tapped = with_outputs(graph, keep)
        program = lower(tapped, self.board, LowerOptions(name=graph.name, optimize=self._optimize))
        return BoardExecutable(self.board, tapped, program, self._profile)


class BoardExecutable:
    """Firmware and the emulated board it runs on; both go when this is collected or closed."""

    def __init__(self, board: Board, graph: Graph, program: Program, profile: bool) -> None:
        self.program = program
        self._board = board
        self._graph = graph
        folder = Path(tempfile.mkdtemp(prefix="burnc-board-"))
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.firmware: Firmware = build_serving_firmware(program, folder, profile=profile)
        self._simulator: SimulatedRp2040 | None = None
        self._client: Client | None = None

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """One inference; outputs and kept values by name.

        Raises:
            SimulationError: the firmware faulted or fell silent. ProtocolError: it answered nonsense.
        """
        return self.measured_run(inputs).outputs

    def measured_run(self, inputs: Mapping[str, Array], *, measure_stack: bool = False) -> BoardRun:
        """One inference with cycles, and the stack where asked for."""
        arrays = check_inputs(self._graph, inputs)
        client = self._connect()
        for index, value in enumerate(self._graph.inputs):
            client.write_input(index, np.ascontiguousarray(arrays[value.name]).tobytes())
        report = client.run(profile=True, measure_stack=measure_stack)
        if report.status != 0:
            raise BurncError(f"the model on the board returned status {report.status}", where=self._board.name)
        outputs = {}
        for index, value in enumerate(self._graph.outputs):
            flat = np.frombuffer(client.read_output(index), value.type.dtype.numpy)
            outputs[value.name] = flat.reshape(value.type.shape).copy()
        return BoardRun(outputs, report)

    def close(self) -> None:
        """End the emulator; the next run would start it anew."""
        if self._simulator is not None:
            self._simulator.close()
        self._simulator = self._client = None

    def _connect(self) -> Client:
        if self._client is None:
            self._simulator = open_simulator(self._board, self.firmware.elf)
            weakref.finalize(self, self._simulator.close)
            client = self._simulator.client()
            hello = client.hello()
            if hello.layer_count != len(self.program.steps):
                raise SimulationError("the firmware serves another model", where=hello.model)
            self._client = client
        return self._client
