"""ONNX's operators of any number of operands (Sum, Mean, Max, Min) as chains of those of two."""

from __future__ import annotations

import numpy as np

from burnc.ir import Value
from burnc.ops.mapping import Build, FileNode


def chained(op: str, *, mean: bool = False) -> Build:
    """From left to right; ``mean`` divides by the number of operands."""

    def build(node: FileNode) -> list[Value]:
        operands = [node.input(i) for i in range(len(node.inputs))]
        result, last = operands[0], len(operands) - 1
        for index, operand in enumerate(operands[1:], 1):
            result = node.emit(op, [result, operand], last=index == last and not mean, **_inner(node, op, index, last))
        if mean and last:
            share = node.new_constant("share", np.array(1 / len(operands), result.type.dtype.numpy))
            return [node.emit("mul", [result, share])]
        return [result]

    return build


def _inner(node: FileNode, op: str, index: int, last: int) -> dict[str, str]:
    return {} if index == last else {"name": f"{node.name}.{op}{index}"}
