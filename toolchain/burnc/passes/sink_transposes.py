"""Transposes and reshapes move towards the outputs, where they meet their inverses and vanish.

Spatial operators are NHWC inside; importers put transposes around them. This is what removes those again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from burnc.ir import Array, Builder, Graph, Node, Value
from burnc.ops import OpSpec, operators, spec_of
from burnc.ops.reshape import ReshapeAttrs
from burnc.ops.transpose import TransposeAttrs
from burnc.passes.rewrite import replace_node

MOVERS = ("transpose", "reshape")


Movers = dict[tuple[str, Any, Value], Value]
"""Results of the transposes and reshapes met so far, by operator, attributes and operand."""


class SinkTransposes:
    """Layout.

    1. A transpose that moves axes of size 1 alone is a reshape.
    2. Two transposes or two reshapes in a row are one; one that changes nothing is none; equal ones of one value are
       one.
    3. A pointwise or permutable operator whose activation inputs come through the same transpose is computed before it;
       constant operands are permuted instead. A reshape that moves axes of size 1 alone counts as that transpose, and a
       graph input that is read transposed elsewhere is read so here.
    4. A pointwise operator whose activation inputs come through reshapes from one shape is computed before them;
       constant operands have one element, or the reshape only drops or adds axes of size 1.
    5. fully_connected after a flattening reshape of a transpose reads the untransposed values; its constant weights are
       permuted once, now.
    6. A value that is quantized keeps its parameters; per-axis ones are not moved.
    7. Names of the file stay on what is computed: a result that an importer named after its node takes the name of the
       transposed or reshaped value that the file knows; graph outputs keep theirs.
    """

    name = "sink transposes"

    def run(self, graph: Graph) -> int:
        _name_what_is_computed(graph)
        changed = 0
        while self._change_one(graph):
            changed += 1
        return changed

    def _change_one(self, graph: Graph) -> bool:
        earlier: Movers = {}
        for node in list(graph.nodes):
            builder = Builder(graph, operators(), anchor=node)
            if node.op in MOVERS:
                value = _simplified(node, builder, earlier)
                earlier.setdefault((node.op, node.attrs, node.input(0)), node.output)
            elif any(v.producer is not None and v.producer.op in MOVERS for v in node.present_inputs):
                value = (
                    _after_transpose(node, builder)
                    or _after_reshape(node, builder)
                    or _fully_connected_after_flatten(node, builder)
                )
            else:
                continue
            if value is not None:
                replace_node(builder, node, value)
                return True
            builder.take_back()
        return False


def _name_what_is_computed(graph: Graph) -> None:
    """Rule 7."""
    for mover in graph.nodes:
        if mover.op not in MOVERS or mover.output in graph.results or mover.output.name == mover.name:
            continue
        value = mover.input(0)
        while value.producer is not None and value.producer.op in MOVERS:
            value = value.producer.input(0)
        source = value.producer
        if source is not None and value not in graph.results and value.name == f"{source.name}.{source.op}":
            value.name, mover.output.name = mover.output.name, value.name


def _simplified(node: Node, b: Builder, earlier: Movers) -> Value | None:
    """Rules 1 and 2."""
    x = node.input(0)
    if x.is_constant:
        return None  # constant folding's business
    before = x.producer
    twin = earlier.get((node.op, node.attrs, x))
    if twin is not None:
        return twin
    if node.op == "reshape":
        if node.output.type.shape == x.type.shape:
            return x
        if before is not None and before.op == "reshape":
            return b.node("reshape", [before.input(0)], node.attrs, name=node.name, quant=node.output.type.quant)
        return None
    permutation: tuple[int, ...] = node.attrs.permutation
    if permutation == tuple(range(len(permutation))):
        return x
    moved = [axis for axis in permutation if x.type.shape[axis] != 1]
    if moved == sorted(moved):
        shape = ReshapeAttrs(node.output.type.shape)
        return b.node("reshape", [x], shape, name=node.name, quant=node.output.type.quant)
    if before is not None and before.op == "transpose":
        first = before.attrs.permutation
        joined = TransposeAttrs(tuple(first[p] for p in permutation))
        return b.node("transpose", [before.input(0)], joined, name=node.name, quant=node.output.type.quant)
    return None


def _after_transpose(node: Node, b: Builder) -> Value | None:
    """Rule 3."""
    spec = spec_of(node)
    if node.op in MOVERS or len(node.outputs) != 1 or not (spec.pointwise or spec.permuted):
        return None
    permutation = _common_permutation(node)
    if permutation is None:
        return None
    operands = [None if v is None else _unpermuted(v, permutation, spec, b) for v in node.inputs]
    if sum(v is not None for v in operands) != len(node.present_inputs):
        return None
    attrs = spec.permuted(node.attrs, permutation) if spec.permuted else node.attrs
    return _moved_behind(node, b, operands, attrs, "transpose", TransposeAttrs(permutation))


def _moved_behind(
    node: Node, b: Builder, operands: Sequence[Value | None], attrs: Any, mover: str, mover_attrs: Any
) -> Value:
    """The node computed on other operands, and the mover behind it."""
    quant = node.output.type.quant
    computed = b.node(node.op, operands, attrs, name=node.name, quant=quant, rounding=node.rounding)
    if node.output not in b.graph.results:
        b.take_name(computed, node.output)
    return b.node(mover, [computed], mover_attrs, quant=quant)


def _common_permutation(node: Node) -> tuple[int, ...] | None:
    quant = node.output.type.quant
    if quant is not None and quant.axis is not None:
        return None
    activations = [v for v in node.present_inputs if not v.is_constant]
    sources = [v.producer for v in activations if v.producer is not None and v.producer.op == "transpose"]
    found: set[tuple[int, ...]] = {source.attrs.permutation for source in sources}
    if len(found) != 1 or any(v.type.rank != node.output.type.rank for v in activations):
        return None
    # An input beside inputs alone: transposes could go back and forth between them for ever.
    if any(v.producer is None for v in activations) and all(s.input(0).producer is None for s in sources):
        return None
    return found.pop()


def _unpermuted(value: Value, permutation: Sequence[int], spec: OpSpec, b: Builder) -> Value | None:
    """The value before the transpose; a constant operand with its axes moved the other way."""
    if value.data is None:
        return _untransposed(value, permutation, b)
    if value.type.size == 1 and spec.pointwise:
        return value
    whole = spec.pointwise or value.type.rank == len(permutation)
    if not whole or (value.type.quant is not None and value.type.quant.axis is not None):
        return None
    full = value.data.reshape((1,) * (len(permutation) - value.type.rank) + value.type.shape)
    moved = np.ascontiguousarray(full.transpose(np.argsort(permutation)))
    return b.constant(value.name, moved, value.type.quant)


def _untransposed(value: Value, permutation: Sequence[int], b: Builder) -> Value | None:
    """What gives ``value`` when it is transposed."""
    source = value.producer
    if source is None:
        back = TransposeAttrs(tuple(int(p) for p in np.argsort(permutation)))
        known = any(n.op == "transpose" and n.attrs == back and n.input(0) is value for n in b.graph.nodes)
        return b.node("transpose", [value], back, quant=value.type.quant) if known else None
    if source.op == "transpose":
        return source.input(0) if source.attrs.permutation == tuple(permutation) else None
    if source.op != "reshape":
        return None
    x = source.input(0)
    if x.type.rank != len(permutation) or tuple(x.type.shape[p] for p in permutation) != value.type.shape:
        return None
    moved = [axis for axis in permutation if x.type.shape[axis] != 1]
    return x if moved == sorted(moved) else None


def _after_reshape(node: Node, b: Builder) -> Value | None:
    """Rule 4."""
    spec = spec_of(node)
    if not spec.pointwise or len(node.outputs) != 1:
        return None
    shapes: set[tuple[int, ...]] = set()
    for value in node.present_inputs:
        if value.is_constant:
            continue
        source = value.producer
        if source is None or source.op != "reshape" or value.type.shape != node.output.type.shape:
            return None
        shapes.add(source.input(0).type.shape)
    quants = [v.type.quant for v in [node.output, *node.present_inputs]]
    if len(shapes) != 1 or any(q is not None and q.axis is not None for q in quants):
        return None
    before = shapes.pop()
    operands = [None if v is None else _unshaped(v, before, node.output.type.shape, b) for v in node.inputs]
    if sum(v is not None for v in operands) != len(node.present_inputs):
        return None
    return _moved_behind(node, b, operands, node.attrs, "reshape", ReshapeAttrs(node.output.type.shape))


def _unshaped(value: Value, before: Sequence[int], after: Sequence[int], b: Builder) -> Value | None:
    """The value before the reshape; a constant operand with its axes where they were before it."""
    if value.data is None:
        assert value.producer is not None
        return value.producer.input(0)
    if value.type.size == 1:
        return b.constant(value.name, value.data.reshape(()), value.type.quant) if value.type.rank else value
    if [n for n in before if n != 1] != [n for n in after if n != 1]:
        return None
    full = (1,) * (len(after) - value.type.rank) + value.type.shape
    extents = iter([n for n, whole in zip(full, after, strict=True) if whole != 1])
    shape = [1 if n == 1 else next(extents) for n in before]
    return b.constant(value.name, value.data.reshape(shape), value.type.quant)


def _fully_connected_after_flatten(node: Node, b: Builder) -> Value | None:
    """Rule 5."""
    if node.op != "fully_connected":
        return None
    flat, weights = node.input(0), node.input(1)
    reshape = flat.producer
    if reshape is None or reshape.op != "reshape" or reshape.input(0).producer is None:
        return None
    transpose = reshape.input(0).producer
    if transpose is None or transpose.op != "transpose" or transpose.attrs.permutation[0] != 0:
        return None
    source = transpose.input(0)
    if flat.type.rank != 2 or flat.type.shape[0] != source.type.shape[0]:
        return None
    permuted = _permuted_columns(weights, transpose.attrs.permutation, transpose.output.type.shape, b)
    if permuted is None:
        return None
    shape = ReshapeAttrs(flat.type.shape)
    x = b.node("reshape", [source], shape, name=reshape.name, outputs=[flat.name], quant=flat.type.quant)
    inputs = [x, permuted, *node.inputs[2:]]
    return b.node(node.op, inputs, node.attrs, name=node.name, quant=node.output.type.quant, rounding=node.rounding)


def _permuted_columns(weights: Value, permutation: Sequence[int], shape: Sequence[int], b: Builder) -> Value | None:
    """Constant weights [O, K] whose columns follow the axes of the untransposed input, also behind a dequantize."""
    if weights.data is not None:
        if weights.type.quant is not None and weights.type.quant.axis == 1:
            return None
        return b.constant(weights.name, _permute(weights.data, permutation, shape), weights.type.quant)
    source = weights.producer
    if source is None or source.op not in ("dequantize", "transpose") or not source.input(0).is_constant:
        return None
    if source.op == "transpose":
        return None  # folds first
    inner = _permuted_columns(source.input(0), permutation, shape, b)
    return None if inner is None else b.node("dequantize", [inner], source.attrs, name=source.name)


def _permute(data: Array, permutation: Sequence[int], shape: Sequence[int]) -> Array:
    outputs = data.shape[0]
    columns = data.reshape(outputs, *shape[1:])
    order = [0, *(1 + int(p) for p in np.argsort([p - 1 for p in permutation[1:]]))]
    return np.ascontiguousarray(columns.transpose(order)).reshape(outputs, -1)
