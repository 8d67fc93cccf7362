"""From a TFLite file to a graph, operator by operator through the operators' own mappings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from burnc.errors import GraphError, InputError, ModelFileError, Unsupported, UnsupportedError
from burnc.importers.mapped import build_nodes
from burnc.importers.tflite.reading import FileOperator, FileTensor, TfliteFile, read_tflite
from burnc.importers.tflite.tensors import constant_data, tensor_type, why_not_carried
from burnc.ir import Builder, DType, Graph, Node, QuantParams, TensorType, Value, constant, verify
from burnc.ir.metadata import NOTES
from burnc.ops import operators, tflite_mappings
from burnc.ops.mapping import FileNode, RefusalError


def import_tflite(path: Path, *, batch: int | None = None) -> Graph:
    """Read a TFLite model.

    Args:
        batch: the first dimension of inputs where the file leaves it open; as the file's static shape says by default.

    Returns:
        A verified graph with the file's layouts, types and quantization; tensors keep their names (made unique), an
        operator is named after its first output.

    Raises:
        ModelFileError: the file is damaged, foreign, or has several subgraphs.
        InputError: the batch cannot be changed.
        UnsupportedError: lists every operator and tensor that burnc cannot carry.
    """
    file = read_tflite(path)
    return _OperatorImporter(file, batch).run()


class _OperatorImporter:
    """Walks the operators in the file's order; goes on past a bad one so that all are reported together."""

    def __init__(self, file: TfliteFile, batch: int | None) -> None:
        self.file = file
        self.batch = batch
        self.names = _unique_names(file.tensors)
        self.graph = Graph(file.name or "main")
        self.builder = Builder(self.graph, operators(), reserved=self.names)
        self.values: dict[int, Value] = {}
        self.mappings = tflite_mappings()
        self.unsupported: list[Unsupported] = []
        self.notes: list[str] = []

    def run(self) -> Graph:
        self._check_indices()
        for index in self.file.inputs:
            self._input(index)
        for operator in self.file.operators:
            self._map(operator)
        if self.unsupported:
            raise UnsupportedError(self.unsupported, where=self.file.where)
        self.graph.outputs = [self._output(index) for index in self.file.outputs]
        self.graph.metadata = self._metadata()
        try:
            verify(self.graph)
        except GraphError as error:
            raise ModelFileError(error.what, where=f"{self.file.where}, {error.where}", hint=error.hint) from error
        return self.graph

    def _metadata(self) -> dict[str, str]:
        facts = {
            "source.format": "tflite",
            "source.sha256": self.file.sha256,
            "source.producer": self.file.description,
            "source.version": str(self.file.version),
        }
        if self.notes:
            facts[NOTES] = "\n".join(self.notes)
        return facts

    def _check_indices(self) -> None:
        count = len(self.file.tensors)
        used = [*self.file.inputs, *self.file.outputs]
        used += [i for operator in self.file.operators for i in operator.outputs]
        optional = [i for operator in self.file.operators for i in operator.inputs if i != -1]
        for index in [*used, *optional]:
            if not 0 <= index < count:
                raise ModelFileError(f"tensor {index} is used, but the file has {count}", where=self.file.where)

    def _input(self, index: int) -> None:
        tensor, where = self.file.tensors[index], self.file.where
        why = why_not_carried(tensor)
        if why:
            self.unsupported.append(Unsupported(self.names[index], "input", why))
            return
        if index in self.values:
            raise ModelFileError(f"tensor {tensor.name!r} is an input twice", where=where)
        type_ = tensor_type(tensor, where)
        shape = self._bound_shape(tensor)
        if 0 in shape:
            raise InputError(f"input {tensor.name!r} has no elements (shape {list(shape)})", where=where)
        self.values[index] = self.builder.input(self.names[index], type_.with_shape(shape))

    def _bound_shape(self, tensor: FileTensor) -> tuple[int, ...]:
        if self.batch is None:
            if tensor.dynamic:
                self.notes.append(
                    f"axes {list(tensor.dynamic)} of input {tensor.name!r} are dynamic; the shape became "
                    f"{list(tensor.shape)}"
                )
            return tensor.shape
        if 0 in tensor.dynamic:
            return (self.batch, *tensor.shape[1:])
        if tensor.shape[:1] != (self.batch,):
            raise InputError(
                f"a batch of {self.batch} was asked for, but the file fixes input {tensor.name!r} at "
                f"{list(tensor.shape)}",
                where=self.file.where,
                hint="convert the model with a dynamic batch, or leave the batch as it is",
            )
        return tensor.shape

    def _map(self, operator: FileOperator) -> None:
        found = self.mappings.get(operator.code)
        if found is None:
            self._report(operator, _why_unknown(operator))
            return
        spec, mapping = found
        why = self._why_tensors_fail(operator)
        if why:
            self._report(operator, why)
            return
        before = len(self.graph.nodes)
        try:
            node = self._file_node(operator)
            results = build_nodes(spec, mapping.attrs, mapping.build, node)
            for added in self.graph.nodes[before:]:
                self._derive_bias_scale(added)
                added.operator.check_quantization(added)
            self._check_declared(operator, results)
        except RefusalError as refusal:
            self._report(operator, str(refusal))
        except GraphError as error:
            del self.graph.nodes[before:]
            self._report(operator, error.what)
        else:
            self.values.update(zip(operator.outputs, results, strict=False))

    def _why_tensors_fail(self, operator: FileOperator) -> str:
        tensors = [self.file.tensors[i] for i in (*operator.inputs, *operator.outputs) if i != -1]
        for tensor in tensors:
            why = why_not_carried(tensor)
            if why:
                return why
        inputs = [self.file.tensors[i] for i in operator.inputs if i != -1]
        floats = any(t.type == "FLOAT32" and t.data is None for t in inputs)
        quantized = [t for t in inputs if t.type == "INT8" and t.data is not None and t.scale]
        if floats and quantized:
            return f"hybrid: weights {quantized[0].name!r} are INT8, the activations FLOAT32"
        return ""

    def _file_node(self, operator: FileOperator) -> FileNode:
        inputs = tuple(None if i == -1 else self._value(i) for i in operator.inputs)
        return FileNode(
            name=self._operator_name(operator),
            op=operator.code,
            inputs=inputs,
            attributes=operator.options,
            output_names=tuple(self.names[i] for i in operator.outputs),
            output_types=tuple(self._declared_type(i) for i in operator.outputs),
            builder=self.builder,
        )

    def _declared_type(self, index: int) -> TensorType:
        return tensor_type(self.file.tensors[index], self.file.where)

    def _operator_name(self, operator: FileOperator) -> str:
        return self.names[operator.outputs[0]] if operator.outputs else operator.code

    def _report(self, operator: FileOperator, why: str) -> None:
        self.unsupported.append(Unsupported(self._operator_name(operator), operator.custom or operator.code, why))
        for index in operator.outputs:
            tensor = self.file.tensors[index]
            if not why_not_carried(tensor):
                self.values[index] = Value(self.names[index], tensor_type(tensor, self.file.where))

    def _value(self, index: int) -> Value:
        """The value of a tensor; constants and states are made when they are first read."""
        if index not in self.values:
            tensor = self.file.tensors[index]
            type_ = tensor_type(tensor, self.file.where)
            if tensor.data is not None:
                data = constant_data(tensor, type_, self.file.where)
            elif tensor.is_variable:
                self.values[index] = self.builder.state(self.names[index], type_).read
                return self.values[index]
            elif type_.size == 0:
                data = np.zeros(type_.shape, type_.dtype.numpy)
            else:
                raise ModelFileError(f"tensor {tensor.name!r} is read before it is computed", where=self.file.where)
            self.values[index] = constant(self.names[index], data, type_.quant)
        return self.values[index]

    def _check_declared(self, operator: FileOperator, results: Sequence[Value]) -> None:
        """Shapes that the file declares must be those that follow from the inputs."""
        for index, value in zip(operator.outputs, results, strict=False):
            declared = self._declared_type(index)
            if value.type.dtype is not declared.dtype:
                raise GraphError(f"the file declares its result as {declared}, the inputs give {value.type}")
            if self.batch is None and value.type.shape != declared.shape:
                raise GraphError(
                    f"the file declares its result as {list(declared.shape)}, the inputs give {list(value.type.shape)}"
                )

    def _derive_bias_scale(self, node: Node) -> None:
        """The bias is added to the accumulator as it is, so its scale is input scale * weight scale, always."""
        rule = operators()[node.op].quant
        if rule is None or rule.weights is None or rule.bias is None or rule.bias >= len(node.inputs):
            return
        bias, x, w = node.inputs[rule.bias], node.input(0), node.input(rule.weights)
        if bias is None or bias.data is None or x.type.quant is None or w.type.quant is None:
            return
        if bias.type.dtype not in (DType.INT32, DType.INT64):
            return
        quant = w.type.quant
        scales = tuple(float(np.float32(x.type.scale * scale)) for scale in quant.scale)
        held = bias.type.quant
        fits = held is not None and len(held.scale) in (1, len(scales)) and np.allclose(held.scale, scales, 1e-3, 0)
        if not fits:
            wanted = QuantParams(scales, (0,) * len(scales), None if quant.axis is None else 0)
            node.inputs[rule.bias] = self.builder.constant(f"{bias.name}.rescaled", bias.data, wanted)

    def _output(self, index: int) -> Value:
        """The value of a declared output under its own name."""
        value = self._value(index)
        if value.name != self.names[index]:
            value = self.builder.node("identity", [value], outputs=[self.names[index]], quant=value.type.quant)
        return value


def _why_unknown(operator: FileOperator) -> str:
    if operator.code != "CUSTOM":
        return "burnc has no such operator"
    if operator.custom.startswith("Flex"):
        return (
            "a TensorFlow operator that was kept (target_spec.supported_ops has SELECT_TF_OPS); "
            "convert with TFLITE_BUILTINS alone"
        )
    return "a custom operator (the converter's allow_custom_ops let it pass)"


def _unique_names(tensors: Sequence[FileTensor]) -> list[str]:
    taken: Counter[str] = Counter()
    names: list[str] = []
    for tensor in tensors:
        taken[tensor.name] += 1
        name = tensor.name
        while taken[tensor.name] > 1 and name in taken:
            name = f"{tensor.name}_{taken[tensor.name]}"
            taken[tensor.name] += name in taken
        taken[name] = max(taken[name], 1)
        names.append(name)
    return names
