"""Program -> the files of the generated C (docs/generated_c.md is the contract)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from burnc.codegen.names import comment_text
from burnc.codegen.program import (
    Argument,
    Call,
    Code,
    ConstantArray,
    FieldValue,
    Kernel,
    Params,
    Port,
    Program,
    Scratch,
    Slice,
    StateBuffer,
    Step,
)
from burnc.codegen.runtime_files import called_functions, rename_symbols, runtime_files
from burnc.codegen.self_test import render_self_test, self_test_parameters
from burnc.ir import DType, TensorType, Value
from burnc.ir.metadata import SOURCE
from burnc.ir.model_card import read_card
from burnc.ir.types import format_float
from burnc.kernel.c99 import C_TYPES, format_array, format_scalar
from burnc.resources import data_folder
from burnc.version import VERSION

if TYPE_CHECKING:
    import jinja2

MEMBERS = {
    DType.INT8: "s8", DType.UINT8: "u8", DType.BOOL: "b8", DType.INT16: "s16", DType.UINT16: "u16", DType.INT32: "s32",
    DType.UINT32: "u32", DType.INT64: "s64", DType.UINT64: "u64", DType.FLOAT16: "f16", DType.FLOAT32: "f32",
    DType.FLOAT64: "f64",
}  # fmt: skip


# Size of burnc_cores (runtime_c/include/burnc/cores.h), which the arena holds where two cores share a run.
CORES_BYTES = 20

LINE_WIDTH = 112
RAM_SECTION = ".time_critical"  # as in runtime_c's ram.h, linker scripts and the Pico SDK

_ADVICE = {
    True: "Fill it before each run; the run may overwrite it.",
    False: "Read it after a run, before the next fills or runs the arena.",
}


def emit_c(program: Program) -> dict[str, str]:
    """File name -> text: ``<m>.h``, ``<m>.c``, ``<m>_weights.c`` and the runtime files, flat."""
    prefix = program.prefix
    functions = {c.function for step in program.steps for c in step.calls if c.function.startswith("burnc_")}
    self_test = render_self_test(program)
    functions |= {name for text in (*program.functions.values(), self_test) for name in called_functions(text)}
    headers = program.headers | {_header_of(p.type) for p in program.params}
    in_ram = {placed.item for placed in program.placed}
    if any(p.value.type.dtype is DType.FLOAT16 for p in (*program.inputs, *program.outputs)):
        headers.add("float16.h")
    extra = {"status.h"} | ({"ram.h"} if in_ram else set()) | ({"cores.h"} if program.cores > 1 else set())
    runtime = runtime_files(prefix, functions, headers | extra)
    kernels = [placed.item.name for placed in program.placed if isinstance(placed.item, Kernel)]
    for name in kernels:
        file = f"{rename_symbols(name, prefix)}.S"
        runtime[file] = _in_ram(runtime[file])
    context = {**_context(program, sorted(headers)), "self_test": rename_symbols(self_test, prefix)}
    return {
        f"{prefix}.h": _render("model.h.jinja", context),
        f"{prefix}.c": _render("model.c.jinja", context),
        f"{prefix}_weights.c": _render("model_weights.c.jinja", context),
        **{f"{prefix}_{c.name}.S": _code_file(c, prefix, is_in_ram=c in in_ram) for c in program.codes},
        **runtime,
    }


def _in_ram(assembly: str) -> str:
    return assembly.replace(".section .text.", f".section {RAM_SECTION}.")


def _code_file(code: Code, prefix: str, *, is_in_ram: bool) -> str:
    text = _in_ram(code.text) if is_in_ram else code.text
    return rename_symbols(text, prefix)


def _header_of(struct: str) -> str:
    return struct.removeprefix("burnc_").removesuffix("_params") + ".h"


@cache
def environment() -> jinja2.Environment:
    """The Jinja environment of the templates folder."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(data_folder("templates")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - C, not HTML
    )


def _render(template: str, context: dict[str, Any]) -> str:
    return environment().get_template(template).render(context)


def _context(program: Program, headers: list[str]) -> dict[str, Any]:
    prefix = program.prefix
    memory = [f"{prefix}_arena *arena", *([f"{prefix}_state *state"] if program.states else [])]
    parameters = list(memory)
    if program.io == "caller":
        parameters += [f"const {C_TYPES[p.value.type.dtype]} *{p.symbol}" for p in program.inputs]
        parameters += [f"{C_TYPES[p.value.type.dtype]} *{p.symbol}" for p in program.outputs]
    pointers = ["arena", *_published(program)]
    functions = [rename_symbols(text, prefix) for text in _prefixed(program)]
    in_ram = {placed.item for placed in program.placed}
    steps = [_step(program, position) for position in range(len(program.steps))]
    return {
        "file": prefix,
        "prefix": prefix,
        "PREFIX": prefix.upper(),
        "version": VERSION,
        "model_name": comment_text(program.graph.name),
        "sha256": comment_text(program.graph.metadata.get(SOURCE + "sha256", "unknown")),
        "card": _card_lines(program),
        "board": program.board.key,
        "optimize": program.optimize,
        "io": program.io,
        "arena_io": program.io == "arena",
        "arena_bytes": arena_bytes(program),
        "state_bytes": program.state_bytes,
        "weights_bytes": program.weights_bytes,
        "placed_bytes": program.placed_bytes,
        "in_ram": any(isinstance(item, ConstantArray) for item in in_ram),
        "macs": program.macs,
        "layers": len(program.steps),
        "members": _arena_members(program),
        "state_members": _members({b.state.read.type.dtype for b in program.states}, program.state_bytes),
        "states": [_state(program, b) for b in program.states],
        "uses_bool": DType.BOOL in _types(program) or any(re.search(r"\bbool\b", text) for text in functions),
        "ports": [_port(program, p, is_input=True) for p in program.inputs]
        + [_port(program, p, is_input=False) for p in program.outputs],
        "usage": _usage(program),
        "run_parameters": ", ".join(parameters),
        "self_test_parameters": self_test_parameters(program),
        "null_check": " || ".join(f"{p} == NULL" for p in pointers),
        "headers": headers,
        "constants": [_constant(program, c, is_in_ram=c in in_ram) for c in program.constants]
        + [_constant(program, c.twin, code=c) for c in program.codes],
        "structs": [_struct(program, p) for p in program.params],
        "functions": functions,
        "steps": steps,
        **_shared(program, parameters, pointers, [step["second"] for step in steps if step["second"]]),
    }


def _shared(
    program: Program, parameters: Sequence[str], pointers: Sequence[str], seconds: Sequence[str]
) -> dict[str, Any]:
    """What a run that two cores share needs beside its steps.

    Args:
        parameters, pointers: of the run function, the arena first. The others reach the helper through the arena.
        seconds: the calls of the second core.
    """
    names = pointers[1:]
    # The state's type is defined behind the arena's.
    declarations = [d.replace(f"{program.prefix}_state *", f"struct {program.prefix}_state *") for d in parameters[1:]]
    return {
        "shared": program.cores > 1,
        "divided": bool(seconds),
        "unused_in_second": [n for n in pointers if not any(re.search(rf"\b{n}\b", call) for call in seconds)],
        "published": [{"name": n, "declaration": d} for n, d in zip(names, declarations, strict=True)],
        "second_parameters": ", ".join(parameters),
        "second_arguments": ", ".join(pointers),
        "helper_arguments": ", ".join([pointers[0], *(f"arena->{name}" for name in names)]),
    }


def _card_lines(program: Program) -> list[str]:
    card = read_card(program.graph.metadata)
    return [] if card is None else [comment_text(line, LINE_WIDTH) for line in card.lines()]


def arena_bytes(program: Program, pointer_bytes: int = 4) -> int:
    """Size of the arena struct in bytes; never zero, since C has no empty arrays."""
    memory = _memory_bytes(program)
    if program.cores == 1:
        return memory
    alignment = max(_alignment(program), pointer_bytes)
    return -(-(memory + CORES_BYTES + pointer_bytes * len(_published(program))) // alignment) * alignment


def _memory_bytes(program: Program) -> int:
    alignment = _alignment(program)
    return max(alignment, -(-program.plan.bytes // alignment) * alignment)


def _alignment(program: Program) -> int:
    return max([4, *(v.type.dtype.bytes for v in program.storage)])


def _published(program: Program) -> list[str]:
    """What the run function takes beside the arena; a helper finds it there."""
    ports = [*program.inputs, *program.outputs] if program.io == "caller" else []
    return [*(["state"] if program.states else []), *(p.symbol for p in ports)]


def _usage(program: Program) -> str:
    inputs, outputs = (", ".join(p.symbol for p in ports) for ports in (program.inputs, program.outputs))
    once = f"Call {program.prefix}_reset once. For each run: " if program.states else ""
    return f"{once}Fill {inputs or 'nothing'}, call {program.prefix}_run, read {outputs}."


def _types(program: Program) -> set[DType]:
    values = {v.type.dtype for v in program.graph.values()} | {c.dtype for c in program.constants}
    return values | {a.dtype for step in program.steps for a in _scratch_of(step)}


def _scratch_of(step: Step) -> list[Scratch]:
    return [a for call in step.calls for a in call.arguments if isinstance(a, Scratch)]


def _arena_members(program: Program) -> list[dict[str, Any]]:
    used = {v.type.dtype for v in program.storage} | {DType.INT8, DType.INT32}
    used |= {a.dtype for step in program.steps for a in _scratch_of(step)}
    return _members(used, _memory_bytes(program))


def _members(used: set[DType], total: int) -> list[dict[str, Any]]:
    """Views of a block of memory as an array of each type."""
    return [
        {"type": C_TYPES[dtype], "name": MEMBERS[dtype], "count": -(-total // dtype.bytes)}
        for dtype in MEMBERS
        if dtype in used
    ]


def _state(program: Program, buffer: StateBuffer) -> dict[str, Any]:
    type_ = buffer.state.read.type
    first = format_scalar(buffer.state.initial.reshape(-1)[0].item(), type_.dtype)
    return {
        "label": comment_text(buffer.state.name),
        "type": describe_type(type_),
        "pointer": _at("state", type_.dtype, buffer.offset),
        "member": f"state->memory.{MEMBERS[type_.dtype]}",
        "first": buffer.offset // type_.dtype.bytes,
        "count": type_.size,
        "value": f"{program.prefix}_{buffer.initial.name}[i]" if buffer.initial else first,
    }


def _port(program: Program, port: Port, *, is_input: bool) -> dict[str, Any]:
    type_ = port.value.type
    dimensions = [(f"DIM{i}", f"{n}") for i, n in enumerate(type_.shape)]
    macros = [("SIZE", f"{type_.size}"), *dimensions]
    quantized = type_.quant is not None and type_.quant.axis is None and type_.dtype.bytes <= 2
    if quantized:
        scale = format_scalar(type_.scale, DType.FLOAT32)
        macros += [("SCALE", scale), ("ZERO_POINT", format_scalar(type_.zero_point, DType.INT32))]
    low, high = type_.dtype.limits if type_.dtype.is_integer else (0, 0)
    ctype, arena = C_TYPES[type_.dtype], f"{program.prefix}_arena *arena"
    accessor = f"{ctype} *{program.prefix}_{port.symbol}({arena})"
    return {
        "kind": "Input" if is_input else "Output",
        "accessor": accessor if is_input else f"const {accessor.replace(arena, f'const {arena}')}",
        "advice": "The buffer is the caller's." if program.io == "caller" else _ADVICE[is_input],
        "symbol": port.symbol,
        "SYMBOL": port.symbol.upper(),
        "label": comment_text(port.value.name),
        "type": describe_type(type_),
        "layout": _layout(program, type_),
        "ctype": ctype,
        "macros": [{"name": n, "value": v} for n, v in macros],
        "quantized": quantized,
        "min": low,
        "max": high,
        "pointer": _pointer(program, port.value) if program.io == "arena" else "",
    }


# How a format orders the axes of an image; ports keep the order that the file declares.
_LAYOUTS = {"onnx": "NCHW", "tflite": "NHWC"}


def _layout(program: Program, type: TensorType) -> str:
    usual = _LAYOUTS.get(program.graph.metadata.get(SOURCE + "format", ""))
    if usual is None or type.rank != 4:
        return ""
    return f"; axes in the order that the file declares, for images {usual}"


def describe_type(type: TensorType) -> str:
    text = f"{type.dtype.value}[{','.join(map(str, type.shape))}]"
    if type.quant is None or type.quant.axis is not None:
        return text
    zero_point = type.zero_point
    centred = f"(q {'+' if zero_point < 0 else '-'} {abs(zero_point)})" if zero_point else "q"
    return f"{text}, real = {format_float(type.scale)} * {centred}"


def _pointer(program: Program, value: Value, offset: int = 0) -> str:
    """C text of a pointer to a value's first element, or to the one ``offset`` bytes further in."""
    if value in program.borrowed:
        symbol, offset = program.borrowed[value].symbol, offset + program.shifts.get(value, 0)
        return f"{symbol} + {offset // value.type.dtype.bytes}" if offset else symbol
    if value in program.held:
        return _at("state", value.type.dtype, program.held[value] + offset)
    return _at("arena", value.type.dtype, program.offset(value) + offset)


def _at(block: str, dtype: DType, offset: int) -> str:
    text = f"{block}->memory.{MEMBERS[dtype]}"
    return text if offset == 0 else f"{text} + {offset // dtype.bytes}"


def _argument(program: Program, position: int, argument: Argument) -> str:
    if isinstance(argument, Value):
        return _pointer(program, argument)
    if isinstance(argument, Slice):
        return _pointer(program, argument.value, argument.offset)
    if isinstance(argument, ConstantArray):
        return f"{program.prefix}_{argument.name}"
    if isinstance(argument, Params):
        return f"&{program.prefix}_{argument.name}"
    return _at("arena", argument.dtype, program.plan.offsets[f"scratch of step {position}"] + argument.offset)


def _step(program: Program, position: int) -> dict[str, Any]:
    step = program.steps[position]
    result = step.node.outputs[0].type
    return {
        "index": position,
        "op": step.node.op,
        "name": comment_text(step.node.name),
        "type": f"{result.dtype.value}[{','.join(map(str, result.shape))}]",
        "call": _call(program, position, step.call, indent=4),
        "second": _call(program, position, step.second, indent=8) if step.second else "",
    }


def _call(program: Program, position: int, call: Call, indent: int) -> str:
    arguments = [_argument(program, position, a) for a in call.arguments]
    function = rename_symbols(call.function, program.prefix)
    if call.function in program.functions:
        function = f"{program.prefix}_{function}"
    text = f"{function}({', '.join(arguments)})"
    if len(text) > LINE_WIDTH:
        margin = "\n" + " " * (indent + 4)
        text = f"{function}({margin}{_filled(arguments, margin)})"
    return text


def _filled(arguments: Sequence[str], margin: str) -> str:
    """Arguments on as few lines as they need, indented under their call; ``margin`` begins a line."""
    text, width = "", 0
    for position, argument in enumerate(arguments):
        item = argument + ("," if position + 1 < len(arguments) else "")
        if width and width + len(item) > LINE_WIDTH - len(margin):
            text, width = text + margin, 0
        text += (" " if width else "") + item
        width += len(item) + 1
    return text


def _prefixed(program: Program) -> list[str]:
    return [text.replace(f"void {n}(", f"void burnc_{n}(", 1) for n, text in program.functions.items()]


def _constant(
    program: Program, constant: ConstantArray, code: Code | None = None, *, is_in_ram: bool = False
) -> dict[str, Any]:
    """``code``: what takes the place of the numbers on cores that can run it."""
    return {
        "place": f'{program.prefix.upper()}_IN_RAM("{program.prefix}_{constant.name}") ' if is_in_ram else "",
        "code": code.name if code else "",
        "name": constant.name,
        "ctype": C_TYPES[constant.dtype],
        "count": constant.data.size,
        "comment": constant.comment,
        "lines": format_array(constant.data, constant.dtype),
    }


def _struct(program: Program, params: Params) -> dict[str, Any]:
    return {
        "name": params.name,
        "type": rename_symbols(params.type, program.prefix),
        "fields": [{"name": name, "value": _field(program, value)} for name, value in params.fields],
    }


def _field(program: Program, value: FieldValue) -> str:
    if isinstance(value, ConstantArray):
        return f"{program.prefix}_{value.name}"
    if isinstance(value, Params):
        return f"&{program.prefix}_{value.name}"
    if isinstance(value, Code):
        return (
            f"{program.prefix.upper()}_PAIR_WEIGHTS({program.prefix}_{value.name}, {program.prefix}_{value.twin.name})"
        )
    if isinstance(value, tuple):
        return "{" + ", ".join(map(str, value)) + "}"
    return format_scalar(value, DType.INT32).strip("()")
