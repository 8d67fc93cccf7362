"""Model-local functions are inlined, by onnx's own inliner, after a look at how large that would become."""

from __future__ import annotations

import onnx
from onnx import inliner

from burnc.errors import ModelFileError
from burnc.importers.onnx.reading import all_nodes

LARGEST_MODEL = 200_000
"""Nodes after inlining: functions that call functions grow exponentially."""

FunctionId = tuple[str, str, str]


def check_functions(model: onnx.ModelProto, where: str) -> None:
    """Look at the local functions before onnx does.

    Raises:
        ModelFileError: a function calls itself, or inlining would make the model absurdly large.
    """
    bodies = {(f.domain, f.name, f.overload): f for f in model.functions}
    sizes: dict[FunctionId, int] = {}
    for key in bodies:
        _expanded_size(key, bodies, sizes, (), where)
    total = sum(sizes.get(_callee(n), 1) for n in all_nodes(model.graph.node))
    if total > LARGEST_MODEL:
        raise ModelFileError(f"inlining the local functions would give over {LARGEST_MODEL} nodes", where=where)


def inline_functions(model: onnx.ModelProto, where: str) -> onnx.ModelProto:
    """The model without local functions.

    Raises:
        ModelFileError: onnx's inliner fails.
    """
    if not model.functions:
        return model
    try:
        return inliner.inline_local_functions(model, convert_version=True)
    except Exception as error:
        raise ModelFileError(f"the local functions cannot be inlined: {error}", where=where) from error


def _callee(node: onnx.NodeProto) -> FunctionId:
    return (node.domain, node.op_type, node.overload)


def _expanded_size(
    key: FunctionId,
    bodies: dict[FunctionId, onnx.FunctionProto],
    sizes: dict[FunctionId, int],
    callers: tuple[FunctionId, ...],
    where: str,
) -> int:
    if key in callers:
        raise ModelFileError(f"the local function {key[1]!r} calls itself", where=where)
    if len(callers) > 100:
        raise ModelFileError("local functions are nested more than 100 deep", where=where)
    if key not in sizes:
        total = 0
        for node in all_nodes(bodies[key].node):
            callee = _callee(node)
            total += _expanded_size(callee, bodies, sizes, (*callers, key), where) if callee in bodies else 1
        sizes[key] = min(total, 10 * LARGEST_MODEL)
    return sizes[key]
