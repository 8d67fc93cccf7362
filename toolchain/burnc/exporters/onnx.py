"""Graphs as ONNX models: float graphs plain, quantized ones as QDQ.

A quantized activation is a QuantizeLinear after the float operator that computes it and a DequantizeLinear before each
one that reads it; quantized weights and biases are int8 and int32 initializers with a DequantizeLinear. Quantized graph
inputs and outputs are float in the file. A state is one more input and one more output. What ONNX cannot say (names of
inner values, roundings, which edges are quantized or state) stands in ``metadata_props`` under the keys of
``burnc.ir.metadata``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from burnc.errors import Unsupported, UnsupportedError
from burnc.ir import Array, DType, Graph, Node, QuantParams, State, TensorType, Value
from burnc.ir.metadata import BEYOND, FLOATS, IO, NAMES, NOTES, SOURCE, STATES
from burnc.ir.order import dataflow_order
from burnc.numerics import dequantize
from burnc.ops import operators
from burnc.ops.mapping import ONNXRUNTIME
from burnc.ops.spatial import NHWC_FROM_NCHW

OPSET = 19
"""onnxruntime 1.32 breaks its own QDQ rewriting at opset 21 (output_dtype against y_zero_point)."""
IR_VERSION = 9
DOMAINS = {DType.INT8: "", DType.INT32: "", DType.INT16: ONNXRUNTIME}
"""Where an element type's QuantizeLinear is: the standard's own has int16 from opset 21 only."""
NOT_WRITTEN = (SOURCE, NOTES)
"""Metadata about the file that a graph came from, which is another file than the one that is written."""


def export_onnx(graph: Graph) -> onnx.ModelProto:
    """The graph as an ONNX model that other tools read; the same graph gives the same bytes.

    Raises:
        UnsupportedError: lists the operators that have no ONNX form, or none for their types.
    """
    known = operators()
    missing = [n for n in graph.nodes if n.op not in known or known[n.op].to_onnx is None]
    if missing:
        raise UnsupportedError(
            [Unsupported(n.name, n.op, "the operator has no ONNX form (OpSpec.to_onnx)") for n in missing]
        )
    wide = [Unsupported(n.name, n.op, why) for n in graph.nodes if (why := _why_types_fail(n))]
    if wide:
        raise UnsupportedError(wide)
    writer = _Writer(graph)
    for node in graph.nodes:
        writer.write(node)
    return writer.model()


def _why_types_fail(node: Node) -> str:
    """int32 is what a bias has, and nothing is quantized to it; between two types an operator is no QDQ form."""
    results = [v.type.dtype for v in node.outputs if v.type.quant is not None]
    held = [v.type.dtype for v in node.present_inputs if v.type.quant is not None]
    missing = [t for t in results if t not in DOMAINS or t is DType.INT32] + [t for t in held if t not in DOMAINS]
    if missing:
        return f"ONNX before opset 21 has no quantized {missing[0].value} there"
    rule = operators()[node.op].quant
    pairs = [
        (a, b) for a, b in zip(held, results, strict=False) if rule is not None and (a, b) in rule.fixed and a is not b
    ]
    return f"ONNX has no form of it from {pairs[0][0].value} to {pairs[0][1].value}" if pairs else ""


def onnx_bytes(graph: Graph) -> bytes:
    """``export_onnx`` as the bytes of a file."""
    data: bytes = export_onnx(graph).SerializeToString(deterministic=True)
    return data


class _Writer:
    """The ``OnnxWriter`` that operators' ``to_onnx`` write with.

    A quantized value ``v`` is ``v.real`` as its operator computes it and ``v`` after QuantizeLinear; where it is a
    graph input or output, ``v`` is the float edge and ``v.quantized`` the int8 tensor.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, onnx.TensorProto] = {}
        self.names = {value.name for value in graph.values()}
        self.node_names: set[str] = {node.name for node in graph.nodes}
        self.writer_of: dict[str, onnx.NodeProto] = {}
        self.current: Node | None = None
        self.stored: dict[tuple[Value, tuple[int, ...]], str] = {}
        self.parameters: dict[tuple[Value, QuantParams], list[str]] = {}
        self.real_names: dict[Value, str] = {}
        self.quantized: dict[Value, str] = {}
        self.attributes_beyond: dict[str, dict[str, float]] = {}
        self.read = {v for node in graph.nodes for v in node.present_inputs} | set(graph.results)
        for value in graph.outputs:
            if value.data is not None and value.type.quant is not None:
                self.stored[value, ()] = self._initializer(self._fresh(f"{value.name}.quantized"), value.data)
        for value in graph.given:
            if value.type.quant is not None:
                self.quantized[value] = self._quantize(value.name, value, self._fresh(f"{value.name}.quantized"))

    def write(self, node: Node) -> None:
        """Write one node, then quantize those of its results that are quantized."""
        self.current, self.is_first = node, True
        self.writer_of.clear()
        spec = operators()[node.op]
        assert spec.to_onnx is not None
        spec.to_onnx(self, node)
        for value in node.outputs:
            if value.type.quant is not None and (value in self.read or len(node.outputs) == 1):
                self._quantize_result(value)
        self.current = None

    def _quantize_result(self, value: Value) -> None:
        is_edge = value in self.graph.results
        name = self._fresh(f"{value.name}.quantized") if is_edge else value.name
        self.quantized[value] = self._quantize(self._real_name(value), value, name)
        if is_edge:
            self._dequantize(value, value.name)

    # The OnnxWriter protocol.

    def input(self, node: Node, index: int) -> str:
        value = node.inputs[index] if index < len(node.inputs) else None
        if value is None:
            return ""
        if value.type.quant is not None:
            return self._dequantize(value, self._fresh(f"{value.name}.dequantized"))
        return value.name if value.data is None else self._stored(value)

    def output(self, node: Node, index: int = 0) -> str:
        value = node.outputs[index]
        return value.name if value.type.quant is None else self._real_name(value)

    def constant(self, data: Array, hint: str) -> str:
        assert self.current is not None
        return self._initializer(self._fresh(f"{self.current.name}.{hint}"), data)

    def emit(
        self,
        op_type: str,
        inputs: Sequence[str],
        outputs: Sequence[str] | None = None,
        *,
        domain: str = "",
        **attributes: Any,
    ) -> str:
        assert self.current is not None
        # The node's own name goes to the first operator of its own; what is put around that one is named after it.
        name, self.is_first = (self.current.name if self.is_first else ""), False
        return self._add(op_type, inputs, outputs, name, attributes, domain)

    def beyond(self, **attributes: float) -> None:
        assert self.current is not None
        self.attributes_beyond[self.current.name] = attributes

    def transposed(self, name: str, permutation: Sequence[int]) -> str:
        return self._add("Transpose", [name], None, "", {"perm": permutation})

    def weight(self, node: Node, index: int, permutation: Sequence[int]) -> str:
        value = node.input(index)
        if value.data is None:
            return self.transposed(self.input(node, index), permutation)
        name = self._stored(value, tuple(permutation))
        quant = value.type.quant
        if quant is None:
            return name
        axis = None if quant.axis is None else list(permutation).index(quant.axis)
        return self._dequantize_linear(name, value, quant.with_axis(axis), self._fresh(f"{value.name}.dequantized"))

    def finish(self, node: Node, result: str, *, from_nchw: bool = False) -> None:
        low = getattr(node.attrs, "activation_min", -math.inf)
        high = getattr(node.attrs, "activation_max", math.inf)
        if (low, high) == (0.0, math.inf):
            result = self._add("Relu", [result], None, f"{node.name}.activation", {})
        elif math.isfinite(low) or math.isfinite(high):
            limits = [
                self.constant(np.array(limit, np.float32), hint) if math.isfinite(limit) else ""
                for limit, hint in ((low, "min"), (high, "max"))
            ]
            result = self._add("Clip", [result, *limits], None, f"{node.name}.activation", {})
        if from_nchw:
            result = self.transposed(result, NHWC_FROM_NCHW)
        maker = self.writer_of.pop(result, None)
        if maker is not None:
            maker.output[list(maker.output).index(result)] = self.output(node)
        elif node.output.type.quant is not None:
            self.real_names[node.output] = result
        else:
            self._add("Identity", [result], [self.output(node)], "", {})

    # What those are made of.

    def _add(
        self,
        op_type: str,
        inputs: Sequence[str],
        outputs: Sequence[str] | None,
        name: str,
        attributes: dict[str, Any],
        domain: str = "",
    ) -> str:
        owner = self.current.name if self.current is not None else inputs[0]
        if not name or (self.current is not None and name != self.current.name):
            name = _unique(name or f"{owner}.{op_type}", self.node_names)
        if outputs is None:
            outputs = [self._fresh(f"{owner}.{op_type}")]
        node = helper.make_node(op_type, list(inputs), list(outputs), name=name, domain=domain)
        given = sorted((key, value) for key, value in attributes.items() if value is not None)
        node.attribute.extend(helper.make_attribute(key, _plain(value)) for key, value in given)
        self.nodes.append(node)
        self.writer_of.update((output, node) for output in outputs if output not in self.writer_of)
        return outputs[0]

    def _quantize(self, name: str, value: Value, result: str) -> str:
        quant = value.type.quant
        assert quant is not None
        inputs = [name, *self._parameters(value, quant)]
        name, domain = f"{value.name}.QuantizeLinear", DOMAINS[value.type.dtype]
        return self._add("QuantizeLinear", inputs, [result], name, _axis(quant), domain)

    def _dequantize(self, value: Value, result: str) -> str:
        quant = value.type.quant
        assert quant is not None
        name = self.quantized[value] if value.data is None else self._stored(value)
        return self._dequantize_linear(name, value, quant, result)

    def _dequantize_linear(self, name: str, value: Value, quant: QuantParams, result: str) -> str:
        inputs = [name, *self._parameters(value, quant)]
        name, domain = f"{value.name}.DequantizeLinear", DOMAINS[value.type.dtype]
        return self._add("DequantizeLinear", inputs, [result], name, _axis(quant), domain)

    def _parameters(self, value: Value, quant: QuantParams) -> list[str]:
        """Initializers of scale and zero point; an int32 tensor has none of the latter, as the standard wants."""
        if (value, quant) in self.parameters:
            return self.parameters[value, quant]
        shape = () if quant.axis is None else (len(quant.scale),)
        scale = np.array(quant.scale, np.float32).reshape(shape)
        names = [self._initializer(self._fresh(f"{value.name}.scale"), scale)]
        if value.type.dtype is not DType.INT32:
            zero_point = np.array(quant.zero_point, value.type.dtype.numpy).reshape(shape)
            names.append(self._initializer(self._fresh(f"{value.name}.zero_point"), zero_point))
        self.parameters[value, quant] = names
        return names

    def _stored(self, value: Value, permutation: tuple[int, ...] = ()) -> str:
        """The initializer of a constant, its axes permuted; the first form that is asked for has the value's name."""
        assert value.data is not None
        key = (value, permutation)
        if key not in self.stored:
            is_first = all(other is not value for other, _ in self.stored)
            self.stored[key] = value.name if is_first else self._fresh(value.name)
            self._initializer(self.stored[key], value.data.transpose(permutation) if permutation else value.data)
        return self.stored[key]

    def _initializer(self, name: str, data: Array) -> str:
        assert name not in self.initializers
        self.initializers[name] = numpy_helper.from_array(np.ascontiguousarray(data).reshape(data.shape), name)
        return name

    def _real_name(self, value: Value) -> str:
        if value not in self.real_names:
            self.real_names[value] = self._fresh(f"{value.name}.real")
        return self.real_names[value]

    def _fresh(self, wanted: str) -> str:
        return _unique(wanted, self.names)

    def model(self) -> onnx.ModelProto:
        outputs = self._outputs()
        states = self._states(outputs)
        graph = helper.make_graph(
            self.nodes,
            self.graph.name,
            [_value_info(value.name, value.type) for value in self.graph.given],
            outputs,
            list(self.initializers.values()),
        )
        model = helper.make_model(graph, producer_name="burnc", opset_imports=self._opsets(), ir_version=IR_VERSION)
        helper.set_model_props(model, dict(sorted({**self._metadata(), **states}.items())))
        return model

    def _opsets(self) -> list[onnx.OperatorSetIdProto]:
        others = sorted({node.domain for node in self.nodes} - {""})
        return [helper.make_opsetid("", OPSET), *(helper.make_opsetid(domain, 1) for domain in others)]

    def _outputs(self) -> list[onnx.ValueInfoProto]:
        """Declared outputs; one that is listed twice is copied under another name."""
        found: list[onnx.ValueInfoProto] = []
        for value in self.graph.outputs:
            name = value.name
            if value.data is not None and value.type.quant is not None:
                name = self._dequantize(value, name if all(name != o.name for o in found) else self._fresh(name))
            elif value.data is not None and self._stored(value) != name:
                raise UnsupportedError([Unsupported(name, "constant", "as an output it must not be a weight as well")])
            if any(name == other.name for other in found):
                name = self._add("Identity", [name], [self._fresh(name)], f"{name}.Identity", {})
            found.append(_value_info(name, value.type))
        return found

    def _states(self, outputs: list[onnx.ValueInfoProto]) -> dict[str, str]:
        """Declares what is written to states as outputs, and says which input each belongs to."""
        entries = []
        for state in self.graph.states:
            value, name = state.write, state.write.name
            if value.producer is None or any(name == other.name for other in outputs):
                source = name if value.data is None or value.type.quant is not None else self._stored(value)
                source = self._dequantize(value, self._fresh(name)) if value.type.quant is not None else source
                name = self._add("Identity", [source], [self._fresh(f"{state.name}.next")], f"{state.name}.next", {})
            outputs.append(_value_info(name, value.type))
            entries.append({"input": state.name, "output": name, "initial": _initial(state)})
        return {STATES: json.dumps(entries)} if entries else {}

    def _metadata(self) -> dict[str, str]:
        facts = {key: text for key, text in self.graph.metadata.items() if not key.startswith(NOT_WRITTEN)}
        facts.pop(IO, None)
        facts.pop(FLOATS, None)
        quantizing = [n for n in self.graph.nodes if n.outputs[0].type.quant is not None]
        read = [v for n in quantizing for v in n.present_inputs[:1]]
        floats = {v.name for v in read if v.producer is not None and v.type.dtype.is_float}
        if floats:
            facts[FLOATS] = json.dumps(sorted(floats))
        if any(value.type.quant is not None for value in self.graph.values()):
            edges = [*self.graph.given, *self.graph.outputs]
            quantized = {value.name: value.type.dtype.value for value in edges if value.type.quant is not None}
            facts[IO] = json.dumps(quantized, sort_keys=True)
        nodes = [[n.op, n.name, n.rounding, [v.name for v in n.outputs]] for n in self.graph.nodes]
        constants = [value.name for value in self.graph.constants()]
        place = {node: index for index, node in enumerate(self.graph.nodes)}
        dataflow = [place[node] for node in dataflow_order(self.graph)]
        record = {"constants": constants, "nodes": nodes, "dataflow": dataflow}
        facts[NAMES] = json.dumps(record, sort_keys=True)
        if self.attributes_beyond:
            facts[BEYOND] = json.dumps(self.attributes_beyond, sort_keys=True)
        return facts


def _value_info(name: str, type: TensorType) -> onnx.ValueInfoProto:
    """A quantized edge is float in the file."""
    dtype = type.dtype.numpy if type.quant is None else np.dtype(np.float32)
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), list(type.shape))


def _initial(state: State) -> Any:
    """What a state begins as, in real numbers: a flat list, or the number that all are."""
    type_ = state.read.type
    numbers = (state.initial if type_.quant is None else dequantize(state.initial, type_)).reshape(-1).tolist()
    return numbers[0] if all(repr(n) == repr(numbers[0]) for n in numbers) else numbers


def _axis(quant: QuantParams) -> dict[str, Any]:
    return {} if quant.axis is None else {"axis": quant.axis}


def _plain(value: Any) -> Any:
    """Tuples as lists, numpy numbers as Python's."""
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _unique(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    taken.add(name)
    return name
