"""Adds nodes to a graph: names them, infers their types, keeps names unique."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir.attributes import in_float32
from burnc.ir.graph import Graph, Node, Operator, State, Value, constant
from burnc.ir.types import Array, QuantParams, TensorType


class Builder:
    """Appends nodes to ``graph``, or inserts them before ``anchor`` where one is given.

    Args:
        operators: operators by name (``burnc.ops.operators()``).
        reserved: names kept free for values that are wanted by exactly that name (``input`` and ``outputs=``).
    """

    def __init__(
        self,
        graph: Graph,
        operators: Mapping[str, Operator],
        anchor: Node | None = None,
        reserved: Iterable[str] = (),
    ) -> None:
        self.graph = graph
        self.operators = operators
        self.anchor = anchor
        self._made_nodes: list[tuple[Node, str]] = []
        self._made_values: list[tuple[Value, str]] = []
        self._reserved = set(reserved)
        self._reserved -= self._value_names if self._reserved else set()

    @cached_property
    def _value_names(self) -> set[str]:
        # Most builders of a pass make nothing, so names are gathered for the first thing that one makes.
        return {v.name for v in self.graph.values()}

    @cached_property
    def _node_names(self) -> set[str]:
        return {n.name for n in self.graph.nodes}

    def input(self, name: str, type: TensorType) -> Value:
        value = Value(self._declared_name(name), type)
        self.graph.inputs.append(value)
        return value

    def state(self, name: str, type: TensorType, initial: Array | None = None) -> State:
        """A state that keeps what it holds until ``write`` is set; real zeros at first unless ``initial`` is given."""
        read = Value(self._declared_name(name), type)
        zero = 0 if type.quant is None else type.zero_point
        held = State(read, read, np.full(type.shape, zero, type.dtype.numpy) if initial is None else initial)
        self.graph.states.append(held)
        return held

    def constant(self, name: str, data: Array, quant: QuantParams | None = None) -> Value:
        return self._made(constant(self.unique_name(name), np.asarray(data), quant), name)

    def unique_name(self, wanted: str) -> str:
        """A value name that the graph does not hold yet: the wanted one, or it with a number behind."""
        return _unique(wanted or "value", self._value_names, self._reserved)

    def _declared_name(self, wanted: str) -> str:
        self._reserved.discard(wanted)
        return self.unique_name(wanted)

    def nodes(
        self,
        op: str,
        inputs: Sequence[Value | None],
        attrs: Any = None,
        *,
        name: str = "",
        outputs: Sequence[str] = (),
        quant: QuantParams | None = None,
        rounding: str = "tflm",
    ) -> list[Value]:
        """Add one node and return its outputs.

        Args:
            attrs: an instance of the operator's attribute dataclass; None for its defaults. Numbers become float32.
            outputs: names wanted for the results; the node's own name otherwise.
            quant: quantization parameters of the first result.

        Raises:
            GraphError: there is no such operator, or the inputs do not go together.
        """
        operator = self.operators.get(op)
        if operator is None:
            raise GraphError(f"there is no operator named {op!r}")
        attrs = in_float32(operator.attrs() if attrs is None else attrs)
        wanted = name or (outputs[0] if outputs else op)
        name = _unique(wanted, self._node_names)
        try:
            types = operator.infer(attrs, [None if v is None else v.type for v in inputs])
        except GraphError as error:
            raise GraphError(error.what, where=f"node {name!r}, operator {op}", hint=error.hint) from None
        if quant is not None:
            types[0] = types[0].with_quant(quant)
        results = [self._made(Value(self._declared_name(n), t), n) for n, t in zip(outputs, types, strict=False)]
        results += [self._made(Value(self.unique_name(name), t), wanted) for t in types[len(outputs) :]]
        node = Node(operator, attrs, inputs, results, name, rounding)
        self._made_nodes.append((node, wanted))
        self.graph.insert_before(self.anchor, [node])
        return results

    def node(self, op: str, inputs: Sequence[Value | None], attrs: Any = None, **rest: Any) -> Value:
        """Add one node that has a single output and return it; arguments as for ``nodes``."""
        (result,) = self.nodes(op, inputs, attrs, **rest)
        return result

    def take_name(self, value: Value, old: Value) -> None:
        """Let a value that takes the place of ``old`` have its name, and ``old`` the other."""
        value.name, old.name = old.name, value.name
        self._made_values = [(v, v.name if v is value else wanted) for v, wanted in self._made_values]

    @property
    def made_nodes(self) -> list[Node]:
        """The nodes that this builder has added, in their order."""
        return [node for node, _ in self._made_nodes]

    def has_made(self, value: Value) -> bool:
        return any(made is value for made, _ in self._made_values)

    def take_back(self) -> None:
        """Remove the nodes that this builder has added."""
        made = set(self.made_nodes)
        if made:
            self.graph.nodes = [node for node in self.graph.nodes if node not in made]

    def settle_names(self) -> None:
        """Give what this builder made the names it wanted, where they have become free since."""
        if all(n.name == name for n, name in self._made_nodes) and all(v.name == name for v, name in self._made_values):
            return
        nodes = {n.name for n in self.graph.nodes}
        for node, wanted in self._made_nodes:
            if wanted not in nodes:
                nodes.discard(node.name)
                nodes.add(wanted)
                node.name = wanted
        values = {v.name for v in self.graph.values()}
        for value, wanted in self._made_values:
            if wanted not in values:
                values.discard(value.name)
                values.add(wanted)
                value.name = wanted

    def _made(self, value: Value, wanted: str) -> Value:
        self._made_values.append((value, wanted))
        return value


def _unique(wanted: str, taken: set[str], reserved: Collection[str] = ()) -> str:
    name, number = wanted, 1
    while name in taken or name in reserved:
        number += 1
        name = f"{wanted}_{number}"
    taken.add(name)
    return name
