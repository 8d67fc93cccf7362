"""The constant operand of a commutative node comes second, so that later passes look in one place."""

from __future__ import annotations

from burnc.ir import Graph

COMMUTATIVE = ("add", "mul")


class OrderOperands:
    """Constant first operands of add and mul.

    1. The first input is a constant, the second is not: they change places.
    """

    name = "order operands"

    def run(self, graph: Graph) -> int:
        changed = 0
        for node in graph.nodes:
            if node.op in COMMUTATIVE and node.input(0).is_constant and not node.input(1).is_constant:
                node.inputs.reverse()
                changed += 1
        return changed
