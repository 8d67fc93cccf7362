"""Renders stages of KernelIR as WGSL compute shaders.

WGSL has neither 8-bit nor 64-bit types. Narrow integers and bool take an i32 an element in device memory: four in a
word would make threads race for it, and what is validated here is the arithmetic, not the bandwidth. A 64-bit integer
is two 32-bit limbs; ``wgsl.wgsl`` computes with them.
"""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path

from burnc.errors import GraphError
from burnc.ir import DType
from burnc.kernel.buffer import Buffer, Role
from burnc.kernel.c99 import format_scalar
from burnc.kernel.expr import Binary, Cast, Expr, Literal, Load, Select, Variable
from burnc.kernel.program import Declare, Loop
from burnc.kernel.rendering import NARROW, UNARY, Rendering
from burnc.kernel.stages import Stage

WORKGROUP = 64
"""Threads of a workgroup."""

MOST_TURNED = 4

WIDE = (DType.INT64, DType.UINT64)
_TYPES = {
    DType.BOOL: "bool",
    **dict.fromkeys((*NARROW, DType.INT32), "i32"),
    DType.UINT32: "u32",
    **dict.fromkeys(WIDE, "vec2<u32>"),
    DType.FLOAT32: "f32",
}

_CALLS = {
    "requantize": "requantize({}, {}, {})",
    "requantize_single": "requantize_single({}, {}, {})",
    "rounding_doubling_high_mul": "rounding_doubling_high_mul({}, {})",
    "rounding_divide_by_pot": "rounding_divide_by_pot({}, {})",
    "count_leading_zeros": "i32(countLeadingZeros(u32({})))",
    "wrapping_add": "(({}) + ({}))",
    "wrapping_shift_left": "(({}) << u32({}))",
    "exp": "exp_f32({})",
    "log": "log_f32({})",
    "sqrt": "sqrt({})",
    "tanh": "tanh_f32({})",
    "erf": "erf_f32({})",
    "floor": "floor({})",
    "round_half_even": "round({})",
    "round_half_away": "round_half_away({})",
    "fmod": "fmod_f32({}, {})",
    "bitcast_int32": "bitcast<i32>({})",
    "bitcast_float32": "bitcast<f32>({})",
}

# Of two limbs; those that depend on the sign are followed by _unsigned where there is none.
_WIDE_CALLS = {"+": "wide_add", "-": "wide_subtract", "*": "wide_multiply", "<<": "wide_shift_left"}
_WIDE_SIGNED = {">>": "wide_shift_right", "<": "wide_less", "min": "wide_min", "max": "wide_max"}

_THREAD = Variable("thread", DType.INT32)


def render(stage: Stage) -> str:
    """A shader with the entry point ``main``.

    Group 0 binds the stage's buffers in order, then, where sequential loops stand around it, a uniform with their
    indices.

    Raises:
        GraphError: WGSL cannot express the stage.
    """
    if len(stage.turned) > MOST_TURNED:
        raise GraphError(f"more than {MOST_TURNED} sequential loops stand around a stage", where=stage.kernel.name)
    language = Wgsl()
    lines = [_binding(i, buffer) for i, buffer in enumerate(stage.buffers)]
    if stage.turned:
        lines.append(f"@group(0) @binding({len(stage.buffers)}) var<uniform> turn: vec4<i32>;")
    lines += [
        f"@compute @workgroup_size({WORKGROUP})",
        "fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {",
        f"    let thread_ = i32(id.x + id.y * groups.x * {WORKGROUP}u);",
        f"    if (thread_ >= {stage.threads}) {{ return; }}",
        *(f"    let {language.name(loop.variable.name)} = turn[{i}];" for i, loop in enumerate(stage.turned)),
        *language.block([*stage.indices(_THREAD), *stage.kernel.body], 1),
        "}",
    ]
    text = "\n".join(lines) + "\n"
    return "\n".join([text, *_called(text)])


def storage_type(dtype: DType) -> str:
    """The type of an array's elements on the device.

    Raises:
        GraphError: WGSL has none.
    """
    if dtype not in _TYPES:
        raise GraphError(f"WGSL has no {dtype.value}")
    return "i32" if dtype is DType.BOOL else _TYPES[dtype]


def _binding(number: int, buffer: Buffer) -> str:
    access = "read" if buffer.role in (Role.INPUT, Role.TABLE) else "read_write"
    name = Wgsl().name(buffer.name)
    return f"@group(0) @binding({number}) var<storage, {access}> {name}: array<{storage_type(buffer.dtype)}>;"


@cache
def _library() -> dict[str, str]:
    """Function name -> its text."""
    text = Path(__file__).with_name("wgsl.wgsl").read_text(encoding="utf-8")
    return {found[1]: part for part in text.split("\n\n") if (found := re.search(r"^fn (\w+)\(", part, re.MULTILINE))}


def _called(text: str) -> list[str]:
    """The library functions that a text calls, and those that these call in turn."""
    library, found, waiting = _library(), dict[str, str](), [text]
    while waiting:
        for name in re.findall(r"\b(\w+)\(", waiting.pop()):
            if name in library and name not in found:
                found[name] = library[name]
                waiting.append(library[name])
    if "float_of_bits" in found:
        found["no_bits"] = "var<private> no_bits: u32 = 0u;\n"
    return list(found.values())


class Wgsl(Rendering):
    """WGSL's statements and expressions."""

    def name(self, name: str) -> str:
        return f"{name}_"  # so that no name is a keyword, a built-in or one of the library's

    def loop_head(self, loop: Loop) -> str:
        i = self.name(loop.variable.name)
        return f"for (var {i} = 0; {i} < {loop.extent}; {i}++)"

    def declaration(self, statement: Declare) -> str:
        word, variable = "var" if statement.mutable else "let", statement.variable
        return f"{word} {self.name(variable.name)}: {_type(variable.dtype)} = {self.expression(statement.value)}"

    def literal(self, literal: Literal) -> str:
        value, dtype = literal.value, literal.dtype
        if dtype in WIDE:
            return f"vec2<u32>({int(value) & 0xFFFFFFFF}u, {int(value) >> 32 & 0xFFFFFFFF}u)"
        if dtype is DType.FLOAT32 and not math.isfinite(value):
            bits = 0x7FC00000 if math.isnan(value) else 0x7F800000 if value > 0 else 0xFF800000
            return f"float_of_bits({bits:#x}u)"
        if dtype is DType.INT32 and value == -(2**31):
            return "i32(-2147483647 - 1)"
        return format_scalar(value, dtype)

    def load(self, load: Load) -> str:
        element = super().load(load)
        return f"({element} != 0)" if load.dtype is DType.BOOL else element

    def stored(self, value: Expr) -> str:
        return self._plain_cast(value, DType.INT32) if value.dtype is DType.BOOL else self.expression(value)

    def is_plain(self, expr: Binary) -> bool:
        return super().is_plain(expr) and expr.dtype not in WIDE

    def cast(self, a: Expr, dtype: DType) -> str:
        if dtype in NARROW and not _fits(a.dtype, dtype):
            return self._wrapped(self._plain_cast(a, dtype), dtype)
        return self._plain_cast(a, dtype)

    def _plain_cast(self, a: Expr, dtype: DType) -> str:
        text, source, wanted = self.expression(a), _type(a.dtype), _type(dtype)
        if source == wanted:
            return self.expression(a, UNARY)
        if dtype is DType.BOOL:
            return self.expression(Binary("!=", a, Literal(0, a.dtype)), UNARY)
        if dtype in WIDE:
            if a.dtype is DType.FLOAT32:
                return f"wide_of_float({text})"
            return f"vec2<u32>({text}, 0u)" if a.dtype is DType.UINT32 else f"wide(i32({text}))"
        if a.dtype in WIDE:
            if dtype is DType.FLOAT32:
                return f"float_of_wide{_unsigned(a.dtype)}({text})"
            return f"{wanted}(({text}).x)"
        return f"{wanted}({text})"

    @staticmethod
    def _wrapped(text: str, dtype: DType) -> str:
        bits = 8 * dtype.bytes
        if dtype in (DType.UINT8, DType.UINT16):
            return f"(({text}) & {2**bits - 1})"
        return f"((({text}) << {32 - bits}u) >> {32 - bits}u)"

    def select(self, select: Select, parent: int) -> str:  # noqa: ARG002 - a call needs no parentheses
        # Both sides are evaluated: a read out of bounds gives some element, and nothing traps.
        a, b, condition = (self.expression(e) for e in (select.a, select.b, select.condition))
        return f"select({b}, {a}, {condition})"

    def call(self, name: str, args: tuple[Expr, ...]) -> str:
        if name not in _CALLS or any(a.dtype in WIDE for a in args):
            raise GraphError(f"WGSL has no {name} of {args[0].dtype.value}")
        return _CALLS[name].format(*(self.expression(a) for a in args))

    def binary(self, expr: Binary, parent: int) -> str:
        if expr.a.dtype in WIDE:
            return self._wide(expr)
        if expr.dtype in NARROW:
            return self._wrapped(self._computed(expr, 0), expr.dtype)
        return self._computed(expr, parent)

    def _computed(self, expr: Binary, parent: int) -> str:
        if expr.op in ("min", "max"):
            name = f"{expr.op}_f32" if expr.dtype is DType.FLOAT32 else expr.op
            return f"{name}({self.expression(expr.a)}, {self.expression(expr.b)})"
        if expr.op == "/" and expr.dtype is DType.FLOAT32:
            return f"divide_f32({self.expression(expr.a)}, {self.expression(expr.b)})"
        if expr.op == "!=" and expr.a.dtype is DType.FLOAT32:
            # Drivers may take "ordered and not equal" for !=, which a NaN is not.
            return f"!({self.infix(Binary('==', expr.a, expr.b), 0)})"
        if expr.op == "^" and expr.dtype is DType.BOOL:
            return self.infix(Binary("!=", expr.a, expr.b), parent)
        return self.infix(expr, parent)

    def right_operand(self, expr: Binary, parent: int) -> str:
        return self._shift_count(expr.b) if expr.op in ("<<", ">>") else super().right_operand(expr, parent)

    def _shift_count(self, count: Expr) -> str:
        return self._plain_cast(Cast(count, DType.INT32) if count.dtype in NARROW else count, DType.UINT32)

    def _wide(self, expr: Binary) -> str:
        op, a, b = expr.op, self.expression(expr.a), self.expression(expr.b)
        signedness = _unsigned(expr.a.dtype)
        if op in ("<<", ">>"):
            b = self._shift_count(expr.b)
        if op in _WIDE_CALLS:
            return f"{_WIDE_CALLS[op]}({a}, {b})"
        if op in _WIDE_SIGNED:
            return f"{_WIDE_SIGNED[op]}{signedness}({a}, {b})"
        if op == "<=":
            return f"!wide_less{signedness}({b}, {a})"
        if op in ("==", "!="):
            return f"{'all' if op == '==' else 'any'}(({a}) {op} ({b}))"
        if op in ("&", "|", "^"):
            return f"(({a}) {op} ({b}))"
        raise GraphError(f"WGSL has no {op} of {expr.a.dtype.value}")


def _type(dtype: DType) -> str:
    if dtype not in _TYPES:
        raise GraphError(f"WGSL has no {dtype.value}")
    return _TYPES[dtype]


def _unsigned(dtype: DType) -> str:
    return "_unsigned" if dtype is DType.UINT64 else ""


def _fits(source: DType, dtype: DType) -> bool:
    """Whether every value of ``source`` is one of ``dtype``; a float must be in range by KernelIR's own rule."""
    if source is DType.BOOL or source.is_float:
        return True
    return dtype.limits[0] <= source.limits[0] and source.limits[1] <= dtype.limits[1]
