"""How operators of model files map to the IR: declared beside each operator, carried out by the importers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np

from burnc.ir import Array, Builder, Node, QuantParams, State, TensorType, Value
from burnc.numerics import dequantize, quantize

ONNXRUNTIME = "com.microsoft"
"""The ONNX domain of onnxruntime's own operators."""

LARGEST_KNOWN = 2**24
"""Elements. What mappings ask for are shapes, axes and weights; a few operators can make any amount out of nothing."""


class RefusalError(Exception):
    """Raised by a mapping that cannot carry a node; the importer adds the node to its list of unsupported ones."""


@dataclass
class FileNode:
    """One operator of a model file, its inputs already in the IR.

    Attributes:
        attributes: ONNX: the attributes that the file gives, converted to Python and numpy; TFLite: every field of the
            options table under its schema name in snake case (``stride_h``), plus ``version``.
        forms: TFLite: for each input the form that the file stores it in, '' where that is the IR's own.
        output_types: the types that the file declares (TFLite: with quantization), None where unknown.
        builder: where new nodes go.
        zero: what a 0 that the file leaves out stands for, in an operator on the integers of quantized tensors.
    """

    name: str
    op: str
    inputs: tuple[Value | None, ...]
    attributes: Mapping[str, Any]
    output_names: tuple[str, ...]
    output_types: tuple[TensorType | None, ...]
    builder: Builder
    zero: float = 0.0
    forms: tuple[str, ...] = ()

    def refuse(self, why: str) -> NoReturn:
        raise RefusalError(why)

    def input(self, index: int) -> Value:
        """An input that the operator needs."""
        value = self.inputs[index] if index < len(self.inputs) else None
        if value is None:
            self.refuse(f"input {index} is missing")
        return value

    def has_input(self, index: int) -> bool:
        return index < len(self.inputs) and self.inputs[index] is not None

    def known(self, index: int) -> Array | None:
        """The data of an input that must be there, where they are constant."""
        return known_data(self.input(index))

    def constant(self, index: int, what: str) -> Array:
        """The data of an input that must be constant; ``what`` says what it is, for the refusal."""
        value = self.input(index)
        data = self.known(index)
        if data is None:
            self.refuse(f"{what} (%{value.name}) is computed at run time; it must be constant")
        return data

    def state(self, index: int) -> State:
        """The state that an input is (TFLite: a variable tensor), whose next value the operator computes."""
        value = self.input(index)
        found = next((s for s in self.builder.graph.states if s.read is value), None)
        if found is None or found.write is not found.read:
            self.refuse(f"%{value.name} must be a variable of this operator alone")
        return found

    def attribute(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    def integers(self, name: str, count: int, default: int) -> tuple[int, ...]:
        """A list attribute of exactly ``count`` integers; ``default`` repeated where it is absent."""
        given = self.attributes.get(name)
        if given is None:
            return (default,) * count
        if len(given) != count:
            self.refuse(f"attribute {name} = {list(given)} must have {count} values")
        return tuple(int(v) for v in given)

    @property
    def output_quant(self) -> QuantParams | None:
        """Quantization that the file declares for the first output."""
        type_ = self.output_types[0] if self.output_types else None
        return None if type_ is None else type_.quant

    def emit(
        self, op: str, inputs: Sequence[Value | None], attrs: Any = None, *, last: bool = True, **rest: Any
    ) -> Value:
        """Add an IR node. The ``last`` one of a mapping takes the file's output name and quantization.

        The node takes the file's node name unless ``name`` is given; an inner result is named after node and operator.
        """
        if last:
            rest.setdefault("outputs", self.output_names[:1])
            rest.setdefault("quant", self.output_quant)
        rest.setdefault("name", self.name)
        rest.setdefault("outputs", (f"{self.name}.{op}",))
        return self.builder.node(op, inputs, attrs, **rest)

    def part(
        self, name: str, inputs: Sequence[Value | None], attributes: Mapping[str, Any] | None = None, result: str = ""
    ) -> FileNode:
        """An operator that this one is made of, called ``name``, as its result is unless a name is given."""
        return replace(
            self,
            name=name,
            inputs=tuple(inputs),
            attributes=attributes or {},
            output_names=(result or name,),
            output_types=(None,),
        )

    def new_constant(self, hint: str, data: Array, quant: QuantParams | None = None) -> Value:
        return self.builder.constant(f"{self.name}.{hint}", np.asarray(data), quant)


def known_data(value: Value) -> Array | None:
    """A constant's data, also where operators compute it from constants alone (shape arithmetic, QDQ of constants)."""
    held: dict[Value, Array] = {}
    for each in _made_of_constants(value):
        held[each] = _computed(each, held) if each.data is None else each.data
    return held.get(value)


def _made_of_constants(value: Value) -> list[Value]:
    """What the value is computed from, each after its operands; nothing where a part is not known before a run."""
    order: dict[Value, None] = {}
    waiting = [(value, False)]
    while waiting:
        each, has_operands = waiting.pop()
        if each in order:
            continue
        if has_operands or each.data is not None:
            order[each] = None
        elif each.producer is None or not _is_computable(each, each.producer):
            return []
        else:
            waiting.append((each, True))
            waiting += [(operand, False) for operand in each.producer.present_inputs]
    return list(order)


def _is_computable(value: Value, node: Node) -> bool:
    if node.op in ("quantize", "dequantize"):
        return True
    is_quantized = any(v.type.quant is not None for v in [*node.present_inputs, value])
    has_meaning = getattr(node.operator, "forward", None) is not None and bool(node.inputs)
    return has_meaning and len(node.outputs) == 1 and not is_quantized and value.type.size <= LARGEST_KNOWN


def _computed(value: Value, held: Mapping[Value, Array]) -> Array:
    node = value.producer
    assert node is not None
    operands = [None if v is None else held[v] for v in node.inputs]
    if node.op == "dequantize":
        return dequantize(held[node.input(0)], node.input(0).type)
    if node.op == "quantize":
        return quantize(held[node.input(0)], value.type, node.rounding)
    forward: Any = getattr(node.operator, "forward", None)
    with np.errstate(all="ignore"):
        result: Array = np.asarray(forward(np, node.attrs, *operands)).astype(value.type.dtype.numpy)
    return result


Build = Callable[[FileNode], Sequence[Value]]


@dataclass(frozen=True)
class OldForm:
    """What an operator meant before an opset that gave it attributes for it, which onnx's converter leaves out.

    Attributes:
        names: its names in those opsets.
        before: the opset that changed it.
        attributes: what has to be added after the conversion.
    """

    names: tuple[str, ...]
    before: int
    attributes: Mapping[str, str]


@dataclass(frozen=True)
class OnnxOp:
    """An ONNX operator. Without ``build`` the inputs pass as they are and ``attrs`` maps our names to ONNX's.

    Attributes:
        op_type: ONNX's name.
        attrs: our attribute name -> ONNX attribute name.
        build: makes the IR nodes and returns the results, where one-to-one is not enough.
        domain: '' is the standard's own.
        lost: attribute -> value in old versions that onnx's version converter drops without a word; refused.
        old: attributes that old versions had in effect without naming them.
        integers: it reads the integers of quantized tensors itself. Any other operator on such integers is understood
            as the float operator on what they stand for.
    """

    op_type: str
    attrs: Mapping[str, str] = field(default_factory=dict)
    build: Build | None = None
    domain: str = ""
    lost: Mapping[str, int] = field(default_factory=dict)
    old: OldForm | None = None
    integers: bool = False


@dataclass(frozen=True)
class TfliteOp:
    """A TFLite builtin operator by its schema name; ``attrs`` maps our names to option fields in snake case."""

    code: str
    attrs: Mapping[str, str] = field(default_factory=dict)
    build: Build | None = None


def onnx_op(
    op_type: str,
    *,
    attrs: Mapping[str, str] | None = None,
    build: Build | None = None,
    domain: str = "",
    lost: Mapping[str, int] | None = None,
    old: OldForm | None = None,
    integers: bool = False,
) -> OnnxOp:
    return OnnxOp(op_type, attrs or {}, build, domain, lost or {}, old, integers)


def tflite_op(code: str, *, attrs: Mapping[str, str] | None = None, build: Build | None = None) -> TfliteOp:
    return TfliteOp(code, attrs or {}, build)


TFLITE_ACTIVATIONS = {
    "NONE": (-np.inf, np.inf),
    "RELU": (0.0, np.inf),
    "RELU6": (0.0, 6.0),
    "RELU_N1_TO_1": (-1.0, 1.0),
}


def fused_activation(node: FileNode) -> dict[str, float]:
    """``activation_min`` and ``activation_max`` of a TFLite operator's fused activation."""
    name = node.attribute("fused_activation_function", "NONE")
    if name not in TFLITE_ACTIVATIONS:
        node.refuse(f"fused activation {name} is not supported")
    low, high = TFLITE_ACTIVATIONS[name]
    return {"activation_min": low, "activation_max": high}
