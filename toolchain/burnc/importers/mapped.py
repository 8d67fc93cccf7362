"""What both importers do with one operator of a file: carry out its mapping, and say why where that fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from burnc.errors import GraphError
from burnc.ir import Node, Value
from burnc.ops import OpSpec
from burnc.ops.mapping import Build, FileNode, RefusalError

_CONTRADICTIONS = (ArithmeticError, LookupError, TypeError, ValueError)
"""What a mapping runs into where a file's attributes and shapes make no sense together."""

LARGEST = 2**31 - 1
"""Bytes of a result."""


def build_nodes(spec: OpSpec, attrs: Mapping[str, str], build: Build | None, node: FileNode) -> Sequence[Value]:
    """Add the IR nodes of one file operator and return its results.

    Args:
        attrs: our attribute names -> the file's, for an operator without ``build``.

    Raises:
        RefusalError: why it cannot be carried. Nodes that were added by then are taken out again.
    """
    nodes = node.builder.graph.nodes
    before = len(nodes)
    try:
        results = build(node) if build is not None else _one_to_one(spec, attrs, node)
        _check_sizes(node, nodes[before:])
    except RefusalError:
        del nodes[before:]
        raise
    except GraphError as error:
        del nodes[before:]
        raise RefusalError(error.what) from error
    except _CONTRADICTIONS as error:
        del nodes[before:]
        raise RefusalError(f"its inputs and attributes make no sense together ({error})") from error
    return results


def _check_sizes(node: FileNode, added: Sequence[Node]) -> None:
    """Indices in kernels are of 32 bits, and no target has so much memory."""
    for value in (value for each in added for value in each.outputs):
        if value.type.nbytes > LARGEST:
            node.refuse(f"its result {list(value.type.shape)} is larger than 2 GB")


def _one_to_one(spec: OpSpec, attrs: Mapping[str, str], node: FileNode) -> Sequence[Value]:
    given = {ours: node.attributes[theirs] for ours, theirs in attrs.items() if theirs in node.attributes}
    filled = spec.attrs(**{name: tuple(v) if isinstance(v, list) else v for name, v in given.items()})
    names = [name for name in node.output_names if name]
    return node.builder.nodes(spec.name, node.inputs, filled, name=node.name, outputs=names, quant=node.output_quant)
