"""A kernel row: everything about one kernel, so that dispatch, packing, sizes and cost cannot drift apart."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np

from burnc.codegen.flash_waits import Sweeps
from burnc.codegen.names import LONGEST_NAME, UniqueNames, comment_text, identifier
from burnc.codegen.program import Call, Code, ConstantArray, FieldValue, Params
from burnc.ir import Array, Match, Node, Pattern
from burnc.numerics import activation_range, quantize_multiplier
from burnc.ops import spec_of

F = TypeVar("F", bound=Callable[..., Any])


class _Constants:
    """A node, equal to all that have its constants and quantization: a layer, parts of it, and both in other graphs."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._held = [v.data for v in node.present_inputs]  # so that no other array gets the identity of one of them
        inputs = tuple(None if v is None else (v.type.quant, id(v.data)) for v in node.inputs)
        self._key = (node.op, *_activation(node), node.rounding, inputs, node.outputs[0].type.quant)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Constants) and self._key == other._key


def cached_by_constants(size: int) -> Callable[[F], F]:
    """For functions of a node that read no shape but those of its constants: one result for all parts of a layer."""

    def decorate(function: F) -> F:
        @functools.lru_cache(maxsize=size)
        def cached(constants: _Constants, **options: Hashable) -> Any:
            return function(constants.node, **options)

        @functools.wraps(function)
        def of_node(node: Node, **options: Hashable) -> Any:
            return cached(_Constants(node), **options)

        return cast(F, of_node)

    return decorate


class Emitter:
    """Collects the constants and parameter structs that rows make; their names are ``<layer>_<role>``.

    Args:
        unique: makes names; those of inputs and outputs are taken already.

    Attributes:
        room: bytes of scratch that the step has, for a row whose scratch may grow.
    """

    def __init__(self, unique: UniqueNames) -> None:
        self.constants: list[ConstantArray] = []
        self.params: list[Params] = []
        self.codes: list[Code] = []
        self.room = 0
        self._unique = unique
        self._layers: set[str] = set()
        self._layer = self._title = ""
        self._known: dict[tuple[str, bytes], ConstantArray] = {}
        self._known_codes: dict[tuple[str, bytes], Code] = {}

    def begin_layer(self, node: Node, number: int) -> None:
        """What follows belongs to this node; a name too long to read well, or used before, gives way to a number."""
        layer = identifier(node.name)
        if len(layer) > LONGEST_NAME or layer in self._layers:
            layer = f"{node.op}_{number}"
        self._layers.add(layer)
        self._layer = layer
        self._title = f"{comment_text(node.name)}: "

    def constant(self, role: str, data: Array) -> ConstantArray:
        """An array in flash; equal arrays are stored once."""
        data = np.ascontiguousarray(data)
        key = (data.dtype.name, data.tobytes())
        if key not in self._known:
            comment = f"{self._title}{role} [{', '.join(map(str, data.shape))}]"
            self._known[key] = ConstantArray(self._unique(f"{self._layer}_{role}"), data, comment)
            self.constants.append(self._known[key])
        return self._known[key]

    def code(self, text: Callable[[str], str], size: int, twin: Array) -> Code:
        """Weights as instructions; equal ones are stored once.

        Args:
            text: makes an assembler file from the symbol (``burnc_<name>``) that it defines.
            size: of the instructions, in bytes.
            twin: the same weights as numbers.
        """
        twin = np.ascontiguousarray(twin)
        key = (text(""), twin.tobytes())
        if key in self._known_codes:
            return self._known_codes[key]
        name = self._unique(f"{self._layer}_code")
        comment = f"{self._title}weights [{', '.join(map(str, twin.shape))}]"
        numbers = ConstantArray(self._unique(f"{self._layer}_weights"), twin, comment)
        self.codes.append(Code(name, text(f"burnc_{name}"), size, numbers))
        self._known_codes[key] = self.codes[-1]
        return self.codes[-1]

    def struct(self, type: str, **fields: FieldValue) -> Params:
        """A parameter struct; fields in the order of the runtime's header."""
        made = Params(self._unique(f"{self._layer}_params"), type, tuple(fields.items()))
        self.params.append(made)
        return made


def sweeps_for_outputs(match: Match, room: int) -> Sweeps:
    """Of a kernel that goes through its weights for each output pixel or row."""
    weights = sum(v.type.size for node in match.nodes for v in node.present_inputs if v.is_constant)
    macs = sum(spec_of(node).macs(node) for node in match.nodes)
    return Sweeps(max(1, macs // max(1, weights)))


@dataclass(frozen=True)
class KernelRow:
    """One kernel.

    Attributes:
        name: of the kernel, as reports show it.
        pattern: the small subgraph it computes.
        when: whether it can compute this match.
        lower: makes its constants and its call.
        cycles: estimate for one run, in CPU cycles of a Cortex-M0+ with zero-wait memory.
        code_bytes: estimate of its code on a Cortex-M0+, for reports that are made without a compiler.
        on: the cores it runs on; None for every core.
        scratch: bytes it needs for itself.
        overlap: (input index, safe distance in bytes) pairs: the result may lie over that input (memory.Overlap).
        modes: what is optimized for (``size``, ``balanced``, ``speed``) where it may be chosen; None for all.
        flash: bytes of its constants and code for this match; None for those of its constant operands.
        grown: for a kernel that more scratch makes faster: from the bytes that are free, (bytes used, cycles then).
            What overlap says must hold for that, too.
        sweeps: how it reads its constants and code, with so many bytes of scratch.
    """

    name: str
    pattern: Pattern
    when: Callable[[Match], bool]
    lower: Callable[[Match, Emitter], Call]
    cycles: Callable[[Match], float]
    code_bytes: int
    on: tuple[str, ...] | None = None
    scratch: Callable[[Match], int] = field(default=lambda match: 0)
    overlap: Callable[[Match], Sequence[tuple[int, int | None]]] = field(default=lambda match: [])
    modes: tuple[str, ...] | None = None
    flash: Callable[[Match], int] | None = None
    grown: Callable[[Match, int], tuple[int, float]] | None = None
    sweeps: Callable[[Match, int], Sweeps] = field(default=sweeps_for_outputs)

    def flash_bytes(self, match: Match) -> int:
        if self.flash is not None:
            return self.flash(match)
        return sum(v.type.nbytes for node in match.nodes for v in node.present_inputs if v.is_constant)


def is_int8(node: Node) -> bool:
    """All activations int8, rounded as TFLM rounds, and weights symmetric."""
    values = [node.input(0), node.outputs[0]]
    rule = spec_of(node).quant
    weights = None if rule is None or rule.weights is None else node.input(rule.weights).type.quant
    return (
        node.rounding == "tflm"
        and all(v.type.quant is not None and v.type.dtype.value == "int8" for v in values)
        and not any(weights.zero_point if weights is not None else ())
    )


def clamp_fields(node: Node) -> dict[str, int]:
    low, high = activation_range(node.output.type, *_activation(node))
    return {"activation_min": low, "activation_max": high}


def _activation(node: Node) -> tuple[float, float]:
    return getattr(node.attrs, "activation_min", -np.inf), getattr(node.attrs, "activation_max", np.inf)


def channel_scales(node: Node, channels: int | None = None) -> list[tuple[int, int]]:
    """TFLM's multiplier and shift (positive to the left) of ``channels`` outputs; None for all that weights have."""
    count = node.input(1).type.shape[0] if channels is None else channels
    factors = np.broadcast_to(node.operator.requantize_factors(node).reshape(-1), (count,))
    return [quantize_multiplier(float(f)) for f in factors]


def scale_arrays(node: Node, emitter: Emitter, channels: int) -> dict[str, ConstantArray]:
    """The multiplier (int32) and shift (int8) of each of ``channels`` outputs."""
    pairs = channel_scales(node, channels)
    return {
        "multiplier": emitter.constant("multiplier", np.array([m for m, _ in pairs], np.int32)),
        "shift": emitter.constant("shift", np.array([s for _, s in pairs], np.int8)),
    }


def folded_bias(node: Node) -> Array:
    """The bias - input zero point * sum of weights, for each output, so that kernels multiply raw int8 values."""
    w = node.input(1).data
    assert w is not None
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    sums = w.reshape(w.shape[0], -1).astype(np.int64).sum(axis=1)
    total = -node.input(0).type.zero_point * sums
    if bias is not None and bias.data is not None:
        total = total + bias.data.astype(np.int64)
    folded: Array = (((total + 2**31) & 0xFFFFFFFF) - 2**31).astype(np.int32)
    return folded


def sum_bounds(node: Node) -> tuple[Array, Array]:
    """The least and the greatest sum of each output, of raw int8 inputs with their zero point in the bias.

    Padding is that zero point, so a tap outside the input is as one inside it.
    """
    data = node.input(1).data
    assert data is not None
    w, bias = data.reshape(data.shape[0], -1).astype(np.int64), folded_bias(node).astype(np.int64)
    least: Array = bias - (128 * np.maximum(w, 0) - 127 * np.minimum(w, 0)).sum(axis=1)
    most: Array = bias + (127 * np.maximum(w, 0) - 128 * np.minimum(w, 0)).sum(axis=1)
    return least, most
