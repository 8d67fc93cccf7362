"""What ships: the wheel and the source archive hold the packages, the data and the licences, and no tests."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import HeaderParser
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import burnc
from gpu import cupy_on_cpu
from requirements import requires, requires_package

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """(names in the sdist without its top folder, the opened wheel); the wheel is built from the sdist."""
    out = tmp_path_factory.mktemp("dist")
    built = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT],
        check=False,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    (sdist,) = out.glob("burnc-*.tar.gz")
    (wheel,) = out.glob("burnc-*.whl")
    with tarfile.open(sdist) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    with zipfile.ZipFile(wheel) as opened:
        yield names, opened


def tracked(*folders):
    names = subprocess.run(["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in names.stdout.split("\0") if name and (ROOT / name).exists()}


@requires("git")
@requires_package("build", "hatchling")
class TestArchives:
    def test_sdist_holds_every_tracked_file(self, archives):
        assert tracked() - archives[0] == set()

    def test_wheel_holds_all_data(self, archives):
        held = set(archives[1].namelist())
        data = tracked("boards", "templates", "runtime_c", "examples/mnist_pico", "examples/kws_pico")
        expected = {f"burnc/_data/{name}" for name in data if not name.startswith("runtime_c/tests/")}
        assert expected - held == set()
        assert {"burnc/_data/examples/mnist_pico/digits.npz", "burnc/_data/runtime_c/LICENSE-0BSD"} <= held

    def test_installed_package_finds_its_data(self, archives, tmp_path):
        archives[1].extractall(tmp_path)
        code = (
            "from burnc.resources import data_folder; "
            "print(*(data_folder(name) for name in ['boards', 'examples', 'runtime_c', 'templates']), sep='\\n')"
        )
        found = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        data = tmp_path / "burnc" / "_data"
        assert found.split() == [str(data / name) for name in ["boards", "examples", "runtime_c", "templates"]]

    def test_wheel_holds_both_packages_typed(self, archives):
        held = set(archives[1].namelist())
        shipped = {name.partition("/")[2] for name in tracked("toolchain", "host_backends")}
        assert {name for name in shipped if not Path(name).name.startswith("test_")} - held == set()
        assert {"burnc/py.typed", "burnc_host/py.typed"} <= held

    def test_wheel_holds_nothing_else(self, archives):
        tops = {name.split("/")[0] for name in archives[1].namelist()}
        assert tops == {"burnc", "burnc_host", f"burnc-{burnc.__version__}.dist-info"}
        for name in archives[1].namelist():
            assert "/tests/" not in name
            assert "__pycache__" not in name
            assert not Path(name).name.startswith(("test_", "conftest"))

    def test_wheel_holds_the_licences(self, archives):
        info = f"burnc-{burnc.__version__}.dist-info"
        for name in ["LICENSE", "LICENSE-MIT", "LICENSE-APACHE", "runtime_c/LICENSE-0BSD"]:
            assert f"{info}/licenses/{name}" in archives[1].namelist()
        metadata = HeaderParser().parsestr(archives[1].read(f"{info}/METADATA").decode())
        assert metadata["License-Expression"] == "MIT OR Apache-2.0"
        assert metadata["Version"] == burnc.__version__
        assert not [line for line in metadata.get_all("Requires-Dist") if "<" in line.split(";")[0]]


@pytest.mark.parametrize("name", sorted(burnc.__all__))
def test_public_names_resolve(name):
    assert getattr(burnc, name) is not None


def test_importing_burnc_loads_nothing_heavy():
    code = (
        "import sys, burnc; "
        "heavy = {'numpy', 'onnx', 'tflite', 'jinja2', 'rich'} | {'burnc.ir', 'burnc.ops', 'burnc.model'}; "
        "print(*sorted(heavy & set(sys.modules)))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == ""


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = burnc.no_such_name


@requires("nvrtc")
def test_every_built_in_backend_loads(monkeypatch: pytest.MonkeyPatch):
    cupy_on_cpu.install(monkeypatch)  # CuPy itself is for machines with a GPU
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["burnc.backends"]
    found = {entry.name: entry for entry in entry_points(group="burnc.backends")}
    assert set(declared) <= set(found), "install the package again: pip install -e ."
    for name in declared:
        assert found[name].load().name == name


def test_lock_files_say_nothing_of_their_origin():
    for lock in ["requirements.lock", "requirements-dev.lock"]:
        for line in (ROOT / lock).read_text().splitlines():
            assert line.startswith("    --hash=sha256:") or "==" in line, line
            assert "://" not in line
