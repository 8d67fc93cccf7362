"""Real networks that other people published: the folder ``$BURNC_MODELS``, or ``shared/models`` beside the checkout.

A model is *exact* where its integers equal those of TFLite Micro, *within* where floats lie within 1e-4 of the golden
output (of each number, and 1e-6 of the largest) or, for ONNX files that are quantized, each node within one step of
onnxruntime on equal inputs. Each must besides run as generated C under the sanitizers, and on an emulated board where
one holds it, with numpy's results: bit for bit where integers come out, else within burnc's tolerance.
"""

from __future__ import annotations

import csv
import os
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import burnc
from burnc.backends.registry import device
from burnc.boards import load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.devices.compare import within_tolerance
from burnc.errors import BurncError, DoesNotFitError, UnsupportedError
from burnc.ir import Array, DType, Graph
from burnc.model import Model
from burnc.ops import spec_of
from codegen.exported import build, run_driver, write
from oracles.quantized_nodes import largest_step
from oracles.tflm import RefusedError, TfliteMicro
from suites.tally import Ending

FOLDER = Path(os.environ.get("BURNC_MODELS", Path(__file__).resolve().parents[3] / "shared/models"))
# What each reached: it may only move up from refused to within to exact.
REACHED: dict[str, list[str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
BOARDS = ("microbit", "pico")
STEPS = 3
SANITIZE = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-ffp-contract=off")
# A simulation beyond this many multiplications takes longer than its answer is worth; soft floats cost ten times more.
BOARD_MACS = {True: 20e6, False: 4e6}


def model_files() -> list[Path]:
    return sorted(p for p in FOLDER.iterdir() if p.suffix in {".onnx", ".tflite"})


def endings() -> Iterator[Ending]:
    with ProcessPoolExecutor(2) as pool:
        yield from pool.map(ending, model_files())


def ending(path: Path) -> Ending:
    """What became of one file."""
    try:
        model = burnc.load(path)
    except UnsupportedError as error:
        return Ending(path.stem, "refused", " ".join(str(error).split())[:300])
    try:
        runs = golden_runs(path, model)
        exact = check_meaning(path, model, runs)
        assert exact or path.stem not in REACHED["exact"], "it was equal to TFLite Micro before"
        check_sanitized(model.graph, [arrays for arrays, _ in runs])
        check_board(model.graph, [arrays for arrays, _ in runs])
    except (AssertionError, BurncError) as error:
        return Ending(path.stem, "wrong", " ".join(str(error).split())[:600])
    return Ending(path.stem, "exact" if exact else "within")


Run = tuple[dict[str, Array], list[Array]]


def golden_runs(path: Path, model: Model) -> list[Run]:
    """Inputs by name and expected outputs, in the order of the file; consecutive steps from reset."""
    golden = np.load(FOLDER / "golden" / f"{path.name}.npz")
    runs = []
    for step in range(STEPS):
        if f"s{step}_in0" in golden:
            inputs = {v.name: golden[f"s{step}_in{k}"] for k, v in enumerate(model.graph.inputs)}
            shaped = {v.name: inputs[v.name].reshape(v.type.shape) for v in model.graph.inputs}
            (converted,) = model.inputs([shaped])
            runs.append(
                (converted, [golden_output(golden, f"s{step}_out{k}") for k in range(len(model.graph.outputs))])
            )
    assert runs, f"no golden output for {path.name}"
    return runs


def golden_output(golden: Mapping[str, Array], name: str) -> Array:
    """An output; a large one is stored as every so many rows and columns."""
    return golden[name] if name in golden else golden[f"{name}_sub"]


def thinned(got: Array, golden: Array) -> Array:
    """What a golden output holds of a result: all, or every n-th row and column."""
    if got.size == golden.size:
        return got.reshape(golden.shape)
    step = got.shape[-1] // golden.shape[-1]
    return got[..., ::step, ::step].reshape(golden.shape)


def check_meaning(path: Path, model: Model, runs: Sequence[Run]) -> bool:
    """Against the oracle of the file's kind; whether that demands equal bits."""
    quantized = any(v.type.quant is not None for node in model.graph.nodes for v in node.outputs)
    if path.suffix == ".tflite" and quantized and check_against_tflite_micro(path, model.graph, runs):
        return True
    if path.suffix == ".onnx" and quantized:
        check_steps(model.graph, runs)
        return False
    spread = kernels_spread(path) if any("beside float activations" in note for note in model.notes) else 0.0
    for got, (_, wanted) in zip(numpy_results(model.graph, [arrays for arrays, _ in runs]), runs, strict=True):
        for a, b in zip(got, wanted, strict=True):
            check_close(thinned(a, b), b, spread)
    return False


def kernels_spread(path: Path) -> float:
    """How far LiteRT's two sets of kernels lie apart: over hybrid weights each quantizes activations its own way."""
    with (FOLDER / "index.csv").open(newline="") as file:
        return next(float(row["ref_vs_default_maxdiff"]) for row in csv.DictReader(file) if row["file"] == path.name)


def check_against_tflite_micro(path: Path, graph: Graph, runs: Sequence[Run]) -> bool:
    """Golden inputs from reset, then random ones from reset; False where TFLite Micro refuses the file."""
    rng = np.random.default_rng(0)
    noise = [{v.name: random_input(v.type.dtype, v.type.shape, rng) for v in graph.inputs} for _ in range(STEPS)]
    for steps in ([arrays for arrays, _ in runs], noise):
        try:
            oracle = TfliteMicro(path.read_bytes(), 1 << 22)
            for got, arrays in zip(numpy_results(graph, steps), steps, strict=True):
                wanted = oracle.run(*arrays.values(), outputs=len(graph.outputs))
                for a, b in zip(got, wanted, strict=True):
                    np.testing.assert_array_equal(a.reshape(b.shape), b)
        except (RefusedError, RuntimeError):
            return False
    return True


def random_input(dtype: DType, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    if dtype is DType.FLOAT32:
        return rng.normal(0, 1, shape).astype(np.float32)
    low, high = dtype.limits
    return rng.integers(low, high + 1, shape).astype(dtype.numpy)


def check_steps(graph: Graph, runs: Sequence[Run]) -> None:
    """Each quantized node within one step of onnxruntime on equal inputs."""
    for arrays, _ in runs:
        for name, steps in largest_step(graph, arrays).items():
            assert steps <= 1, f"node {name!r} lies {steps} steps from onnxruntime"


def check_close(got: Array, wanted: Array, spread: float = 0.0) -> None:
    bound = 1e-4 * np.abs(wanted) + 1e-6 * np.max(np.abs(wanted), initial=0) + spread
    wrong = np.abs(got.astype(np.float64) - wanted) > bound
    assert not wrong.any(), f"{wrong.sum()} of {wrong.size} beyond 1e-4 of the golden output"


def numpy_results(graph: Graph, steps: Sequence[dict[str, Array]]) -> list[list[Array]]:
    executable = device("numpy").compile(graph)
    return [[outputs[v.name] for v in graph.outputs] for outputs in map(executable.run, steps)]


def check_equal(graph: Graph, where: str, got: Sequence[dict[str, Array]], steps: Sequence[dict[str, Array]]) -> None:
    for found, wanted in zip(got, numpy_results(graph, steps), strict=True):
        for value, b in zip(graph.outputs, wanted, strict=True):
            assert within_tolerance(found[value.name], b).all(), f"{where}: output {value.name!r} differs from numpy's"


def check_sanitized(graph: Graph, steps: Sequence[dict[str, Array]]) -> None:
    """The generated C, watched at every access and every sum."""
    with tempfile.TemporaryDirectory() as folder:
        written = write(lower(graph, load_board("host"), LowerOptions(name="net")), Path(folder) / "c")
        check_equal(graph, "C", run_driver(build(written, SANITIZE), written.program, steps), steps)


def check_board(graph: Graph, steps: Sequence[dict[str, Array]]) -> None:
    """The smallest emulated board that holds it."""
    macs = sum(spec_of(node).macs(node) for node in graph.nodes)
    quantized = any(v.type.quant is not None for node in graph.nodes for v in node.outputs)
    if macs > BOARD_MACS[quantized]:
        return
    for board in BOARDS:
        try:
            executable = device(board).compile(graph)
        except DoesNotFitError:
            continue
        check_equal(graph, board, [executable.run(arrays) for arrays in steps], steps)
        return
