"""A graph for a device with many threads: one array a value, and the launches that fill them in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from burnc.backends.protocol import SUPPORTED, Support
from burnc.codegen.rendered import build_kernel
from burnc.errors import GraphError
from burnc.ir import Array, DType, Graph, Node, Value
from burnc.kernel.buffer import Role
from burnc.kernel.stages import Stage, cut_stages, in_turn
from burnc.ops import spec_of


@dataclass(frozen=True, eq=False)
class Storage:
    """An array on the device. ``data``: what it holds before the first run; zeros where there is none."""

    dtype: DType
    size: int
    data: Array | None = None


@dataclass(frozen=True)
class Launch:
    """One run of a stage. ``at``: the indices of the sequential loops around it."""

    node: Node
    stage: Stage
    arguments: tuple[Storage, ...]
    at: tuple[int, ...] = ()


@dataclass
class Launches:
    """The order of a graph's launches, and where its values lie; a view lies where its source does."""

    storage: dict[Value, Storage] = field(default_factory=dict)
    order: list[Launch] = field(default_factory=list)


def plan_launches(graph: Graph) -> Launches:
    """The launches of a graph; each value has an array of its own, as a GPU's memory needs no arena for these models.

    Raises:
        GraphError: an operator has no kernel for its types, or one that cannot be cut into stages.
    """
    plan = Launches()
    for value in graph.values():
        plan.storage[value] = Storage(value.type.dtype, value.type.size, value.data)
    for state in graph.states:
        plan.storage[state.read] = Storage(state.read.type.dtype, state.read.type.size, state.initial)
    for node in graph.nodes:
        if spec_of(node).view:
            plan.storage[node.output] = plan.storage[node.input(0)]
        else:
            plan.order += _node_launches(node, plan.storage)
    return plan


def _node_launches(node: Node, storage: dict[Value, Storage]) -> list[Launch]:
    kernel = build_kernel(node)
    held = {b: Storage(b.dtype, b.size, b.data) for b in kernel.buffers}
    values = [(Role.INPUT, node.present_inputs), (Role.OUTPUT, node.outputs)]
    for role, operands in values:
        held |= zip(kernel.of_role(role), (storage[v] for v in operands), strict=True)
    runs = in_turn(cut_stages(kernel))
    return [Launch(node, stage, tuple(held[b] for b in stage.buffers), at) for stage, at in runs]


def renders(node: Node, render: Callable[[Stage], str]) -> Support:
    """Whether a renderer has text for every stage of a node."""
    try:
        for stage in cut_stages(build_kernel(node)):
            render(stage)
    except GraphError as error:
        return Support.no(error.what)
    return SUPPORTED
