"""The order, names and single assignment of a model's nodes."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Sequence

import onnx

from burnc.errors import ModelFileError
from burnc.importers.onnx.reading import all_nodes, subgraphs

OLDEST_IR_VERSION = 8


def tidy(model: onnx.ModelProto, where: str) -> None:
    """Make the graph regular, in place: one default domain, initializers no inputs, every node named, in order.

    Raises:
        ModelFileError: a tensor is assigned twice or never, or the nodes form a cycle.
    """
    graph = model.graph
    # Up to IR version 3 the standard wants initializers to be inputs, which is undone here.
    model.ir_version = max(model.ir_version, OLDEST_IR_VERSION)
    for node in all_nodes(graph.node):
        if node.domain == "ai.onnx":
            node.domain = ""
    if graph.sparse_initializer:
        raise ModelFileError(
            f"initializer {graph.sparse_initializer[0].values.name!r} is sparse; only dense ones are supported",
            where=where,
        )
    drop_initializers_from_inputs(graph)
    _complete_types(graph, where)
    ordered = sort_nodes(graph, where)
    del graph.node[:]
    graph.node.extend(ordered)


def _complete_types(graph: onnx.GraphProto, where: str) -> None:
    """Inputs need shapes; an output may lack one, which onnx's checker would not have (it is inferred later anyway)."""
    for value in graph.input:
        if value.type.HasField("tensor_type") and not value.type.tensor_type.HasField("shape"):
            raise ModelFileError(
                f"input {value.name!r} declares no shape", where=where, hint="export the model with input shapes"
            )
    for value in graph.output:
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.shape.SetInParent()


def drop_initializers_from_inputs(graph: onnx.GraphProto) -> None:
    """IR version 3 lists weights among the inputs, too; nobody feeds those."""
    held = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in held]
    del graph.input[:]
    graph.input.extend(inputs)


def name_nodes(graph: onnx.GraphProto) -> None:
    """Give every node a name of its own, in place: its first output's where the file gives none or repeats one."""
    taken: set[str] = set()
    repeats: Counter[str] = Counter()
    for node in graph.node:
        wanted = node.name or next((o for o in node.output if o), "") or node.op_type
        name = wanted
        while name in taken:
            repeats[wanted] += 1
            name = f"{wanted}_{repeats[wanted] + 1}"
        taken.add(name)
        node.name = name


def sort_nodes(graph: onnx.GraphProto, where: str) -> list[onnx.NodeProto]:
    """The nodes so that each follows what it reads; an order that is right already stays.

    Raises:
        ModelFileError: a tensor is assigned twice or never, or the nodes form a cycle.
    """
    nodes = list(graph.node)
    producer = _producers(graph, nodes, where)
    given = {v.name for v in graph.input} | {t.name for t in graph.initializer}
    readers: list[list[int]] = [[] for _ in nodes]
    waiting = [0] * len(nodes)
    for index, node in enumerate(nodes):
        needed = {producer[name] for name in reads(node) if name in producer}
        waiting[index] = len(needed)
        for other in needed:
            readers[other].append(index)
        for name in node.input:
            if name and name not in producer and name not in given:
                raise ModelFileError(f"{name!r} is read but never computed", where=f"{where}, {_label(node)}")
    ready = [index for index, count in enumerate(waiting) if count == 0]
    ordered: list[onnx.NodeProto] = []
    while ready:
        index = heapq.heappop(ready)
        ordered.append(nodes[index])
        for reader in readers[index]:
            waiting[reader] -= 1
            if waiting[reader] == 0:
                heapq.heappush(ready, reader)
    if len(ordered) < len(nodes):
        stuck = [_label(node) for node, count in zip(nodes, waiting, strict=True) if count]
        raise ModelFileError("the nodes form a cycle", where=f"{where}, {', '.join(stuck[:5])}")
    return ordered


def _producers(graph: onnx.GraphProto, nodes: Sequence[onnx.NodeProto], where: str) -> dict[str, int]:
    assigned = {v.name for v in graph.input} | {t.name for t in graph.initializer}
    producer: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for name in node.output:
            if name and (name in producer or name in assigned):
                raise ModelFileError(f"{name!r} is assigned twice", where=f"{where}, {_label(node)}")
            if name:
                producer[name] = index
    return producer


def reads(node: onnx.NodeProto) -> set[str]:
    """What a node reads, the outer tensors that its subgraphs read included."""
    names = set(node.input)
    for graph in subgraphs(node):
        for inner in graph.node:
            names |= reads(inner)
        names |= {value.name for value in graph.output}
    return names - set(node.output)


def _label(node: onnx.NodeProto) -> str:
    return f"node {node.name or (node.output[0] if node.output else '')!r} ({node.op_type})"


def rename_tensors(node: onnx.NodeProto, named: Callable[[str], str]) -> None:
    """Give the tensors of a node other names, in place, also where its subgraphs read them.

    What a subgraph makes itself is its own: the standard forbids it to hide a name, files may.
    """
    node.input[:] = [named(name) for name in node.input]
    node.output[:] = [named(name) for name in node.output]
    for graph in subgraphs(node):
        made = {v.name for v in graph.input} | {t.name for t in graph.initializer}
        made.update(name for inner in graph.node for name in inner.output)

        def outer(name: str, made: Collection[str] = made) -> str:
            return name if name in made else named(name)

        for inner in graph.node:
            rename_tensors(inner, outer)
        for value in graph.output:
            value.name = outer(value.name)


def live_nodes(graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    """The nodes of a sorted graph that some output depends on."""
    needed = {value.name for value in graph.output}
    kept: list[onnx.NodeProto] = []
    for node in reversed(graph.node):
        if any(name in needed for name in node.output if name):
            needed |= reads(node)
            kept.append(node)
    return kept[::-1]
