"""What the pages show is run: code blocks in the order of the page, and the options of every command line.

A block fenced as ``python file=x.py`` (or any other language) is written to that file; C files are compiled. One fenced
as plain ``python`` is run, and shares its names with those before it on the page.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import pytest

import burnc
from burnc.cli.main import COMMANDS, cli
from burnc.compilers.compile import WARNING_FLAGS, compile_objects
from burnc.compilers.toolchains import find_host_compiler
from burnc.ops import _registered
from burnc.pipeline import ExportOptions, QuantizeOptions
from requirements import requires

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").glob("*/README.md"))]
FENCE = re.compile(r"^```(\w*) *(?:file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS_A_BOARD = {"README.md": requires("arm compiler", "node", "rp2040js", "host compiler")}


@dataclass(frozen=True)
class Block:
    language: str
    file: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(m[1], m[2] or "", m[3], text.count("\n", 0, m.start()) + 2) for m in FENCE.finditer(text)]


def runnable(page: Path) -> bool:
    return any(b.language == "python" for b in blocks(page))


def command_lines(page: Path) -> Iterator[tuple[int, str]]:
    """Each ``burnc …`` line of the page's shell and console blocks, comments and continuations resolved."""
    for block in blocks(page):
        if block.language in ("sh", "console"):
            joined = block.text.replace("\\\n", " " * 2)
            for line in joined.split("\n"):
                command = line.removeprefix("$ ").strip()
                if command.startswith("burnc ") and (block.language == "sh" or line.startswith("$ ")):
                    yield block.line, command


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """The files that pages speak of: a float model, its int8 form, and a few digits."""
    folder = tmp_path_factory.mktemp("models")
    example = ROOT / "examples" / "mnist_pico"
    (folder / "model.onnx").write_bytes((example / "mnist8.onnx").read_bytes())
    with np.load(example / "digits.npz") as digits:
        np.savez(folder / "digits.npz", x=digits["x"][::250], y=digits["y"][::250])
    model = burnc.load(folder / "model.onnx")
    small = model.quantize(folder / "digits.npz", QuantizeOptions(samples=20))
    small.save(folder / "digits_int8.onnx")
    return folder


@pytest.fixture
def desk(models, tmp_path, monkeypatch):
    """An empty folder with those files; what a page imports or registers is forgotten afterwards."""
    for file in models.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    modules, operators = set(sys.modules), dict(_registered)
    yield tmp_path
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
    _registered.clear()
    _registered.update(operators)


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, marks=NEEDS_A_BOARD.get(p.name, requires("host compiler"))) for p in PAGES if runnable(p)],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_code_runs(page, desk):
    names: dict[str, object] = {}
    for block in blocks(page):
        if block.file:
            (desk / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            # Blank lines in front keep the page's line numbers in a traceback.
            exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), names)
    written = [desk / b.file for b in blocks(page) if b.file.endswith(".c")]
    if written:
        model = burnc.load("digits_int8.onnx")
        model.export("pico", "exported", ExportOptions(name="digits"))
        flags = [*WARNING_FLAGS, "-std=c99"]
        compile_objects(find_host_compiler(), written, out_dir=desk, include_dirs=[desk / "exported"], flags=flags)


COMMAND_LINES = [
    pytest.param(command, id=f"{page.relative_to(ROOT).as_posix()}:{line}:{command[:60]}")
    for page in PAGES
    for line, command in command_lines(page)
]


@pytest.mark.parametrize("line", COMMAND_LINES)
def test_command_line_is_understood(line):
    name, *arguments = shlex.split(line, comments=True)[1:]
    assert name in COMMANDS
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    command.make_context(name, arguments)


def test_pages_have_blocks_to_run():
    assert {"README.md", "adding_an_operator.md", "adding_a_backend.md", "adding_a_board.md"} <= {
        page.name for page in PAGES if runnable(page)
    }
    assert len(COMMAND_LINES) >= 10
