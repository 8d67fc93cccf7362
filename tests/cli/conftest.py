"""The command line in this process, and a small network, float and quantized."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
from click.testing import CliRunner

from burnc.cli.main import cli
from cli import nets


@dataclass(frozen=True)
class Answer:
    """What a command printed and its exit status."""

    status: int
    stdout: str
    stderr: str

    @property
    def json(self) -> dict[str, Any]:
        answer = json.loads(self.stdout, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
        assert answer["schema"] == 1
        return answer


class Burnc(Protocol):
    """A command's arguments and the exit status that it must have."""

    def __call__(self, *arguments: object, status: int = 0) -> Answer: ...


def run(*arguments: object, status: int = 0) -> Answer:
    """Run a command; a failing test shows all that it printed."""
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments], prog_name="burnc")
    assert done.exit_code == status, done.output
    assert "Traceback" not in done.output
    return Answer(done.exit_code, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def burnc() -> Burnc:
    return run


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="session")
def data(folder: Path) -> Path:
    return nets.samples(folder / "data.npz")


@pytest.fixture(scope="session")
def tiny(folder: Path) -> Path:
    return nets.classifier(folder / "tiny.onnx")


@pytest.fixture(scope="session")
def tiny_int8(folder: Path, tiny: Path, data: Path) -> Path:
    path = folder / "tiny_int8.onnx"
    run("quantize", tiny, "--calibration", data, "-o", path)
    return path
