"""One subgraph of a TFLite file carried out, operator by operator through the operators' own mappings."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from burnc.errors import GraphError, ModelFileError, Unsupported
from burnc.importers.mapped import build_nodes
from burnc.importers.tflite.reading import FileOperator, FileSubgraph, FileTensor, TfliteFile
from burnc.importers.tflite.tensors import constant_data, stored_as, tensor_type, why_not_carried
from burnc.importers.tflite.variables import Variable, Variables, assigned_names
from burnc.ir import Builder, DType, Graph, Node, QuantParams, TensorType, Value, constant
from burnc.numerics import dequantize
from burnc.ops import operators, tflite_mappings
from burnc.ops.mapping import FileNode, RefusalError

HYBRID = "hybrid"
DEEPEST_CALL = 16
MOST_OPERATORS = 5_000  # that subgraphs may become where they are called


class Shared:
    """What all subgraphs of one import have in common.

    Attributes:
        control: operators that work on the scope itself, by code.
        any_batch: declared shapes are not binding, as the batch was chosen.
        held: constants and variable tensors, by subgraph and tensor index.
        real: quantized constants as real numbers, likewise.
        entered: how often each subgraph was carried out, by index.
        rewritten: how many tensors of each form became another one; ``HYBRID``: weights that became floats.
        is_before_runs: what is carried out happens once, before the first run.
    """

    def __init__(self, file: TfliteFile, graph: Graph, control: Mapping[str, Control], *, any_batch: bool) -> None:
        self.file = file
        self.graph = graph
        self.control = control
        self.any_batch = any_batch
        self.is_before_runs = False
        self.taken: Counter[str] = Counter()
        self.builder = Builder(graph, operators(), reserved=unique_names(file.subgraphs[0].tensors, Counter()))
        self.mappings = tflite_mappings()
        self.variables = Variables(assigned_names(file.subgraphs))
        self.unsupported: list[Unsupported] = []
        self.notes: list[str] = []
        self.held: dict[tuple[int, int], Value] = {}
        self.real: dict[tuple[int, int], Value] = {}
        self.entered: Counter[int] = Counter()
        self.rewritten: Counter[str] = Counter()

    def before_runs(self) -> Shared:
        """The same import, with nodes that go into a graph that nothing runs."""
        twin = copy.copy(self)
        twin.is_before_runs = True
        twin.graph = Graph("before runs")
        twin.builder = Builder(twin.graph, operators())
        twin.held, twin.real = {}, {}
        return twin

    def enter(self, index: int) -> FileSubgraph:
        """The subgraph that an operator calls.

        Raises:
            RefusalError: there is none, or calls have become too much.
        """
        subgraphs = self.file.subgraphs
        if not 0 <= index < len(subgraphs):
            raise RefusalError(f"it calls subgraph {index}, but the file has {len(subgraphs)}")
        self.entered[index] += 1
        if sum(count * (1 + len(subgraphs[i].operators)) for i, count in self.entered.items()) > MOST_OPERATORS:
            raise RefusalError(f"subgraphs become more than {MOST_OPERATORS} operators where they are called")
        return subgraphs[index]


class Scope:
    """A subgraph while its operators become nodes; goes on past a bad one so that all are reported together.

    Attributes:
        values: what is known of its tensors so far, by index.
        handles: variables that its resource tensors stand for.
    """

    def __init__(self, shared: Shared, subgraph: FileSubgraph, depth: int = 0) -> None:
        self.shared = shared
        self.subgraph = subgraph
        self.depth = depth
        self.where = shared.file.where
        self._check_indices()
        self.names = unique_names(subgraph.tensors, shared.taken)
        self.values: dict[int, Value] = {}
        self.handles: dict[int, Variable] = {}

    def run(self) -> None:
        for operator in self.subgraph.operators:
            self._carry_out(operator)

    def called(self, index: int, arguments: Sequence[Held], *, before_runs: bool = False) -> list[Held]:
        """The results of a subgraph that is inlined here.

        Raises:
            RefusalError: there is no such subgraph, or it does not take these arguments.
        """
        subgraph = self.shared.enter(index)
        if self.depth >= DEEPEST_CALL:
            raise RefusalError(f"subgraphs call each other more than {DEEPEST_CALL} deep, or in a circle")
        if len(arguments) != len(subgraph.inputs):
            raise RefusalError(f"{len(arguments)} arguments for subgraph {subgraph.name!r} of {len(subgraph.inputs)}")
        inner = Scope(self.shared.before_runs() if before_runs else self.shared, subgraph, self.depth + 1)
        for place, given in zip(subgraph.inputs, arguments, strict=True):
            inner.bind(place, given)
        inner.run()
        return [inner.argument(i) for i in subgraph.outputs]

    def bind(self, index: int, given: Held) -> None:
        """Let a tensor hold something."""
        if isinstance(given, Variable):
            self.handles[index] = given
        else:
            self.values[index] = given

    def argument(self, index: int) -> Held:
        """What a tensor holds."""
        return self.handles[index] if index in self.handles else self.value(index)

    def handle(self, index: int) -> Variable:
        """The variable that a resource tensor stands for; raises RefusalError where it is none."""
        if index not in self.handles:
            raise RefusalError(f"tensor {self.names[index]!r} is no handle of a variable")
        return self.handles[index]

    def value(self, index: int) -> Value:
        """The value of a tensor; constants and states are made when they are first read."""
        if index not in self.values:
            place = (self.subgraph.index, index)
            if place not in self.shared.held:
                self.shared.held[place] = self._held(index)
            self.values[index] = self.shared.held[place]
        return self.values[index]

    def _operand(self, index: int, is_float: bool) -> Value:
        """A tensor as an operator reads it: quantized weights beside float activations (hybrid) as real numbers."""
        value = self.value(index)
        if not is_float or value.data is None or value.type.quant is None:
            return value
        place = (self.subgraph.index, index)
        if place not in self.shared.real:
            self.shared.rewritten[HYBRID] += 1
            real = dequantize(value.data, value.type)
            self.shared.real[place] = self.shared.builder.constant(f"{value.name}.real", real)
        return self.shared.real[place]

    def declared_type(self, index: int) -> TensorType:
        """The type that the file gives a tensor; raises RefusalError where the IR has none for it."""
        tensor = self.subgraph.tensors[index]
        why = why_not_carried(tensor)
        if why:
            raise RefusalError(why)
        return tensor_type(tensor, self.where)

    def _held(self, index: int) -> Value:
        tensor = self.subgraph.tensors[index]
        why = why_not_carried(tensor)
        if why:
            raise RefusalError(why)
        type_ = tensor_type(tensor, self.where)
        self.shared.rewritten[stored_as(tensor)] += 1
        if tensor.data is not None and tensor.is_variable:
            raise ModelFileError(f"tensor {tensor.name!r} is a variable, and has constant data", where=self.where)
        if tensor.data is not None:
            data = constant_data(tensor, type_, self.where)
        elif tensor.is_variable:
            return self.shared.builder.state(self.names[index], type_).read
        elif type_.size == 0:
            data = np.zeros(type_.shape, type_.dtype.numpy)
        else:
            raise ModelFileError(f"tensor {tensor.name!r} is read before it is computed", where=self.where)
        return constant(self.names[index], data, type_.quant)

    def _check_indices(self) -> None:
        count = len(self.subgraph.tensors)
        used = [*self.subgraph.inputs, *self.subgraph.outputs]
        used += [i for operator in self.subgraph.operators for i in operator.outputs]
        optional = [i for operator in self.subgraph.operators for i in operator.inputs if i != -1]
        for index in [*used, *optional]:
            if not 0 <= index < count:
                raise ModelFileError(f"tensor {index} is used, but the file has {count}", where=self.where)

    def _carry_out(self, operator: FileOperator) -> None:
        control = self.shared.control.get(operator.code)
        if control is None:
            self._map(operator)
            return
        try:
            control(self, operator)
        except RefusalError as refusal:
            self._report(operator, str(refusal))

    def _map(self, operator: FileOperator) -> None:
        found = self.shared.mappings.get(operator.code)
        if found is None:
            self._report(operator, _why_unknown(operator))
            return
        spec, mapping = found
        why = self._why_tensors_fail(operator)
        if why:
            self._report(operator, why)
            return
        nodes = self.shared.builder.graph.nodes
        before = len(nodes)
        try:
            node = self._file_node(operator)
            results = build_nodes(spec, mapping.attrs, mapping.build, node)
            for added in nodes[before:]:
                self._derive_bias_scale(added)
                added.operator.check_quantization(added)
            self._check_declared(operator, results)
        except RefusalError as refusal:
            self._report(operator, str(refusal))
        except GraphError as error:
            del nodes[before:]
            self._report(operator, error.what)
        else:
            self.values.update(zip(operator.outputs, results, strict=False))

    def _why_tensors_fail(self, operator: FileOperator) -> str:
        tensors = [self.subgraph.tensors[i] for i in (*operator.inputs, *operator.outputs) if i != -1]
        for tensor in tensors:
            why = why_not_carried(tensor)
            if why:
                return why
        return ""

    def _file_node(self, operator: FileOperator) -> FileNode:
        present = [self.subgraph.tensors[i] for i in operator.inputs if i != -1]
        is_float = any(t.type == "FLOAT32" and t.data is None for t in present)
        inputs = tuple(None if i == -1 else self._operand(i, is_float) for i in operator.inputs)
        return FileNode(
            name=self._operator_name(operator),
            op=operator.code,
            inputs=inputs,
            attributes=operator.options,
            output_names=tuple(self.names[i] for i in operator.outputs),
            output_types=tuple(self.declared_type(i) for i in operator.outputs),
            builder=self.shared.builder,
            forms=tuple("" if i == -1 else stored_as(self.subgraph.tensors[i]) for i in operator.inputs),
        )

    def _operator_name(self, operator: FileOperator) -> str:
        return self.names[operator.outputs[0]] if operator.outputs else operator.code

    def _report(self, operator: FileOperator, why: str) -> None:
        item = Unsupported(self._operator_name(operator), operator.custom or operator.code, why)
        self.shared.unsupported.append(item)
        for index in operator.outputs:
            if not why_not_carried(self.subgraph.tensors[index]):
                self.values[index] = Value(self.names[index], self.declared_type(index))

    def _check_declared(self, operator: FileOperator, results: Sequence[Value]) -> None:
        """Shapes that the file declares must be those that follow from the inputs."""
        for index, value in zip(operator.outputs, results, strict=False):
            declared = self.declared_type(index)
            if value.type.dtype is not declared.dtype:
                raise GraphError(f"the file declares its result as {declared}, the inputs give {value.type}")
            if not self.shared.any_batch and value.type.shape != declared.shape:
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
            node.inputs[rule.bias] = self.shared.builder.constant(f"{bias.name}.rescaled", bias.data, wanted)


def _why_unknown(operator: FileOperator) -> str:
    if operator.code != "CUSTOM":
        return "burnc has no such operator"
    if operator.custom.startswith("Flex"):
        return (
            "a TensorFlow operator that was kept (target_spec.supported_ops has SELECT_TF_OPS); "
            "convert with TFLITE_BUILTINS alone"
        )
    return "a custom operator (the converter's allow_custom_ops let it pass)"


def unique_names(tensors: Sequence[FileTensor], taken: Counter[str]) -> list[str]:
    """The tensors' names, with a number behind those that are taken; ``taken`` learns them."""
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


Held = Value | Variable
"""What a tensor of a file stands for; a resource tensor stands for a variable."""

Control = Callable[[Scope, FileOperator], None]
