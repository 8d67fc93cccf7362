"""What a backend owes: say what it can run, and compile a graph into something that runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from burnc.errors import InputError, Unsupported, UnsupportedError
from burnc.ir import Array, Graph, Node, Value


@dataclass(frozen=True)
class Support:
    """Whether a node can be run; ``why`` it cannot."""

    ok: bool
    why: str = ""

    def __bool__(self) -> bool:
        return self.ok

    @staticmethod
    def no(why: str) -> Support:
        return Support(False, why)


SUPPORTED = Support(True)


class Executable(Protocol):
    """A compiled graph and, where it has any, its state, which lasts from run to run."""

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Results by name: the graph's outputs in order, then the kept values.

        Raises:
            InputError: inputs are missing, unknown, or of another element type or shape.
        """

    def reset(self) -> None:
        """Let the next run find every state as the graph says that it begins; a new executable is in that condition."""


class Backend(ABC):
    """A place where graphs run. It never falls back silently: what it cannot run is refused.

    Attributes:
        keeps_state: whether graphs with state can be compiled.
    """

    name: str
    keeps_state: bool = False

    @abstractmethod
    def supports(self, node: Node) -> Support:
        """Whether this backend runs that node."""

    @abstractmethod
    def compile(self, graph: Graph, keep: Sequence[Value] = ()) -> Executable:
        """Prepare a graph to be run.

        Args:
            keep: inner values of ``graph`` to return beside its outputs.

        Raises:
            UnsupportedError: lists every node that this backend cannot run.
        """

    def require_support(self, graph: Graph) -> None:
        """Raise what ``compile`` promises, if need be.

        Raises:
            UnsupportedError: lists every node that this backend cannot run.
        """
        answers = [(node, self.supports(node)) for node in graph.nodes]
        refused = [Unsupported(node.name, node.op, answer.why) for node, answer in answers if not answer]
        if not self.keeps_state:
            refused += [Unsupported(s.name, "state", "the backend keeps nothing between runs") for s in graph.states]
        if refused:
            raise UnsupportedError(refused, where=f"backend {self.name}, graph {graph.name!r}")


def check_inputs(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The inputs in the graph's order, as arrays.

    Raises:
        InputError: one is missing, unknown, or of another element type or shape.
    """
    where = f"graph {graph.name!r}"
    declared = {value.name: value.type for value in graph.inputs}
    listed = ", ".join(f"{name}: {type_.dtype.value}{list(type_.shape)}" for name, type_ in declared.items())
    hint = f"the inputs are {listed}" if listed else "the graph has no inputs"
    missing = [name for name in declared if name not in inputs]
    unknown = [name for name in inputs if name not in declared]
    if missing or unknown:
        parts = [f"input {missing[0]!r} is missing"] if missing else []
        parts += [f"there is no input {unknown[0]!r}"] if unknown else []
        raise InputError(" and ".join(parts), where=where, hint=hint)
    arrays: dict[str, Array] = {}
    for name, type_ in declared.items():
        array = np.asarray(inputs[name])
        if array.dtype != type_.dtype.numpy:
            raise InputError(f"input {name!r} is {array.dtype}, it must be {type_.dtype.value}", where=where, hint=hint)
        if array.shape != type_.shape:
            raise InputError(
                f"input {name!r} has shape {list(array.shape)}, it must be {list(type_.shape)}", where=where, hint=hint
            )
        arrays[name] = array
    return arrays
