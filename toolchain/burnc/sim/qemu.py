"""Firmware on a machine that QEMU emulates: strict about accesses, exact in instructions, without a notion of time."""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from burnc.compilers.elf import Elf, read_elf
from burnc.errors import BoardError, InputError, SimulationError, ToolMissingError
from burnc.protocol.client import Client
from burnc.sim.qemu_plugin import obtain_plugin
from burnc.sim.simulator import CostUnit, SimulatedFault
from burnc.sim.symbols import describe_address

# What boards/support/burnc_fault.c sends.
_FAULT_BEGINS = b"\0burnc fault pc="
_FAULT = re.compile(rb"burnc fault pc=([0-9a-f]{8}) lr=([0-9a-f]{8}) cause=([0-9a-f]{8}) address=([0-9a-f]{8})\n")
_WORD = struct.Struct("=Q")
_TAIL_BYTES = 200
_CHUNK_BYTES = 65536
_COUNTS_TIMEOUT_S = 10.0
_PATIENCE_S = 5.0
_POLL_S = 0.001


@dataclass(frozen=True)
class QemuMachine:
    """How QEMU is started for a board: the program (``qemu-system-arm``) and its arguments, ``-machine`` among them."""

    program: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class _Answer:
    """The plug-in's: see ``qemu_plugin/instructions.c``."""

    listening: bool
    total: int
    layers: tuple[int, ...]


class SimulatedQemu:
    """A board on QEMU, in a process of its own that ends with the ``with`` block, or with the process that started it.

    It is a ``Transport``: ``write`` feeds the first UART and ``read`` takes what it sent.

    Args:
        firmware: an ELF file.
        silence_limit_s: seconds of wall-clock time the firmware may take to answer what was written.

    Raises:
        InputError: there is no such firmware file.
        ToolMissingError: QEMU, or the compiler for its plug-in, is missing.
        CompileError: the firmware is no ELF file, or the plug-in does not compile.
    """

    unit: CostUnit = "instructions"

    def __init__(self, firmware: Path, machine: QemuMachine, *, silence_limit_s: float = 60.0) -> None:
        if not firmware.is_file():
            raise InputError("there is no firmware to simulate", where=str(firmware))
        self._firmware = firmware
        self._silence_limit_s = silence_limit_s
        self._received = bytearray()
        self._tail = self._delivered_last = b""
        self._fault: SimulatedFault | None = None
        self._ended = False
        self._waiting_since: float | None = None
        program = find_qemu(machine.program)
        plugin, marks = obtain_plugin(), marked_functions(read_elf(firmware))
        self._listens_marked = {"listen", "speak"} <= marks.keys()
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  closed by close()
        self._control, theirs = socket.socketpair()
        with theirs:
            arguments = [f"{plugin}", f"control={theirs.fileno()}", *(f"{k}=0x{v:x}" for k, v in marks.items())]
            command = [
                str(program), *machine.arguments, "-kernel", str(firmware), "-nodefaults", "-display", "none",
                "-chardev", "stdio,id=uart,signal=off", "-serial", "chardev:uart", "-plugin", ",".join(arguments),
            ]  # fmt: skip
            self._process = subprocess.Popen(
                command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._complaints,
                pass_fds=[theirs.fileno()],
            )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        os.set_blocking(self._stdin.fileno(), False)
        self._control.settimeout(_COUNTS_TIMEOUT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def process_id(self) -> int:
        """Of QEMU."""
        return self._process.pid

    @property
    def fault(self) -> SimulatedFault | None:
        """What ended the run, if a fault did."""
        return self._fault

    def client(self) -> Client:
        """A protocol client on this board. It never repeats a request: nothing is lost on this line."""
        patience = 2 * self._silence_limit_s + _PATIENCE_S
        return Client(self, reply_timeout_s=patience, run_timeout_s=patience, attempts=1)

    def write(self, data: bytes) -> None:
        """Sends bytes to the firmware's UART; waits while the pipe is full.

        Raises:
            SimulationError: the run has ended, or the firmware takes nothing for ``silence_limit_s``.
        """
        if self._waiting_since is None:
            self._waiting_since = time.monotonic()
        deadline = time.monotonic() + self._silence_limit_s
        self._wait_until_it_listens(deadline)
        left = memoryview(data)
        while left:
            if self._fault is not None or self._ended:
                raise self._end_error()
            readable, writable, _ = select.select(
                [self._stdout], [self._stdin], [], max(0.0, deadline - time.monotonic())
            )
            if readable:
                self._take()
            if writable:
                try:
                    left = left[os.write(self._stdin.fileno(), left[:_CHUNK_BYTES]) :]
                except OSError as error:
                    self._ended = True
                    raise self._end_error() from error
            if not readable and not writable:
                raise self._silence_error()

    def read(self, max_bytes: int, timeout_s: float) -> bytes:
        """What the firmware has sent, at most ``max_bytes``; empty when nothing came within ``timeout_s`` seconds.

        Raises:
            SimulationError: the run has ended and all it sent was read, or the firmware has been silent for
                longer than ``silence_limit_s`` since it was last written to; then the run is ended.
        """
        now = time.monotonic()
        if self._waiting_since is None:
            self._waiting_since = now
        limit = self._waiting_since + self._silence_limit_s
        deadline = min(now + timeout_s, limit)
        while True:
            if found := self._deliver(max_bytes):
                self._waiting_since = None
                return found
            if self._fault is not None or self._ended:
                raise self._end_error()
            readable, _, _ = select.select([self._stdout], [], [], max(0.0, deadline - time.monotonic()))
            if readable:
                self._take()
            elif time.monotonic() >= limit:
                raise self._silence_error()
            elif time.monotonic() >= deadline:
                return b""

    def layer_counts(self) -> tuple[int, ...]:
        """Instructions of each layer of the last run; empty unless the firmware was compiled with a profile.

        Raises:
            SimulationError: QEMU has ended.
        """
        return self._ask().layers

    def instructions(self) -> int:
        """All instructions since power-on.

        Raises:
            SimulationError: QEMU has ended.
        """
        return self._ask().total

    def close(self) -> None:
        """Ends QEMU. May be called twice."""
        self._process.kill()
        self._process.wait()
        for stream in (self._stdin, self._stdout, self._control, self._complaints):
            stream.close()

    def _take(self) -> None:
        data = os.read(self._stdout.fileno(), _CHUNK_BYTES)
        if not data:
            self._ended = True
            return
        self._received += data
        seen = self._tail + data
        self._tail = seen[-_TAIL_BYTES:]
        report = _FAULT.search(seen)
        if report is not None:
            pc, lr, cause, address = (int(word, 16) for word in report.groups())
            self._fault = SimulatedFault("fault", f"cause 0x{cause:x}" if cause else "", address, 0, pc, lr, 0, ())
            self._tail = seen[: report.start()].removesuffix(b"\0")[-_TAIL_BYTES:]

    def _deliver(self, max_bytes: int) -> bytes:
        """Bytes received, up to what is or may become the report of a fault."""
        text = self._delivered_last + self._received
        at = text.rfind(0)
        report = text[at:] if at >= 0 else b""
        is_report = report.startswith(_FAULT_BEGINS) or (len(report) > 1 and _FAULT_BEGINS.startswith(report))
        end = at if is_report else len(text)
        found = bytes(self._received[: min(max_bytes, end - len(self._delivered_last))]) if end else b""
        del self._received[: len(found)]
        self._delivered_last = found[-1:] or self._delivered_last
        return found

    def _wait_until_it_listens(self, deadline: float) -> None:
        """Bytes that come before the UART is set up are lost, and so are those that meet a reset."""
        while self._listens_marked and not self._ask().listening:
            readable, _, _ = select.select([self._stdout], [], [], _POLL_S)
            if readable:
                self._take()
            if self._fault is not None or self._ended:
                raise self._end_error()
            if time.monotonic() >= deadline:
                raise self._silence_error()

    def _ask(self) -> _Answer:
        try:
            self._control.sendall(b"?")
            listening, total, count = (self._word() for _ in range(3))
            return _Answer(bool(listening), total, tuple(self._word() for _ in range(count)))
        except OSError as error:
            self._ended = True
            raise self._end_error() from error

    def _word(self) -> int:
        data = b""
        while len(data) < _WORD.size:
            part = self._control.recv(_WORD.size - len(data))
            if not part:
                raise ConnectionResetError
            data += part
        return int(_WORD.unpack(data)[0])

    def _end_error(self) -> SimulationError:
        """Why nothing more can come from this board."""
        text = self._tail.decode("ascii", errors="replace")
        words = f"its last UART output was {text!r}" if text else "it has sent nothing on its UART"
        fault = self._fault
        if fault is not None:
            at = f" at 0x{fault.address:08x}" if fault.address else ""
            detail = f" ({fault.detail})" if fault.detail else ""
            places = [describe_address(self._firmware, place & ~1) for place in (fault.pc, fault.lr)]
            where = f"at {places[0]}, called from {places[1]}"
            return SimulationError(f"the firmware faulted{at}{detail}", where=where, hint=words)
        complaint = b""
        with contextlib.suppress(ValueError):  # close() was called
            self._complaints.seek(0)
            complaint = self._complaints.read(4096)
        said = complaint.decode("utf-8", errors="replace").strip()
        return SimulationError("the emulator has ended by itself", where=said or str(self._firmware), hint=words)

    def _silence_error(self) -> SimulationError:
        """Ends the firmware that was given up."""
        try:
            executed = f"{self.instructions()} instructions since power-on"
        except SimulationError as error:
            return error
        words = self._end_error().hint
        self.close()
        self._ended = True
        return SimulationError(
            f"the firmware has not answered within {self._silence_limit_s:g} s", where=executed, hint=words
        )


def find_qemu(program: str) -> Path:
    """The QEMU program of that name.

    Raises:
        ToolMissingError: it is not on PATH.
    """
    found = shutil.which(program)
    if found is None:
        raise ToolMissingError(
            f"the emulator {program} was not found",
            hint="install QEMU (Debian: apt-get install qemu-system-arm qemu-system-misc)",
        )
    return Path(found)


def marked_functions(elf: Elf) -> dict[str, int]:
    """The plug-in's arguments: addresses of the functions that tell it what the firmware is doing.

    Generated C that is compiled with ``<M>_PROFILE`` calls ``<m>_on_layer`` after each layer of ``<m>_run``.
    """
    suffix = "_on_layer"
    hooks = [s.name for s in elf.symbols if s.kind == "function" and s.name.endswith(suffix)]
    names = {"listen": "burnc_port_getc", "speak": "burnc_port_putc"}
    if len(hooks) == 1:
        names |= {"begin": f"{hooks[0].removesuffix(suffix)}_run", "mark": hooks[0]}
    found = {role: elf.symbol(name) for role, name in names.items()}
    return {role: symbol.address & ~1 for role, symbol in found.items() if symbol is not None}


def read_machine(options: Mapping[str, object], where: str) -> QemuMachine:
    """The machine that a board's ``[sim]`` table describes by ``program`` and ``arguments``.

    Raises:
        BoardError: the table does not say it properly.
    """
    table = dict(options)
    program, arguments = table.pop("program", None), table.pop("arguments", [])
    if not isinstance(program, str) or not re.fullmatch(r"qemu-system-\w+", program):
        raise BoardError(f"sim.program must name a qemu-system program, not {program!r}", where=where)
    if not isinstance(arguments, list) or not all(isinstance(a, str) for a in arguments):
        raise BoardError("sim.arguments must be a list of texts", where=where)
    if table:
        raise BoardError(f"sim.{next(iter(table))} is not known to the emulator qemu", where=where)
    return QemuMachine(program, tuple(arguments))
