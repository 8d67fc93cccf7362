"""Renders KernelIR as C99: one static function a kernel, in terms of the runtime's headers."""

from __future__ import annotations

import math

import numpy as np

from burnc.ir import Array, DType
from burnc.kernel.analysis import expressions, parameters
from burnc.kernel.buffer import Buffer, Role
from burnc.kernel.expr import Binary, Call, Cast, Expr, Literal, Select
from burnc.kernel.program import Declare, Kernel, Loop
from burnc.kernel.rendering import NARROW, UNARY, Rendering

C_TYPES = {
    DType.BOOL: "bool",
    DType.INT8: "int8_t",
    DType.INT16: "int16_t",
    DType.INT32: "int32_t",
    DType.INT64: "int64_t",
    DType.UINT8: "uint8_t",
    DType.UINT16: "uint16_t",
    DType.UINT32: "uint32_t",
    DType.UINT64: "uint64_t",
    DType.FLOAT16: "uint16_t",  # its bits: it is stored, never computed with
    DType.FLOAT32: "float",
    DType.FLOAT64: "double",
}

# Types that burnc_min_s32 and burnc_min_f32 are too narrow for.
_WIDE = (DType.INT64, DType.UINT32, DType.UINT64, DType.FLOAT64)

# Runtime header -> the intrinsics and operators it supplies, as C templates of their operands.
_RUNTIME = {
    "fixed_point.h": {
        "requantize": "burnc_requantize({}, {}, {})",
        "requantize_single": "burnc_requantize_single({}, {}, {})",
        "rounding_doubling_high_mul": "burnc_doubling_high_multiply({}, {})",
        "rounding_divide_by_pot": "burnc_rounding_divide_by_pot({}, {})",
        "count_leading_zeros": "burnc_clz((uint32_t)({}))",
        "wrapping_add": "burnc_wrap_add({}, {})",
        "wrapping_shift_left": "burnc_wrap_shl({}, {})",
        ">>": "burnc_asr({}, {})",
    },
    "float_math.h": {
        "exp": "burnc_expf({})",
        "log": "burnc_logf({})",
        "sqrt": "burnc_sqrtf({})",
        "tanh": "burnc_tanhf({})",
        "erf": "burnc_erff({})",
        "floor": "burnc_floorf({})",
        "round_half_even": "burnc_rintf({})",
        "round_half_away": "burnc_roundf({})",
        "fmod": "burnc_fmodf({}, {})",
    },
    "float_bits.h": {
        "bitcast_int32": "(int32_t)burnc_float_bits({})",
        "bitcast_float32": "burnc_float_from_bits((uint32_t)({}))",
    },
    "float16.h": {"float16": "burnc_float_of_half({})"},
    # Apart from those of floats, whose code must not make anyone believe that it needs doubles.
    "double_math.h": {
        "fmod float64": "burnc_fmod({}, {})",
        "float16 float64": "burnc_half_of_double({})",
        "bitcast_int64": "(int64_t)burnc_double_bits({})",
        "bitcast_float64": "burnc_double_from_bits((uint64_t)({}))",
    },
    "min_max.h": {"min": "burnc_min_{suffix}({}, {})", "max": "burnc_max_{suffix}({}, {})"},
}

_TEMPLATES = {name: template for provided in _RUNTIME.values() for name, template in provided.items()}


def render(kernel: Kernel, *, storage: str = "static ") -> str:
    """The kernel as a C function. Parameters: inputs, outputs, tables, scratch, as pointers to elements."""
    lines = [f"{storage}void {kernel.name}({', '.join(_parameter(b) for b in parameters(kernel))}) {{"]
    lines += C99().block(kernel.body, 1)
    lines.append("}")
    return "\n".join(lines) + "\n"


def headers(kernel: Kernel) -> set[str]:
    """Runtime headers that the rendered function needs."""
    names = set()
    for expr in expressions(kernel):
        if isinstance(expr, Call):
            names.add(_intrinsic(expr.name, expr.args))
        elif isinstance(expr, Binary):
            names.add(expr.op)
        elif isinstance(expr, Cast) and DType.FLOAT16 in (expr.dtype, expr.a.dtype):
            names |= {"float16", f"float16 {expr.a.dtype.value}"}
    return {header for header, provided in _RUNTIME.items() if names & set(provided)}


def _intrinsic(name: str, args: tuple[Expr, ...]) -> str:
    """The key of an intrinsic: some have a form of their own for doubles."""
    double = f"{name} float64"
    return double if args[0].dtype is DType.FLOAT64 and double in _TEMPLATES else name


def _parameter(buffer: Buffer) -> str:
    constant = "const " if buffer.role in (Role.INPUT, Role.TABLE) else ""
    return f"{constant}{C_TYPES[buffer.dtype]} *{buffer.name}"


class C99(Rendering):
    """C's statements and expressions."""

    def loop_head(self, loop: Loop) -> str:
        i = loop.variable.name
        return f"for (int32_t {i} = 0; {i} < {loop.extent}; ++{i})"

    def declaration(self, statement: Declare) -> str:
        constant = "" if statement.mutable else "const "
        variable = statement.variable
        return f"{constant}{C_TYPES[variable.dtype]} {variable.name} = {self.expression(statement.value)}"

    def literal(self, literal: Literal) -> str:
        return format_scalar(literal.value, literal.dtype)

    def cast(self, a: Expr, dtype: DType) -> str:
        if a.dtype is DType.FLOAT16:
            return self._of_half(a, dtype)
        if dtype is DType.FLOAT16:
            real = "double" if a.dtype is DType.FLOAT64 else "float"
            text = self.expression(a) if C_TYPES[a.dtype] == real else f"({real}){self.expression(a, UNARY)}"
            return f"burnc_half_of_{real}({text})"
        if dtype is DType.BOOL and a.dtype is not DType.BOOL:
            return f"({self.expression(a, UNARY)} != {format_scalar(0, a.dtype)})"
        return f"({C_TYPES[dtype]}){self.expression(a, UNARY)}"

    def _of_half(self, a: Expr, dtype: DType) -> str:
        if dtype is DType.FLOAT16:
            return self.expression(a, UNARY)
        number = f"burnc_float_of_half({self.expression(a)})"
        if dtype is DType.BOOL:
            return f"({number} != 0.0f)"
        return number if dtype is DType.FLOAT32 else f"({C_TYPES[dtype]}){number}"

    def select(self, select: Select, parent: int) -> str:
        text = " ".join(
            (self.expression(select.condition, 1), "?", self.expression(select.a, 1), ":", self.expression(select.b, 1))
        )
        if select.dtype in (*NARROW, DType.FLOAT16):  # the choice is an int, as in binary
            return f"({C_TYPES[select.dtype]})({text})"
        return f"({text})" if parent else text

    def call(self, name: str, args: tuple[Expr, ...]) -> str:
        return _TEMPLATES[_intrinsic(name, args)].format(*(self.expression(a) for a in args))

    def binary(self, expr: Binary, parent: int) -> str:
        if expr.dtype in NARROW:
            # C computes narrow integers as int; the conversion back is said aloud.
            return f"({C_TYPES[expr.dtype]})({self._computed(expr, 0)})"
        return self._computed(expr, parent)

    def _computed(self, expr: Binary, parent: int) -> str:
        op = expr.op
        if op in ("min", "max") and expr.dtype in _WIDE:
            a, b = self.expression(expr.a, UNARY), self.expression(expr.b, UNARY)
            return f"({b} < {a} ? {b} : {a})" if op == "min" else f"({a} < {b} ? {b} : {a})"
        if op in ("min", "max") or (op == ">>" and expr.dtype is DType.INT32):
            suffix = "f32" if expr.dtype is DType.FLOAT32 else "s32"
            return _TEMPLATES[op].format(self.expression(expr.a), self.expression(expr.b), suffix=suffix)
        return self.infix(expr, parent)


def format_scalar(value: float | bool, dtype: DType) -> str:
    """A C literal that reads back as exactly this value."""
    if dtype is DType.BOOL:
        return "true" if value else "false"
    if dtype is DType.FLOAT16:
        with np.errstate(over="ignore"):
            return f"{int(np.float16(value).view(np.uint16)):#06x}u"
    if dtype.is_float:
        return _float(float(value), dtype)
    value = int(value)
    if dtype is DType.INT64:
        return f"(-INT64_C({-value - 1}) - 1)" if value == -(2**63) else f"INT64_C({value})"
    if dtype is DType.UINT64:
        return f"UINT64_C({value})"
    if dtype is DType.UINT32:
        return f"{value}u"
    if value == -(2**31):
        return "INT32_MIN"
    return f"({value})" if value < 0 else str(value)


def _float(value: float, dtype: DType) -> str:
    suffix, number = ("f", np.float32(value)) if dtype is DType.FLOAT32 else ("", np.float64(value))
    # Quotients of constants, as C99 without <math.h> has no names for these.
    if math.isnan(value):
        return f"(0.0{suffix} / 0.0{suffix})"
    if np.isinf(number):
        return f"(1.0{suffix} / 0.0{suffix})" if value > 0 else f"(-1.0{suffix} / 0.0{suffix})"
    text = np.format_float_scientific(number, unique=True, trim="0")
    plain = np.format_float_positional(number, unique=True, trim="0")
    text = plain if len(plain) <= 16 else text
    return f"({text}{suffix})" if text.startswith("-") else f"{text}{suffix}"


def format_array(data: Array, dtype: DType, width: int = 116) -> list[str]:
    """Lines of a C initializer list, without the braces; one array element after the other."""
    # In a list a negative number needs no parentheses; those of a macro call stay.
    scalars = [format_scalar(v, dtype) for v in data.reshape(-1).tolist()]
    items = [text[1:-1] if text.startswith("(-") else text for text in scalars]
    lines, line = [], ""
    for item in items:
        if line and len(line) + len(item) + 2 > width:
            lines.append(line)
            line = ""
        line += ("" if not line else " ") + item + ","
    return [*lines, line] if line else lines
