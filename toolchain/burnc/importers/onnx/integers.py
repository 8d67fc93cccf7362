"""Operators that a file applies to the integers of quantized tensors, as onnxruntime's quantizer does with MaxPool.

They are read as the float operator on the numbers that the integers stand for, so that one pass makes all integer
operators. That is the same where the operator only moves or orders elements; any other gets plain integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from burnc.importers.mapped import build_nodes
from burnc.ir import QuantParams, Value
from burnc.ops import OpSpec
from burnc.ops.mapping import FileNode, OnnxOp
from burnc.ops.parameters import plain_integers
from burnc.ops.quantize import QuantizeAttrs


def build_mapped(spec: OpSpec, mapping: OnnxOp, node: FileNode) -> Sequence[Value]:
    """Add the IR nodes of one operator of an ONNX file and return its results.

    Raises:
        RefusalError: why it cannot be carried.
    """
    quantized = [v for v in node.inputs if v is not None and v.type.quant is not None]
    if mapping.integers or not quantized:
        return build_nodes(spec, mapping.attrs, mapping.build, node)
    if not _is_alike_on_integers(spec):
        plain = tuple(v if v is None else plain_integers(node, v) for v in node.inputs)
        return build_nodes(spec, mapping.attrs, mapping.build, replace(node, inputs=plain))
    quant = _shared_params(node, quantized)
    first = quantized[0].type
    inner = replace(
        node,
        inputs=tuple(v if v is None else _real(node, v, quant, first.dtype.value) for v in node.inputs),
        output_names=tuple(f"{name}.real" if name else "" for name in node.output_names),
        zero=-quant.zero_point[0] * quant.scale[0],
    )
    results = build_nodes(spec, mapping.attrs, mapping.build, inner)
    return [
        _stored(node, result, name, quant, first.dtype.value) if result.type.dtype.is_float else result
        for result, name in zip(results, node.output_names, strict=False)
    ]


def _is_alike_on_integers(spec: OpSpec) -> bool:
    """Whether it only moves, orders or chooses elements."""
    rule = spec.quant
    return rule is not None and (rule.result == "same" or 0 in rule.integer_outputs)


def _shared_params(node: FileNode, quantized: Sequence[Value]) -> QuantParams:
    found = {(v.type.dtype, v.type.quant) for v in quantized}
    quant = quantized[0].type.quant
    assert quant is not None
    if len(found) > 1 or quant.axis is not None:
        node.refuse("it joins integers that are quantized by different parameters")
    return quant


def _real(node: FileNode, value: Value, quant: QuantParams, dtype: str) -> Value:
    """The real operand; a constant of the same type (a padding value) is quantized like the others."""
    if value.type.quant is None:
        if value.data is None or value.type.dtype.value != dtype:
            return value
        value = node.new_constant(value.name, value.data, quant)
    return node.emit("dequantize", [value], last=False, name=f"{value.name}.dequantized", quant=None)


def _stored(node: FileNode, result: Value, name: str, quant: QuantParams, dtype: str) -> Value:
    outputs = (name,) if name else ()
    return node.emit(
        "quantize",
        [result],
        QuantizeAttrs(dtype),
        name=f"{node.name}.stored",
        outputs=outputs,
        quant=quant,
        rounding="half_even",
    )
