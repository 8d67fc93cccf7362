"""The judge of a program's arena, written apart from lowering: plays its run and watches whose bytes are whose."""

from __future__ import annotations

import numpy as np

from burnc.codegen.program import Program, Scratch
from burnc.ir import Array, Value


def contents_of(program: Program) -> dict[Value, Array]:
    """For each byte of each value a number that tells which byte of what an input or a step makes it is."""
    contents: dict[Value, Array] = {}
    made = 0

    def make(value: Value) -> None:
        nonlocal made
        shape = (*value.type.shape, value.type.dtype.bytes)
        contents[value] = made + np.arange(value.type.nbytes).reshape(shape)
        made += value.type.nbytes

    written = {v for step in program.steps for node in step.nodes for v in node.outputs}
    for value in program.graph.inputs:
        make(value)
    for node in program.graph.nodes:
        for value in node.outputs:
            if value in written or value.type.nbytes == 0:
                make(value)
            elif node.op == "concat":
                axis = node.attrs.axis % value.type.rank
                contents[value] = np.concatenate([contents[v] for v in node.present_inputs], axis)
            elif node.op == "slice":
                box = zip(node.attrs.starts, node.attrs.sizes, strict=True)
                contents[value] = contents[node.input(0)][tuple(slice(s, s + n) for s, n in box)]
            else:
                contents[value] = contents[node.input(0)].reshape((*value.type.shape, value.type.dtype.bytes))
    return contents


def assert_sound(program: Program) -> None:
    """Play the run: each step reads bytes that still hold what it wants, and its scratch touches none of them."""
    contents = contents_of(program)
    owner = np.full(program.plan.bytes, -1)

    def place(value: Value) -> slice:
        start = program.offset(value)
        assert start % value.type.dtype.bytes == 0
        assert start + value.type.nbytes <= program.plan.bytes
        return slice(start, start + value.type.nbytes)

    def holds(value: Value) -> bool:
        return np.array_equal(owner[place(value)], contents[value].reshape(-1))

    for value in program.graph.inputs:
        owner[place(value)] = contents[value].reshape(-1)
    assert all(holds(v) for v in program.graph.inputs)
    for position, step in enumerate(program.steps):
        reads = [v for node in step.nodes for v in node.present_inputs if v in program.storage]
        assert all(holds(v) for v in reads), f"step {step.node.name} reads what was overwritten"
        if any(isinstance(a, Scratch) for call in step.calls for a in call.arguments):
            start = program.plan.offsets[f"scratch of step {position}"]
            scratch = np.arange(start, start + step.scratch_bytes)
            assert start % 8 == 0
            for value in [*reads, *step.node.outputs]:
                assert not np.isin(scratch, np.arange(program.plan.bytes)[place(value)]).any()
            owner[scratch] = -1
        for value in step.node.outputs:
            owner[place(value)] = contents[value].reshape(-1)
    assert all(holds(v) for v in program.graph.outputs)
