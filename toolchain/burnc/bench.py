"""The suite ``mcu``: networks on every emulated board, what each costs there and whether its outputs are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnc.boards import Board, all_boards, load_board
from burnc.errors import BoardError, DoesNotFitError, ToolMissingError
from burnc.model import Model
from burnc.reports import Report
from burnc.tflite_micro import equals_tflite_micro

RUNS = 2
MODES = ("size", "balanced", "speed")


@dataclass(frozen=True)
class BenchRow:
    """One network on one board, optimized for one thing.

    ``unit``: what ``cycles`` are, as in SimulateReport. ``right``: as the numpy reference, floats within its tolerance;
    a ``.tflite`` file's one output of integers also as TensorFlow Lite Micro's, where its package is installed and
    takes the model. ``bit_exact``: right, and without floats, so that right means equal. ``why``: it could not be run;
    figures are None then.
    """

    model: str
    board: str
    optimize: str
    unit: str | None = None
    cycles: int | None = None
    cycles_with_flash_cache: int | None = None
    flash_bytes: int | None = None
    ram_bytes: int | None = None
    arena_bytes: int | None = None
    stack_bytes: int | None = None
    bit_exact: bool | None = None
    right: bool | None = None
    why: str = ""


@dataclass(frozen=True)
class BenchReport(Report):
    """All rows of a suite."""

    suite: str
    rows: list[BenchRow]

    @property
    def ok(self) -> bool:
        """Whether everything that ran is right."""
        return all(row.right is not False for row in self.rows)


def mcu_suite(path: Path, model: Model, boards: Sequence[Board] = ()) -> Iterator[BenchRow]:
    """Run a network on the boards, by default on all that can be emulated.

    Args:
        path: the file that the model was read from.

    A board whose emulator or compiler is missing, or that is too small, gets one row that says so. A Cortex-M0+ is
    built for each thing that can be optimized for, other cores for ``balanced``.
    """
    for board in boards or [b for b in all_boards() if b.sim_engine is not None]:
        for mode in MODES if board.cpu.core == "cortex-m0plus" else ("balanced",):
            try:
                yield _measured(path, model, board, mode)
            except (ToolMissingError, DoesNotFitError) as error:
                yield BenchRow(model.name, board.key, mode, why=str(error).partition("\n")[0])
                break


def _measured(path: Path, model: Model, board: Board, mode: str) -> BenchRow:
    inputs = model.inputs(RUNS)
    run = model.simulate(board.key, inputs, optimize=mode)
    right = bool(run.matches_reference)
    has_floats = any(value.type.dtype.numpy.kind == "f" for value in model.graph.outputs)
    can_ask = path.suffix == ".tflite" and len(model.graph.outputs) == 1 and not model.graph.states
    if right and can_ask and not has_floats:
        right = equals_tflite_micro(path, inputs, run.outputs) is not False
    return BenchRow(
        model.name,
        board.key,
        mode,
        run.unit,
        run.cycles,
        run.cycles_with_flash_cache,
        run.flash_bytes,
        run.ram_bytes,
        run.arena_bytes,
        run.stack_bytes,
        right and not has_floats,
        right,
    )


def boards_named(names: Sequence[str]) -> list[Board]:
    """The boards of these keys or aliases.

    Raises:
        BoardError: there is none of that name, or it cannot be emulated.
    """
    found = [load_board(name) for name in names]
    for board in found:
        if board.sim_engine is None:
            raise BoardError(f"the board {board.key!r} cannot be emulated", hint="`burnc boards` names those that can")
    return found
