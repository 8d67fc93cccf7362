"""Layers with memory keep it from run to run, so that a long stream of data can be fed in pieces."""

from __future__ import annotations

from burnc.ir import Builder, Graph
from burnc.ops import operators, spec_of


class KeepState:
    """Recurrent layers become stateful; only run on request, as it changes what the second run gives.

    1. An operator says itself which output belongs to which optional input (``OpSpec.recurrent``).
    2. Where that input is absent, or a constant zero, it becomes a state that begins as zeros and holds the output.
    3. An initial value that is an input of the graph, or computed, stays.
    """

    name = "keep state"

    def run(self, graph: Graph) -> int:
        builder = Builder(graph, operators())
        kept = 0
        for node in graph.nodes:
            for position, output in spec_of(node).recurrent:
                given, result = node.inputs[position], node.outputs[output]
                if given is not None and (given.data is None or given.data.any()):
                    continue
                state = builder.state(f"{node.name}.state{output}", result.type)
                state.write, node.inputs[position] = result, state.read
                kept += 1
        return kept
