"""A backend that counts the runs, and leaves the arithmetic to the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from burnc.backends.numpy_reference import NumpyReference
from burnc.backends.protocol import Backend, Executable, Support
from burnc.ir import Array, Graph, Node, Value


class Counting(Backend):
    """Counts the runs of its executables."""

    name = "counting"
    keeps_state = True

    def __init__(self, start: str = "0") -> None:
        self.runs = int(start)

    def supports(self, node: Node) -> Support:
        return NumpyReference().supports(node)

    def compile(self, graph: Graph, keep: Sequence[Value] = ()) -> Executable:
        self.require_support(graph)
        return CountingExecutable(self, NumpyReference().compile(graph, keep))


class CountingExecutable:
    """The reference's executable, and whom to tell of each run."""

    def __init__(self, backend: Counting, inner: Executable) -> None:
        self._backend = backend
        self._inner = inner

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        self._backend.runs += 1
        return self._inner.run(inputs)

    def reset(self) -> None:
        self._inner.reset()
