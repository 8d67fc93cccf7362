"""Einsum with static shapes becomes transposes, sums and matrix products, two operands at a time; ``matmul`` lists it.

Sources: ONNX Einsum-12. Labels of an ellipsis are written as digits here; an axis of size 1 that meets a longer one is
dropped first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burnc.ir import Value
from burnc.ops.mapping import FileNode


@dataclass(frozen=True)
class _Term:
    """A tensor and the label of each of its axes."""

    value: Value
    labels: str


class _Emitter:
    def __init__(self, node: FileNode) -> None:
        self.node = node

    def emit(self, op: str, inputs: Sequence[Value], **attrs: Any) -> Value:
        made = self.node.builder.operators[op].attrs(**attrs) if attrs else None
        return self.node.emit(op, inputs, made, last=False)

    def reshaped(self, x: Value, shape: Sequence[int]) -> Value:
        return x if tuple(shape) == x.type.shape else self.emit("reshape", [x], shape=tuple(shape))

    def arranged(self, term: _Term, labels: str) -> Value:
        """The term's axes in that order; labels it does not have are not asked for."""
        order = tuple(term.labels.index(label) for label in labels)
        return (
            term.value if order == tuple(range(len(order))) else self.emit("transpose", [term.value], permutation=order)
        )

    def summed(self, term: _Term, kept: str) -> _Term:
        """Without the labels that nothing else needs."""
        axes = tuple(i for i, label in enumerate(term.labels) if label not in kept)
        if not axes:
            return term
        labels = "".join(label for label in term.labels if label in kept)
        total = self.emit("reduce_sum", [term.value], axes=axes, keepdims=True)
        return _Term(self.reshaped(total, [n for i, n in enumerate(term.value.type.shape) if i not in axes]), labels)

    def diagonal(self, term: _Term) -> _Term:
        """Labels that a term has twice become one: every (n + 1)-th element of the two axes laid together."""
        value, labels = term.value, term.labels
        while len(set(labels)) < len(labels):
            label = next(one for one in labels if labels.count(one) > 1)
            first = labels.index(label)
            second = labels.index(label, first + 1)
            rest = [i for i in range(len(labels)) if i not in (first, second)]
            extent = value.type.shape[first]
            if value.type.shape[second] != extent:
                self.node.refuse(f"label {label!r} stands for {extent} and {value.type.shape[second]}")
            outer = tuple(value.type.shape[i] for i in rest)
            turned = self.emit("transpose", [value], permutation=(*rest, first, second))
            flat = self.emit("reshape", [turned], shape=(*outer, extent * extent))
            steps = (*[1] * len(rest), extent + 1)
            starts = (0,) * (len(rest) + 1)
            value = self.emit("slice", [flat], starts=starts, sizes=(*outer, extent), steps=steps)
            labels = "".join(labels[i] for i in rest) + label
        return _Term(value, labels)

    def product(self, left: _Term, right: _Term, kept: str) -> _Term:
        """One matrix product: labels of both that are kept are its batch, those that are not are summed over."""
        sizes = {**_sizes(left), **_sizes(right)}
        left = self.summed(left, kept + right.labels)
        right = self.summed(right, kept + left.labels)
        both = [label for label in left.labels if label in right.labels]
        batch = "".join(label for label in both if label in kept)
        inner = "".join(label for label in both if label not in kept)
        rows = "".join(label for label in left.labels if label not in both)
        columns = "".join(label for label in right.labels if label not in both)

        def extent(labels: str) -> int:
            return math.prod(sizes[label] for label in labels)

        first = self.reshaped(self.arranged(left, batch + rows + inner), (extent(batch), extent(rows), extent(inner)))
        second = self.arranged(right, batch + inner + columns)
        second = self.reshaped(second, (extent(batch), extent(inner), extent(columns)))
        result = self.emit("matmul", [first, second])
        labels = batch + rows + columns
        return _Term(self.reshaped(result, [sizes[label] for label in labels]), labels)


def _sizes(term: _Term) -> dict[str, int]:
    return dict(zip(term.labels, term.value.type.shape, strict=True))


def _labels(node: FileNode, operands: Sequence[Value]) -> tuple[list[str], str]:
    """Labels of each operand and of the result, without ellipses."""
    equation = str(node.attribute("equation", "")).replace(" ", "")
    inputs, arrow, output = equation.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(operands) or not re.fullmatch(r"[A-Za-z.,]*(->[A-Za-z.]*)?", equation):
        node.refuse(f"equation {equation!r} does not go with {len(operands)} inputs")
    found, widest = [], ""
    for term, value in zip(terms, operands, strict=True):
        count = value.type.rank - len(term.replace("...", ""))
        if count < 0 or count > 9 or (count > 0 and "..." not in term):
            node.refuse(f"{term!r} in equation {equation!r} does not go with shape {list(value.type.shape)}")
        # An ellipsis is aligned at its end: the last axis is 9.
        digits = "".join(str(10 - count + i) for i in range(count))
        widest = max(widest, digits, key=len)
        found.append(term.replace("...", digits))
    if not arrow:
        letters = "".join(found)
        single = sorted(label for label in set(letters) if label.isalpha() and letters.count(label) == 1)
        return found, widest + "".join(single)
    output = output.replace("...", widest)
    if len(set(output)) != len(output) or not set(output) <= set("".join(found)):
        node.refuse(f"the result of equation {equation!r} names what no input has, or one label twice")
    return found, output


def from_onnx(node: FileNode) -> list[Value]:
    operands = [node.input(i) for i in range(len(node.inputs))]
    if any(not value.type.dtype.is_float for value in operands):
        node.refuse("only floats are supported")
    labels, output = _labels(node, operands)
    e = _Emitter(node)
    terms = [e.diagonal(_Term(value, text)) for value, text in zip(operands, labels, strict=True)]
    largest: dict[str, int] = {}
    for term in terms:
        for label, size in _sizes(term).items():
            largest[label] = max(size, largest.get(label, 1))
    terms = [_without_ones(e, term, largest) for term in terms]
    for term in terms:
        for label, size in _sizes(term).items():
            if size != largest[label]:
                node.refuse(f"label {label!r} stands for {size} and {largest[label]}")
    result = terms[0]
    for i, term in enumerate(terms[1:], start=1):
        result = e.product(result, term, output + "".join(later.labels for later in terms[i + 1 :]))
    result = e.summed(result, output)
    shape = tuple(largest[label] for label in output)
    turned = e.arranged(result, "".join(label for label in output if label in result.labels))
    return [node.emit("reshape", [turned], node.builder.operators["reshape"].attrs(shape))]


def _without_ones(e: _Emitter, term: _Term, largest: dict[str, int]) -> _Term:
    """Axes of size 1 that are longer elsewhere are broadcast: without them, the product does that."""
    kept = [(label, size) for label, size in _sizes(term).items() if not (size == 1 and largest[label] > 1)]
    return _Term(e.reshaped(term.value, [size for _, size in kept]), "".join(label for label, _ in kept))
