"""Request and reply over a line that loses and damages bytes: asks, and asks again until the reply has come."""

from __future__ import annotations

import time

from burnc.errors import ProtocolError
from burnc.protocol.framing import Damage, FrameReader, encode_frame
from burnc.protocol.messages import ERROR_REPLY, REPLY, BootRequest, ErrorCode, Request
from burnc.protocol.transport import Transport

_READ_BYTES = 4096
_CURED_BY_ASKING_AGAIN = (ErrorCode.BAD_FRAME, ErrorCode.BAD_CRC)


class NoAnswerError(ProtocolError):
    """Nothing that counts as a reply has come, however often it was asked."""


class RefusedError(ProtocolError):
    """The firmware has understood a request and declines it; ``code`` is a number of ``ErrorCode``, or another."""

    def __init__(self, request: str, code: int) -> None:
        self.code = code
        name = ErrorCode(code).name if code in list(ErrorCode) else f"error {code}"
        super().__init__(f"the firmware refuses {request}: {name}")


class Exchange:
    """Sends requests one at a time over a transport. Several clients may share one, one after another.

    Args:
        transport: the line to the board.
        reply_timeout_s: seconds to wait for a reply before asking again.
        attempts: how often a request is sent before giving up.
    """

    def __init__(self, transport: Transport, *, reply_timeout_s: float = 1.0, attempts: int = 4) -> None:
        self._transport = transport
        self._reply_timeout_s = reply_timeout_s
        self._attempts = attempts
        self._sequence = 0
        self._reader = FrameReader()
        self.repeats = 0

    def end_noise(self) -> None:
        """Sends an empty frame, so that whatever noise the board has received so far ends there."""
        self._transport.write(b"\0")

    def ask(
        self,
        request: Request | BootRequest,
        body: bytes = b"",
        *,
        timeout_s: float | None = None,
        attempts: int | None = None,
    ) -> bytes:
        """Send a request until its reply has come, and return the reply's body.

        Repeating is safe: the firmware recognizes a repeated run by its sequence number and all else bears repeating.

        Args:
            timeout_s: seconds to wait instead of ``reply_timeout_s``.
            attempts: how often to ask instead of ``attempts``.

        Raises:
            NoAnswerError: no reply has come. RefusedError: the firmware declines.
        """
        self._sequence = (self._sequence + 1) & 0xFF
        frame = encode_frame(bytes([request, self._sequence]) + body)
        wait_s = self._reply_timeout_s if timeout_s is None else timeout_s
        times = self._attempts if attempts is None else attempts
        trouble = "no answer"
        for attempt in range(times):
            self.repeats += attempt > 0
            self._transport.write(frame)
            answer = self._await_reply(request, time.monotonic() + wait_s)
            if isinstance(answer, bytes):
                return answer
            trouble = answer
        raise NoAnswerError(
            f"the board has not answered {request.name}: {trouble}, {times} times within {wait_s:g} s each",
            hint="check that the harness firmware runs on it, the port, and that no other program reads from it",
        )

    def _await_reply(self, request: Request | BootRequest, deadline: float) -> bytes | str:
        """The body of the reply, or why the request should be sent again."""
        while (remaining := deadline - time.monotonic()) > 0:
            for frame in self._reader.feed(self._transport.read(_READ_BYTES, remaining)):
                if isinstance(frame, Damage):
                    return f"the reply came damaged ({frame.value})"
                if len(frame) < 2:
                    return "the reply came damaged (too short)"
                kind, sequence, body = frame[0], frame[1], frame[2:]
                if kind == ERROR_REPLY and sequence in (0, self._sequence):
                    code = body[0] if body else 0
                    if code not in _CURED_BY_ASKING_AGAIN:
                        raise RefusedError(request.name, code)
                    return "the request arrived damaged"
                if kind == request + REPLY and sequence == self._sequence:
                    return body
                # Anything else is a late reply to a request that was repeated.
        self._reader.clear()
        return "no answer"
