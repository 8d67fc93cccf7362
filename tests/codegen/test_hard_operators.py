"""Generated C with state, and of operators with several results, indices and 64-bit sums: the same contract."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from backends.test_state import GRAPHS, INPUTS, stream
from burnc.backends import device
from burnc.boards import load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.program import Program
from burnc.importers import import_model
from burnc.ir import Graph
from codegen.exported import ROOT, STRICT, Exported, build, run_driver, run_tool, write
from conformance.single_node import float_inputs, float_subjects, int8_inputs, int16_subjects, merged
from requirements import requires

SANITIZE = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
OPERATORS = ("lstm", "resize", "gather", "top_k")
LSTM = ROOT / "tests/models/tflm_mnist_lstm_int8.tflite"


def many() -> tuple[Graph, list[dict[str, np.ndarray]]]:
    """Every case of the operators side by side, and inputs by the cases' own ranges."""
    subjects = {s.name.replace("-", "_"): s for s in float_subjects() if s.spec.name in OPERATORS}
    graphs = {name: subject.graph() for name, subject in subjects.items()}
    runs = []
    for seed in range(2):
        arrays = {}
        for name, graph in graphs.items():
            found = float_inputs(graph, subjects[name].case, seed)
            arrays |= {f"{name}.{key}": array for key, array in found.items()}
        runs.append(arrays)
    return merged(graphs), runs


def unread() -> Graph:
    """Operators of whose results only some are read."""
    subjects = {s.name.replace("-", "_"): s for s in float_subjects() if s.name in ("gru-1", "lstm-2", "top_k-0")}
    graphs = {name: subject.graph() for name, subject in subjects.items()}
    for graph in graphs.values():
        graph.outputs = graph.outputs[1:]
    return merged(graphs)


def program_of(graph: Graph, io: str = "arena") -> Program:
    return lower(graph, load_board("host"), LowerOptions(name="hard", io=io))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Exported]:
    graphs = [
        *GRAPHS.values(),
        many()[0],
        unread(),
        import_model(LSTM),
        merged({s.name: s.graph() for s in int16_subjects()}),
    ]
    return [
        write(program_of(graph, io), tmp_path_factory.mktemp("hard"))
        for graph in graphs
        for io in (("arena", "caller") if graph.name == "swapping" else ("arena",))
    ]


@requires("gcc")
def test_gcc(models: list[Exported]):
    for model in models:
        run_tool("gcc", "-std=c99", *STRICT, "-fsyntax-only", *model.sources)


@requires("clang")
def test_clang(models: list[Exported]):
    for model in models:
        run_tool("clang", "-std=c99", *STRICT, "-fsyntax-only", *model.sources)


@requires("c++ compiler")
def test_cplusplus(models: list[Exported]):
    for model in models:
        run_tool("g++", "-std=c++11", "-x", "c++", *STRICT, "-fsyntax-only", *model.sources)


@requires("cppcheck")
def test_cppcheck(models: list[Exported]):
    options = (
        "--std=c99",
        "--enable=warning,performance,portability",
        "--error-exitcode=1",
        "--inline-suppr",
        "--quiet",
        "--max-configs=1",  # each further one takes as long again
    )
    few = [models[0], *models[-3:]]
    sources = [s for model in few for s in model.sources if not s.name.endswith("_weights.c")]
    for source in sources:
        run_tool("cppcheck", *options, "--suppress=missingIncludeSystem", source)


@requires("gcc")
def test_results_under_sanitizers(tmp_path: Path):
    graph, runs = many()
    model = write(program_of(graph), tmp_path)
    results = run_driver(build(model, SANITIZE), model.program, runs)
    for arrays, found in zip(runs, results, strict=True):
        for name, wanted in device("numpy").compile(graph).run(arrays).items():
            np.testing.assert_allclose(found[name], wanted, rtol=1e-5, atol=1e-6)


@requires("gcc")
def test_wide_sums_under_sanitizers(tmp_path: Path):
    some = list(int16_subjects())[::4]  # planning memory takes the square of the number of tensors
    graph = merged({s.name: s.graph() for s in some})
    model, runs = write(program_of(graph), tmp_path), list(int8_inputs(graph))
    executable = device("numpy").compile(graph)
    for arrays, found in zip(runs, run_driver(build(model, SANITIZE), model.program, runs), strict=True):
        for name, wanted in executable.run(arrays).items():
            np.testing.assert_array_equal(found[name], wanted)


STREAM = """\
#include <stdio.h>
#include "hard.h"

static hard_arena arena;
static hard_state state;

int main(void) {
    if (hard_self_test(&arena, &state) != BURNC_STATUS_OK) {
        return 3;
    }
    hard_reset(&state);
    while (fread(hard_x(&arena), sizeof(float), HARD_X_SIZE, stdin) == HARD_X_SIZE) {
        if (hard_run(&arena, &state) != BURNC_STATUS_OK) {
            return 4;
        }
        fwrite(hard_y(&arena), sizeof(float), HARD_Y_SIZE, stdout);
    }
    return hard_run(&arena, NULL) == BURNC_STATUS_INVALID_ARGUMENT ? 0 : 5;
}
"""


@requires("gcc")
@pytest.mark.parametrize("name", GRAPHS)
def test_a_stream_under_sanitizers(name: str, tmp_path: Path):
    """From the outside, as a program that uses the header does it."""
    graph = GRAPHS[name]
    model = write(program_of(graph), tmp_path)
    (tmp_path / "main.c").write_text(STREAM, encoding="utf-8")
    program = tmp_path / "stream"
    run_tool("gcc", "-std=c99", *SANITIZE, *model.sources, tmp_path / "main.c", f"-I{tmp_path}", "-o", program)
    answer = run_tool(program, stdin=b"".join(arrays["x"].tobytes() for arrays in INPUTS))
    wanted = stream(device("numpy").compile(graph))
    assert answer == b"".join(run["y"].tobytes() for run in wanted)
