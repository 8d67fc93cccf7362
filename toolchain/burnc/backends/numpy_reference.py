"""The reference: every node by its operator's own definition in numpy, float or integer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from burnc.backends.protocol import SUPPORTED, Backend, Support, check_inputs
from burnc.errors import BurncError, GraphError
from burnc.ir import Array, Graph, Node, Value
from burnc.ops import OpSpec
from burnc.ops.evaluate import evaluate as by_definition


class NumpyReference(Backend):
    """Walks the graph; what the other backends are compared with."""

    name = "numpy"
    keeps_state = True

    def __init__(self, argument: str = "") -> None:
        if argument:
            raise BurncError(f"the numpy backend takes no argument, not {argument!r}", hint="write just numpy")

    def supports(self, node: Node) -> Support:
        if not isinstance(node.operator, OpSpec):
            return Support.no("it has no definition in numpy")
        if is_quantized(node) and node.operator.integer is None:
            return Support.no("it has no integer definition")
        return SUPPORTED

    def compile(self, graph: Graph, keep: Sequence[Value] = ()) -> NumpyExecutable:
        self.require_support(graph)
        known = set(graph.values())
        for value in keep:
            if value not in known:
                raise GraphError(f"%{value.name} is to be kept but is no value of the graph", where=graph.name)
        return NumpyExecutable(graph, keep)


class NumpyExecutable:
    """A graph, the values to return, and what its states hold."""

    def __init__(self, graph: Graph, keep: Sequence[Value]) -> None:
        self._graph = graph
        self._results = [*graph.outputs, *keep]
        self._last_use = _last_uses(graph, [*self._results, *graph.results])
        self._states: dict[Value, Array] = {}
        self.reset()

    def reset(self) -> None:
        self._states = {state.read: state.initial.copy() for state in self._graph.states}

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        arrays = check_inputs(self._graph, inputs)
        held: dict[Value, Array] = {value: arrays[value.name] for value in self._graph.inputs}
        held.update(self._states)
        for node in self._graph.nodes:
            operands = [None if v is None else _read(v, held) for v in node.inputs]
            held.update(zip(node.outputs, evaluate(node, operands), strict=True))
            for value in self._last_use[node]:
                held.pop(value, None)
        # A copy: the caller may change its arrays after the run.
        self._states = {s.read: _read(s.write, held).copy() for s in self._graph.states}
        return {value.name: _read(value, held) for value in self._results}


def is_quantized(node: Node) -> bool:
    """Whether a node's meaning is its integer one: some tensor of it holds quantization parameters."""
    return any(v.type.quant is not None for v in (*node.present_inputs, *node.outputs))


def evaluate(node: Node, operands: Sequence[Array | None]) -> list[Array]:
    """The results of one node by its operator's definition.

    Raises:
        GraphError: a result is not of the type that the graph says.
    """
    results = by_definition(node, operands)
    for value, result in zip(node.outputs, results, strict=True):
        if result.shape != value.type.shape or result.dtype != value.type.dtype.numpy:
            raise GraphError(
                f"%{value.name} became {result.dtype}{list(result.shape)}, its type is {value.type}",
                where=f"node {node.name!r}, operator {node.op}",
            )
    return results


def _read(value: Value, held: Mapping[Value, Array]) -> Array:
    return held[value] if value.data is None else value.data


def _last_uses(graph: Graph, results: Sequence[Value]) -> dict[Node, list[Value]]:
    """After each node, the values that nothing reads any more."""
    seen = set(results)
    found: dict[Node, list[Value]] = {}
    for node in reversed(graph.nodes):
        found[node] = []
        for value in (*node.outputs, *node.present_inputs):
            if value not in seen:
                seen.add(value)
                found[node].append(value)
    return found
