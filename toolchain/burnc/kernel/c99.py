"""Renders KernelIR as C99: one static function a kernel, in terms of the runtime's headers."""

from __future__ import annotations

import math

import numpy as np

from burnc.ir import Array, DType
from burnc.kernel.analysis import expressions, used_buffers
from burnc.kernel.buffer import Buffer, Role
from burnc.kernel.expr import COMPARISONS, Binary, Call, Cast, Expr, Literal, Load, Select, Variable
from burnc.kernel.program import Assign, Barrier, Declare, If, Kernel, Loop, Statement, Store

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
    DType.FLOAT32: "float",
    DType.FLOAT64: "double",
}

# Types that C computes as int, and those that burnc_min_s32 and burnc_min_f32 are too narrow for.
_NARROW = (DType.INT8, DType.INT16, DType.UINT8, DType.UINT16)
_WIDE = (DType.INT64, DType.UINT32, DType.UINT64, DType.FLOAT64)

_PRECEDENCE = {
    "*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, ">>": 8, "<": 7, "<=": 7,
    "==": 6, "!=": 6, "&": 5, "^": 4, "|": 3, "&&": 2, "||": 1,
}  # fmt: skip

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
        "floor": "burnc_floorf({})",
        "round_half_even": "burnc_rintf({})",
        "round_half_away": "burnc_roundf({})",
    },
    "float_bits.h": {
        "bitcast_int32": "(int32_t)burnc_float_bits({})",
        "bitcast_float32": "burnc_float_from_bits((uint32_t)({}))",
    },
    "min_max.h": {"min": "burnc_min_{suffix}({}, {})", "max": "burnc_max_{suffix}({}, {})"},
}

_TEMPLATES = {name: template for provided in _RUNTIME.values() for name, template in provided.items()}


def render(kernel: Kernel, *, storage: str = "static ") -> str:
    """The kernel as a C function. Parameters: inputs, outputs, tables, scratch, state, as pointers to elements."""
    lines = [f"{storage}void {kernel.name}({', '.join(_parameter(b) for b in parameters(kernel))}) {{"]
    lines += _block(kernel.body, 1)
    lines.append("}")
    return "\n".join(lines) + "\n"


def parameters(kernel: Kernel) -> list[Buffer]:
    """The buffers that the kernel reads or writes, in the order of the C parameters."""
    order = [Role.INPUT, Role.OUTPUT, Role.TABLE, Role.SCRATCH, Role.STATE]
    used = used_buffers(kernel)
    return sorted((b for b in kernel.buffers if b in used), key=lambda b: order.index(b.role))


def headers(kernel: Kernel) -> set[str]:
    """Runtime headers that the rendered function needs."""
    names = set()
    for expr in expressions(kernel):
        if isinstance(expr, Call):
            names.add(expr.name)
        elif isinstance(expr, Binary):
            names.add(expr.op)
    return {header for header, provided in _RUNTIME.items() if names & set(provided)}


def _parameter(buffer: Buffer) -> str:
    constant = "const " if buffer.role in (Role.INPUT, Role.TABLE) else ""
    return f"{constant}{C_TYPES[buffer.dtype]} *{buffer.name}"


def _block(statements: list[Statement], depth: int) -> list[str]:
    pad = "    " * depth
    lines: list[str] = []
    for statement in statements:
        match statement:
            case Loop(variable=v, extent=extent, body=body):
                lines.append(f"{pad}for (int32_t {v.name} = 0; {v.name} < {extent}; ++{v.name}) {{")
                lines += _block(body, depth + 1)
                lines.append(f"{pad}}}")
            case If(condition=condition, body=body):
                lines.append(f"{pad}if ({render_expression(condition)}) {{")
                lines += _block(body, depth + 1)
                lines.append(f"{pad}}}")
            case Declare(variable=v, value=value, mutable=mutable):
                constant = "" if mutable else "const "
                lines.append(f"{pad}{constant}{C_TYPES[v.dtype]} {v.name} = {render_expression(value)};")
            case Assign(variable=v, value=value):
                lines.append(f"{pad}{_assignment(v, value)};")
            case Store(buffer=buffer, index=index, value=value):
                lines.append(f"{pad}{buffer.name}[{render_expression(_index(index))}] = {render_expression(value)};")
            case Barrier():
                pass  # one thread runs all stages in order
    return lines


def _assignment(variable: Variable, value: Expr) -> str:
    narrow = variable.dtype in _NARROW
    if isinstance(value, Binary) and value.op == "+" and value.a == variable and not narrow:
        return f"{variable.name} += {render_expression(value.b)}"
    return f"{variable.name} = {render_expression(value)}"


def render_expression(expr: Expr, parent: int = 0) -> str:
    """C text, parenthesized where it stands under an operator of precedence ``parent``."""
    match expr:
        case Literal():
            return render_literal(expr)
        case Variable(name=name):
            return name
        case Load(buffer=buffer, index=index):
            return f"{buffer.name}[{render_expression(_index(index))}]"
        case Cast(a=a, dtype=dtype):
            return f"({C_TYPES[dtype]}){render_expression(a, 11)}"
        case Select(condition=condition, a=a, b=b):
            text = f"{render_expression(condition, 1)} ? {render_expression(a, 1)} : {render_expression(b, 1)}"
            return f"({text})" if parent else text
        case Call(name=name, args=args):
            return _TEMPLATES[name].format(*(render_expression(a) for a in args))
        case Binary(op=op):
            return _binary(expr, op, parent)
    raise AssertionError(f"no C for {expr!r}")


# A comparison reads from the variable to the number.
_MIRRORED = {"<": ">", "<=": ">=", "==": "==", "!=": "!="}


def _binary(expr: Binary, op: str, parent: int) -> str:
    if expr.dtype in _NARROW:
        # C computes narrow integers as int; the conversion back is said aloud.
        return f"({C_TYPES[expr.dtype]})({_plain_binary(expr, op, 0)})"
    return _plain_binary(expr, op, parent)


def _plain_binary(expr: Binary, op: str, parent: int) -> str:
    if op in ("min", "max") and expr.dtype in _WIDE:
        a, b = render_expression(expr.a, 11), render_expression(expr.b, 11)
        return f"({b} < {a} ? {b} : {a})" if op == "min" else f"({a} < {b} ? {b} : {a})"
    if op in ("min", "max") or (op == ">>" and expr.dtype is DType.INT32):
        suffix = "f32" if expr.dtype is DType.FLOAT32 else "s32"
        return _TEMPLATES[op].format(render_expression(expr.a), render_expression(expr.b), suffix=suffix)
    own = _PRECEDENCE[op]
    if op in _MIRRORED and isinstance(expr.a, Literal):
        text = f"{render_expression(expr.b, 8)} {_MIRRORED[op]} {render_expression(expr.a, 8)}"
        return f"({text})" if parent > own else text
    # Operators that mix with others only in parentheses, as compilers warn otherwise.
    tight = 10 if op in ("<<", ">>", "&", "|", "^") else 7 if op in COMPARISONS else own
    left = render_expression(expr.a, own if op in ("*", "+", "-", "&&", "||") else tight + 1)
    right = render_expression(expr.b, own if op in ("&&", "||") else tight + 1)
    text = f"{left} {op} {right}"
    mixes = op in ("<<", "&", "|", "^") or (op in ("&&", "||") and parent != own)
    return f"({text})" if parent > own or (parent and mixes) else text


def _index(expr: Expr) -> Expr:
    """An index without needless parentheses: a + (b + c) becomes a + b + c, as no index overflows."""
    match expr:
        case Binary(op="+", a=a, b=Binary(op="+" | "-" as inner, a=b, b=c)):
            return _index(Binary(inner, Binary("+", a, b), c))
        case Binary(op="+" | "-" | "*" as op, a=a, b=b):
            return Binary(op, _index(a), _index(b))
    return expr


def render_literal(literal: Literal) -> str:
    return format_scalar(literal.value, literal.dtype)


def format_scalar(value: float | bool, dtype: DType) -> str:
    """A C literal that reads back as exactly this value."""
    if dtype is DType.BOOL:
        return "true" if value else "false"
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
