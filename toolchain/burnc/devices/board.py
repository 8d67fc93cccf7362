"""The ``board`` backend: a graph as firmware on an emulated board."""

from __future__ import annotations

from collections.abc import Sequence

from burnc.backends.protocol import Backend, Support
from burnc.boards import Board, load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.program import Program
from burnc.codegen.rendered import has_kernel
from burnc.devices.emulated_model import EmulatedModel
from burnc.devices.model_firmware import build_serving_firmware
from burnc.ir import Graph, Node, Value, with_outputs


class BoardBackend(Backend):
    """Runs graphs as firmware on the board's emulator.

    Args:
        board: one that burnc can emulate, or its key or alias.
        cores: how many share a run.
        max_ram: bytes of RAM that a model may take (LowerOptions).
    """

    name = "board"
    keeps_state = True

    def __init__(
        self,
        board: str | Board = "pico",
        *,
        optimize: str = "balanced",
        profile: bool = True,
        ram_budget: int | None = None,
        cores: int = 1,
        max_ram: int | None = None,
    ) -> None:
        self.board = load_board(board) if isinstance(board, str) else board
        self.name = self.board.key
        self._optimize = optimize
        self._profile = profile
        self._ram_budget = ram_budget
        self._cores = cores
        self._max_ram = max_ram

    def supports(self, node: Node) -> Support:
        return has_kernel(node)

    def compile(self, graph: Graph, keep: Sequence[Value] = ()) -> BoardExecutable:
        """Build the firmware; the emulator starts with the first run.

        Raises:
            UnsupportedError: an operator has no kernel.
            BoardError, CompileError, DoesNotFitError, ToolMissingError: the firmware cannot be built.
        """
        self.require_support(graph)
        tapped = with_outputs(graph, keep)
        options = LowerOptions(
            graph.name, optimize=self._optimize, ram_budget=self._ram_budget, cores=self._cores, max_ram=self._max_ram
        )
        program = lower(tapped, self.board, options)
        return BoardExecutable(self.board, tapped, program, self._profile)


class BoardExecutable(EmulatedModel):
    """Firmware of a lowered graph on its emulated board."""

    def __init__(self, board: Board, graph: Graph, program: Program, profile: bool) -> None:
        self.program = program
        super().__init__(
            board, graph, len(program.steps), lambda folder: build_serving_firmware(program, folder, profile=profile)
        )
