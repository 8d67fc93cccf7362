"""From an ONNX model to a graph, node by node through the operators' own mappings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper

from burnc.errors import GraphError, InputError, ModelFileError, Unsupported, UnsupportedError
from burnc.importers.onnx import constants
from burnc.importers.onnx.beyond import Attributes, attributes_beyond
from burnc.importers.onnx.control_flow import turns
from burnc.importers.onnx.dimensions import bind_dimensions
from burnc.importers.onnx.expansion import StandardBody, standard_body
from burnc.importers.onnx.functions import check_functions, inline_functions
from burnc.importers.onnx.integers import build_mapped
from burnc.importers.onnx.opset import check, convert, default_opset, infer_shapes
from burnc.importers.onnx.reading import OnnxFile, read_onnx, tensor_array
from burnc.importers.onnx.states import keep_states, states_of_file
from burnc.importers.onnx.structure import live_nodes, name_nodes, reads, tidy
from burnc.ir import Array, Builder, DType, Graph, TensorType, Value, constant, verify
from burnc.ir.metadata import BEYOND, NOTES, STATES
from burnc.ops import onnx_mappings, operators
from burnc.ops.mapping import FileNode, RefusalError

NO_DIMS: Mapping[str, int] = {}
NO_STATES: Mapping[str, str] = {}


def import_onnx(
    source: Path | onnx.ModelProto,
    *,
    dims: Mapping[str, int] = NO_DIMS,
    batch: int | None = None,
    states: Mapping[str, str] = NO_STATES,
) -> Graph:
    """Read an ONNX model.

    Args:
        dims: values of dynamic dimensions by name (or by ``input:axis`` for one without a name).
        batch: the first dimension of inputs where it is dynamic; 1 unless given.
        states: inputs that become state, beginning as zeros, and the outputs that they hold in the next run.

    Returns:
        A verified graph as the file has it: layouts as declared, quantization as QuantizeLinear and DequantizeLinear
        nodes. ``metadata`` holds the file's own properties and ``source.*`` facts, ``import.notes`` where a dimension
        was chosen.

    Raises:
        ModelFileError: the file is damaged, foreign or breaks the standard.
        InputError: a dimension has no value.
        UnsupportedError: lists every node that burnc cannot carry.
    """
    file = read_onnx(source)
    tidy(file.model, file.where)
    check_functions(file.model, file.where)
    check(file.model, file.where)
    model = inline_functions(file.model, file.where)
    tidy(model, file.where)
    notes = bind_dimensions(model.graph, dims, batch, file.where)
    opset = default_opset(model)
    name_nodes(model.graph)
    model, not_converted = convert(model)
    name_nodes(model.graph)
    model = infer_shapes(model, file.where)
    written = states_of_file(file.model)
    asked = {name: (output, 0.0) for name, output in states.items()}
    kept = {output for output, _ in [*written.values(), *asked.values()]}
    facts = _metadata(file, opset, notes)
    beyond = attributes_beyond(facts.pop(BEYOND, ""))
    graph = _NodeImporter(model, file.where, kept, beyond).run(not_converted)
    graph.metadata = facts
    keep_states(graph, {**written, **asked}, [v.name for v in model.graph.output], file.where)
    return graph


def _metadata(file: OnnxFile, opset: int | None, notes: Sequence[str]) -> dict[str, str]:
    facts = {entry.key: entry.value for entry in file.model.metadata_props}
    facts.pop(STATES, None)
    facts["source.format"] = "onnx"
    facts["source.sha256"] = file.sha256
    facts["source.producer"] = f"{file.model.producer_name} {file.model.producer_version}".strip()
    facts["source.opset"] = "" if opset is None else str(opset)
    facts["source.ir_version"] = str(file.ir_version)
    if notes:
        facts[NOTES] = "\n".join(notes)
    return facts


class _NodeImporter:
    """Walks the nodes of a converted, sorted model; goes on past a bad one so that all are reported together."""

    def __init__(self, model: onnx.ModelProto, where: str, written: Collection[str], beyond: Attributes) -> None:
        self.model = model
        self.beyond = beyond
        self.written = written
        self.where = where
        self.opset = default_opset(model) or 1
        self.graph = Graph(model.graph.name or "model")
        names = {t.name for t in model.graph.initializer} | {v.name for v in model.graph.input}
        for node in model.graph.node:
            names.update(node.output)
        self.builder = Builder(self.graph, operators(), reserved=names - {""})
        self.arrays: dict[str, Array] = {}
        self.values: dict[str, Value] = {}
        self.types = _inferred_types(model.graph)
        self.unshaped = {v.name for v in [*model.graph.value_info, *model.graph.output] if _is_unshaped(v)}
        self.mappings = onnx_mappings()
        self.used = {name for node in model.graph.node for name in reads(node)} | {v.name for v in model.graph.output}
        self.unsupported: list[Unsupported] = []

    def run(self, not_converted: str) -> Graph:
        for value in self.model.graph.input:
            self.values[value.name] = self.builder.input(value.name, self._input_type(value))
        for tensor in self.model.graph.initializer:
            self.arrays[tensor.name] = tensor_array(tensor, self.where)
        for node in live_nodes(self.model.graph):
            if not self._fold(node):
                self._map(node)
        if self.unsupported:
            raise UnsupportedError(self.unsupported, where=self.where)
        if not_converted:
            raise ModelFileError(
                f"the model cannot be converted from opset {self.opset}: {not_converted}",
                where=self.where,
                hint="burnc reads opset 7 and later; export the model with a newer opset",
            )
        self.graph.outputs = [self._output(value.name) for value in self.model.graph.output]
        verify(self.graph)
        return self.graph

    def _input_type(self, value: onnx.ValueInfoProto) -> TensorType:
        where = f"{self.where}, input {value.name!r}"
        if not value.type.HasField("tensor_type"):
            raise InputError("the input is no tensor", where=where, hint="only tensors are supported")
        type_ = _tensor_type(value)
        if type_ is None:
            raise InputError("the element type of the input is not supported", where=where)
        if type_.nbytes > 2**31 - 1:
            raise InputError(f"the input {list(type_.shape)} is larger than 2 GB", where=where)
        return type_

    def _fold(self, node: onnx.NodeProto) -> bool:
        """Replace a node by its results where they are known now."""
        if node.domain == "" and node.op_type in _STATIC and node.input[0] in self.values:
            try:
                self.arrays[node.output[0]] = _STATIC[node.op_type](node, self.values[node.input[0]].type)
            except (TypeError, ValueError, KeyError, MemoryError) as error:
                self._report(node, f"its input and attributes make no sense together ({error})")
            return True
        known = all(name in self.arrays for name in node.input if name)
        if not known or not constants.is_evaluable(node):
            return False
        try:
            results = self._computed(node)
            if results is None:
                results = constants.evaluate(node, [self.arrays.get(name) for name in node.input], self.opset)
        except RefusalError:
            return False  # said again when it is mapped
        except constants.NotEvaluatedError as error:
            is_carried = (node.domain, node.op_type) in self.mappings and not isinstance(error, constants.TooLargeError)
            if is_carried and node.input:
                return False
            self._report(node, str(error))
            return True
        self.arrays.update(zip([name for name in node.output if name], results, strict=True))
        return True

    def _computed(self, node: onnx.NodeProto) -> list[Array] | None:
        """The results of a node of constants by our own operators; None where shapes alone need what they do not take.

        Raises:
            RefusalError: an operator does not take this, and it is numbers, which others may compute otherwise.
        """
        found = self.mappings.get((node.domain, node.op_type))
        if found is None or not node.input:
            return None
        spec, mapping = found
        is_shape = any(self.arrays[name].dtype.kind != "f" for name in node.input[:1])
        try:
            inputs = [constant(name, self.arrays[name]) if name else None for name in node.input]
            apart = self._file_node(node, inputs, Builder(Graph("constants"), operators()))
            results = build_mapped(spec, mapping, apart)
            self._check_results(node, results)
        except GraphError:  # an element type that the IR does not know
            return None
        except RefusalError:
            if is_shape:
                return None
            raise
        wanted = [value for name, value in zip(node.output, results, strict=False) if name]
        return constants.evaluate_own(apart.builder.graph, wanted)

    def _map(self, node: onnx.NodeProto) -> None:
        """Turn a node into IR nodes through its operator's mapping."""
        found = self.mappings.get((node.domain, node.op_type))
        if found is None:
            if not self._expand(node):
                self._report(node, self._why_unknown(node))
            return
        try:
            inputs = [self._value(name) for name in node.input]
        except _SkippedError:
            self._stand_in(node)
            return
        except GraphError as error:
            self._report(node, error.what)
            return
        spec, mapping = found
        try:
            results = build_mapped(spec, mapping, self._file_node(node, inputs, self.builder))
            self._check_results(node, results)
        except RefusalError as refusal:
            self._report(node, str(refusal))
            return
        self.values.update((name, value) for name, value in zip(node.output, results, strict=False) if name)

    def _expand(self, node: onnx.NodeProto) -> bool:
        """Import the nodes that stand for one: its body by the standard, or the turns of its control flow."""
        before = len(self.unsupported)
        unrolled = turns(node, self)
        if unrolled is not None:
            self._unroll(node, unrolled)
            return True
        held = [self.arrays.get(name) if name in self.arrays else self.values.get(name) for name in node.input]
        try:
            body = standard_body(node, [v.type if isinstance(v, Value) else v for v in held], self.opset)
        except RefusalError as refusal:
            self._report(node, str(refusal))
            return True
        if body is None:
            return False
        self._import_body(body)
        if len(self.unsupported) > before:
            inner_fault = self.unsupported[before]
            del self.unsupported[before:]
            self._report(node, f"it is defined by {inner_fault.op}: {inner_fault.why}")
        return True

    def _unroll(self, node: onnx.NodeProto, unrolled: Iterable[StandardBody]) -> None:
        """Import turn by turn; a fault in one would only be repeated by the next."""
        before = len(self.unsupported)
        try:
            for body in unrolled:
                self._import_body(body)
                if len(self.unsupported) > before:
                    self._stand_in(node)
                    return
        except RefusalError as refusal:
            self._report(node, str(refusal))
        except (LookupError, TypeError, ValueError) as error:
            self._report(node, f"its body and its attributes make no sense together ({error})")

    def _import_body(self, body: StandardBody) -> None:
        self.types.update(_types(body.types))
        self.used.update(name for inner in body.nodes for name in reads(inner))
        for inner in body.nodes:
            if not self._fold(inner):
                self._map(inner)

    def known(self, name: str) -> Array | None:
        """The data of a constant."""
        return self.arrays.get(name)

    def shape(self, name: str) -> tuple[int, ...] | None:
        """That of a tensor that has been imported."""
        if name in self.arrays:
            return self.arrays[name].shape
        return self.values[name].type.shape if name in self.values else None

    def _file_node(self, node: onnx.NodeProto, inputs: Sequence[Value | None], builder: Builder) -> FileNode:
        return FileNode(
            name=node.name,
            op=node.op_type,
            inputs=tuple(inputs),
            attributes={a.name: _attribute(a, self.where) for a in node.attribute}
            | dict(self.beyond.get(node.name, {})),
            output_names=tuple(node.output),
            output_types=tuple(self.types.get(name) for name in node.output),
            builder=builder,
        )

    def _check_results(self, node: onnx.NodeProto, results: Sequence[Value]) -> None:
        if len(results) < len(node.output) and any(name in self.used for name in node.output[len(results) :] if name):
            raise RefusalError(f"only its first {len(results)} outputs are supported")

    def _why_unknown(self, node: onnx.NodeProto) -> str:
        if node.domain:
            return f"domain {node.domain} is unknown; register it with burnc.ops"
        is_known = all(self.shape(name) is not None for name in node.input if name)
        if is_known and any(name in self.unshaped for name in node.output):
            return "the shape of its result is only known at run time"
        return "burnc has no such operator"

    def _report(self, node: onnx.NodeProto, why: str) -> None:
        self.unsupported.append(Unsupported(node.name, node.op_type, why))
        self._stand_in(node)

    def _stand_in(self, node: onnx.NodeProto) -> None:
        """Let later nodes be checked: outputs of the inferred type, where there is one."""
        for name in node.output:
            type_ = self.types.get(name)
            if name and type_ is not None:
                self.values[name] = Value(name, type_)

    def _value(self, name: str) -> Value | None:
        """The value of a file's tensor; constants are made when they are first read."""
        if not name:
            return None
        if name not in self.values:
            if name not in self.arrays:
                raise _SkippedError
            self.values[name] = constant(name, np.ascontiguousarray(self.arrays[name]).reshape(self.arrays[name].shape))
        return self.values[name]

    def _output(self, name: str) -> Value:
        """The value of a declared output under its declared name."""
        try:
            value = self._value(name)
        except _SkippedError:
            raise ModelFileError(f"output {name!r} is never computed", where=self.where) from None
        assert value is not None
        if value.name != name and name not in self.written:
            value = self.builder.node("identity", [value], outputs=[name])
        return value


class _SkippedError(Exception):
    """An input comes from a node that was reported already and has no inferred type."""


def _attribute(attribute: onnx.AttributeProto, where: str) -> Any:
    """An attribute as Python has it: text for bytes, an array for a tensor."""
    value = helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, onnx.TensorProto):
        return tensor_array(value, where)
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], bytes):
        return [item.decode("utf-8", "replace") for item in value]
    return list(value) if isinstance(value, (list, tuple)) else value


def _inferred_types(graph: onnx.GraphProto) -> dict[str, TensorType]:
    return _types([*graph.value_info, *graph.output])


def _is_unshaped(value: onnx.ValueInfoProto) -> bool:
    """A tensor of which inference cannot tell the shape."""
    tensor = value.type.tensor_type
    dims = tensor.shape.dim if tensor.HasField("shape") else [onnx.TensorShapeProto.Dimension()]
    return value.type.HasField("tensor_type") and not all(dim.HasField("dim_value") for dim in dims)


def _types(values: Iterable[onnx.ValueInfoProto]) -> dict[str, TensorType]:
    found: dict[str, TensorType] = {}
    for value in values:
        type_ = _tensor_type(value)
        if type_ is not None:
            found[value.name] = type_
    return found


def _tensor_type(value: onnx.ValueInfoProto) -> TensorType | None:
    """The declared type; None where it is incomplete or not of the IR."""
    tensor = value.type.tensor_type
    if not value.type.HasField("tensor_type") or not tensor.HasField("shape"):
        return None
    shape = tuple(dim.dim_value if dim.HasField("dim_value") else -1 for dim in tensor.shape.dim)
    if any(size < 0 for size in shape):
        return None
    try:
        return TensorType(DType(helper.tensor_dtype_to_np_dtype(tensor.elem_type).name), shape)
    except (KeyError, ValueError):
        return None


def _shape(node: onnx.NodeProto, type: TensorType) -> Array:
    limits = {a.name: a.i for a in node.attribute}
    return np.array(type.shape[limits.get("start", 0) : limits.get("end", type.rank)], np.int64)


def _size(node: onnx.NodeProto, type: TensorType) -> Array:
    return np.array(type.size, np.int64)


def _eye(node: onnx.NodeProto, type: TensorType) -> Array:
    given = {a.name: a.i for a in node.attribute}
    dtype = helper.tensor_dtype_to_np_dtype(given["dtype"]) if "dtype" in given else type.dtype.numpy
    rows, columns = type.shape
    eye: Array = np.eye(rows, columns, int(given.get("k", 0)), dtype)
    return eye


_STATIC = {"Shape": _shape, "Size": _size, "EyeLike": _eye}
"""Operators that read the type of their input alone."""
