"""Renders KernelIR as C99: one static function a kernel, in terms of ``burnc/fixed_point.h`` and ``burnc/float_math.h``."""

from __future__ import annotations

import math

import numpy as np

from burnc.ir import Array, DType
from burnc.kernel.analysis import expressions, used_buffers
from burnc.kernel.buffer import Buffer, Role
from burnc.kernel.expr import Binary, Call, Cast, Expr, Literal, Load, Select, Variable
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
    lines = [f"{storage}void {kernel.name}({', '.join(_parameter(b) for b in parameters(kernel))})", "{"]
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
                lines.append(f"{pad}for (int32_t {v.name} = 0; {v.name} < {extent}; {v.name}++) {{")
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
                lines.append(f"{pad}{buffer.name}[{render_expression(index)}] = {render_expression(value)};")
            case Barrier():
                pass  # one thread runs all stages in order
    return lines


def _assignment(variable: Variable, value: Expr) -> str:
    if isinstance(value, Binary) and value.op == "+" and value.a == variable:
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
            return f"{buffer.name}[{render_expression(index)}]"
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


def _binary(expr: Binary, op: str, parent: int) -> str:
    if op in ("min", "max") or (op == ">>" and expr.dtype is DType.INT32):
        suffix = "f32" if expr.dtype.is_float else "s32"
        return _TEMPLATES[op].format(render_expression(expr.a), render_expression(expr.b), suffix=suffix)
    own = _PRECEDENCE[op]
    # Operators that mix with others only in parentheses, as compilers warn otherwise.
    tight = 10 if op in ("<<", ">>", "&", "|", "^") else own
    left = render_expression(expr.a, own if op in ("*", "+", "-", "&&", "||") else tight + 1)
    right = render_expression(expr.b, own if op in ("&&", "||") else tight + 1)
    text = f"{left} {op} {right}"
    return f"({text})" if parent > own or (parent and op in ("<<", "&", "|", "^", "&&", "||")) else text


def render_literal(literal: Literal) -> str:
    return format_scalar(literal.value, literal.dtype)


def format_scalar(value: float | int | bool, dtype: DType) -> str:
    """A C literal that reads back as exactly this value."""
    if dtype is DType.BOOL:
        return "true" if value else "false"
    if dtype is DType.FLOAT32:
        return _float(float(value))
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


def _float(value: float) -> str:
    # Quotients of constants, as C99 without <math.h> has no names for these.
    if math.isnan(value):
        return "(0.0f / 0.0f)"
    if math.isinf(value):
        return "(1.0f / 0.0f)" if value > 0 else "(-1.0f / 0.0f)"
    text = np.format_float_scientific(np.float32(value), unique=True, trim="0")
    plain = np.format_float_positional(np.float32(value), unique=True, trim="0")
    text = plain if len(plain) <= 16 else text
    return f"({text}f)" if text.startswith("-") else f"{text}f"


def format_array(data: Array, dtype: DType, width: int = 116) -> list[str]:
    """Lines of a C initializer list, without the braces; one array element after the other."""
    items = [
        format_scalar(v, dtype).strip("()") if dtype.is_integer else format_scalar(v, dtype)
        for v in data.reshape(-1).tolist()
    ]
    lines, line = [], ""
    for item in items:
        if line and len(line) + len(item) + 2 > width:
            lines.append(line)
            line = ""
        line += ("" if not line else " ") + item + ","
    return [*lines, line] if line else lines
