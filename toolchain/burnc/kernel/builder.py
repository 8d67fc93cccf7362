"""Traces an operator's ``body`` into KernelIR: each loop's block is run once and recorded.

``for n, oh in k.grid(shape)`` opens loops, what the block does is recorded inside them, and they close when it ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Array, DType, Node, TensorType, Value
from burnc.kernel import float64
from burnc.kernel.buffer import Buffer, Role
from burnc.kernel.expr import Call, Cast, Expr, Literal, Load, Scalar, Select, Variable, binary, bounds, lift
from burnc.kernel.program import Assign, Barrier, Declare, If, Kernel, Loop, Statement, Store
from burnc.numerics import activation_range, quantize_multiplier, reduced_multiplier

INT32 = DType.INT32
INT64 = DType.INT64
FLOAT32 = DType.FLOAT32
NARROW = (DType.INT8, DType.UINT8, DType.INT16, DType.UINT16)
SUMS = (INT32, INT64, DType.UINT32, DType.UINT64)


# Sums and products of these fit the int that C computes them in.
_NEVER_TOO_WIDE = (DType.BOOL, DType.INT8, DType.UINT8, DType.INT16)


class Tensor:
    """A buffer seen through its shape.

    In a quantized kernel a read yields ``q - zero_point`` as int32, and a narrow integer in one whose result is a wide
    one yields that; a read of float16 yields float32.
    """

    def __init__(self, kernel: KernelBuilder, buffer: Buffer, type: TensorType) -> None:
        self._kernel = kernel
        self.buffer = buffer
        self.type = type

    @property
    def shape(self) -> tuple[int, ...]:
        return self.type.shape

    def flat_index(self, indices: Sequence[Expr | int]) -> Expr:
        if len(indices) != self.type.rank:
            raise GraphError(f"{len(indices)} indices for {self.type}")
        index: Expr = Literal(0, INT32)
        for i, extent in zip(indices, self.shape, strict=True):
            index = index * extent + lift(i, INT32)
        return index

    def raw(self, *indices: Expr | int) -> Expr:
        """The stored element itself."""
        element = Load(self.buffer, self.flat_index(indices))
        return Cast(element, FLOAT32) if element.dtype is DType.FLOAT16 else element

    def __getitem__(self, indices: Expr | int | tuple[Expr | int, ...]) -> Expr:
        many = indices if isinstance(indices, tuple) else (indices,)
        return self._centred(self.raw(*many), many)

    def at(self, *indices: Expr | int, outside: Scalar) -> Expr:
        """The element, or ``outside`` where an index lies out of the tensor; provably inner indices are not checked."""
        value = self[indices]
        guard: Expr | None = None
        for i, extent in zip(indices, self.shape, strict=True):
            for check in _index_checks(lift(i, INT32), extent):
                guard = check if guard is None else guard & check
        return value if guard is None else Select(guard, value, lift(outside, value.dtype))

    def __setitem__(self, indices: Expr | int | tuple[Expr | int, ...], value: Expr | Scalar) -> None:
        many = indices if isinstance(indices, tuple) else (indices,)
        expr = lift(value, self.buffer.dtype)
        if self.buffer.dtype is DType.FLOAT16 and isinstance(expr, Cast) and expr.a.dtype is DType.FLOAT16:
            expr = expr.a  # what is only moved keeps its bits
        if expr.dtype is not self.buffer.dtype:
            expr = Cast(expr, self.buffer.dtype)
        self._kernel.record(Store(self.buffer, self.flat_index(many), expr))

    def _centred(self, element: Expr, indices: Sequence[Expr | int]) -> Expr:
        if self.type.dtype.is_float or not self._kernel.quantized:
            narrow = element.dtype in NARROW and self._kernel.sums_integers
            return Cast(element, self._kernel.real) if narrow else element
        wide = element if element.dtype in (INT32, INT64) else Cast(element, INT32)
        quant = self.type.quant
        if quant is None or not any(quant.zero_point):
            return wide
        if quant.axis is None:
            return wide - quant.zero_point[0]
        zero_points = self._kernel.table("zero_point", np.array(quant.zero_point, np.int32))
        return wide - zero_points.raw(indices[quant.axis])


class Local:
    """A local scalar that may change."""

    def __init__(self, kernel: KernelBuilder, variable: Variable) -> None:
        self._kernel = kernel
        self.value = variable

    def set(self, value: Expr | Scalar) -> None:
        self._kernel.record(Assign(self.value, lift(value, self.value.dtype)))

    def __iadd__(self, other: Expr | Scalar) -> Self:
        is_wider = isinstance(other, Expr) and (self.value.dtype, other.dtype) == (INT64, INT32)
        self.set(self.value + (Cast(other, INT64) if isinstance(other, Expr) and is_wider else other))
        return self


class KernelBuilder:
    """What an operator's body is written against.

    Attributes:
        quantized: reads are centred int32 values and ``requantize`` rescales.
        wide: sums are int64, as they are of products with int16 activations.
        real: what a kernel without quantization computes in: the type of its result where that is float64 or an
            integer of at least 32 bits, float32 otherwise.
        node: the node whose kernel is built.

    Args:
        operands: names of the inputs' buffers.
    """

    def __init__(self, name: str, node: Node, operands: Sequence[str] = ()) -> None:
        self.name = name
        self.node = node
        result = node.outputs[0].type
        self.quantized = not result.dtype.is_float and any(v.type.quant is not None for v in node.present_inputs)
        self.wide = self.quantized and node.operator.sum_type(node) is INT64
        self.sums_integers = not self.quantized and result.dtype in SUMS
        self.real = result.dtype if result.dtype is DType.FLOAT64 or self.sums_integers else FLOAT32
        self._buffers: list[Buffer] = []
        self._names: set[str] = set()
        self._blocks: list[list[Statement]] = [[]]
        names = operands or [f"x{i}" for i in range(len(node.inputs))]
        self.inputs = [
            None if v is None else self._parameter(n, v, Role.INPUT) for n, v in zip(names, node.inputs, strict=True)
        ]
        self.outputs = [self._parameter(f"y{i}" if i else "y", v, Role.OUTPUT) for i, v in enumerate(node.outputs)]

    def build(self) -> Kernel:
        return Kernel(self.name, self._buffers, self._blocks[0])

    # Buffers

    def _parameter(self, name: str, value: Value, role: Role) -> Tensor:
        return self._tensor(name, value.type, role)

    def _tensor(self, name: str, type: TensorType, role: Role, data: Array | None = None) -> Tensor:
        buffer = Buffer(self._unique(name), type.dtype, type.size, role, data)
        self._buffers.append(buffer)
        return Tensor(self, buffer, type)

    def table(self, name: str, data: Array) -> Tensor:
        """A constant array that the kernel brings with it; equal tables are held once."""
        for known in self._buffers:
            if known.data is not None and known.data.dtype == data.dtype and np.array_equal(known.data, data):
                return Tensor(self, known, TensorType(known.dtype, data.shape))
        return self._tensor(name, TensorType(DType.of(data), data.shape), Role.TABLE, data)

    def scratch(self, name: str, dtype: DType, shape: Sequence[int]) -> Tensor:
        return self._tensor(name, TensorType(dtype, tuple(shape)), Role.SCRATCH)

    # Statements

    def record(self, statement: Statement) -> None:
        self._blocks[-1].append(statement)

    def grid(self, shape: Sequence[int], names: str = "") -> Iterator[tuple[Expr, ...]]:
        """Parallel loops over all indices of ``shape``; ``names`` (blank-separated) makes the C readable."""
        return self._loops(shape, names, parallel=True)

    def reduce(self, shape: Sequence[int], names: str = "") -> Iterator[tuple[Expr, ...]]:
        """Loops that run in order, last index fastest."""
        return self._loops(shape, names, parallel=False)

    def _loops(self, shape: Sequence[int], names: str, parallel: bool) -> Iterator[tuple[Expr, ...]]:
        wanted = names.split() or ["i"] * len(shape)
        indices: list[Expr] = []
        opened = 0
        outermost: Loop | None = None
        for extent, name in zip(shape, wanted, strict=True):
            if extent == 1:
                indices.append(Literal(0, INT32))
                continue
            variable = Variable(self._unique(name), INT32, extent)
            loop = Loop(variable, extent, parallel)
            outermost = outermost or loop
            self.record(loop)
            self._blocks.append(loop.body)
            indices.append(variable)
            opened += 1
        yield tuple(indices)
        for _ in range(opened):
            self._blocks.pop()
        if 0 in shape and outermost is not None:
            self._blocks[-1].remove(outermost)

    @contextmanager
    def when(self, condition: Expr) -> Iterator[None]:
        """Record the block under a condition."""
        statement = If(condition)
        self.record(statement)
        self._blocks.append(statement.body)
        yield
        self._blocks.pop()

    def barrier(self) -> None:
        self.record(Barrier())

    def local(self, name: str, value: Expr | Scalar, dtype: DType | None = None) -> Local:
        """A local scalar that may change; ``dtype`` is needed for a plain number."""
        expr = lift(value, dtype or INT32) if not isinstance(value, Expr) else value
        variable = Variable(self._unique(name), expr.dtype)
        self.record(Declare(variable, expr, mutable=True))
        return Local(self, variable)

    def let(self, name: str, value: Expr) -> Expr:
        """Name a value, so that it is computed once and C reads well; a name or number is that already."""
        if isinstance(value, Variable | Literal):
            return value
        variable = Variable(self._unique(name), value.dtype, span=bounds(value))
        self.record(Declare(variable, value, mutable=False))
        return variable

    def accumulator(self, start: Expr | Scalar = 0) -> Local:
        """A sum: int32 in a quantized kernel (int64 in a wide one), ``real`` otherwise."""
        dtype = INT64 if self.wide else INT32 if self.quantized else self.real
        return self.local("acc", self.cast(start, dtype) if isinstance(start, Expr) and self.wide else start, dtype)

    # Expressions

    @staticmethod
    def select(condition: Expr, a: Expr | Scalar, b: Expr | Scalar) -> Expr:
        dtype = a.dtype if isinstance(a, Expr) else b.dtype if isinstance(b, Expr) else FLOAT32
        return Select(condition, lift(a, dtype), lift(b, dtype))

    def wrapped(self, op: str, a: Expr, b: Expr | Scalar) -> Expr:
        """``a op b`` of numbers that the user brings: integers keep the low bits of the result where it overflows.

        In a quantized kernel nothing overflows, and there as in floats it is the plain operation.
        """
        b = lift(b, a.dtype)
        wide = DType.UINT64 if a.dtype.bytes == 8 else DType.UINT32
        if self.quantized or a.dtype.is_float or a.dtype in (wide, *_NEVER_TOO_WIDE):
            return binary(op, a, b)
        return self.cast(binary(op, self.cast(a, wide), self.cast(b, wide)), a.dtype)

    @staticmethod
    def minimum(a: Expr, b: Expr | Scalar) -> Expr:
        return binary("min", a, b)

    @staticmethod
    def maximum(a: Expr, b: Expr | Scalar) -> Expr:
        return binary("max", a, b)

    @staticmethod
    def cast(value: Expr, dtype: DType) -> Expr:
        return value if value.dtype is dtype else Cast(value, dtype)

    def call(self, name: str, *args: Expr | Scalar, dtype: DType | None = None) -> Expr:
        """An intrinsic; plain numbers and the result take the first expression's type unless ``dtype`` is given.

        Raises:
            GraphError: there is none of that name for float64.
        """
        first = next(a.dtype for a in args if isinstance(a, Expr))
        if first is DType.FLOAT64:
            if name in float64.NARROW:
                raise GraphError(f"there is no {name} of float64")
            if name in float64.FUNCTIONS:
                return float64.FUNCTIONS[name](self, self.let("value", lift(args[0], first)))
        return Call(name, tuple(lift(a, first) for a in args), dtype or first)

    def scale_by_row(self, value: Expr, factors: Array, row: Expr) -> Expr:
        """int32 value times one of several positive real factors, by the node's rounding."""
        return self._rescaled(value, [quantize_multiplier(float(f)) for f in factors], row)

    def scale_by(self, value: Expr, factor: float) -> Expr:
        """int32 value times a positive real factor, by the node's rounding."""
        return self._rescaled(value, [quantize_multiplier(factor)], None)

    def scale_by_pair(self, value: Expr, multiplier: int, shift: int) -> Expr:
        """int32 value times ``multiplier * 2**(shift - 31)``, by the node's rounding."""
        return self._rescaled(value, [(multiplier, shift)], None)

    def _requantized(self, value: Expr, multiplier: Expr, shift: Expr) -> Expr:
        if value.dtype is INT64:
            return self._wide_requantized(value, multiplier, shift)
        name = "requantize_single" if self.node.rounding == "single" else "requantize"
        return Call(name, (value, multiplier, shift), INT32)

    def _wide_requantized(self, value: Expr, multiplier: Expr, shift: Expr) -> Expr:
        """numerics.multiply_wide_by_quantized_multiplier; ``multiplier`` has 15 bits, ``shift`` is what to shift by."""
        half = binary("<<", Literal(1, INT64), Cast(shift - 1, INT64))
        return Cast((value * self.cast(multiplier, INT64) + half) >> Cast(shift, INT64), INT32)

    def requantize(self, acc: Expr | Local, axis: Expr | None = None) -> Expr:
        """The result for the first output from its accumulator.

        Quantized: times input scales over output scale (per index ``axis`` where they differ), plus the output's
        zero point, clamped to the activation range. Float: clamped to the activation range.
        """
        value = acc.value if isinstance(acc, Local) else acc
        if not self.quantized:
            return self.clamp_real(value)
        factors = np.asarray(self.node.operator.requantize_factors(self.node), np.float64).reshape(-1)
        pairs = [quantize_multiplier(float(f)) for f in factors]
        if axis is None and len(set(pairs)) > 1:
            raise GraphError(f"{len(pairs)} factors, but no axis they go along", where=f"node {self.node.name!r}")
        return self.to_output(self._rescaled(value, pairs, axis))

    def _rescaled(self, value: Expr, pairs: Sequence[tuple[int, int]], row: Expr | None) -> Expr:
        """By one multiplier and shift, or by those of a row; int64 by multipliers of 15 bits."""
        if value.dtype is INT64:
            pairs = [(int(reduced_multiplier(m)), 15 - s) for m, s in pairs]
        if len(pairs) == 1 or row is None:
            return self._requantized(value, *(Literal(p, INT32) for p in pairs[0]))
        multipliers = self.table("multiplier", np.array([m for m, _ in pairs], np.int32))
        shifts = self.table("shift", np.array([s for _, s in pairs], np.int8))
        return self._requantized(value, multipliers.raw(row), Cast(shifts.raw(row), INT32))

    def to_output(self, value: Expr) -> Expr:
        """A rescaled int32 value plus the output's zero point, clamped to the activation range."""
        type_ = self.node.outputs[0].type
        low, high = activation_range(type_, *self._activation())
        return self.minimum(self.maximum(value + type_.zero_point, low), high)

    def clamp_real(self, value: Expr) -> Expr:
        low, high = self._activation()
        if math.isfinite(low):
            value = self.maximum(value, low)
        if math.isfinite(high):
            value = self.minimum(value, high)
        return value

    def _activation(self) -> tuple[float, float]:
        attrs: Any = self.node.attrs
        return getattr(attrs, "activation_min", -math.inf), getattr(attrs, "activation_max", math.inf)

    def _unique(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self._names:
            number += 1
            name = f"{wanted}{number}"
        self._names.add(name)
        return name


def _index_checks(index: Expr, extent: int) -> list[Expr]:
    span = bounds(index)
    checks = []
    if span is None or span[0] < 0:
        checks.append(index >= 0)
    if span is None or span[1] >= extent:
        checks.append(index < extent)
    return checks
