"""The intermediate representation: typed values, nodes and graphs, and what checks and prints them."""

from burnc.ir.builder import Builder
from burnc.ir.graph import ROUNDINGS, Graph, Node, Operator, State, Value, constant, with_outputs
from burnc.ir.pattern import Match, Pattern, anything, const, maybe, op
from burnc.ir.printer import print_graph
from burnc.ir.types import Array, DType, QuantParams, TensorType
from burnc.ir.verifier import verify

__all__ = [
    "ROUNDINGS",
    "Array",
    "Builder",
    "DType",
    "Graph",
    "Match",
    "Node",
    "Operator",
    "Pattern",
    "QuantParams",
    "State",
    "TensorType",
    "Value",
    "anything",
    "const",
    "constant",
    "maybe",
    "op",
    "print_graph",
    "verify",
    "with_outputs",
]
