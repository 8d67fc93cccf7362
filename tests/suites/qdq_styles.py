"""A float ONNX model with QuantizeLinear and DequantizeLinear put into it, in the styles of other tools."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from burnc.ir import Array
from suites.onnx_graphs import RandomGraph, run_model, with_all_tensors

WEIGHT_AXIS = {"Conv": 0, "ConvTranspose": 1, "Gemm": 1, "MatMul": -1}
CONSTANT_OPERANDS = ("Add", "Sub", "Mul", "Concat", "Max", "Min", "MatMul", "Where")
"""Operators whose constant operands are quantized like activations."""
CALIBRATION_RUNS = 4


@dataclass(frozen=True)
class Style:
    """How a tool writes.

    Attributes:
        activations: uint8, int8 or symmetric int8.
        shared: one DequantizeLinear a tensor, or one for each reader.
        fused: nothing between a layer and the Relu or Clip behind it.
        share: of the tensors that are quantized.
        tight: the part of the calibrated range that is kept.
    """

    activations: str
    per_channel: bool
    int32_bias: bool
    shared: bool
    fused: bool
    share: float
    tight: float

    @classmethod
    def draw(cls, random: Random) -> Style:
        return cls(
            random.choice(("uint8", "uint8", "int8", "symmetric")),
            random.random() < 0.7,
            random.random() < 0.8,
            random.random() < 0.6,
            random.random() < 0.5,
            random.choice((1.0, 1.0, 1.0, 0.7)),
            random.choice((1.0, 1.0, 0.7)),
        )


def quantized_model(graph: RandomGraph, random: Random) -> onnx.ModelProto:
    """The QDQ form of a random graph."""
    return _Writer(graph, Style.draw(random), random).model()


class _Writer:
    def __init__(self, graph: RandomGraph, style: Style, random: Random) -> None:
        self.source = graph.model
        self.style = style
        self.random = random
        self.seen = _calibrate(graph)
        self.constants = {t.name: numpy_helper.to_array(t) for t in self.source.graph.initializer}
        self.outputs = {v.name for v in self.source.graph.output}
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, Array] = {}
        self.parameters: dict[str, tuple[str, str]] = {}  # tensor -> scale and zero point
        self.count = 0

    def model(self) -> onnx.ModelProto:
        for value in self.source.graph.input:
            if self._is_wanted(value.name):
                self._quantize(value.name, value.name)
        for node in self.source.graph.node:
            self._write(node)
        used = {name for node in self.nodes for name in node.input}
        held = {**self.constants, **self.initializers}
        graph = helper.make_graph(
            self.nodes,
            "quantized",
            self.source.graph.input,
            self.source.graph.output,
            [numpy_helper.from_array(array, name) for name, array in held.items() if name in used],
        )
        return helper.make_model(graph, opset_imports=self.source.opset_import, ir_version=10)

    def _write(self, node: onnx.NodeProto) -> None:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        for place, name in enumerate(node.input):
            copy.input[place] = self._operand(node, place, name)
        self.nodes.append(copy)
        for place, name in enumerate(node.output):
            if not name or not self._is_wanted(name) or self._is_fused(node, name):
                continue
            if name in self.outputs:
                copy.output[place] = f"{name}_float"
                self._quantize(copy.output[place], name)
                self._dequantize(name, name)
            else:
                self._quantize(name, name)

    def _is_wanted(self, name: str) -> bool:
        seen = self.seen.get(name)
        is_float = seen is not None and seen.dtype == np.float32 and bool(np.isfinite(seen).all())
        return is_float and self.random.random() < self.style.share

    def _is_fused(self, node: onnx.NodeProto, name: str) -> bool:
        readers = [n for n in self.source.graph.node if name in n.input]
        is_layer = node.op_type in ("Conv", "Gemm", "Add")
        is_read_once = len(readers) == 1 and name not in self.outputs
        return self.style.fused and is_layer and is_read_once and readers[0].op_type in ("Relu", "Clip")

    def _operand(self, node: onnx.NodeProto, place: int, name: str) -> str:
        if name in self.parameters:
            if self.style.shared and any(f"{name}_dq" in n.output for n in self.nodes):
                return f"{name}_dq"
            return self._dequantize(name, f"{name}_dq" if self.style.shared else self._fresh(f"{name}_dq"))
        array = self.constants.get(name)
        first = node.input[0] if node.input else ""
        if array is None or array.dtype != np.float32 or self.random.random() >= self.style.share:
            return name
        if node.op_type in WEIGHT_AXIS and place == 1 and first in self.parameters:
            return self._weights(node, name, array)
        if (
            node.op_type in WEIGHT_AXIS
            and place == 2
            and array.ndim == 1
            and f"{node.input[1]}_scale" in self.initializers
        ):
            return self._bias(node, name, array)
        if node.op_type in CONSTANT_OPERANDS and array.size:
            return self._constant(name, array)
        return name

    def _weights(self, node: onnx.NodeProto, name: str, array: Array) -> str:
        transposed = next((a.i for a in node.attribute if a.name == "transB"), 0)
        axis = (0 if transposed else WEIGHT_AXIS[node.op_type]) % array.ndim
        grouped = node.op_type == "ConvTranspose" and any(a.name == "group" and a.i > 1 for a in node.attribute)
        axes: tuple[int, ...] = tuple(i for i in range(array.ndim) if i != axis)
        at: int | None
        if not self.style.per_channel or grouped or array.ndim < 2:
            axes, at = tuple(range(array.ndim)), None
        else:
            at = axis
        scale = (np.maximum(np.abs(array).max(axis=axes, keepdims=True), 1e-4) / 127).astype(np.float32)
        stored = np.clip(np.rint(array / scale), -127, 127).astype(np.int8)
        shape = () if at is None else scale.size
        self.initializers[f"{name}_scale"] = scale.reshape(shape)
        self.initializers[f"{name}_zero_point"] = np.zeros(shape, np.int8)
        self.initializers[f"{name}_quantized"] = stored
        names = [f"{name}_quantized", f"{name}_scale", f"{name}_zero_point"]
        return self._add("DequantizeLinear", names, self._fresh(f"{name}_dq"), axis=at)

    def _bias(self, node: onnx.NodeProto, name: str, array: Array) -> str:
        if not self.style.int32_bias:
            return name
        scale = self.initializers[self.parameters[node.input[0]][0]] * self.initializers[f"{node.input[1]}_scale"]
        if scale.size not in (1, array.size):
            return name
        self.initializers[f"{name}_scale"] = scale
        stored = np.clip(np.rint(array / scale), -(2**31), 2**31 - 1).astype(np.int32)
        self.initializers[f"{name}_quantized"] = stored
        self.initializers[f"{name}_zero_point"] = np.zeros(scale.shape, np.int32)
        names = [f"{name}_quantized", f"{name}_scale", f"{name}_zero_point"]
        return self._add("DequantizeLinear", names, self._fresh(f"{name}_dq"), axis=0 if scale.ndim else None)

    def _constant(self, name: str, array: Array) -> str:
        dtype, scale, zero_point = self._range(array)
        self.initializers[f"{name}_scale"], self.initializers[f"{name}_zero_point"] = scale, zero_point
        info = np.iinfo(dtype)
        stored = np.clip(np.rint(array / scale) + zero_point, info.min, info.max).astype(dtype)
        self.initializers[f"{name}_quantized"] = stored
        names = [f"{name}_quantized", f"{name}_scale", f"{name}_zero_point"]
        return self._add("DequantizeLinear", names, self._fresh(f"{name}_dq"))

    def _range(self, array: Array) -> tuple[str, Any, Any]:
        """Element type, scale and zero point for numbers like these."""
        low, high = min(0.0, float(array.min()) * self.style.tight), max(0.0, float(array.max()) * self.style.tight)
        if self.style.activations == "symmetric":
            return "int8", np.float32(max(-low, high, 1e-3) / 127), np.int8(0)
        dtype = self.style.activations
        scale = np.float32(max(high - low, 1e-3) / 255)
        zero_point = np.clip(np.rint(-low / scale), 0, 255) + np.iinfo(dtype).min
        return dtype, scale, zero_point.astype(dtype)

    def _quantize(self, source: str, name: str) -> None:
        scale_name, zero_name = f"{name}_scale", f"{name}_zero_point"
        _, self.initializers[scale_name], self.initializers[zero_name] = self._range(self.seen[name])
        self.parameters[name] = scale_name, zero_name
        self._add("QuantizeLinear", [source, scale_name, zero_name], f"{name}_q")

    def _dequantize(self, name: str, result: str) -> str:
        return self._add("DequantizeLinear", [f"{name}_q", *self.parameters[name]], result)

    def _add(self, op: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [output], name=f"{output}_{op}", **attributes))
        return output

    def _fresh(self, name: str) -> str:
        self.count += 1
        return f"{name}_{self.count}"


def _calibrate(graph: RandomGraph) -> dict[str, Array]:
    """For each tensor the numbers of a few runs, joined."""
    model = with_all_tensors(graph.model)
    seen: dict[str, list[Array]] = {}
    for seed in range(CALIBRATION_RUNS):
        inputs = graph.inputs(100 + seed)
        for name, array in {**inputs, **run_model(model, inputs)}.items():
            seen.setdefault(name, []).append(array)
    return {name: np.stack(arrays) for name, arrays in seen.items()}


def is_float(value: onnx.ValueInfoProto) -> bool:
    return bool(value.type.tensor_type.elem_type == TensorProto.FLOAT)
