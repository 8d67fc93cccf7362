"""What every emulated board offers, whichever emulator runs it."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Protocol, Self

from burnc.protocol.client import Client

CostUnit = Literal["cycles", "instructions"]


@dataclass(frozen=True)
class SimulatedFault:
    """What ended a run: an access or instruction that the chip answers with a fault, or with nonsense.

    Attributes:
        kind: one or two words, for example ``unaligned-load`` (those of the RP2040 stand in ``rp2040/faults.mjs``).
        address: the address concerned; 0 where the core does not tell.
        pc, lr: program counter of the instruction and link register.
    """

    kind: str
    detail: str
    address: int
    core: int
    pc: int
    lr: int
    sp: int
    registers: tuple[int, ...]


class Simulator(Protocol):
    """Firmware on an emulated board: a ``Transport`` over its UART, as a context manager that ends the emulator.

    ``unit`` is what the emulator counts: cycles, or instructions where it knows nothing of time.
    """

    unit: CostUnit

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    @property
    def process_id(self) -> int:
        """Of the emulator's process."""

    @property
    def fault(self) -> SimulatedFault | None:
        """What ended the run, if a fault did."""

    def client(self) -> Client:
        """A protocol client on this board."""

    def write(self, data: bytes) -> None:
        """Sends bytes to the firmware's UART.

        Raises:
            SimulationError: the run has ended.
        """

    def read(self, max_bytes: int, timeout_s: float) -> bytes:
        """What the firmware has sent; empty when nothing came within ``timeout_s`` seconds.

        Raises:
            SimulationError: the run has ended, or the firmware has been silent for too long.
        """

    def layer_counts(self) -> tuple[int, ...] | None:
        """What the emulator counted for each layer of the last profiled run; None where the firmware counts."""

    def close(self) -> None:
        """Ends the emulator. May be called twice."""
