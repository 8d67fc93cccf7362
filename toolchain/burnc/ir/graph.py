"""Values, nodes and the graph: a static-shape program in single assignment form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from burnc.errors import GraphError
from burnc.ir.types import Array, DType, QuantParams, TensorType

ROUNDINGS = ("tflm", "single", "half_even", "half_away")


class Operator(Protocol):
    """What the IR must know of an operator; ``burnc.ops`` supplies the real ones."""

    @property
    def name(self) -> str: ...

    @property
    def attrs(self) -> type[Any]:
        """The frozen dataclass of its attributes."""

    def infer(self, attrs: Any, inputs: Sequence[TensorType | None]) -> list[TensorType]:
        """Element types and shapes of the outputs; raises GraphError where the inputs do not go together."""

    def check_quantization(self, node: Node) -> None:
        """Raises GraphError where a quantized node breaks the operator's quantization rule."""

    def requantize_factors(self, node: Node) -> Array:
        """Real factors, one or one a channel, that carry a quantized node's accumulator to its result."""

    def sum_type(self, node: Node) -> DType:
        """Element type of a quantized node's accumulator."""


class Value:
    """A tensor that one node produces, a graph input, or (with ``data``) a constant."""

    __slots__ = ("data", "name", "producer", "type")

    def __init__(self, name: str, type: TensorType, data: Array | None = None) -> None:
        self.name = name
        self.type = type
        self.data = data
        self.producer: Node | None = None

    @property
    def is_constant(self) -> bool:
        return self.data is not None

    def __repr__(self) -> str:
        return f"%{self.name}: {self.type}"


def constant(name: str, data: Array, quant: QuantParams | None = None) -> Value:
    """A constant of the array's own element type and shape."""
    return Value(name, TensorType(DType.of(data), data.shape, quant), data)


class Node:
    """One application of an operator.

    Attributes:
        operator: the operator; ``attrs`` is an instance of its attribute dataclass.
        inputs: None stands for an optional input that is absent.
        rounding: how a quantized result is rounded, one of ``ROUNDINGS``.
    """

    __slots__ = ("attrs", "inputs", "name", "operator", "outputs", "rounding")

    def __init__(
        self,
        operator: Operator,
        attrs: Any,
        inputs: Sequence[Value | None],
        outputs: Sequence[Value],
        name: str,
        rounding: str = "tflm",
    ) -> None:
        self.operator = operator
        self.attrs = attrs
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.name = name
        self.rounding = rounding
        for value in self.outputs:
            value.producer = self

    @property
    def op(self) -> str:
        return self.operator.name

    @property
    def output(self) -> Value:
        """The only output."""
        (value,) = self.outputs
        return value

    def input(self, index: int) -> Value:
        """An input that must be there.

        Raises:
            GraphError: it is absent.
        """
        value = self.inputs[index] if index < len(self.inputs) else None
        if value is None:
            raise GraphError(f"input {index} is absent", where=f"node {self.name!r}, operator {self.op}")
        return value

    @property
    def present_inputs(self) -> list[Value]:
        return [v for v in self.inputs if v is not None]

    def __repr__(self) -> str:
        return f"<{self.op} {self.name!r}>"


@dataclass(eq=False)
class State:
    """A tensor that is kept between runs.

    Attributes:
        read: what a run finds; defined like an input.
        write: what the run leaves for the next one; of the same type.
        initial: what the first run after a reset finds.
    """

    read: Value
    write: Value
    initial: Array

    @property
    def name(self) -> str:
        return self.read.name


class Graph:
    """Nodes in an order in which each follows what it reads.

    Attributes:
        states: what is kept from one run to the next. A run reads all of them before it writes any.
        metadata: facts that travel with the model (model card, source file hash), text to text.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.states: list[State] = []
        self.nodes: list[Node] = []
        self.metadata: dict[str, str] = {}

    @property
    def given(self) -> list[Value]:
        """What is there before the first node runs: inputs, then what the states hold."""
        return [*self.inputs, *(s.read for s in self.states)]

    @property
    def results(self) -> list[Value]:
        """What outlives the run and is never dead: outputs, then what is written to the states."""
        return [*self.outputs, *(s.write for s in self.states)]

    def values(self) -> Iterator[Value]:
        """Every value once: inputs, states, constants as they are first read, results."""
        seen: set[Value] = set()
        for value in self._values_with_repeats():
            if value not in seen:
                seen.add(value)
                yield value

    def _values_with_repeats(self) -> Iterator[Value]:
        yield from self.given
        for node in self.nodes:
            yield from node.present_inputs
            yield from node.outputs
        yield from self.results

    def constants(self) -> list[Value]:
        return [v for v in self.values() if v.is_constant]

    def consumers(self) -> dict[Value, list[Node]]:
        """For each value that some node reads, the nodes in order; one that reads it twice stands twice."""
        found: dict[Value, list[Node]] = {}
        for node in self.nodes:
            for value in node.present_inputs:
                found.setdefault(value, []).append(node)
        return found

    def value(self, name: str) -> Value:
        """The value of that name.

        Raises:
            GraphError: there is none.
        """
        for candidate in self.values():
            if candidate.name == name:
                return candidate
        raise GraphError(f"there is no value named {name!r}", where=f"graph {self.name!r}")

    def replace_uses(self, old: Value, new: Value) -> None:
        """Let every reader of ``old``, graph outputs and written states included, read ``new``."""
        for node in self.nodes:
            node.inputs = [new if v is old else v for v in node.inputs]
        self.outputs = [new if v is old else v for v in self.outputs]
        for state in self.states:
            state.write = new if state.write is old else state.write

    def insert_before(self, anchor: Node | None, nodes: Iterable[Node]) -> None:
        """Insert nodes before ``anchor``, or at the end where it is None."""
        at = len(self.nodes) if anchor is None else self.nodes.index(anchor)
        self.nodes[at:at] = list(nodes)

    def remove(self, node: Node) -> None:
        self.nodes.remove(node)

    def copy(self) -> Graph:
        """A graph with its own nodes and values; constant arrays are shared."""
        twin: dict[Value, Value] = {}
        for value in self.values():
            twin[value] = Value(value.name, value.type, value.data)
        result = Graph(self.name)
        result.metadata = dict(self.metadata)
        result.inputs = [twin[v] for v in self.inputs]
        result.outputs = [twin[v] for v in self.outputs]
        result.states = [State(twin[s.read], twin[s.write], s.initial) for s in self.states]
        for node in self.nodes:
            inputs = [None if v is None else twin[v] for v in node.inputs]
            outputs = [twin[v] for v in node.outputs]
            result.nodes.append(Node(node.operator, node.attrs, inputs, outputs, node.name, node.rounding))
        return result


def with_outputs(graph: Graph, values: Sequence[Value]) -> Graph:
    """A copy of the graph that also returns the values of those names, after its own outputs."""
    copy = graph.copy()
    held = {v.name for v in copy.outputs}
    copy.outputs += [copy.value(v.name) for v in values if v.name not in held]
    return copy
