"""The C of every operator in every conformance case, rendered: no compiler warns, as C99 and as C++11."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnc.boards import load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.ir import Graph
from codegen.exported import STRICT, run_tool, write
from conformance.single_node import float_subjects, int8_subjects, merged
from requirements import requires


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file of all programs; one program an operator, as arenas of many tensors at once take long to plan."""
    folder: Path = tmp_path_factory.mktemp("every")
    subjects = [*float_subjects(), *(s for s in int8_subjects() if s.setting and s.setting.name == "typical")]
    cases: dict[str, dict[str, Graph]] = {}
    for subject in subjects:
        kind = "float" if subject.setting is None else "int8"
        cases.setdefault(subject.spec.name, {})[f"{subject.name}.{kind}"] = subject.graph()
    board = load_board("host")
    for name, graphs in cases.items():
        write(lower(merged(graphs), board, LowerOptions(name=f"every_{name}", rendered_only=True)), folder)
    whole = folder / "together.c"
    whole.write_text("".join(f'#include "every_{name}.c"\n' for name in cases), encoding="utf-8")
    return whole


@requires("gcc")
def test_gcc(together: Path) -> None:
    run_tool("gcc", "-std=c99", *STRICT, "-fsyntax-only", together)


@requires("clang")
def test_clang(together: Path) -> None:
    run_tool("clang", "-std=c99", *STRICT, "-fsyntax-only", together)


@requires("c++ compiler")
def test_cplusplus(together: Path) -> None:
    run_tool("g++", "-std=c++11", "-x", "c++", *STRICT, "-fsyntax-only", together)
