"""From a TFLite file to a graph: its first subgraph, and the others where that calls them."""

from __future__ import annotations

from pathlib import Path

from burnc.errors import GraphError, InputError, ModelFileError, Unsupported, UnsupportedError
from burnc.importers.tflite.control import CONTROL
from burnc.importers.tflite.reading import FileTensor, TfliteFile, read_tflite
from burnc.importers.tflite.scope import HYBRID, Scope, Shared
from burnc.importers.tflite.tensors import declared_type, is_offset, tensor_type, why_not_carried
from burnc.ir import Graph, TensorType, Value, verify
from burnc.ir.metadata import NOTES
from burnc.ops.mapping import RefusalError
from burnc.ops.quantize import QuantizeAttrs

REWRITTEN = {
    HYBRID: "integer weights beside float activations became float32 ({} tensors): interpreters that quantize such "
    "activations while they run give slightly other results",
    "FLOAT16": "float16 constants became float32 ({} tensors)",
    "INT4": "int4 constants became int8 ({} tensors)",
    "UINT8": "uint8 constants became int8, zero points and integers 128 less ({} tensors)",
}


def import_tflite(path: Path, *, batch: int | None = None) -> Graph:
    """Read a TFLite model.

    Args:
        batch: the first dimension of inputs where the file leaves it open; as the file's static shape says by default.

    Returns:
        A verified graph with the file's layouts, types and quantization; tensors keep their names (made unique), an
        operator is named after its first output. Variables are state; subgraphs are inlined where they are called.

    Raises:
        ModelFileError: the file is damaged or foreign.
        InputError: the batch cannot be changed.
        UnsupportedError: lists every operator and tensor that burnc cannot carry.
    """
    file = read_tflite(path)
    return _ModelImporter(file, batch).run()


class _ModelImporter:
    """Declares inputs and outputs around what the first subgraph does."""

    def __init__(self, file: TfliteFile, batch: int | None) -> None:
        self.file = file
        self.main = file.subgraphs[0]
        self.graph = Graph(self.main.name or "main")
        self.shared = Shared(file, self.graph, CONTROL, any_batch=batch is not None)
        self.scope = Scope(self.shared, self.main)
        self.batch = batch

    def run(self) -> Graph:
        for index in self.main.inputs:
            self._input(index)
        self.scope.run()
        if self.shared.unsupported:
            raise UnsupportedError(self.shared.unsupported, where=self.file.where)
        self.shared.variables.write_states()
        for index in self.main.outputs:
            try:
                self.graph.outputs.append(self._output(index))
            except RefusalError as refusal:
                self.shared.unsupported.append(Unsupported(self.scope.names[index], "output", str(refusal)))
        if self.shared.unsupported:
            raise UnsupportedError(self.shared.unsupported, where=self.file.where)
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
        notes = [*self.shared.notes, *self._left_out(), *self._rewritten()]
        if notes:
            facts[NOTES] = "\n".join(notes)
        return facts

    def _left_out(self) -> list[str]:
        others = [s for i, s in enumerate(self.file.subgraphs) if i and i not in self.shared.entered]
        return [f"subgraph {s.name!r} is not called and was left out" for s in others]

    def _rewritten(self) -> list[str]:
        count = self.shared.rewritten
        return [text.format(count[form]) for form, text in REWRITTEN.items() if count[form]]

    def _input(self, index: int) -> None:
        tensor, where = self.main.tensors[index], self.file.where
        name = self.scope.names[index]
        why = why_not_carried(tensor)
        if why:
            self.shared.unsupported.append(Unsupported(name, "input", why))
            return
        if index in self.scope.values:
            raise ModelFileError(f"tensor {tensor.name!r} is an input twice", where=where)
        type_ = declared_type(tensor, where)
        shape = self._bound_shape(tensor)
        if 0 in shape:
            raise InputError(f"input {tensor.name!r} has no elements (shape {list(shape)})", where=where)
        value = self.shared.builder.input(name, type_.with_shape(shape))
        if is_offset(tensor):
            value = self._requantized(value, tensor_type(tensor, where), f"{name}.int8")
        self.scope.values[index] = value

    def _requantized(self, value: Value, type_: TensorType, name: str) -> Value:
        attrs = QuantizeAttrs(type_.dtype.value)
        return self.shared.builder.node("quantize", [value], attrs, outputs=[name], quant=type_.quant)

    def _bound_shape(self, tensor: FileTensor) -> tuple[int, ...]:
        if self.batch is None:
            if tensor.dynamic:
                self.shared.notes.append(
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

    def _output(self, index: int) -> Value:
        """The value of a declared output under its own name."""
        value, wanted = self.scope.value(index), self.scope.names[index]
        if is_offset(self.main.tensors[index]):
            declared = declared_type(self.main.tensors[index], self.file.where)
            if value.name != wanted:
                return self._requantized(value, declared, wanted)
            result = self._requantized(value, declared, f"{wanted}.int8")
            self.shared.builder.take_name(result, value)
            return result
        if value.name == wanted:
            return value
        if value.producer is not None and value.name not in self.scope.names:  # what a subgraph gave
            value.name = wanted
            return value
        return self.shared.builder.node("identity", [value], outputs=[wanted], quant=value.type.quant)
