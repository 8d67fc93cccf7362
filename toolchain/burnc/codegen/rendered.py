"""Kernels without a row: the operator's KernelIR, rendered as C."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection
from dataclasses import dataclass

from burnc.backends.protocol import SUPPORTED, Support
from burnc.codegen.program import Argument, Scratch
from burnc.codegen.rows import Emitter
from burnc.errors import GraphError
from burnc.ir import DType, Node, Value
from burnc.kernel.analysis import parameters, pointwise_inputs, safe_distance
from burnc.kernel.buffer import Role
from burnc.kernel.builder import KernelBuilder
from burnc.kernel.c99 import headers, render
from burnc.kernel.order import may_share_place
from burnc.kernel.program import Kernel
from burnc.kernel.unread import without
from burnc.ops import spec_of
from burnc.ops.table import look_up

FUNCTION = "kernel"  # stands for the name until the texts of equal kernels are joined


# Read off builds for the Cortex-M0+.
_BYTES_PER_CHARACTER = 0.35


@dataclass(frozen=True)
class RenderedKernel:
    """C text with the function named ``FUNCTION``, the arguments of this node's call, and what the planner needs.

    Attributes:
        left_out: results that nothing reads and that the kernel does not write.
        overlap: (input, safe distance in bytes) pairs: its ``successor`` may lie over that input (memory.Overlap).
    """

    text: str
    arguments: tuple[Argument, ...]
    headers: frozenset[str]
    scratch_bytes: int
    overlap: tuple[tuple[int, int], ...]
    left_out: frozenset[Value]


def rendered_bytes(text: str) -> int:
    """Estimated code of a rendered function, by its length."""
    return int(_BYTES_PER_CHARACTER * len(re.sub(r"\s+", " ", text)))


def build_kernel(node: Node) -> Kernel:
    """The KernelIR of a node.

    Raises:
        GraphError: the operator has none for these types.
    """
    spec = spec_of(node)
    builder = KernelBuilder(FUNCTION, node, operand_names(node))
    body = spec.body
    if builder.quantized:
        body = spec.body_int8 or (look_up if spec.unary else spec.body)
        if node.input(0).type.dtype is DType.INT16:
            body = spec.body_int16 or (None if spec.unary else spec.body_int8 or spec.body)
    if body is None:
        raise GraphError("the operator has no kernel for these types", where=f"node {node.name!r}, operator {node.op}")
    body(builder, node.attrs, *builder.inputs, *builder.outputs)
    return builder.build()


# What mathematics calls by one letter, C may call by its name.
_READABLE = {"w": "weights", "b": "bias", "a": "left"}


def operand_names(node: Node) -> list[str]:
    """Names of a node's inputs in C: those that the operator's own mathematics uses, ``x0, x1, …`` beyond them."""
    found = list(inspect.signature(spec_of(node).forward).parameters.values())[2:]  # after xp and the attributes
    names = [_READABLE.get(p.name, p.name) for p in found if p.kind is not p.VAR_POSITIONAL]
    return [names[i] if i < len(names) else f"x{i}" for i in range(len(node.inputs))]


def has_kernel(node: Node) -> Support:
    """Whether a backend that runs the generated C can run the node."""
    try:
        build_kernel(node)
    except GraphError as error:
        return Support.no(error.what)
    return SUPPORTED


def render_node(node: Node, emitter: Emitter, unread: Collection[Value] = ()) -> RenderedKernel:
    """Render a node's kernel and make the constants that it reads; ``unread`` results need not be written."""
    kernel = build_kernel(node)
    inputs = kernel.of_role(Role.INPUT)
    values = dict(zip(inputs, node.present_inputs, strict=True))
    values |= dict(zip(kernel.of_role(Role.OUTPUT), node.outputs, strict=True))
    kernel, gone = without(kernel, [b for b in kernel.of_role(Role.OUTPUT) if values[b] in unread])
    arguments: list[Argument] = []
    scratch = 0
    for buffer in parameters(kernel):
        if buffer.data is not None:
            arguments.append(emitter.constant(buffer.name, buffer.data))
        elif buffer.role is Role.SCRATCH:
            scratch = -(-scratch // 8) * 8
            arguments.append(Scratch(buffer.dtype, scratch))
            scratch += buffer.size * buffer.dtype.bytes
        else:
            value = values[buffer]
            arguments.append(value if value.data is None else emitter.constant(buffer.name, value.data))
    overlap = _pointwise(kernel, node) if len(node.outputs) == 1 else _carried(kernel, node)
    left_out = frozenset(values[buffer] for buffer in gone)
    return RenderedKernel(render(kernel), tuple(arguments), frozenset(headers(kernel)), scratch, overlap, left_out)


def _pointwise(kernel: Kernel, node: Node) -> tuple[tuple[int, int], ...]:
    (output,) = kernel.of_role(Role.OUTPUT)
    safe = set(pointwise_inputs(kernel))
    positions = [i for i, v in enumerate(node.inputs) if v is not None]
    return tuple(
        (i, safe_distance(buffer, output))
        for i, buffer in zip(positions, kernel.of_role(Role.INPUT), strict=True)
        if buffer in safe and buffer.size == output.size
    )


def _carried(kernel: Kernel, node: Node) -> tuple[tuple[int, int], ...]:
    """What a run hands on to the next one may lie where it found that, if the kernel reads it early enough."""
    inputs = dict(zip([i for i, v in enumerate(node.inputs) if v is not None], kernel.of_role(Role.INPUT), strict=True))
    outputs = kernel.of_role(Role.OUTPUT)
    pairs = [(i, o) for i, o in spec_of(node).recurrent if i in inputs]
    return tuple((i, 0) for i, o in pairs if may_share_place(kernel, inputs[i], outputs[o]))
