"""Modules become graphs: ``forward`` is run once on symbolic tensors, and what it does to them is recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Array, Builder, Graph, TensorType, Value
from burnc.ops import operators
from burnc.ops.reshape import ReshapeAttrs
from burnc.train.variables import Variable


class Network(Protocol):
    """What can be captured: ``burnc.nn.Module``, or anything of that form."""

    def __call__(self, *inputs: Tensor) -> Tensor: ...

    def name_variables(self) -> None:
        """Give every variable a name of its own."""

    def variables(self) -> list[Variable]: ...


class Tensor:
    """A value of the graph that is being captured. Arithmetic on it adds nodes; it never holds numbers."""

    def __init__(self, capture: Capture, value: Value) -> None:
        self.capture = capture
        self.value = value

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.type.shape

    def op(self, name: str, *others: Tensor | float | None, attrs: Any = None) -> Tensor:
        """Any operator that has one result; this tensor is its first input, numbers become constants.

        Raises:
            GraphError: there is no such operator, or the inputs do not go together.
        """
        operands = [self, *(self.capture.lift(o, self) for o in others)]
        return self.capture.op(name, operands, attrs)

    def __add__(self, other: Tensor | float) -> Tensor:
        return self.op("add", other)

    __radd__ = __add__

    def __mul__(self, other: Tensor | float) -> Tensor:
        return self.op("mul", other)

    __rmul__ = __mul__

    def __sub__(self, other: Tensor | float) -> Tensor:
        return self.op("sub", other)

    def __rsub__(self, other: float) -> Tensor:
        return self * -1.0 + other

    def __truediv__(self, other: Tensor | float) -> Tensor:
        return self.op("div", other)

    def reshape(self, *shape: int) -> Tensor:
        """The same elements under another shape; one extent may be -1."""
        known = int(np.prod([n for n in shape if n != -1]))
        filled = tuple(self.value.type.size // known if n == -1 else n for n in shape)
        return self.op("reshape", attrs=ReshapeAttrs(filled))

    def __repr__(self) -> str:
        return f"Tensor({self.value!r})"

    def __bool__(self) -> bool:
        raise GraphError(
            "a symbolic tensor has no truth value",
            where=f"%{self.value.name}",
            hint="forward is run once, without numbers; choose by shapes, not by values",
        )


class Capture:
    """A graph under construction.

    Attributes:
        training: parameters are inputs and batch statistics are used; else parameters are constants.
        parameters, buffers: what has become a graph input, by name; buffers are state that is not trained.
        updates: the next value of each buffer that ``forward`` changed, by name.
    """

    def __init__(self, name: str, *, training: bool) -> None:
        self.graph = Graph(name)
        self.builder = Builder(self.graph, operators())
        self.training = training
        self.parameters: dict[str, Value] = {}
        self.buffers: dict[str, Value] = {}
        self.updates: dict[str, Value] = {}
        self._scope: list[str] = []
        self._read: dict[str, Value] = {}

    def input(self, name: str, type: TensorType) -> Tensor:
        return Tensor(self, self.builder.input(name, type))

    def op(self, name: str, operands: Sequence[Tensor | None], attrs: Any = None) -> Tensor:
        """Add one node, named after the module that is being captured."""
        values = [None if o is None else o.value for o in operands]
        return Tensor(self, self.builder.node(name, values, attrs, name=".".join(self._scope) or name))

    def lift(self, operand: Tensor | float | None, beside: Tensor) -> Tensor | None:
        """A number as a constant of the type of the tensor that it stands beside."""
        if operand is None or isinstance(operand, Tensor):
            return operand
        number = np.array(operand, beside.value.type.dtype.numpy)
        return Tensor(self, self.builder.constant("number", number))

    def variable(self, variable: Variable) -> Tensor:
        """A parameter or buffer as the graph reads it; the same value however often it is read.

        Raises:
            GraphError: its module is no part of what is captured.
        """
        name = variable.name
        if not name:
            raise GraphError("a parameter belongs to no module that is captured", hint="keep modules as attributes")
        if name not in self._read:
            if self.training:
                value = self.builder.input(name, variable.type)
                (self.parameters if variable.trained else self.buffers)[name] = value
            else:
                value = self.builder.constant(name, variable.data.copy())
            self._read[name] = value
        return Tensor(self, self._read[name])

    def update(self, variable: Variable, value: Tensor) -> None:
        """Note what a buffer becomes after this step."""
        self.updates[variable.name] = value.value

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        if name:
            self._scope.append(name)
        yield
        if name:
            self._scope.pop()


@dataclass
class Captured:
    """A network as a graph, ready to be trained or run.

    Attributes:
        graph: its first output is the network's.
        parameters: inputs to train, by name. buffers: other state. updates: next values of buffers, by their names.
    """

    graph: Graph
    parameters: dict[str, Value] = field(default_factory=dict)
    buffers: dict[str, Value] = field(default_factory=dict)
    updates: dict[str, Value] = field(default_factory=dict)

    @property
    def output(self) -> Value:
        return self.graph.outputs[0]


def capture(
    module: Network,
    inputs: Mapping[str, TensorType],
    *,
    training: bool = False,
    name: str = "model",
    output: str = "output",
) -> Captured:
    """The graph of a module.

    Args:
        inputs: type of each argument of ``forward``, by the name that the graph's input gets; images are NHWC.
        training: as ``Capture.training``.
        output: the name of the result.

    Raises:
        GraphError: shapes do not go together; the error names the layer.
    """
    module.name_variables()
    tracer = Capture(name, training=training)
    result = module(*(tracer.input(each, type_) for each, type_ in inputs.items()))
    if not isinstance(result, Tensor):
        raise GraphError(f"forward returned {type(result).__name__}, not a tensor", where=type(module).__name__)
    if result.value in tracer.graph.inputs:
        result = result.op("identity")
    result.value.name = tracer.builder.unique_name(output)
    tracer.graph.outputs = [result.value]
    return Captured(tracer.graph, tracer.parameters, tracer.buffers, tracer.updates)


def variables_as_arrays(module: Network) -> dict[str, Array]:
    """Parameters and buffers of a module by name."""
    return {variable.name: variable.data for variable in module.variables()}
