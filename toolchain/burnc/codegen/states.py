"""State in the generated C: where it lies, and what a run leaves in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from burnc.codegen.arena import Pair
from burnc.codegen.names import UniqueNames, comment_text, short_identifier
from burnc.codegen.program import ConstantArray, Program, StateBuffer
from burnc.codegen.views import Views
from burnc.ir import Builder, Graph, Node, State, Value
from burnc.ops import operators, spec_of
from burnc.ops.reshape import ReshapeAttrs


def copy_states(graph: Graph) -> dict[Node, State | None]:
    """Append nodes that copy what is written to each state into it; the nodes and their states.

    A state that takes over another one as the run found it does so by way of one more copy, which stands for no state,
    so that the order in which the states are written does not matter.
    """
    builder = Builder(graph, operators())
    read = {s.read for s in graph.states}
    changed = [s for s in graph.states if s.write is not s.read]
    copies: dict[Node, State | None] = {}
    for state in changed:
        if _source(state.write) in read:
            node = _copy(builder, state.write, f"{state.name}.next")
            state.write, copies[node] = node.output, None
    for state in changed:
        copies[_copy(builder, state.write, f"{state.name}.keep")] = state
    return copies


def _source(value: Value) -> Value:
    """The value whose bytes a chain of reshapes and slices hands on."""
    node = value.producer
    while node is not None and (spec_of(node).view or spec_of(node).part(node) is not None):
        value = node.input(0)
        node = value.producer
    return value


def _copy(builder: Builder, value: Value, name: str) -> Node:
    copy = builder.node("reshape", [value], ReshapeAttrs(value.type.shape), name=name)
    copy.type = value.type
    return builder.graph.nodes[-1]


def successor(node: Node, index: int) -> Value:
    """The result that may lie where an input does: the only one, or what the next run finds as that input."""
    return node.outputs[dict(spec_of(node).recurrent).get(index, 0)]


def place_states(program: Program, unique: UniqueNames) -> None:
    """Give each state its place in the state struct, and an array to begin as where it takes one."""
    offset = 0
    for state in program.graph.states:
        type_, initial = state.read.type, None
        alignment = max(4, type_.dtype.bytes)
        offset = -(-offset // alignment) * alignment
        if np.unique(state.initial.view(f"V{type_.dtype.bytes}")).size > 1:
            name = unique(f"{short_identifier(state.name)}_initial")
            initial = ConstantArray(name, state.initial, f"{comment_text(state.name)}: what it begins as")
            program.constants.append(initial)
        program.states.append(StateBuffer(state, offset, initial))
        program.held[state.read] = offset
        offset += type_.nbytes


def is_written_in_place(
    program: Program, state: State, views: Views,
    overlaps: Sequence[Pair],
) -> bool:  # fmt: skip
    """Whether the value may be made in the state's own place: nothing reads the old one then or later.

    The step that makes it may read the old one where its kernel is known to read each element before it writes it.
    """
    root, graph = views.root, program.graph
    base = root(state.write)
    if base.type.nbytes != state.write.type.nbytes:
        return False  # it is a part of something else
    if base.is_constant or base in graph.given or base in program.held or base in map(root, graph.outputs):
        return False
    made = next((i for i, step in enumerate(program.steps) if base in step.node.outputs), None)
    if made is None:
        return False
    early = {node for step in program.steps[:made] for node in step.nodes}
    nodes = program.steps[made].nodes
    for node in graph.nodes:
        reads = [v for v in node.present_inputs if root(v) is state.read]
        if not reads or node in early or node in views.steps:
            continue
        safe = [o for o in overlaps if o[0] == made and root(o[1]) is state.read and o[2] is base and not o[3]]
        if node not in nodes or len(safe) < len([v for n in nodes for v in n.present_inputs if root(v) is state.read]):
            return False
    return True
