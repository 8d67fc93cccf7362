"""An operator and a backend in a distribution of their own, installed beside burnc, work like those inside."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from burnc import ops
from burnc.errors import BurncError
from requirements import requires, requires_package

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy distribution, installed without a network into a folder of its own."""
    folder = tmp_path_factory.mktemp("toy")
    source = shutil.copytree(HERE / "toy", folder / "source")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    command += ["--disable-pip-version-check", "--no-compile", "--target", str(folder / "site"), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def python(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False)


@requires("host compiler")
@requires_package("hatchling")
def test_operator_and_backend_from_outside(site: Path, tmp_path: Path):
    done = python(site, str(HERE / "use_toy.py"), str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "the toy works\n"


@requires_package("hatchling")
def test_the_command_line_knows_them(site: Path):
    listed = python(site, "-c", "from burnc.cli.main import main; main()", "operators")
    assert "double" in listed.stdout, listed.stderr


def entry(value: str, name: str = "toy") -> list[EntryPoint]:
    return [EntryPoint(name, value, ops.GROUP)]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("burnc_no_such:toy", "No module named 'burnc_no_such'"),
        ("burnc.ops.clip:no_such", "no_such"),
        ("burnc.ops.clip:ClipAttrs", "it is no OpSpec"),
        ("burnc.ops.clip:clip", "exists already"),
    ],
)
def test_a_bad_operator_plug_in_is_named(value: str, why: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ops, "entry_points", lambda group: entry(value))
    ops.installed.cache_clear()
    try:
        with pytest.raises(BurncError, match=why) as caught:
            ops.operators()
        assert f"entry point toy = {value}" in str(caught.value)
    finally:
        ops.installed.cache_clear()
