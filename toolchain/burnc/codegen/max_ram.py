"""A program within so many bytes of RAM: the cheapest stage in bands that does it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NoReturn

from burnc.codegen.arena import Lives
from burnc.codegen.bands import Band, Stage, bands_of, find_stages, in_bands
from burnc.codegen.emit_c import arena_bytes
from burnc.codegen.placement import LARGEST_GAP
from burnc.codegen.program import InBands, Program
from burnc.codegen.views import find_views
from burnc.errors import DoesNotFitError
from burnc.ir import Graph, Node
from burnc.passes import JoinTables

# How many stages are looked at, how many ways to divide them are planned roughly, and how many lowered.
_STAGES = 200
_PLANNED = 1000
_LOWERED = 24
# Of those that fit so many are compared.
_COMPARED = 6
# A call with its parameters, in cycles.
_CALL_CYCLES = 400.0


def ram_bytes(program: Program) -> int:
    """Bytes of RAM that a model takes at most, apart from its stack and from buffers of the caller's own."""
    gaps = LARGEST_GAP * len(program.placed)
    return arena_bytes(program) + program.state_bytes + program.placed_bytes + gaps


def within_ram(graph: Graph, limit: int, whole: Program, lower: Callable[[Graph], Program]) -> Program:
    """The graph with a stage in bands, lowered, so that it takes no more than ``limit`` bytes of RAM.

    Args:
        whole: the graph lowered without bands.

    Raises:
        DoesNotFitError: no way was found.
    """
    graph = graph.copy()
    JoinTables().run(graph)
    room = limit - (ram_bytes(whole) - whole.plan.bytes - whole.placed_bytes)
    divisions = _divisions(graph, whole)
    tried: list[Program] = []
    least_missed = 0
    for division in divisions:
        if division.rough_arena + least_missed > room:
            continue
        program = _divided(graph, division, whole, lower)
        tried.append(program)
        if ram_bytes(program) > limit:
            missed = program.plan.bytes - division.rough_arena
            least_missed = min(least_missed, missed) if least_missed else missed
        if len(tried) == _LOWERED or len(_within(limit, tried)) == _COMPARED:
            break
    if not _within(limit, tried):
        smallest = sorted(divisions, key=lambda d: d.rough_arena)[:_COMPARED]
        tried += [_divided(graph, division, whole, lower) for division in smallest]
    if not _within(limit, tried):
        _refuse(min([whole, *tried], key=ram_bytes), whole, limit)
    return min(_within(limit, tried), key=lambda program: program.cycles + program.waits)


def _within(limit: int, programs: Sequence[Program]) -> list[Program]:
    return [program for program in programs if ram_bytes(program) <= limit]


def _divided(graph: Graph, division: _Division, whole: Program, lower: Callable[[Graph], Program]) -> Program:
    program = lower(in_bands(graph, division.stage, division.bands))
    names = tuple(node.name for node in division.stage.nodes)
    recomputed = program.macs - whole.macs
    program.in_bands = InBands(len(division.bands), names, whole.macs, recomputed, arena_bytes(whole))
    return program


def _refuse(least: Program, whole: Program, limit: int) -> NoReturn:
    bands = f", with {least.in_bands.count} bands" if least.in_bands else ""
    elsewhere = ", or keep inputs and outputs in buffers of your own (`--io caller`)" if whole.io == "arena" else ""
    raise DoesNotFitError(
        f"{whole.prefix} does not fit {limit} bytes of RAM",
        where=f"it takes {ram_bytes(whole)} bytes; the least that was found is {ram_bytes(least)}{bands}",
        hint=f"choose a smaller model or input{elsewhere}",
    )


@dataclass(frozen=True)
class _Division:
    """A stage and its bands; ``cost``: cycles that they add, about; ``rough_arena``: bytes without any scratch."""

    stage: Stage
    bands: Sequence[Band]
    cost: float
    rough_arena: int = 0


def _divisions(graph: Graph, whole: Program) -> list[_Division]:
    """Ways to divide that make the arena smaller, the cheapest first."""
    rough, peaks = _rough_arena(graph, whole)
    found = []
    for division in sorted(_all_divisions(graph, peaks, whole), key=lambda d: d.cost)[:_PLANNED]:
        size, _ = _rough_arena(in_bands(graph, division.stage, division.bands), whole)
        if size < rough:
            found.append(replace(division, rough_arena=size))
    return found


def _all_divisions(graph: Graph, peaks: Sequence[Node], whole: Program) -> Iterator[_Division]:
    per_mac = sum(step.cycles for step in whole.steps) / max(1, whole.macs)
    for stage in islice(find_stages(graph, peaks), _STAGES):
        for rows in sorted({-(-stage.rows // count) for count in range(2, stage.rows + 1)}):
            bands = bands_of(stage, rows)
            if bands is not None:
                recomputed = sum(band.macs for band in bands) - stage.macs
                calls = (len(bands) - 1) * len(stage.nodes)
                yield _Division(stage, bands, recomputed * per_mac + calls * _CALL_CYCLES)


def _rough_arena(graph: Graph, program: Program) -> tuple[int, list[Node]]:
    """Bytes that are alive at once, and the nodes where that is most; as if one core could run each layer in place."""
    copy = graph.copy()
    twins = dict(zip(copy.nodes, graph.nodes, strict=True))
    views = find_views(copy, ())
    lives = Lives(views)
    lives.touch_all(copy, [[node] for node in copy.nodes])
    elsewhere = [s.read for s in copy.states]
    if program.io == "caller":
        elsewhere += [*copy.inputs, *copy.outputs]
    for value in elsewhere:
        lives.leave_out(views.root(value))
    sizes = lives.live_bytes(len(copy.nodes), in_place=program.cores == 1)
    most = max(sizes, default=0)
    return most, [twins[n] for n, size in zip(copy.nodes, sizes, strict=False) if size == most and n in twins]
