"""The four MLPerf Tiny networks on emulated chips: cycles, instructions, bytes, beside what the incumbent takes.

``python benchmarks/mcu.py [--json] [--write]`` builds each model for each core and mode, runs it on the emulator,
checks that its outputs are those of tflite-micro bit for bit, and exits 1 when a figure misses its threshold.
``speed`` is built for memory that never waits, for which it is measured; what it takes with the flash cache is that
of a build for the Pico as it is.
``--write`` puts the table into docs/performance.md. Cycles are those of the emulated RP2040; other cores are counted in
instructions.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
from figures import Figure, report
from performance_page import write_page

import burnc
from burnc.boards import Board, load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.ir import Array, Graph
from burnc.model import Model
from burnc.ops import spec_of
from burnc.pipeline import ExportOptions, Loaded, export, simulate
from burnc.reports import SimulateReport
from burnc.tflite_micro import tflite_micro_outputs

ROOT = Path(__file__).resolve().parents[1]
MODELS = {
    "IC": ROOT / "tests/models/mlperf_ic_resnet8_int8.tflite",
    "KWS": ROOT / "examples/kws_pico/mlperf_kws_dscnn_int8.tflite",
    "VWW": ROOT / "tests/models/mlperf_vww_mbv1_int8.tflite",
    "AD": ROOT / "tests/models/mlperf_ad_int8.tflite",
}
MODES = ("size", "balanced", "speed")
CORES = ("cortex-m4", "cortex-m33", "cortex-m55", "rv32imc")
RUNS = 2
WEIGHTS = ("dense", "sparse")
ZERO_SHARE = 0.7

# What each figure may be at most, in the order IC, KWS, VWW, AD: M cycles, M instructions, bytes.
LIMITS: dict[str, tuple[float, ...]] = {
    "cortex-m0plus speed": (32, 8.8, 21, 0.80),
    "cortex-m0plus size": (54, 12.5, 32, 0.98),
    "cortex-m0plus balanced, flash cache": (42, 11, 28, 1.9),
    "both cores, share of one core's cycles": (0.55, 0.57, 0.57, 0.65),
    "cortex-m4": (16, 4.2, 10.5, 0.38),
    "cortex-m33": (16, 4.2, 10.5, 0.38),
    "cortex-m55": (4.7, 1.7, 5.2, 0.14),
    "rv32imc": (32, 8.5, 22, 0.80),
    "arena": (36_000, 12_000, 40_000, 1_500),
    "flash over weights, size": (14_336, 12_288, 14_336, 8_192),
    "flash over weights, balanced": (61_440, 30_720, 92_160, 16_384),
    "stack": (512, 512, 512, 256),
}
# The cost model's prediction of a whole network, from the emulator's count.
COST_ERROR = 0.05
LONGEST_GENERATION_S = 5.0


@dataclass
class Measured:
    """Of one model: figures by the names of ``LIMITS``, and what could not be right."""

    model: str
    figures: dict[str, float] = field(default_factory=dict)
    variants: dict[str, float] = field(default_factory=dict)
    cost_errors: dict[str, float] = field(default_factory=dict)
    generation_s: float = 0.0
    wrong: list[str] = field(default_factory=list)


def main(arguments: Sequence[str]) -> int:
    as_json = "--json" in arguments
    measured: list[Measured] = []
    status = report(figures(measured), as_json=as_json)
    if "--write" in arguments:
        write_page(ROOT / "docs/performance.md", [asdict(m) for m in measured], LIMITS)
    return status


def figures(measured: list[Measured]) -> Iterator[Figure]:
    with ProcessPoolExecutor(2) as pool:
        for index, found in enumerate(pool.map(measure, MODELS)):
            measured.append(found)
            for name, limits in LIMITS.items():
                if name in found.figures:
                    yield Figure(f"{found.model}: {name}", found.figures[name], limits[index], unit(name))
            for name, value in found.variants.items():
                print(f"       {found.model}: {name}: {value:,.3f} M cycles", file=sys.stderr)
            for mode, error in found.cost_errors.items():
                yield Figure(f"{found.model}: predicted cycles, {mode}, error", 100 * error, 100 * COST_ERROR, "%")
            yield Figure(f"{found.model}: generation", found.generation_s, LONGEST_GENERATION_S, "s")
            yield Figure(f"{found.model}: runs that differ {found.wrong or ''}", len(found.wrong), 0)


def unit(name: str) -> str:
    if name.startswith("cortex-m0plus"):
        return "M cycles"
    if "share" in name:
        return ""
    return "bytes" if name in {"arena", "stack"} or name.startswith("flash") else "M instructions"


def measure(name: str) -> Measured:
    """Everything about one model."""
    found = Measured(name)
    model = burnc.load(MODELS[name])
    inputs = inputs_of(model.graph)
    expected = tflite_micro_outputs(MODELS[name], inputs)
    for mode in MODES:
        pico(found, model, mode, inputs, expected)
    for core in CORES:
        run = model.simulate(core, inputs)
        check(found, f"{core}", model, run.outputs, expected)
        found.figures[core] = run.cycles / 1e6
    for weights in WEIGHTS:
        variant = Model(Loaded(with_weights(model.graph, weights), []), name=name)
        run = variant.simulate("pico", inputs[:1])
        found.variants[f"{weights} weights, balanced, flash cache"] = (run.cycles_with_flash_cache or 0) / 1e6
        if not run.matches_reference:
            found.wrong.append(f"{weights} weights")
    return found


def pico(found: Measured, model: Model, mode: str, inputs: list[dict[str, Array]], expected: list[Array]) -> None:
    board = load_board("pico") if mode != "speed" else without_cache(load_board("pico"))
    run = simulate(model.graph, board, inputs, optimize=mode, reference=burnc.device("numpy"))
    check(found, f"pico {mode}", model, run.outputs, expected)
    found.figures[f"cortex-m0plus {mode}"] = run.cycles / 1e6
    program = lower(model.graph, board, LowerOptions(name="m", optimize=mode))
    found.cost_errors[mode] = abs(program.cycles / run.cycles - 1)
    with tempfile.TemporaryDirectory() as folder:
        options = ExportOptions(model.name, optimize=mode, measure=True)
        exported = export(model.graph, board, options, Path(folder) / "out")
    found.figures[f"flash over weights, {mode}"] = exported.code_bytes
    if mode == "balanced":
        with_cache = run.cycles_with_flash_cache or 0
        found.figures["cortex-m0plus balanced, flash cache"] = with_cache / 1e6
        found.figures["weights and code in RAM, balanced"] = exported.in_ram_bytes
        found.figures["arena"] = run.arena_bytes
        found.figures["stack"] = run.stack_bytes or 0
        found.cost_errors["balanced, flash cache"] = abs((program.cycles + program.waits) / with_cache - 1)
        two_cores(found, model, inputs, expected, run)
    if mode == "speed":
        run = model.simulate("pico", inputs[:1], optimize=mode)
        found.figures["cortex-m0plus speed, flash cache"] = (run.cycles_with_flash_cache or 0) / 1e6
    found.generation_s = max(found.generation_s, generation_seconds(model, mode))


def two_cores(
    found: Measured, model: Model, inputs: list[dict[str, Array]], expected: list[Array], alone: SimulateReport
) -> None:
    """The same mode, with a helper on the second core."""
    run = model.simulate("pico", inputs, cores=2)
    check(found, "both cores", model, run.outputs, expected)
    found.figures["both cores, share of one core's cycles"] = run.cycles / alone.cycles
    waiting = (run.cycles_with_flash_cache or 0) / (alone.cycles_with_flash_cache or 1)
    found.figures["both cores, flash cache, share"] = waiting
    found.figures["both cores, arena"] = run.arena_bytes
    found.figures["both cores, stack of the helper"] = run.helper_stack_bytes or 0
    program = lower(model.graph, load_board("pico"), LowerOptions(name="m", cores=2))
    found.cost_errors["balanced, both cores"] = abs(sum(step.cycles for step in program.steps) / run.cycles - 1)


def without_cache(board: Board) -> Board:
    """The board with memory that never waits."""
    return replace(board, memories=tuple(replace(memory, cache=None) for memory in board.memories))


def generation_seconds(model: Model, mode: str) -> float:
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        model.export("pico", Path(folder) / "out", ExportOptions(optimize=mode))
    return time.perf_counter() - start


def inputs_of(graph: Graph) -> list[dict[str, Array]]:
    rng = np.random.default_rng(5)
    (x,) = graph.inputs
    return [{x.name: rng.integers(-128, 128, x.type.shape, dtype=np.int8)} for _ in range(RUNS)]


def check(found: Measured, where: str, model: Model, outputs: object, expected: list[Array]) -> None:
    (y,) = model.graph.outputs
    assert isinstance(outputs, dict)
    if not np.array_equal(outputs[y.name], np.stack(expected)):
        found.wrong.append(where)


def with_weights(graph: Graph, kind: str) -> Graph:
    """The network with other int8 weights: all of large magnitude, or most of them zero."""
    result = graph.copy()
    rng = np.random.default_rng(11)
    for node in result.nodes:
        index = spec_of(node).quant.weights if spec_of(node).quant else None
        value = None if index is None else node.input(index)
        if value is None or value.data is None or value.data.dtype != np.int8:
            continue
        if kind == "sparse":
            value.data = np.where(rng.random(value.data.shape) < ZERO_SHARE, 0, value.data).astype(np.int8)
        else:
            signs = np.where(rng.random(value.data.shape) < 0.5, -1, 1)
            value.data = (signs * rng.integers(96, 128, value.data.shape)).astype(np.int8)
    return result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
