"""Which kernel computes which nodes: the cheapest in cycles, in waits for flash and in bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnc.boards import Board, Cache
from burnc.codegen.arena import Lives
from burnc.codegen.flash_waits import run_again, sweep_waits
from burnc.codegen.placement import cache_of
from burnc.codegen.program import Program
from burnc.codegen.rows import KernelRow
from burnc.codegen.views import Views
from burnc.ir import Graph, Match, Node, Value

# What a byte of flash may cost in cycles of one run, by what is optimized for; more, where there is no room.
_PRICES = {"speed": 0.0, "balanced": 20.0, "size": 100.0}
_SHARE_OF_FLASH = 0.8
_PRICE_STEP = 1.2
# ``balanced`` makes constants and code larger than ``size`` does by half at most.
_MOST_GROWTH = 1.5
# What a byte of RAM may cost, in tries: a little, more and more, and too much for anything to be placed there.
_RAM_PRICES = (0.0, *(2.0**k for k in range(1, 12)), float("inf"))
_MOST_COMPARISONS = 200_000
# Scratch that makes kernels faster may let a small arena grow to this share of the board's RAM, for each core.
_SHARE_FOR_SCRATCH = 1 / 24


@dataclass(frozen=True)
class Choice:
    """A kernel for a match, None for the rendered one; ``waits`` are those of constants and code that lie in flash."""

    match: Match
    row: KernelRow | None = None
    cycles: float = 0.0
    flash: int = 0
    waits: float = 0.0

    def cost(self, price: float, ram_price: float) -> float:
        """Cycles, ``price`` for a byte of flash, and the waits or, if that is less, ``ram_price`` for a byte of RAM."""
        placed = ram_price * self.flash if self.waits else 0.0
        return self.cycles + price * self.flash + min(self.waits, placed)


def choose_kernels(
    program: Program, rows: Sequence[KernelRow], core: str, views: Views, rooms: Mapping[Node, int]
) -> list[Choice]:
    """In the order of the graph, the cheapest kernels for a core, which the board's flash holds if that can be had.

    Args:
        rooms: what is known of the scratch that nodes will have.
    """
    graph = program.graph
    allowed = [row for row in rows if (row.on is None or core in row.on) and _is_for(program.optimize, row)]
    offers = _offers(program, allowed, views, rooms)
    least = _PRICES.get(program.optimize, _PRICES["balanced"])
    budget, room = program.ram_budget, _flash_room(program, offers)
    price = least
    while True:
        tries = [_cheapest(graph, offers, price, ram_price) for ram_price in _RAM_PRICES]
        chosen = min(tries, key=lambda found: _total(found, price, budget))
        if _flash(chosen) <= room or price > _PRICES["size"]:
            return _improved(chosen, offers, least, budget, room)
        price = max(1.0, price * _PRICE_STEP)


def _flash_room(program: Program, offers: Mapping[Node, Sequence[Choice]]) -> float:
    """Bytes of flash that constants and code may take."""
    memory = program.board.first_memory("flash")
    room = _SHARE_OF_FLASH * memory.size if memory else float("inf")
    if program.optimize != "balanced":
        return room
    small = {n: [c for c in found if c.row and _is_for("size", c.row)] for n, found in offers.items()}
    return min(room, _MOST_GROWTH * _flash(_cheapest(program.graph, small, _PRICES["size"], 0.0)))


def _is_for(optimize: str, row: KernelRow) -> bool:
    return row.modes is None or optimize in row.modes


def _flash(chosen: Sequence[Choice]) -> int:
    return sum(choice.flash for choice in chosen)


def small_arena(board: Board, cores: int) -> int:
    """Bytes to which an arena may grow for the sake of scratch."""
    memory = board.first_memory("ram")
    return 0 if memory is None else int(cores * memory.size * _SHARE_FOR_SCRATCH)


def guess_arena(graph: Graph, views: Views, board: Board, cores: int) -> int:
    """Bytes of the arena by what must be alive at once; the plan comes when the kernels are known."""
    return max([small_arena(board, cores), *_live_bytes(graph, views).values()])


def _live_bytes(graph: Graph, views: Views) -> dict[Node, int]:
    """For each node, the bytes of all values that are alive while it is computed."""
    lives = Lives(views)
    lives.touch_all(graph, [[node] for node in graph.nodes])
    return dict(zip(graph.nodes, lives.live_bytes(len(graph.nodes)), strict=False))


def _offers(
    program: Program, rows: Sequence[KernelRow], views: Views, rooms: Mapping[Node, int]
) -> dict[Node, list[Choice]]:
    """For each node that is to be computed, the rows that can do it."""
    graph = program.graph
    consumers, cache = graph.consumers(), cache_of(program.board)
    arena, live = guess_arena(graph, views, program.board, program.cores), _live_bytes(graph, views)
    offers: dict[Node, list[Choice]] = {}
    for node in graph.nodes:
        if node in views.steps:
            continue
        if not any(value.type.size for value in node.outputs):
            continue  # there is nothing to compute
        offers[node] = []
        room = rooms.get(node, (arena - live[node]) // 2)
        for row in rows:
            match = row.pattern.match(node, graph, consumers)
            if match is not None and row.when(match):
                offers[node].append(_offer(row, match, room, cache, _sharers(match, consumers)))
    return offers


def _offer(row: KernelRow, match: Match, room: int, cache: Cache | None, sharers: int) -> Choice:
    """``sharers``: how many nodes have the same constants, which are stored once."""
    flash = row.flash_bytes(match)
    scratch, cycles = row.grown(match, room) if row.grown else (0, row.cycles(match))
    waits = sweep_waits(flash, run_again(row.code_bytes), row.sweeps(match, scratch), cache)
    return Choice(match, row, cycles, flash // sharers, waits)


def _sharers(match: Match, consumers: Mapping[Value, Sequence[Node]]) -> int:
    """How many nodes read the largest constant of a match."""
    constants = [v for node in match.nodes for v in node.present_inputs if v.is_constant]
    return len(consumers[max(constants, key=lambda v: v.type.nbytes)]) if constants else 1


def _cheapest(graph: Graph, offers: Mapping[Node, Sequence[Choice]], price: float, ram_price: float) -> list[Choice]:
    covered: set[Node] = set()
    chosen: list[Choice] = []
    for node in reversed(graph.nodes):
        if node in covered or node not in offers:
            continue
        best = min(offers[node], key=lambda choice: choice.cost(price, ram_price), default=Choice(Match([node])))
        covered.update(best.match.nodes)
        chosen.append(best)
    return chosen[::-1]


def _improved(
    chosen: Sequence[Choice], offers: Mapping[Node, Sequence[Choice]], price: float, budget: int, room: float
) -> list[Choice]:
    """With other kernels for single matches, as long as that helps: equal layers need not take equal kernels."""
    best, least = list(chosen), _total(chosen, price, budget)
    tries = _MOST_COMPARISONS // max(1, len(best))
    position = unchanged = 0
    while unchanged < len(best) and tries > 0:
        unchanged += 1
        now = best[position]
        for offer in offers[now.match.last]:
            if offer.match.nodes != now.match.nodes:
                continue
            tries -= 1
            trial = [*best[:position], offer, *best[position + 1 :]]
            total = _total(trial, price, budget)
            if total < least and _flash(trial) <= room:
                best, least, unchanged = trial, total, 0
        position = (position + 1) % len(best)
    return best


def _total(chosen: Sequence[Choice], price: float, budget: int) -> float:
    """Cost of a run where those constants lie in RAM, within the budget, that save most for their bytes."""
    total, left = 0.0, budget
    for choice in sorted(chosen, key=lambda c: -c.waits / max(1, c.flash)):
        total += choice.cycles + price * choice.flash
        if choice.flash <= left:
            left -= choice.flash
        else:
            total += choice.waits
    return total
