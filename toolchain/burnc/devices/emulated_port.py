"""An emulated board behind a serial port: burnc's bootloader in its flash, its UART a pseudo-terminal.

Whatever flashes and drives a real board does the same with this one.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from burnc.boards import Board
from burnc.compilers.bootloader import build_bootloader
from burnc.sim.pty_port import PtyPort
from burnc.sim.simulated_board import open_simulator


@contextmanager
def emulated_port(
    board: Board, flash_file: Path | None = None, *, power_fails_at: float | None = None
) -> Iterator[str]:
    """Switch an emulated board on; it goes off with the block. Gives the path of its serial port.

    Args:
        flash_file: where its flash is kept, so that it can be switched on again; a new board for one time if None.
        power_fails_at: 3.25 switches it off when a quarter of the third flash operation is done.

    Raises:
        BoardError: the board has no bootloader or no emulator.
        CompileError, ToolMissingError: the bootloader cannot be built, or the emulator not be started.
    """
    with tempfile.TemporaryDirectory(prefix="burnc-port-") as folder:
        firmware = build_bootloader(board, Path(folder))
        simulator = open_simulator(
            board, firmware.elf, silence_limit_s=math.inf, flash_file=flash_file, power_fails_at=power_fails_at
        )
        with PtyPort(simulator) as port:
            yield port.path
