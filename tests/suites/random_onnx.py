"""Random ONNX graphs of all operators that have a recipe."""

from __future__ import annotations

from random import Random

# Importing them registers their recipes.
from suites import elementwise_recipes, further_recipes, layer_recipes, movement_recipes  # noqa: F401
from suites.onnx_graphs import GraphMaker, RandomGraph, RejectedError
from suites.recipe import RECIPES


def random_graph(random: Random, wanted: str = "") -> RandomGraph:
    """A graph of 3 to 12 nodes; one of them is the ``wanted`` operator, if one is named."""
    while True:
        maker = GraphMaker(random)
        known = [r for r in RECIPES if r.since <= maker.opset]
        if wanted and not any(r.op == wanted for r in known):
            maker.opset = max(r.since for r in RECIPES if r.op == wanted)
            known = [r for r in RECIPES if r.since <= maker.opset]
        size = random.randint(3, 12)
        attempts = 0
        while len(maker.nodes) < size and attempts < 60:
            attempts += 1
            is_due = wanted and len(maker.nodes) >= size // 2 and wanted not in {n.op_type for n in maker.nodes}
            choices = [r for r in known if r.op == wanted] if is_due else known
            (drawn,) = random.choices(choices, [r.weight for r in choices])
            mark = maker.mark()
            try:
                drawn.add(maker, drawn.op)
            except RejectedError:
                maker.return_to(mark)
        graph = maker.finish()
        if len(maker.nodes) >= 3 and graph.makers and graph.model.graph.output:
            return graph
