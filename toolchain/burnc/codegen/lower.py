"""lower(graph, board, options) -> Program: kernels are chosen, storage is shared, the arena is planned."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from burnc.boards import Board
from burnc.codegen.arena import Pair, plan_program, scratch_request
from burnc.codegen.choose import choose_kernels, guess_arena, small_arena
from burnc.codegen.max_ram import ram_bytes, within_ram
from burnc.codegen.names import UniqueNames, model_prefix, program_names, short_identifier
from burnc.codegen.parts import (
    HAND_OVER_CYCLES,
    SCRATCH_ALIGNMENT,
    Part,
    overlap_of,
    parts_cycles,
    parts_of,
    scratch_places,
)
from burnc.codegen.placement import place, ram_budget
from burnc.codegen.program import Call, Port, Program, Step
from burnc.codegen.rendered import FUNCTION, render_node, rendered_bytes
from burnc.codegen.rows import ROWS, Emitter, KernelRow
from burnc.codegen.rows.row import sweeps_for_outputs
from burnc.codegen.states import copy_states, is_written_in_place, place_states, successor
from burnc.codegen.views import Views, find_views
from burnc.errors import BoardError, InputError
from burnc.ir import Builder, DType, Graph, Match, Node, State, Value
from burnc.memory import Request, widest_gap
from burnc.ops import operators, spec_of
from burnc.ops.reshape import ReshapeAttrs
from burnc.passes import JoinTables

RENDERED_CYCLES_PER_MAC = 20.0
RENDERED_CYCLES_PER_ELEMENT = 60.0
RENDERED_CYCLES_PER_READ = 10.0  # of inputs beyond one for each result
# Without a floating-point unit, where each sum and product is a call: seen on the RP2040 were 185 to 267.
SOFT_FLOAT_CYCLES_PER_MAC = 240.0
SOFT_FLOAT_CYCLES_PER_ELEMENT = 300.0
MOST_CORES = 2
# What the arena may grow by for scratch where cores share steps: those seldom run in place, so the largest has no room.
_BYTES_FOR_PARTS = 1024
# Kernels are chosen again, with what is known then, where a run waits for flash for a larger share than this.
_WORTH_ANOTHER_TRY = 1 / 50
_SOFT_FLOAT_CORES = frozenset({"cortex-m0", "cortex-m0plus", "cortex-m3", "rv32imc"})


@dataclass(frozen=True)
class LowerOptions:
    """``name``: prefix wanted for files and symbols. ``io``: arena or caller. ``optimize``: size, balanced or speed.

    ``rendered_only`` leaves the hand-written kernels out; tests compare both ways. ``core`` chooses kernels as for that
    core instead of the board's: those in assembly have a C twin that runs anywhere. ``ram_budget``: bytes of constants
    and code that may lie in RAM; None for what 55 % of the board's RAM leaves. ``cores``: 2 has a second core take its
    part of a run, where that helps. ``max_ram``: bytes that the arena, state and what is placed in RAM may take;
    where they need more, a stage is computed in bands.
    """

    name: str = ""
    io: str = "arena"
    optimize: str = "balanced"
    rendered_only: bool = False
    core: str = ""
    ram_budget: int | None = None
    cores: int = 1
    max_ram: int | None = None


def lower(graph: Graph, board: Board, options: LowerOptions = LowerOptions()) -> Program:
    """Lower a graph for a board; the graph itself is not changed.

    Raises:
        GraphError: an operator has no kernel for its types.
        BoardError: the board has fewer cores.
        DoesNotFitError: no plan was found that takes no more than ``max_ram``.
    """
    _require_cores(board, options.cores)
    ready = _ready(graph)
    program = _lowered(ready, board, options, {})
    if options.max_ram is not None and ram_bytes(program) > options.max_ram:
        found: dict[Graph, _Ready] = {}

        def lower_ready(graph: Graph) -> Program:
            ready = _ready(graph)
            found[ready.graph] = ready
            return _lowered(ready, board, options, {})

        program = within_ram(graph, options.max_ram, program, lower_ready)
        ready = found[program.graph]
    if program.waits <= _WORTH_ANOTHER_TRY * program.cycles:
        return program
    rooms = {step.node: step.scratch_bytes // len(step.calls) for step in program.steps}
    again = _lowered(ready, board, options, rooms)
    again.in_bands = program.in_bands
    if options.max_ram is not None and ram_bytes(again) > options.max_ram:
        return program
    return min(program, again, key=lambda p: p.cycles + p.waits)


@dataclass(frozen=True)
class _Ready:
    """A graph that is ready to be lowered. ``copies``: the nodes that copy what is written to states."""

    graph: Graph
    copies: Mapping[Node, State | None]
    views: Views


def _ready(graph: Graph) -> _Ready:
    graph = graph.copy()
    JoinTables().run(graph)
    _give_outputs_buffers(graph)
    copies = copy_states(graph)
    return _Ready(graph, copies, find_views(graph, copies))


def _lowered(ready: _Ready, board: Board, options: LowerOptions, rooms: Mapping[Node, int]) -> Program:
    """``rooms``: what is known of the scratch that nodes will have."""
    graph, copies, views = ready.graph, ready.copies, ready.views
    prefix = model_prefix(options.name or graph.name)
    program = Program(graph, prefix, board, options.io, options.optimize, options.cores)
    unique = program_names()
    _name_ports(program, unique)
    place_states(program, unique)
    emitter = Emitter(unique)
    overlaps: list[Pair] = []
    rows = () if options.rendered_only else ROWS
    growing: list[tuple[int, tuple[Part, ...], KernelRow]] = []
    program.ram_budget = _ram_budget(program, options, guess_arena(graph, views, board, options.cores))
    for choice in choose_kernels(program, rows, options.core or board.cpu.core, views, rooms):
        match, row = choice.match, choice.row
        position = len(program.steps)
        landing = copies.get(match.last)
        if landing is not None and is_written_in_place(program, landing, views, overlaps):
            program.held[views.root(landing.write)] = program.held[landing.read]
            continue
        if row:
            parts = parts_of(match, row, options.cores)
            step, pairs = _row_step(row, match, parts), overlap_of(row, match, parts)
            if row.grown:  # its calls follow when the plan is known
                growing.append((position, parts, row))
            else:
                emitter.begin_layer(match.last, position)
                step = _with_calls(step, parts, row, [row.scratch(part.match) for part in parts], emitter)
        else:
            emitter.begin_layer(match.last, position)
            step, pairs = _lower_rendered(match.last, emitter, program, unique)
        program.steps.append(step)
        if landing is not None:
            program.held[match.last.output] = program.held[landing.read]
        overlaps += [(position, match.last.input(i), successor(match.last, i), distance) for i, distance in pairs]
    requests = plan_program(program, views, overlaps)
    least = program.plan
    program.plan = replace(least, bytes=max(least.bytes, _may_grow_to(program, options)))
    for position, parts, row in growing:
        emitter.begin_layer(program.steps[position].node, position)
        program.steps[position] = _grow(program, requests, position, parts, row, emitter)
    ends = [program.plan.offsets[scratch_request(i)] + program.steps[i].scratch_bytes for i, _, _ in growing]
    program.plan = replace(program.plan, bytes=max([least.bytes, *ends]))
    program.constants, program.params = program.constants + emitter.constants, emitter.params
    program.codes = emitter.codes
    program.ram_budget = _ram_budget(program, options, program.plan.bytes)
    place(program)
    return program


def _ram_budget(program: Program, options: LowerOptions, arena: int) -> int:
    budget = ram_budget(program, options.ram_budget, arena)
    return budget if options.max_ram is None else max(0, min(budget, options.max_ram - arena - _beside(program)))


def _beside(program: Program) -> int:
    """Bytes of RAM that are neither the arena's plan nor weights or code."""
    return ram_bytes(program) - program.plan.bytes - program.placed_bytes


def _may_grow_to(program: Program, options: LowerOptions) -> int:
    """Bytes to which the arena may grow for scratch that makes kernels faster."""
    size = max(program.plan.bytes + _BYTES_FOR_PARTS * (options.cores - 1), small_arena(program.board, options.cores))
    return size if options.max_ram is None else min(size, options.max_ram - _beside(program))


def _give_outputs_buffers(graph: Graph) -> None:
    """An output that is an input, a constant or an earlier output is copied, so that each has a buffer of its own."""
    seen: set[Value] = set(graph.given)
    for position, value in enumerate(graph.outputs):
        if value in seen or value.is_constant:
            builder = Builder(graph, operators())
            copy = builder.node("reshape", [value], ReshapeAttrs(value.type.shape), name=value.name)
            copy.type = value.type
            if value.is_constant:
                builder.take_name(copy, value)
            graph.outputs[position] = copy
        seen.add(graph.outputs[position])


def _name_ports(program: Program, unique: UniqueNames) -> None:
    program.inputs = [Port(v, unique(short_identifier(v.name), ["_quantize"])) for v in program.graph.inputs]
    program.outputs = [Port(v, unique(short_identifier(v.name), ["_dequantize"])) for v in program.graph.outputs]


def _require_cores(board: Board, cores: int) -> None:
    if not 1 <= cores <= MOST_CORES:
        raise InputError(f"code for {cores} cores cannot be made", hint=f"one or {MOST_CORES} can share a run")
    if cores > board.cpu.count:
        hint = "`burnc boards` lists the cores of each board"
        raise BoardError(f"the board {board.key} has one core, not {cores}", hint=hint)


def _row_step(row: KernelRow, match: Match, parts: Sequence[Part]) -> Step:
    """A step that has no calls yet."""
    macs = sum(spec_of(n).macs(n) for n in match.nodes)
    sizes = [row.scratch(part.match) for part in parts]
    _, scratch = scratch_places(sizes)
    sweeps = row.sweeps(parts[0].match, sizes[0])  # the other core reads the same at the same time
    cycles = parts_cycles(row, parts)
    return Step(tuple(match.nodes), row.name, Call("", ()), scratch, macs, cycles, sweeps, row.code_bytes)


def _with_calls(step: Step, parts: Sequence[Part], row: KernelRow, scratch: Sequence[int], emitter: Emitter) -> Step:
    calls = []
    for part, begin, size in zip(parts, scratch_places(scratch)[0], scratch, strict=True):
        emitter.room = size
        calls.append(part.lower(row, emitter, begin))
    return replace(step, call=calls[0], second=calls[1] if len(calls) > 1 else None)


def _lower_rendered(
    node: Node, emitter: Emitter, program: Program, unique: UniqueNames
) -> tuple[Step, list[tuple[int, int | None]]]:
    kernel = render_node(node, emitter, _unread(node, program.graph))
    program.left_out |= kernel.left_out
    name = _function_name(node, kernel.text, program, unique)
    program.headers |= kernel.headers
    macs = spec_of(node).macs(node)
    a_mac, an_element = RENDERED_CYCLES_PER_MAC, RENDERED_CYCLES_PER_ELEMENT
    if node.outputs[0].type.dtype is DType.FLOAT32 and program.board.cpu.core in _SOFT_FLOAT_CORES:
        a_mac, an_element = SOFT_FLOAT_CYCLES_PER_MAC, SOFT_FLOAT_CYCLES_PER_ELEMENT
    results = node.outputs[0].type.size
    read = sum(v.type.size for v in node.present_inputs if not v.is_constant)
    cycles = a_mac * macs + an_element * results + RENDERED_CYCLES_PER_READ * max(0, read - results)
    call, sweeps = Call(name, kernel.arguments), sweeps_for_outputs(Match([node]), kernel.scratch_bytes)
    size = rendered_bytes(kernel.text)
    step = Step((node,), "rendered", call, kernel.scratch_bytes, macs, cycles, sweeps, size)
    return step, list(kernel.overlap)


def _unread(node: Node, graph: Graph) -> list[Value]:
    """Those of several results that nothing reads, where something reads the others."""
    if len(node.outputs) < 2:
        return []
    read = set(graph.results).union(*(reader.present_inputs for reader in graph.nodes))
    found = [value for value in node.outputs if value not in read]
    return found if len(found) < len(node.outputs) else []


def _function_name(node: Node, text: str, program: Program, unique: UniqueNames) -> str:
    """A name for the rendered function; a kernel whose text is known already is used again."""
    pattern = re.compile(rf"\bvoid {FUNCTION}\(")
    for name, known in program.functions.items():
        if pattern.sub(f"void {name}(", text) == known:
            return name
    name = unique(f"{node.op}_kernel")
    program.functions[name] = pattern.sub(f"void {name}(", text)
    return name


def _grow(
    program: Program,
    requests: Sequence[Request],
    position: int,
    parts: Sequence[Part],
    row: KernelRow,
    emitter: Emitter,
) -> Step:
    """The step with its calls; as scratch they may use room that the arena has at that time anyway."""
    name, step = scratch_request(position), program.steps[position]
    offset, room = widest_gap(program.plan, requests, position, without=[name])
    assert row.grown is not None
    share = room // len(parts) // SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT
    grown = [row.grown(part.match, share) for part in parts]
    sizes = [size for size, _ in grown]
    _, used = scratch_places(sizes)
    if used > step.scratch_bytes:
        program.plan.offsets[name] = offset
        cycles = max(cycles for _, cycles in grown) + HAND_OVER_CYCLES * (len(parts) - 1)
        sweeps = row.sweeps(parts[0].match, sizes[0])
        step = replace(step, scratch_bytes=used, cycles=cycles, sweeps=sweeps)
    else:
        sizes = [row.scratch(part.match) for part in parts]
    return _with_calls(step, parts, row, sizes, emitter)
