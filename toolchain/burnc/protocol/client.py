"""The host's side of the protocol: asks, repeats what was lost, and turns replies into objects."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from burnc.errors import InputError, ProtocolError
from burnc.protocol.exchange import Exchange, RefusedError
from burnc.protocol.messages import (
    PROTOCOL_VERSION,
    RUN_WITH_PROFILE,
    RUN_WITH_STACK,
    Body,
    ErrorCode,
    Hello,
    Request,
    RunReport,
    TensorInfo,
)
from burnc.protocol.transport import Transport
from burnc.version import VERSION

_WRITE_LAYOUT = "<HI"
_RUN_LAYOUT = "iQII"

_EXPLAINED: Mapping[int, tuple[str, str]] = {
    ErrorCode.NO_SESSION: (
        "the board has restarted before it could answer {request}",
        "start again; if it restarts each time, look at its power supply and its stack",
    ),
    ErrorCode.NO_BOOTLOADER: (
        "the program on the board was not started by burnc's bootloader, so it cannot go back there",
        "put the bootloader onto the board once: docs/flashing.md",
    ),
    ErrorCode.IN_BOOTLOADER: (
        "the board is in its bootloader and holds no application that could answer",
        "flash the model: `burnc flash MODEL --board B --port P`",
    ),
}


class Client:
    """Speaks to the harness firmware on a board.

    Args:
        line: the line to the board, or an exchange on it that others use too.
        reply_timeout_s: seconds to wait for the reply to anything but a run before asking again.
        run_timeout_s: seconds to wait for a run before asking again.
        attempts: how often a request is sent before giving up. With an exchange, that one's settings count.

    Every method raises ProtocolError when the board does not answer, answers nonsense or refuses.
    """

    def __init__(
        self,
        line: Transport | Exchange,
        *,
        reply_timeout_s: float = 1.0,
        run_timeout_s: float = 60.0,
        attempts: int = 4,
    ) -> None:
        self._exchange = (
            line if isinstance(line, Exchange) else Exchange(line, reply_timeout_s=reply_timeout_s, attempts=attempts)
        )
        self._run_timeout_s = run_timeout_s
        self._hello: Hello | None = None

    def hello(self) -> Hello:
        """Opens the session and tells what is on the board.

        Raises:
            ProtocolError: also when the firmware speaks another version of the protocol; it names both.
        """
        self._exchange.end_noise()
        body = self._ask(Request.HELLO, struct.pack("<H", PROTOCOL_VERSION))
        try:
            hello = self._read_hello(body)
        except ValueError as error:
            raise self._nonsense(Request.HELLO) from error
        self._hello = hello
        return hello

    def write_input(self, index: int, data: bytes) -> None:
        """Fills input ``index``. A run destroys its inputs, so write all of them before each run.

        Raises:
            InputError: there is no such input, or ``data`` has not exactly its size.
        """
        hello = self._session()
        tensor = _pick(hello.inputs, index, "input")
        if len(data) != tensor.bytes:
            raise InputError(
                f"input {tensor.name!r} takes {tensor.bytes} bytes, not {len(data)}", where=f"model {hello.model}"
            )
        for offset in range(0, len(data), hello.max_payload):
            piece = data[offset : offset + hello.max_payload]
            self._ask(Request.WRITE_INPUT, struct.pack(_WRITE_LAYOUT, index, offset) + piece)

    def run(self, *, profile: bool = False, measure_stack: bool = False) -> RunReport:
        """Runs the model once on the inputs that were written.

        Args:
            profile: also tells the cycles of each layer, where the firmware was compiled to count them.
            measure_stack: also tells how much stack the run took; paints all free RAM before it, which takes longer
                than a small model.
        """
        self._session()
        flags = (RUN_WITH_PROFILE if profile else 0) | (RUN_WITH_STACK if measure_stack else 0)
        body = self._ask(Request.RUN, bytes([flags]), timeout_s=self._run_timeout_s)
        reply = Body(body)
        try:
            status, cycles, stack_bytes, layers = reply.unpack(_RUN_LAYOUT)
            (helper_stack,) = (0,) if reply.is_read else reply.unpack("I")
        except ValueError as error:
            raise self._nonsense(Request.RUN) from error
        counted = self._read_profile(layers)
        if not measure_stack:
            return RunReport(status, cycles, None, counted)
        return RunReport(status, cycles, stack_bytes, counted, helper_stack or None)

    def read_output(self, index: int) -> bytes:
        """The bytes of output ``index`` as the last run left them.

        Raises:
            InputError: there is no such output.
        """
        hello = self._session()
        tensor = _pick(hello.outputs, index, "output")
        data = bytearray()
        while len(data) < tensor.bytes:
            count = min(hello.max_payload, tensor.bytes - len(data))
            body = self._ask(Request.READ_OUTPUT, struct.pack("<HIH", index, len(data), count))
            if len(body) != count:
                raise self._nonsense(Request.READ_OUTPUT)
            data += body
        return bytes(data)

    def reset_state(self) -> None:
        """Clears what the model keeps between runs."""
        self._session()
        self._ask(Request.RESET_STATE)

    def reboot(self) -> None:
        """Restarts the board; the session ends with it."""
        self._session()
        self._ask(Request.REBOOT)
        self._hello = None

    def enter_bootloader(self) -> None:
        """Restarts the board into its resident bootloader; the session ends with it.

        Raises:
            ProtocolError: also when the program on the board was not started by a bootloader.
        """
        # Firmware of every version can be left this way, so nothing that it says of itself is looked at.
        self._exchange.end_noise()
        self._ask(Request.HELLO, struct.pack("<H", PROTOCOL_VERSION))
        self._ask(Request.ENTER_BOOTLOADER)
        self._hello = None

    def _session(self) -> Hello:
        return self._hello if self._hello is not None else self.hello()

    def _read_hello(self, data: bytes) -> Hello:
        body = Body(data)
        # These two come first in every version, so that a mismatch can be explained.
        (protocol,) = body.unpack("H")
        version = body.text()
        if protocol != PROTOCOL_VERSION:
            raise ProtocolError(
                f"the firmware was built by burnc {version} and speaks protocol {protocol}, "
                f"this is burnc {VERSION} and speaks protocol {PROTOCOL_VERSION}",
                hint="export and flash the model again with this burnc, or use the burnc that built the firmware",
            )
        clock_hz, max_payload, input_count, output_count, layer_count = body.unpack("IHHHI")
        model, sha256, board = body.text(), body.text(), body.text()
        if max_payload == 0:
            raise ValueError("no room for data")
        inputs = tuple(self._read_tensor(0, index) for index in range(input_count))
        outputs = tuple(self._read_tensor(1, index) for index in range(output_count))
        return Hello(protocol, version, clock_hz, max_payload, layer_count, model, sha256, board, inputs, outputs)

    def _read_tensor(self, direction: int, index: int) -> TensorInfo:
        body = Body(self._ask(Request.TENSOR, struct.pack("<BH", direction, index)))
        (size,) = body.unpack("I")
        return TensorInfo(body.text(), size)

    def _read_profile(self, layers: int) -> tuple[int, ...]:
        per_message = self._session().max_payload // 4
        cycles: list[int] = []
        while len(cycles) < layers:
            count = min(per_message, layers - len(cycles))
            body = self._ask(Request.READ_PROFILE, struct.pack("<IH", len(cycles), count))
            if len(body) != 4 * count:
                raise self._nonsense(Request.READ_PROFILE)
            cycles += struct.unpack(f"<{count}I", body)
        return tuple(cycles)

    def _ask(self, request: Request, body: bytes = b"", *, timeout_s: float | None = None) -> bytes:
        try:
            return self._exchange.ask(request, body, timeout_s=timeout_s)
        except RefusedError as error:
            explained = _EXPLAINED.get(error.code)
            if explained is None:
                raise
            self._hello = None
            what, hint = explained
            raise ProtocolError(what.format(request=request.name), hint=hint) from error

    def _nonsense(self, request: Request) -> ProtocolError:
        return ProtocolError(
            f"the reply to {request.name} does not follow the protocol",
            hint="the firmware may be of another make; export and flash the model again",
        )


def _pick(tensors: tuple[TensorInfo, ...], index: int, kind: str) -> TensorInfo:
    if not 0 <= index < len(tensors):
        raise InputError(f"there is no {kind} {index}: the model on the board has {len(tensors)}")
    return tensors[index]
