"""The ``serial`` backend: a model on a board that is plugged in, whose firmware serves it (``burnc flash``)."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence

from burnc.backends.protocol import Backend, Support
from burnc.boards import load_board
from burnc.codegen.rendered import has_kernel
from burnc.devices.served_model import ServedModel
from burnc.errors import BurncError, InputError
from burnc.flash.serial_port import SerialPort
from burnc.ir import Graph, Node, Value
from burnc.ir.metadata import SOURCE
from burnc.protocol.client import Client
from burnc.protocol.messages import Hello

DEFAULT_BAUD = 921_600


class SerialBackend(Backend):
    """Runs the model that a board on a serial port holds.

    Args:
        port: the port's name, with ``@BAUD`` behind it where the baud rate is not that of burnc's boards.
    """

    name = "serial"
    keeps_state = True

    def __init__(self, port: str = "") -> None:
        if not port:
            raise InputError("the device `serial` needs a port", hint="for example serial:/dev/ttyACM0 or serial:COM3")
        self.name = f"serial:{port}"
        path, at, baud = port.rpartition("@")
        self._port, self._baud = (path, int(baud)) if at and baud.isdecimal() else (port, DEFAULT_BAUD)

    def supports(self, node: Node) -> Support:
        return has_kernel(node)

    def compile(self, graph: Graph, keep: Sequence[Value] = ()) -> SerialExecutable:
        """Connect to the firmware and see that it serves this very model.

        Raises:
            PortError, ToolMissingError: the port cannot be used. ProtocolError: the board does not answer.
            BurncError: the board holds another model, or inner values are asked for.
        """
        if keep:
            raise BurncError(
                "inner values of a model on a real board need firmware that was built to return them",
                where=self.name,
                hint="compare on the emulated board (`--on pico`), which builds such firmware by itself",
            )
        return SerialExecutable(graph, self._port, self._baud)


class SerialExecutable(ServedModel):
    """A model on a board behind a serial port, which stays open until ``close``."""

    def __init__(self, graph: Graph, port: str, baud: int) -> None:
        self._path, self._baud = port, baud
        self._hang_up: Callable[[], object] = lambda: None
        client, hello = self._open(graph)
        super().__init__(load_board(hello.board), graph)
        self._client = client

    def connect(self) -> Client:
        """Open the port and a session."""
        return self._open(self.graph)[0]

    def disconnect(self) -> None:
        """Close the port."""
        self._hang_up()

    def _open(self, graph: Graph) -> tuple[Client, Hello]:
        port = SerialPort(self._path, self._baud)
        self._hang_up = weakref.finalize(self, port.close)
        try:
            client = Client(port)
            hello = client.hello()
            require_same_model(hello, graph, self._path)
            client.reset_state()
        except BurncError:
            port.close()
            raise
        return client, hello


def require_same_model(hello: Hello, graph: Graph, port: str) -> None:
    """See that firmware serves the model at hand.

    Raises:
        BurncError: it serves another.
    """
    sha256 = graph.metadata.get(SOURCE + "sha256", "")
    here = ([v.type.nbytes for v in graph.inputs], [v.type.nbytes for v in graph.outputs])
    there = ([t.bytes for t in hello.inputs], [t.bytes for t in hello.outputs])
    if (not sha256 or hello.model_sha256 == sha256) and here == there:
        return
    same_file = hello.model_sha256 == sha256
    here_name = repr(graph.name) if graph.name != hello.model else "another of that name"
    raise BurncError(
        f"the board on {port} holds another model: {hello.model!r}, this one is {here_name}",
        where=f"input and output bytes there {there}, here {here}"
        if same_file
        else f"model file sha256 there {hello.model_sha256[:16] or 'unknown'}, here {sha256[:16]}",
        hint=f"flash this one: `burnc flash MODEL --board {hello.board} --port {port}`",
    )
