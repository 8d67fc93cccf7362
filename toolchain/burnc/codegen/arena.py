"""Which bytes of the arena are whose, and when: what the planner is told of a program."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate, pairwise

from burnc.codegen.program import Program
from burnc.codegen.views import Views
from burnc.ir import Graph, Node, Value
from burnc.memory import Overlap, Piece, Request, plan_arena

Pair = tuple[int, Value, Value, int | None]
"""(step, input, output, safe distance): the step may write the output over the input (memory.Overlap)."""


class Lives:
    """When each byte of each value that has storage of its own is written or read."""

    def __init__(self, views: Views) -> None:
        self._views = views
        self._touches: dict[Value, list[Piece]] = {}

    @property
    def roots(self) -> list[Value]:
        return list(self._touches)

    def touch(self, value: Value, step: int) -> None:
        root, begin = self._views.place(value)
        touches = self._touches.setdefault(root, [])
        touches.append(Piece(begin, begin + value.type.nbytes, step, step))

    def touch_all(self, graph: Graph, steps: Sequence[Sequence[Node]], left_out: Collection[Value] = ()) -> None:
        """All that a run does, ``steps`` one after the other."""
        for value in graph.inputs:
            self.touch(value, 0)
        for position, nodes in enumerate(steps):
            for node in nodes:
                if node not in self._views.steps:
                    for value in [*node.present_inputs, *node.outputs]:
                        if not value.is_constant and value not in left_out:
                            self.touch(value, position)
        for value in graph.outputs:
            self.touch(value, max(0, len(steps) - 1) + 1)  # read after the run: no step may write over them

    def live_bytes(self, steps: int, *, in_place: bool = False) -> list[int]:
        """Bytes that are alive at each step, and after the last.

        Args:
            in_place: count them as if each step could write over all that dies there.
        """
        change, dying, made = ([0] * (steps + 3) for _ in range(3))
        for piece in (piece for root in self._touches for piece in self.pieces(root)):
            size = piece.end - piece.begin
            change[piece.first] += size
            change[piece.last + 1] -= size
            made[piece.first] += size
            dying[piece.last] += size
        totals = accumulate(change)
        return [total - (min(d, m) if in_place else 0) for total, d, m in zip(totals, dying, made, strict=True)]

    def leave_out(self, root: Value) -> None:
        self._touches.pop(root, None)

    def pieces(self, root: Value) -> list[Piece]:
        """The root's bytes in pieces that are alive together, in their order."""
        touches = self._touches[root]
        bounds = sorted({bound for t in touches for bound in (t.begin, t.end)})
        if len(bounds) == 1:  # it has no bytes
            bounds *= 2
        found: list[Piece] = []
        for begin, end in pairwise(bounds):
            steps = [t.first for t in touches if t.begin <= begin and end <= t.end]
            if not steps:
                continue
            last = found[-1] if found else None
            if last and (last.end, last.first, last.last) == (begin, min(steps), max(steps)):
                found[-1] = Piece(last.begin, end, last.first, last.last)
            else:
                found.append(Piece(begin, end, min(steps), max(steps)))
        return found


def plan_program(program: Program, views: Views, pairs: Sequence[Pair]) -> list[Request]:
    """Plan the arena and say where each value lies; returns what the planner was asked for."""
    graph, lives = program.graph, Lives(views)
    lives.touch_all(graph, [step.nodes for step in program.steps], program.left_out)
    places = {v: views.place(v) for v in graph.values()}
    program.shifts = {v: begin for v, (_, begin) in places.items() if begin}
    program.held = {v: at + begin for v, (root, begin) in places.items() if (at := program.held.get(root)) is not None}
    for value in program.held:
        lives.leave_out(value)
    if program.io == "caller":
        owners = {views.root(p.value): p for p in [*program.inputs, *program.outputs]}
        program.borrowed = {v: owners[root] for v, (root, _) in places.items() if root in owners}
        for base in owners:
            lives.leave_out(base)
    requests = [_request(root, lives.pieces(root)) for root in lives.roots]
    requests += [
        Request(scratch_request(i), step.scratch_bytes, i, i, 8)
        for i, step in enumerate(program.steps)
        if step.scratch_bytes
    ]
    program.plan = plan_arena(requests, safe_overlaps(program, views, pairs, requests))
    known = {r.name for r in requests}
    program.storage = {v: _name(root) for v, (root, _) in places.items() if _name(root) in known}
    return requests


def _request(root: Value, pieces: Sequence[Piece]) -> Request:
    first, last = min(p.first for p in pieces), max(p.last for p in pieces)
    whole = Piece(0, root.type.nbytes, first, last)
    parts = () if list(pieces) == [whole] else tuple(pieces)
    return Request(_name(root), root.type.nbytes, first, last, max(4, root.type.dtype.bytes), parts)


def safe_overlaps(program: Program, views: Views, pairs: Sequence[Pair], requests: Sequence[Request]) -> list[Overlap]:
    """Pairs whose input dies where the output is made, and that no step reads in another, unsafe way."""
    by_name = {r.name: r for r in requests}
    at_step: dict[int, list[Pair]] = {}
    for pair in pairs:
        at_step.setdefault(pair[0], []).append(pair)
    found: list[Overlap] = []
    for x, y in dict.fromkeys((views.root(pair[1]), views.root(pair[2])) for pair in pairs):
        source, result = by_name.get(_name(x)), by_name.get(_name(y))
        if source is None or result is None:
            continue
        steps = {p.last for p in source.needed} & {p.first for p in result.needed}
        distances: list[int | None] = []
        for step in steps:
            safe = [p for p in at_step.get(step, ()) if views.root(p[1]) is x and views.root(p[2]) is y]
            reads = [v for n in program.steps[step].nodes for v in n.present_inputs if views.root(v) is x]
            if len(safe) != len(reads):
                break
            leads = [views.place(p[2])[1] - views.place(p[1])[1] for p in safe]
            if any(p[3] is None and lead for p, lead in zip(safe, leads, strict=True)):
                break
            distances += [None if p[3] is None else p[3] + lead for p, lead in zip(safe, leads, strict=True)]
        else:
            found += [Overlap(source.name, result.name, distance) for distance in distances]
    return found


def scratch_request(position: int) -> str:
    """The name of the request for a step's scratch."""
    return f"scratch of step {position}"


def _name(value: Value) -> str:
    # The mark keeps names of the model apart from those of scratch requests.
    return f"%{value.name}"
