from __future__ import annotations

import math

import pytest

from burnc.ir import QuantParams
from burnc.ops.add import AddAttrs
from burnc.ops.clip import ClipAttrs
from burnc.passes import FuseActivation, canonical_passes
from passes.rewriting import changed, floats, ops_of, started

FUSE = FuseActivation("add")
INF = math.inf


@pytest.mark.parametrize(
    ("own", "clip", "joined"),
    [
        ((-INF, INF), (0.0, INF), (0.0, INF)),
        ((0.0, INF), (-1.0, 1.0), (0.0, 1.0)),
        ((0.0, 6.0), (-INF, 1.0), (0.0, 1.0)),
        ((0.5, 1.0), (-1.0, 0.25), (0.25, 0.25)),
        ((-1.0, -0.5), (0.0, 6.0), (0.0, 0.0)),
    ],
)
def test_the_clip_is_applied_to_both_limits(
    own: tuple[float, float], clip: tuple[float, float], joined: tuple[float, float]
) -> None:
    graph, b, x = started(40)
    y = b.node("add", [x, b.constant("c", floats(40))], AddAttrs(*own))
    assert changed(FUSE, graph, [b.node("clip", [y], ClipAttrs(*clip), outputs=("clipped",))]) == 1
    assert graph.nodes[0].attrs == AddAttrs(*joined)
    assert graph.outputs[0].name == "clipped"


def test_several_clips_in_a_row_are_fused() -> None:
    graph, b, x = started(40)
    y = b.node("clip", [b.node("clip", [b.node("add", [x, x])], ClipAttrs(-0.5))], ClipAttrs(-1.0, 0.7))
    assert changed(FUSE, graph, [y]) == 2


def test_a_second_reader_or_a_graph_output_in_between_keeps_them_apart() -> None:
    graph, b, x = started(8)
    y = b.node("add", [x, x])
    assert changed(FUSE, graph, [b.node("mul", [b.node("clip", [y], ClipAttrs(0.0)), y])]) == 0
    graph, b, x = started(8)
    y = b.node("add", [x, x])
    assert changed(FUSE, graph, [b.node("clip", [y], ClipAttrs(0.0)), y]) == 0


def test_a_quantized_clip_rescales_and_stays() -> None:
    quant = QuantParams.per_tensor(0.1, 3)
    graph, b, x = started(8, quant=quant)
    y = b.node("clip", [b.node("add", [x, x], quant=quant)], ClipAttrs(0.0), quant=QuantParams.per_tensor(0.05, -128))
    assert changed(FUSE, graph, [y]) == 0


def test_every_operator_with_a_range_takes_one() -> None:
    names = {p.pattern.links[0].op for p in canonical_passes() if isinstance(p, FuseActivation)}
    assert names >= {"add", "mul", "conv2d", "conv_transpose2d", "fully_connected", "max_pool2d", "average_pool2d"}
    graph, b, x = started(1, 2, 2, 3)
    conv = b.node("conv2d", [x, b.constant("w", floats(4, 1, 1, 3))])
    assert changed(canonical_passes(), graph, [b.node("clip", [conv], ClipAttrs(0.0))]) == 1
    assert ops_of(graph) == ["conv2d"]
