"""Stages in bands: the same integers, in less RAM, on the host, on two cores and on the emulated board."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

import burnc
from burnc.backends import device
from burnc.backends.model_inputs import random_inputs
from burnc.boards import Board, load_board
from burnc.codegen.bands import bands_of, find_stages, in_bands
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.max_ram import ram_bytes
from burnc.devices.board import BoardBackend
from burnc.errors import DoesNotFitError
from burnc.ir import Builder, Graph, QuantParams, Value, verify
from burnc.memory import planner
from burnc.ops.average_pool2d import AveragePool2dAttrs
from burnc.ops.clip import ClipAttrs
from burnc.ops.concat import ConcatAttrs
from burnc.ops.conv2d import Conv2dAttrs
from burnc.ops.max_pool2d import MaxPool2dAttrs
from burnc.ops.pad import PadAttrs
from burnc.ops.spatial import Padding
from burnc.pipeline import ExportOptions
from codegen.exported import ROOT, driver, graph_of, run_driver, run_tool, write
from memory.played_run import assert_sound
from passes.rewriting import started
from requirements import requires, requires_package
from suites.compiled_batch import Job, run_batch

HOST, PICO = load_board("host"), load_board("pico")
Q = QuantParams.per_tensor(0.05, -3)
VWW = ROOT / "tests/models/mlperf_vww_mbv1_int8.tflite"


def conv(b: Builder, x: Value, filters: int, kernel: tuple[int, int], chance: Random, **attrs: object) -> Value:
    groups = x.type.shape[3] if chance.random() < 0.4 else 1
    filters = x.type.shape[3] if groups > 1 else filters
    rng = np.random.default_rng(chance.randrange(1000))
    w = rng.integers(-127, 128, (filters, *kernel, x.type.shape[3] // groups)).astype(np.int8)
    scale = rng.uniform(0.001, 0.01, filters).astype(np.float32)
    zeros = np.zeros(filters, np.int32)
    weights = b.constant("w", w, QuantParams(scale, zeros, 0))
    bias = rng.integers(-500, 500, filters).astype(np.int32)
    biases = b.constant("b", bias, QuantParams(np.float32(x.type.scale) * scale, zeros, 0))
    quant = QuantParams.per_tensor(0.05, chance.randrange(-20, 20))
    return b.node("conv2d", [x, weights, biases], Conv2dAttrs(groups=groups, **attrs), quant=quant)  # type: ignore[arg-type]


def grown(b: Builder, x: Value, chance: Random) -> Value:
    """One more layer, or a few side by side that are brought together again."""
    kind = chance.choice(["conv", "conv", "conv", "max", "average", "pad", "residual", "wide", "clip"])
    height, width = x.type.shape[1:3]
    kernel = (chance.randint(1, min(3, height)), chance.randint(1, min(3, width)))
    stride = (chance.randint(1, 2), chance.randint(1, 2))
    pad = Padding(*(chance.randrange(k) for k in (*kernel, *kernel)))
    if kind == "conv":
        dilation = (2, 1) if kernel[0] * 2 < height and chance.random() < 0.3 else (1, 1)
        return conv(b, x, chance.randint(1, 8), kernel, chance, stride=stride, pad=pad, dilation=dilation)
    if kind in ("max", "average"):
        attrs = (MaxPool2dAttrs if kind == "max" else AveragePool2dAttrs)(kernel, stride, pad=pad)
        return b.node(f"{kind}_pool2d", [x], attrs, quant=x.type.quant)
    if kind == "pad":
        pads = ((0, 0), (chance.randrange(3), chance.randrange(3)), (0, 1), (0, 0))
        return b.node("pad", [x], PadAttrs(pads), quant=x.type.quant)
    if kind == "clip":
        return b.node("clip", [x], ClipAttrs(-0.5, 2.0), quant=x.type.quant)
    same = {"stride": (1, 1), "pad": Padding(1, 1, 1, 1)}
    y = conv(b, conv(b, x, x.type.shape[3], (3, 3), chance, **same), x.type.shape[3], (3, 3), chance, **same)
    if kind == "wide":
        x = b.node("quantize", [x], quant=y.type.quant)
        return b.node("concat", [x, y], ConcatAttrs(3), quant=y.type.quant)
    return b.node("add", [x, y], quant=Q)


def random_net(seed: int) -> Graph:
    chance = Random(seed)
    shape = (1, chance.randint(8, 14), chance.randint(5, 9), chance.choice([1, 3, 4]))
    graph, b, x = started(*shape, quant=Q)
    y = x
    for _ in range(chance.randint(3, 5)):
        if y.type.shape[1] > 2:
            y = grown(b, y, chance)
    graph.outputs = [y if y is not x else b.node("clip", [x], ClipAttrs(), quant=Q)]
    verify(graph)
    return graph


def some_bands(graph: Graph) -> list[Graph]:
    """The longest stage of the graph, in bands of several heights."""
    stage = max(find_stages(graph, graph.nodes[:1]), key=lambda s: len(s.nodes), default=None)
    heights = sorted({1, 2, stage.rows // 2}) if stage is not None else []
    found = [(bands_of(stage, rows), rows) for rows in heights if stage is not None and 0 < rows < stage.rows]
    return [in_bands(graph, stage, bands) for bands, _ in found if bands is not None and stage is not None]


@requires("gcc")
def test_bands_of_random_nets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numpy computes the graph as it was; generated C, with sanitizers, that in bands."""
    monkeypatch.setattr(planner, "TRIES", 20)
    jobs: list[Job] = []
    expected: dict[str, list[dict[str, np.ndarray]]] = {}
    for seed in range(20):
        graph = random_net(seed)
        inputs = random_inputs(graph, 2)
        reference = device("numpy").compile(graph)
        wanted = [reference.run(arrays) for arrays in inputs]
        for number, divided in enumerate(some_bands(graph)):
            verify(divided)
            (output,) = device("numpy").compile(divided).run(inputs[0]).values()
            np.testing.assert_array_equal(output, *wanted[0].values())
            options = LowerOptions(f"net{seed}_{number}", core="cortex-m0plus" if seed % 2 else "")
            program = lower(divided, HOST, options)
            assert_sound(program)
            if seed < 6:
                jobs.append(Job(program, inputs, self_test=False))
                expected[program.prefix] = wanted
    assert len(jobs) > 8
    results = run_batch(jobs, tmp_path, sanitize=True)
    for name, runs in results.items():
        assert not isinstance(runs, str), runs
        for got, wanted in zip(runs, expected[name], strict=True):
            np.testing.assert_array_equal(*got.values(), *wanted.values(), err_msg=name)


@requires("gcc")
@requires_package("tflite_micro")
@pytest.mark.parametrize(
    ("model", "io", "limit"),
    [("vww", "arena", 28_000), ("resnet", "caller", 22_000)],
)
def test_networks_in_less_ram(tmp_path: Path, model: str, io: str, limit: int) -> None:
    from burnc.tflite_micro import equals_tflite_micro

    graph = graph_of(model)
    whole = lower(graph, PICO, LowerOptions("net", io))
    exported = write(lower(graph, PICO, LowerOptions("net", io, max_ram=limit)), tmp_path)
    program = exported.program
    assert program.in_bands is not None
    assert ram_bytes(program) <= limit < whole.plan.bytes <= program.in_bands.arena_before
    assert program.macs == whole.macs + program.in_bands.recomputed
    assert program.weights_bytes <= 1.1 * whole.weights_bytes  # bands share their constants
    if io == "arena":
        assert_sound(program)
    flags = ["-O1", "-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    (tmp_path / "main.c").write_text(driver(program))
    run_tool("gcc", *flags, *exported.sources, tmp_path / "main.c", "-o", tmp_path / "driver")
    inputs = random_inputs(graph, 2)
    got = run_driver(tmp_path / "driver", program, inputs)
    stacked = {name: np.stack([run[name] for run in got]) for name in got[0]}
    path = VWW if model == "vww" else ROOT / "tests/models/mlperf_ic_resnet8_int8.tflite"
    assert equals_tflite_micro(path, inputs, stacked)


def test_without_need_nothing_changes() -> None:
    graph = graph_of("kws")
    plain, limited = (lower(graph, PICO, LowerOptions("net", ram_budget=0, max_ram=m)) for m in (None, 20_000))
    assert limited.in_bands is None
    assert limited.plan == plain.plan


def test_the_least_that_was_found_is_named() -> None:
    with pytest.raises(DoesNotFitError, match="does not fit 300 bytes of RAM") as caught:
        lower(random_net(16), PICO, LowerOptions("net", max_ram=300))
    assert "the least that was found is" in caught.value.where
    assert "--io caller" in caught.value.hint
    with pytest.raises(DoesNotFitError) as caught:
        lower(random_net(16), PICO, LowerOptions("net", io="caller", max_ram=30))
    assert "--io caller" not in caught.value.hint


def small_board(ram: int) -> Board:
    return replace(PICO, memories=tuple(replace(m, size=ram) if m.kind == "ram" else m for m in PICO.memories))


@pytest.mark.parametrize(("ram", "advice"), [(2800, "would do: "), (2500, "would not do: ")])
def test_a_board_that_is_too_small_is_given_advice(tmp_path: Path, ram: int, advice: str) -> None:
    with pytest.raises(DoesNotFitError) as caught:
        burnc.pipeline.export(random_net(16), small_board(ram), ExportOptions("net"), tmp_path / "out")
    assert advice in caught.value.hint
    assert "--max-ram" in caught.value.hint


@requires("arm compiler", "node", "rp2040js")
@pytest.mark.parametrize("cores", [1, 2])
def test_on_the_emulated_board(cores: int) -> None:
    graph = random_net(16)
    limit = lower(graph, PICO, LowerOptions(cores=cores)).plan.lower_bound * 15 // 16
    executable = BoardBackend("pico", cores=cores, max_ram=limit).compile(graph)
    assert executable.program.in_bands is not None
    reference = device("numpy").compile(graph)
    for arrays in random_inputs(graph, 2):
        np.testing.assert_array_equal(*executable.run(arrays).values(), *reference.run(arrays).values())
    executable.close()
