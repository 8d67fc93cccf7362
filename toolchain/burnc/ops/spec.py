"""OpSpec: everything that is true of an operator whatever the target."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Array, Builder, DType, Node, QuantParams, TensorType, Value
from burnc.ops.case import Case
from burnc.ops.image_rows import RowsRead
from burnc.ops.mapping import OnnxOp, TfliteOp

Infer = Callable[[Any, Sequence[TensorType | None]], list[TensorType]]
Forward = Callable[..., Any]
Body = Callable[..., None]
Integer = Callable[..., Any]


NARROW = (DType.INT8, DType.UINT8, DType.INT16, DType.UINT16)
INT8_TO_INT8 = (DType.INT8, DType.INT8)
QUANTIZED = (DType.INT8, DType.INT16)
"""Element types that what only moves elements takes."""


class OnnxWriter(Protocol):
    """What an operator's ``to_onnx`` writes ONNX nodes with (``burnc.exporters.onnx`` supplies it)."""

    def input(self, node: Node, index: int) -> str:
        """The ONNX name of an input; '' for an absent one."""

    def output(self, node: Node, index: int = 0) -> str: ...

    def constant(self, data: Array, hint: str) -> str:
        """A new initializer."""

    def emit(
        self,
        op_type: str,
        inputs: Sequence[str],
        outputs: Sequence[str] | None = None,
        *,
        domain: str = "",
        **attributes: Any,
    ) -> str:
        """Add a node, with a fresh result name unless ``outputs`` are given; returns its first result."""

    def beyond(self, **attributes: float) -> None:
        """Attributes that ONNX has no place for: other tools do not see them, ``FileNode.attributes`` has them."""

    def transposed(self, name: str, permutation: Sequence[int]) -> str:
        """That tensor with its axes permuted."""

    def weight(self, node: Node, index: int, permutation: Sequence[int]) -> str:
        """A weight with its axes permuted, its per-axis quantization moved along."""

    def finish(self, node: Node, result: str, *, from_nchw: bool = False) -> None:
        """Apply the node's activation range, move NCHW back to NHWC, and name the node's output."""


class StaysFloatError(Exception):
    """Raised by ``OwnQuantization.absorb`` where what stands around a node is not what its int8 form needs."""


@dataclass(frozen=True)
class OwnQuantization:
    """How a node with several results, or several weights, becomes int8.

    Attributes:
        why_not: (node) -> why a float node has no int8 form; empty where it has one.
        weights: (input, axis) of each constant that the quantizer makes int8 weights.
        groups: (node) -> lists of its activations; each list shares int8 parameters.
        wide: (node, largest magnitude by calibration) -> those of its values that become int16, with parameters.
        absorb: (builder, node, twins, wanted) -> the results of its int8 form. ``twins`` are the integers that inputs
            are dequantized from (None for other inputs), ``wanted`` the types that results are quantized to (None
            where nothing reads one). Raises StaysFloatError.
    """

    why_not: Callable[[Node], str]
    weights: tuple[tuple[int, int], ...]
    groups: Callable[[Node], list[list[Value]]]
    wide: Callable[[Node, Callable[[Value], float]], dict[Value, QuantParams]]
    absorb: Callable[[Builder, Node, Sequence[Value | None], Sequence[TensorType | None]], list[Value]]


@dataclass(frozen=True)
class QuantRule:
    """How an operator's tensors are quantized.

    Attributes:
        result: ``own`` (parameters of its own), ``same`` (those of every activation input), or fixed parameters.
        fixed: fixed parameters of the result for other element types than int8, by those of operand and result.
        adjustable: an int8 result may have other parameters than the fixed ones, which are those of TFLite.
        weights: index of the weight input: int8, per tensor or along ``weight_axis``.
        bias: index of the bias input: int32, scale = input scale * weight scale, zero point 0. Over int16 activations
            it is int64, or int32 where the sums are to be.
        integer_inputs: inputs that are no activations (indices, shapes) and stay as they are.
        integer_outputs: outputs that are none, likewise.
        dtypes: element types that activations may have.
        wide: sums over int16 activations are int64, unless the bias is int32.
        check: checks a quantized node in place of all these, where an operator has rules of its own.
        mixes: with ``same``: a result lies between several elements, so that none may saturate before.
        own: how a node becomes int8, where these do not say it.
    """

    result: str | QuantParams = "own"
    fixed: Mapping[tuple[DType, DType], QuantParams] = field(default_factory=dict)
    adjustable: bool = False
    weights: int | None = None
    weight_axis: int = 0
    bias: int | None = None
    integer_inputs: tuple[int, ...] = ()
    integer_outputs: tuple[int, ...] = ()
    dtypes: tuple[DType, ...] = (DType.INT8,)
    wide: bool = False
    mixes: bool = False
    check: Callable[[Node], None] | None = None
    own: OwnQuantization | None = None

    def fixed_params(self, operand: DType, result: DType) -> QuantParams | None:
        """What the result's parameters must be, whatever its range; None where there is a choice."""
        if not isinstance(self.result, QuantParams) or (self.adjustable and (operand, result) == INT8_TO_INT8):
            return None
        return self.fixed.get((operand, result), self.result)

    def activations(self, node: Node) -> list[Value]:
        """The inputs that are quantized as activations."""
        others = {self.weights, self.bias, *self.integer_inputs}
        return [v for i, v in enumerate(node.inputs) if v is not None and i not in others]


@dataclass(frozen=True)
class OpSpec:
    """An operator.

    Attributes:
        name: the IR's name.
        attrs: frozen dataclass of attributes, all with defaults.
        infer: (attrs, input types) -> output types; quantization parameters are not its business.
        forward: (xp, attrs, *inputs) -> result or tuple of results; the float meaning in numpy (or cupy) terms.
        integer: (node, *inputs) -> result(s); the integer meaning on quantized arrays, written apart from ``body``.
        body: (k, attrs, *inputs, *outputs) -> None; KernelIR for float, and for int8 unless ``body_int8`` is given.
        body_int16: the same for int16 activations, where the others do not serve.
        quant: the quantization rule; None where the operator has no quantized form.
        factors: (node) -> real factor(s) from accumulator to result, for ``k.requantize``.
        macs: (node) -> multiply-accumulates of one run.
        recurrent: (input, output) pairs: what a run leaves in that output is what the next one, in the same stream of
            data, finds in that optional input.
        onnx, tflite: operators of model files that mean this one.
        to_onnx: (writer, node) -> None; writes the float operator into an ONNX model.
        gradient: (builder, node, *output gradients) -> input gradients.
        decompose: (builder, node) -> results; where the operator is defined by simpler ones.
        cases: inputs and attributes for the conformance suite.
        permuted: (attributes, permutation) -> attributes for inputs whose axes are permuted so that
            op(transpose(x)) == transpose(op(x, permuted attributes)); None where the operator has no such form.
        view: the result is the input's own bytes under another shape.
        part: (node) -> the byte of its input from which on the result's bytes lie side by side; None where they do not.
        joins: (node) -> whether the result's bytes are those of the inputs, one after the other.
        rows: (node, first, last) -> what of NHWC images the rows of the result from ``first`` up to ``last`` are made
            of; None where it is no few rows. Pointwise operators need not say it.
        pointwise: each result element depends on the input elements at the same (broadcast) index alone.
        unary: pointwise in its only operand, so that without a ``body_int8`` its int8 kernel is a table of 256 entries,
            filled by ``integer``.
        is_gradient: the way back through another operator, whose attributes it has; they describe that one's result.
    """

    name: str
    attrs: type[Any]
    infer: Infer
    forward: Forward
    integer: Integer | None = None
    body: Body | None = None
    body_int8: Body | None = None
    body_int16: Body | None = None
    quant: QuantRule | None = None
    factors: Callable[[Node], Sequence[float] | Array] | None = None
    macs: Callable[[Node], int] = field(default=lambda node: 0)
    recurrent: tuple[tuple[int, int], ...] = ()
    onnx: tuple[OnnxOp, ...] = ()
    tflite: tuple[TfliteOp, ...] = ()
    to_onnx: Callable[[OnnxWriter, Node], None] | None = None
    gradient: Callable[..., Any] | None = None
    decompose: Callable[..., Any] | None = None
    cases: tuple[Case, ...] = ()
    permuted: Callable[[Any, Sequence[int]], Any] | None = None
    view: bool = False
    part: Callable[[Node], int | None] = field(default=lambda node: None)
    joins: Callable[[Node], bool] = field(default=lambda node: False)
    rows: Callable[[Node, int, int], RowsRead | None] | None = None
    pointwise: bool = False
    is_gradient: bool = False
    unary: bool = False

    @cached_property
    def has_activation(self) -> bool:
        """The attributes hold an activation range that the result is clamped to."""
        return not self.is_gradient and {"activation_min", "activation_max"} <= {f.name for f in fields(self.attrs)}

    @property
    def moves_integers(self) -> bool:
        """It only moves or chooses the integers of one tensor, of whatever type and parameters."""
        return self.quant is not None and self.quant.result == "same" and set(NARROW) <= set(self.quant.dtypes)

    def clamped(self, attrs: Any, low: float, high: float) -> Any:
        """The attributes with that activation range."""
        return replace(attrs, activation_min=low, activation_max=high)

    def unclamped(self, attrs: Any) -> Any:
        """The attributes without an activation range."""
        return self.clamped(attrs, -math.inf, math.inf)

    def requantize_factors(self, node: Node) -> Array:
        """Real factors from accumulator to result: input scales over output scale, unless ``factors`` says else."""
        if self.factors is not None:
            return np.asarray(self.factors(node), np.float64)
        assert self.quant is not None
        product = np.array([1.0])
        for value in self.quant.activations(node):
            product = product * float(np.float32(value.type.scale))
        if self.quant.weights is not None:
            scales = node.input(self.quant.weights).type.quant
            assert scales is not None
            product = product * np.array(scales.scale, np.float64)
        return product / float(np.float32(node.outputs[0].type.scale))

    def sum_type(self, node: Node) -> DType:
        """Element type of a quantized node's accumulator: int64 over int16 where ``QuantRule.wide``, else int32."""
        rule, x = self.quant, node.input(0).type
        if rule is None or not rule.wide or x.dtype is not DType.INT16:
            return DType.INT32
        bias = node.inputs[rule.bias] if rule.bias is not None and rule.bias < len(node.inputs) else None
        return DType.INT32 if bias is not None and bias.type.dtype is DType.INT32 else DType.INT64

    def check_quantization(self, node: Node) -> None:
        """Verify a node that reads or writes quantized tensors.

        Raises:
            GraphError: names the tensor and the rule it breaks.
        """
        quantized = [v for v in [*node.present_inputs, *node.outputs] if v.type.quant is not None]
        if not quantized or self.name in ("quantize", "dequantize"):
            return
        where = f"node {node.name!r}, operator {self.name}"
        rule = self.quant
        if rule is None:
            raise GraphError("the operator has no quantized form", where=where)
        if rule.check is not None:
            rule.check(node)
            return
        results = [v for i, v in enumerate(node.outputs) if i not in rule.integer_outputs]
        activations = [*rule.activations(node), *results]
        for value in activations:
            if value.type.quant is None or value.type.quant.axis is not None or value.type.dtype not in rule.dtypes:
                wanted = " or ".join(dtype.value for dtype in rule.dtypes)
                raise GraphError(f"%{value.name} must be {wanted} with one scale, it is {value.type}", where=where)
            fixed = rule.fixed.get((activations[0].type.dtype, value.type.dtype))
            if value.type.dtype is DType.INT16 and value.type.zero_point != 0 and rule.result != "same" and not fixed:
                raise GraphError(f"%{value.name} is int16, its zero point must be 0", where=where)
            if value.type.dtype is not activations[0].type.dtype and not fixed:
                raise GraphError(f"%{value.name} must have the element type of %{activations[0].name}", where=where)
        if rule.result == "same":
            for value in activations:
                if value.type.quant != activations[0].type.quant:
                    raise GraphError(f"%{value.name} must have the parameters of %{activations[0].name}", where=where)
        elif isinstance(rule.result, QuantParams):
            wanted_params = rule.fixed_params(activations[0].type.dtype, node.outputs[0].type.dtype)
            if wanted_params is not None and not is_near(node.outputs[0].type.quant, wanted_params):
                raise GraphError(f"the result must have {wanted_params}, it has {node.output.type.quant}", where=where)
        self._check_weights(node, rule, where)

    def _check_weights(self, node: Node, rule: QuantRule, where: str) -> None:
        if rule.weights is None:
            return
        weights = node.input(rule.weights)
        quant = weights.type.quant
        if quant is None or weights.type.dtype is not DType.INT8:
            raise GraphError(f"weights %{weights.name} must be quantized int8", where=where)
        if quant.axis not in (None, rule.weight_axis):
            raise GraphError(f"weights are quantized along axis {quant.axis}, not {rule.weight_axis}", where=where)
        bias = node.inputs[rule.bias] if rule.bias is not None and rule.bias < len(node.inputs) else None
        if bias is None:
            return
        sums = self.sum_type(node)
        if bias.type.dtype is not sums or bias.type.quant is None:
            raise GraphError(f"bias %{bias.name} must be quantized {sums.value}", where=where)
        wanted = node.input(0).type.scale * np.array(quant.scale)
        if not np.allclose(bias.type.quant.scale, wanted, rtol=1e-3, atol=0):
            raise GraphError(f"bias %{bias.name}: scale is not input scale * weight scale", where=where)


def is_near(given: QuantParams | None, wanted: QuantParams) -> bool:
    """Equal but for a thousandth of the scale, which TFLite allows: some files have 1/65535 where 1/65536 is meant."""
    if given is None or (given.axis, given.zero_point) != (wanted.axis, wanted.zero_point):
        return False
    return bool(np.allclose(given.scale, wanted.scale, rtol=1e-3, atol=0))


def same_type(attrs: Any, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    """``infer`` of an operator whose result has its first input's type."""
    return [required(inputs, 0).with_quant(None)]


def same_number_type(attrs: Any, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    """The same for an operator on numbers.

    Raises:
        GraphError: the input is bool.
    """
    if required(inputs, 0).dtype is DType.BOOL:
        raise GraphError("numbers are needed, but the input is bool")
    return same_type(attrs, inputs)


def same_real_type(attrs: Any, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    """The same for an operator on real numbers: floats, or integers that stand for some.

    Raises:
        GraphError: the input is of plain integers.
    """
    x = required(inputs, 0)
    if not x.dtype.is_float and x.quant is None:
        raise GraphError(f"real numbers are needed, but the input is {x.dtype.value}")
    return same_type(attrs, inputs)


def required(inputs: Sequence[TensorType | None], index: int) -> TensorType:
    """The type of an input that must be there.

    Raises:
        GraphError: it is absent.
    """
    type_ = inputs[index] if index < len(inputs) else None
    if type_ is None:
        raise GraphError(f"input {index} is missing")
    return type_


def product_type(left: TensorType, right: TensorType) -> DType:
    """The element type of sums of products: the operands' own; int32 for narrow integers that are not quantized.

    Raises:
        GraphError: they do not go together.
    """
    if left.quant is None and right.quant is None and {left.dtype, right.dtype} <= set(NARROW):
        return DType.INT32
    if left.dtype is not right.dtype and (left.dtype, right.dtype) != (DType.INT16, DType.INT8):
        raise GraphError(f"operands are {left.dtype.value} and {right.dtype.value}")
    return left.dtype


def broadcast_shapes(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """Numpy's broadcast shape.

    Raises:
        GraphError: the shapes do not go together.
    """
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        raise GraphError(f"shapes {list(a)} and {list(b)} do not broadcast") from None
