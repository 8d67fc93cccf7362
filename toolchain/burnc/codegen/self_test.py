"""The self-test that a model carries: a pseudo-random input and the outputs that the reference computes for it."""

from __future__ import annotations

import numpy as np

from burnc.backends.numpy_reference import NumpyReference
from burnc.codegen.program import Port, Program
from burnc.ir import Array, DType, TensorType
from burnc.kernel.c99 import C_TYPES, format_array

COMPARED = 64  # elements of each output that are compared
SEED = 12345


# random_bits in C.
RANDOM_BYTE = """\
/* The next byte of a linear congruential generator, as a signed number. */
static int32_t {prefix}_random_byte(uint32_t *seed) {{
    uint32_t byte;
    *seed = *seed * 1664525u + 1013904223u;
    byte = *seed >> 24;
    return byte < 128u ? (int32_t)byte : (int32_t)byte - 256;
}}

"""


def random_bits(count: int, state: int) -> tuple[Array, int]:
    """``count`` bytes of a linear congruential generator and its next state (Numerical Recipes' constants)."""
    bits = np.empty(count, np.uint8)
    for i in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        bits[i] = state >> 24
    return bits, state


def self_test_inputs(program: Program) -> dict[str, Array]:
    """The inputs that the C code makes: each element from one random byte; floats in -1 .. 1 in steps of 1/128."""
    state = SEED
    inputs: dict[str, Array] = {}
    for port in program.inputs:
        bits, state = random_bits(port.value.type.size, state)
        signed = bits.view(np.int8)
        type_ = port.value.type
        array: Array
        if type_.dtype.is_float:
            array = (signed.astype(np.float32) / np.float32(128)).astype(type_.dtype.numpy)
        elif type_.dtype.value == "bool":
            array = bits >= 128
        else:
            array = signed.astype(type_.dtype.numpy)
        inputs[port.value.name] = array.reshape(type_.shape)
    return inputs


def render_self_test(program: Program) -> str:
    """The C function ``<prefix>_self_test``."""
    results = NumpyReference().compile(program.graph).run(self_test_inputs(program))
    prefix = program.prefix
    lines = RANDOM_BYTE.format(prefix=prefix).splitlines() if program.inputs else []
    lines += [f"burnc_status {prefix}_self_test({self_test_parameters(program)}) {{"]
    compared = [port for port in program.outputs if port.value.type.size]
    for port in compared:
        lines += _expected(port, results[port.value.name])
    lines += [f"    uint32_t seed = {SEED}u;"] if program.inputs else []
    lines += ["    burnc_status status;"]
    lines += ["    int32_t i;"] if compared or program.inputs else []
    pointers = ["arena", *(["state"] if program.states else [])]
    pointers += [p.symbol for p in _ports(program)] if program.io == "caller" else []
    missing = " || ".join(f"{p} == NULL" for p in pointers)
    lines += [f"    if ({missing}) {{", "        return BURNC_STATUS_INVALID_ARGUMENT;", "    }"]
    for port in program.inputs:
        lines += _fill(program, port)
    lines += [f"    {prefix}_reset(state);"] if program.states else []
    lines += [
        f"    status = {prefix}_run({', '.join(pointers)});",
        "    if (status != BURNC_STATUS_OK) {",
        "        return status;",
        "    }",
    ]
    for port in compared:
        lines += _compare(program, port, results[port.value.name])
    return "\n".join([*lines, "    return BURNC_STATUS_OK;", "}"])


def self_test_parameters(program: Program) -> str:
    """C parameters of the self-test: the arena, the state if there is one, and the buffers that the caller owns."""
    parameters = [f"{program.prefix}_arena *arena"]
    parameters += [f"{program.prefix}_state *state"] if program.states else []
    if program.io == "caller":
        parameters += [f"{C_TYPES[p.value.type.dtype]} *{p.symbol}" for p in _ports(program)]
    return ", ".join(parameters)


def _ports(program: Program) -> list[Port]:
    return [*program.inputs, *program.outputs]


def _element(program: Program, port: Port) -> str:
    return port.symbol if program.io == "caller" else f"{program.prefix}_{port.symbol}(arena)"


def _expected(port: Port, values: Array) -> list[str]:
    dtype = port.value.type.dtype
    few = values.reshape(-1)[:COMPARED]
    body = ["        " + line for line in format_array(few, dtype, 104)]
    return [f"    static const {C_TYPES[dtype]} expected_{port.symbol}[{few.size}] = {{", *body, "    };"]


def _fill(program: Program, port: Port) -> list[str]:
    type_: TensorType = port.value.type
    byte = f"{program.prefix}_random_byte(&seed)"
    value = {
        "float16": f"burnc_half_of_float((float){byte} / 128.0f)",
        "float32": f"(float){byte} / 128.0f",
        "float64": f"(double){byte} / 128.0",
        "bool": f"{byte} < 0",
    }.get(type_.dtype.value, f"({C_TYPES[type_.dtype]}){byte}")
    return [
        f"    for (i = 0; i < {type_.size}; ++i) {{",
        f"        {_element(program, port)}[i] = {value};",
        "    }",
    ]


def _compare(program: Program, port: Port, expected: Array) -> list[str]:
    type_ = port.value.type
    got, want = f"{_element(program, port)}[i]", f"expected_{port.symbol}[i]"
    loop = f"    for (i = 0; i < {min(COMPARED, type_.size)}; ++i) {{"
    if type_.dtype is DType.FLOAT16:
        got, want = f"burnc_float_of_half({got})", f"burnc_float_of_half({want})"
    if type_.dtype.is_float:
        real = "double" if type_.dtype is DType.FLOAT64 else "float"
        relative, absolute = ("2e-3", "1e-4") if type_.dtype is DType.FLOAT16 else ("1e-4", "1e-5")
        f = "" if real == "double" else "f"
        wrong = "!(error <= bound && error >= -bound)"
        if not np.isfinite(expected.reshape(-1)[:COMPARED]).all():  # their difference is NaN
            wrong += " && got != want && (got == got || want == want)"
        return [
            loop,
            f"        const {real} got = {got}, want = {want};",
            f"        const {real} error = got - want;",
            f"        const {real} bound = {relative}{f} * (want < 0.0{f} ? -want : want) + {absolute}{f};",
            f"        if ({wrong}) {{",
            "            return BURNC_STATUS_SELF_TEST_FAILED;",
            "        }",
            "    }",
        ]
    return [
        loop,
        f"        if ({got} != {want}) {{",
        "            return BURNC_STATUS_SELF_TEST_FAILED;",
        "        }",
        "    }",
    ]
