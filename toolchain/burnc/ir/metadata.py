"""Keys of ``Graph.metadata`` that burnc itself reads and writes; all others are the model's own facts."""

from __future__ import annotations

NOTES = "import.notes"
"""Lines for the user: what the importer chose."""

SOURCE = "source."
"""Prefix of facts about the file that a graph was read from: format, sha256, producer, opset, …"""

IO = "burnc.io"
"""JSON, input or output name -> quantized element type (ONNX has float edges). Present where anything is quantized."""

FLOATS = "burnc.floats"
"""JSON, names of values that are float although quantize follows: their operators are not to become integer ones."""

STATES = "burnc.states"
"""JSON, [{"input": name, "output": name, "initial": number or flat list}, …]: edges that are state (ONNX has none)."""

NAMES = "burnc.names"
"""JSON, {"constants": [name, …], "nodes": [[operator, name, rounding, [result, …]], …]} of a canonical graph."""

BEYOND = "burnc.attributes"
"""JSON, {node name: {attribute: number}}: what ONNX's operators have no place for."""

CARD = "burnc.card"
"""JSON, the fields of ``burnc.ir.model_card.ModelCard``: what the inputs are, how they are scaled, labels, accuracy."""
