"""The printed form of a graph: one line a value, equal text for equal graphs."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any

import numpy as np

from burnc.ir.attributes import float32
from burnc.ir.graph import Graph, Node
from burnc.ir.types import Array, format_float


def print_graph(graph: Graph) -> str:
    """Inputs, states (with what they begin as), constants (with a digest of their bytes), nodes in order, results."""
    lines = [f"graph {graph.name}"]
    lines += [f"  input  %{v.name}: {v.type}" for v in graph.inputs]
    lines += [f"  state  %{s.name}: {s.read.type} = {_print_data(s.initial)}" for s in graph.states]
    lines += [f"  const  %{v.name}: {v.type} = {_print_data(v.data)}" for v in graph.constants()]
    lines += [f"  {_print_node(node)}" for node in graph.nodes]
    lines += [f"  output %{v.name}" for v in graph.outputs]
    lines += [f"  keep   %{s.name} <- %{s.write.name}" for s in graph.states]
    return "\n".join(lines) + "\n"


def _print_node(node: Node) -> str:
    results = ", ".join(f"%{v.name}" for v in node.outputs)
    operands = ", ".join("none" if v is None else f"%{v.name}" for v in node.inputs)
    types = ", ".join(str(v.type) for v in node.outputs)
    return f"{results} = {node.op}({operands}){_print_attrs(node)}: {types}  # {node.name}"


def _print_attrs(node: Node) -> str:
    shown = []
    for field in dataclasses.fields(node.attrs):
        value, default = getattr(node.attrs, field.name), float32(field.default)
        if repr(value) != repr(default) and (value != default or repr(value).startswith("-")):
            shown.append(f"{field.name}={_print_value(value)}")
    if node.rounding != "tflm":
        shown.append(f"rounding={node.rounding}")
    return " {" + ", ".join(shown) + "}" if shown else ""


def _print_value(value: Any) -> str:
    if isinstance(value, float):
        return format_float(value)
    return str(value)


def _print_data(array: Array | None) -> str:
    data: Array = np.ascontiguousarray(array)
    if data.size <= 4 and data.dtype.kind != "f":
        return str(data.tolist())
    return "sha256:" + hashlib.sha256(data.tobytes()).hexdigest()[:16]
