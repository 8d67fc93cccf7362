"""float16 is how numbers are stored at the edges of a graph; between them all is float32."""

from __future__ import annotations

from burnc.ir import Builder, DType, Graph, Node, TensorType, Value
from burnc.ops import operators
from burnc.ops.cast import CastAttrs

HALF, SINGLE = DType.FLOAT16, DType.FLOAT32


class WidenFloat16:
    """float16 within a graph.

    1. A node other than cast that reads float16 reads it through a cast to float32; its results are then float32.
    2. Inputs, outputs and states keep float16, as the file declares them: a cast stands behind and before them.
    3. A cast to float16 in the file stays, as it rounds. What other nodes would round is left as it is, which is more
       exact, and what processors without float16 do anyway.
    4. Constants become float32 when the casts behind them are folded.
    """

    name = "widen float16"

    def run(self, graph: Graph) -> int:
        halves = [node for node in graph.nodes if node.op != "cast" and _touches_half(node)]
        wide: dict[Value, Value] = {}
        for node in halves:
            self._widen(graph, node, wide)
        return len(halves)

    def _widen(self, graph: Graph, node: Node, wide: dict[Value, Value]) -> None:
        builder = Builder(graph, operators(), anchor=node)
        for position, value in enumerate(node.inputs):
            if value is not None and value.type.dtype is HALF:
                if value not in wide:
                    wide[value] = builder.node("cast", [value], CastAttrs(SINGLE.value), name=f"{value.name}.wide")
                node.inputs[position] = wide[value]
        types = node.operator.infer(node.attrs, [None if v is None else v.type for v in node.inputs])
        after = graph.nodes.index(node) + 1
        builder = Builder(graph, operators(), anchor=graph.nodes[after] if after < len(graph.nodes) else None)
        for value, type_ in zip(node.outputs, types, strict=True):
            if value.type.dtype is HALF and type_.dtype is SINGLE:
                wide[value] = value
                if value in graph.results:
                    self._narrow(graph, builder, value)
                value.type = TensorType(SINGLE, value.type.shape)

    def _narrow(self, graph: Graph, builder: Builder, value: Value) -> None:
        """Let the graph's edge be a cast of ``value`` that has its name."""
        half = builder.node("cast", [value], CastAttrs(HALF.value), name=f"{value.name}.half")
        builder.take_name(half, value)
        graph.outputs = [half if v is value else v for v in graph.outputs]
        for state in graph.states:
            state.write = half if state.write is value else state.write


def _touches_half(node: Node) -> bool:
    return any(v.type.dtype is HALF for v in (*node.present_inputs, *node.outputs))
