"""An emulated board as a context manager: firmware goes in, the bytes of its UART come and go."""

from __future__ import annotations

import contextlib
import json
import os
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from burnc.boards import Board, Cache
from burnc.errors import BoardError, InputError, SimulationError, ToolMissingError
from burnc.protocol.client import Client
from burnc.sim.nodejs import find_nodejs
from burnc.sim.qemu import SimulatedQemu, read_machine
from burnc.sim.rp2040js_package import obtain_package
from burnc.sim.simulator import CostUnit, SimulatedFault, Simulator
from burnc.sim.symbols import describe_address

_SERVER = Path(__file__).parent / "rp2040" / "server.mjs"
_UART = 0
_CONTROL = 1
_HEADER = struct.Struct("<BI")
_START_LIMIT_S = 60.0
_EXIT_GRACE_S = 5.0
_STATISTICS_TIMEOUT_S = 10.0
_TAIL_BYTES = 200


@dataclass(frozen=True)
class SimulationStatistics:
    """Counts since power-on; those of each core in order of core number.

    Attributes:
        nanoseconds: simulated time.
        flash_misses: misses of the flash cache; 0 when none is modelled.
    """

    instructions: tuple[int, ...]
    cycles: tuple[int, ...]
    nanoseconds: float
    clock_hz: int
    resets: int
    flash_operations: int
    flash_misses: int
    pc: tuple[int, ...]
    lr: tuple[int, ...]


class SimulatedRp2040:
    """A Raspberry Pi Pico on rp2040js in a Node.js process of its own, which ends with the ``with`` block.

    It is a ``Transport``: ``write`` feeds UART0 and ``read`` takes what it sent.

    Args:
        firmware: ELF, UF2 or flash image.
        node: the Node.js executable; searched for when not given.
        package: folder of the npm package rp2040js; obtained when not given.
        flash_bytes: size of the board's flash.
        flash_cache: models the cost of running from flash; without it every access takes no extra time.
        silence_limit_s: seconds of wall-clock time the firmware may take to answer what was written.
        flash_file: keeps the flash, which then outlives this object: the file is taken up where it is there, else
            begun with ``firmware``. Every change reaches it at once.
        guards: (first, end) addresses in RAM; a load or store that touches one is a fault (for tests), once the
            host has written something.
        power_fails_at: 3.25 makes the power fail when a quarter of the third flash operation is done (for tests).

    Raises:
        InputError: there is no such firmware file.
        ToolMissingError: Node.js or the package is missing.
    """

    unit: CostUnit = "cycles"

    def __init__(
        self,
        firmware: Path,
        *,
        node: Path | None = None,
        package: Path | None = None,
        flash_bytes: int = 2 * 1024 * 1024,
        flash_cache: Cache | None = None,
        silence_limit_s: float = 60.0,
        flash_file: Path | None = None,
        power_fails_at: float | None = None,
        guards: Sequence[tuple[int, int]] = (),
    ) -> None:
        if not firmware.is_file():
            raise InputError("there is no firmware to simulate", where=str(firmware))
        self._firmware = firmware
        self._silence_limit_s = silence_limit_s
        settings = {
            "image": str(firmware.resolve()),
            "flashBytes": flash_bytes,
            "flashFile": None if flash_file is None else str(flash_file.resolve()),
            "flashCache": None if flash_cache is None else asdict(flash_cache),
            "powerFailsAt": power_fails_at,
            "guards": list(guards),
        }
        command = [str(node or find_nodejs().node), str(_SERVER), json.dumps(settings)]
        environment = {**os.environ, "BURNC_RP2040JS": str(package or obtain_package())}
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  closed by close()
        try:
            self._process = subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._complaints
            )
        except OSError as error:
            self._complaints.close()
            raise ToolMissingError(f"Node.js does not start: {error.strerror}", where=command[0]) from error
        self._news = threading.Condition()
        self._received = bytearray()
        self._tail = b""
        self._stopped: dict[str, Any] | None = None
        self._statistics: dict[int, dict[str, Any]] = {}
        self._statistics_asked = 0
        self._ready = False
        self._ended = False
        self._waiting_since: float | None = None
        self._fault: SimulatedFault | None = None
        self.warnings: list[str] = []
        self.resets: list[str] = []
        self._listener = threading.Thread(target=self._listen, name="simulated-board", daemon=True)
        self._listener.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def process_id(self) -> int:
        """Of the Node.js process."""
        return self._process.pid

    @property
    def fault(self) -> SimulatedFault | None:
        """What ended the run, if a fault did."""
        return self._fault

    @property
    def exit_status(self) -> int | None:
        """The status with which the firmware ended itself by semihosting (SYS_EXIT); None while it runs."""
        stopped = self._stopped
        return int(stopped["status"]) if stopped is not None and stopped["reason"] == "exit" else None

    def layer_counts(self) -> None:
        """None: the firmware's own cycle counter is exact."""

    def client(self) -> Client:
        """A protocol client on this board. It never repeats a request: nothing is lost on this line."""
        patience = 2 * self._silence_limit_s + _EXIT_GRACE_S
        return Client(self, reply_timeout_s=patience, run_timeout_s=patience, attempts=1)

    def write(self, data: bytes) -> None:
        """Sends bytes to the firmware's UART.

        Raises:
            SimulationError: the run has ended.
        """
        if self._stopped is not None or self._ended:
            raise self._end_error()
        if self._waiting_since is None:
            self._waiting_since = time.monotonic()
        self._send(_UART, data)

    def read(self, max_bytes: int, timeout_s: float) -> bytes:
        """What the firmware has sent, at most ``max_bytes``; empty when nothing came within ``timeout_s`` seconds.

        Raises:
            SimulationError: the run has ended and all it sent was read, or the firmware has been silent for
                longer than ``silence_limit_s`` since it was last written to; then the run is ended.
        """
        with self._news:
            if not self._ready:  # the time that Node.js takes to start is not the firmware's
                self._wait_until(lambda: self._ready or self._over, time.monotonic() + _START_LIMIT_S)
                self._waiting_since = None
            deadline = time.monotonic() + timeout_s
            if self._waiting_since is None:
                self._waiting_since = time.monotonic()
            limit = self._waiting_since + self._silence_limit_s
            self._wait_until(lambda: bool(self._received) or self._over, min(deadline, limit))
            if self._received:
                data = bytes(self._received[:max_bytes])
                del self._received[:max_bytes]
                self._waiting_since = None
                return data
            if self._over:
                raise self._end_error()
        if time.monotonic() >= limit:
            raise self._silence_error(self._silence_limit_s)
        return b""

    def wait_until_stopped(self, timeout_s: float) -> None:
        """Waits for the firmware to end itself, or for a fault; see ``fault`` and ``exit_status``.

        Raises:
            SimulationError: it is still running after ``timeout_s`` seconds, or the emulator has failed.
        """
        with self._news:
            over = self._wait_until(lambda: self._over, time.monotonic() + timeout_s)
        if not over:
            raise self._silence_error(timeout_s)
        if self._stopped is None:
            raise self._end_error()

    def statistics(self) -> SimulationStatistics:
        """Counts up to now; also after the run has ended, until ``close``.

        Raises:
            SimulationError: the emulator has failed.
        """
        self._statistics_asked += 1
        number = self._statistics_asked
        self._send(_CONTROL, json.dumps({"command": "statistics", "id": number}).encode())
        with self._news:
            deadline = time.monotonic() + _STATISTICS_TIMEOUT_S
            self._wait_until(lambda: number in self._statistics or self._ended, deadline)
            found = self._statistics.pop(number, None)
        if found is None:
            raise self._end_error()
        return SimulationStatistics(
            instructions=tuple(found["instructions"]),
            cycles=tuple(found["cycles"]),
            nanoseconds=found["nanoseconds"],
            clock_hz=found["clock_hz"],
            resets=found["resets"],
            flash_operations=found["flash_operations"],
            flash_misses=found["flash_misses"],
            pc=tuple(found["pc"]),
            lr=tuple(found["lr"]),
        )

    def close(self) -> None:
        """Ends the emulator. May be called twice."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        with contextlib.suppress(OSError):
            stdin.close()  # the server ends when its parent hangs up
        self._listener.join(_EXIT_GRACE_S)  # ends with the process; unlike wait(timeout) this does not poll
        if self._listener.is_alive():
            self._process.kill()
        self._process.wait()
        self._listener.join()
        stdout.close()
        self._complaints.close()

    @property
    def _over(self) -> bool:
        return self._stopped is not None or self._ended

    def _wait_until(self, happened: Callable[[], bool], deadline: float) -> bool:
        """Waits, with the lock held, until ``happened`` or the deadline; says whether it did."""
        return self._news.wait_for(happened, max(0.0, deadline - time.monotonic()))

    def _send(self, channel: int, payload: bytes) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(_HEADER.pack(channel, len(payload)) + payload)
            stdin.flush()
        except (OSError, ValueError) as error:  # it is gone, or close() was called
            raise self._end_error() from error

    def _listen(self) -> None:
        """Sorts what the server sends; runs in a thread of its own until the server ends."""
        stdout = self._process.stdout
        assert stdout is not None
        while len(header := stdout.read(_HEADER.size)) == _HEADER.size:
            channel, length = _HEADER.unpack(header)
            payload = stdout.read(length)
            with self._news:
                if channel == _UART:
                    self._received += payload
                    self._tail = (self._tail + payload)[-_TAIL_BYTES:]
                else:
                    self._take_event(json.loads(payload))
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _take_event(self, event: dict[str, Any]) -> None:
        match event["event"]:
            case "ready":
                self._ready = True
            case "statistics":
                self._statistics[event["id"]] = event
            case "warning":
                self.warnings.append(event["text"])
            case "reset":
                self.resets.append(event["cause"])
            case "stopped":
                self._stopped = event
                if event["reason"] == "fault":
                    report = event["fault"]
                    self._fault = SimulatedFault(
                        kind=report["kind"],
                        detail=report["detail"],
                        address=report["address"],
                        core=report["core"],
                        pc=report["pc"],
                        lr=report["lr"],
                        sp=report["sp"],
                        registers=tuple(report["registers"]),
                    )

    def _place(self, address: int) -> str:
        return describe_address(self._firmware, address)

    def _last_words(self) -> str:
        text = self._tail.decode("ascii", errors="replace")
        return f"its last UART output was {text!r}" if text else "it has sent nothing on its UART"

    def _end_error(self) -> SimulationError:
        """Why nothing more can come from this board."""
        fault, stopped = self._fault, self._stopped
        if fault is not None:
            detail = f" ({fault.detail})" if fault.detail else ""
            return SimulationError(
                f"the firmware faulted: {fault.kind} at 0x{fault.address:08x}{detail}",
                where=f"core {fault.core} at {self._place(fault.pc)}, called from {self._place(fault.lr)}",
                hint=self._last_words(),
            )
        if stopped is not None:
            return SimulationError(
                f"the firmware has ended: {stopped['reason']}",
                where=stopped.get("detail", str(self._firmware)),
                hint=self._last_words(),
            )
        if self._process.poll() is None and not self._ended:
            return SimulationError("the emulator does not answer", where=str(self._firmware))
        complaint = b""
        with contextlib.suppress(ValueError):  # close() closes it, perhaps in another thread
            self._complaints.seek(0)
            complaint = self._complaints.read()
        return SimulationError(
            "the emulator has ended by itself",
            where=complaint.decode("utf-8", errors="replace").strip() or str(self._firmware),
            hint="Node.js 18 or newer is needed",
        )

    def _silence_error(self, seconds: float) -> SimulationError:
        """Says what the firmware was doing when it was given up, and ends it."""
        try:
            now = self.statistics()
        except SimulationError as error:
            return error
        cores = "; ".join(
            f"core {i}: {now.instructions[i]} instructions, at {self._place(now.pc[i])}, from {self._place(now.lr[i])}"
            for i in range(len(now.pc))
            if now.instructions[i]
        )
        words = self._last_words()
        self.close()
        return SimulationError(f"the firmware has not answered within {seconds:g} s", where=cores, hint=words)


@dataclass(frozen=True)
class _Wishes:
    """What ``open_simulator`` was asked for beside board and firmware."""

    with_flash_cache: bool
    silence_limit_s: float
    flash_file: Path | None
    power_fails_at: float | None
    guards: Sequence[tuple[int, int]]


def _open_rp2040js(board: Board, firmware: Path, wishes: _Wishes) -> Simulator:
    flash = board.first_memory("flash")
    if flash is None or (wishes.with_flash_cache and flash.cache is None):
        raise BoardError(f"the file of the board {board.key!r} describes no {'flash cache' if flash else 'flash'}")
    return SimulatedRp2040(
        firmware,
        flash_bytes=flash.size,
        flash_cache=flash.cache if wishes.with_flash_cache else None,
        silence_limit_s=wishes.silence_limit_s,
        flash_file=wishes.flash_file,
        power_fails_at=wishes.power_fails_at,
        guards=wishes.guards,
    )


def _open_qemu(board: Board, firmware: Path, wishes: _Wishes) -> Simulator:
    if wishes.with_flash_cache or wishes.flash_file is not None or wishes.power_fails_at is not None or wishes.guards:
        raise BoardError(
            "the emulator qemu has no flash of its own (no cache, no file) and no guards", where=f"board {board.key}"
        )
    machine = read_machine(board.sim_options, f"board {board.key}")
    return SimulatedQemu(firmware, machine, silence_limit_s=wishes.silence_limit_s)


_ENGINES: Mapping[str, Callable[[Board, Path, _Wishes], Simulator]] = {
    "qemu": _open_qemu,
    "rp2040js": _open_rp2040js,
}


def open_simulator(
    board: Board,
    firmware: Path,
    *,
    with_flash_cache: bool = False,
    silence_limit_s: float = 60.0,
    flash_file: Path | None = None,
    power_fails_at: float | None = None,
    guards: Sequence[tuple[int, int]] = (),
) -> Simulator:
    """Starts ``firmware`` on the emulator that the board names.

    Args:
        with_flash_cache: charge the cycles of the board's flash cache, instead of none, for reading flash.
        silence_limit_s, flash_file, power_fails_at, guards: as ``SimulatedRp2040``.

    Raises:
        BoardError: burnc has no emulator for the board, or its file or emulator lacks what was asked for.
        InputError, ToolMissingError, CompileError: as ``SimulatedRp2040`` and ``SimulatedQemu``.
    """
    open_it = _ENGINES.get(board.sim_engine or "")
    if open_it is None:
        raise BoardError(
            f"burnc cannot emulate the board {board.key!r}",
            where=f"sim.engine: {board.sim_engine or 'none'}",
            hint=f"there are emulators for: {', '.join(sorted(_ENGINES))}",
        )
    wishes = _Wishes(with_flash_cache, silence_limit_s, flash_file, power_fails_at, guards)
    return open_it(board, firmware, wishes)
