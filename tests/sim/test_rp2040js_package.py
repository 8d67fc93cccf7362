"""The emulator's npm package is pinned, verified and either there whole or not at all."""

from __future__ import annotations

import io
import sys
import tarfile
from pathlib import Path

import pytest

from burnc.errors import BurncError, ToolMissingError
from burnc.sim import rp2040js_package
from burnc.sim.rp2040js_package import cached_package, obtain_package, unpack

FAKE_NPM = """
import sys
from pathlib import Path
folder = next(a for a in sys.argv if a.startswith("--pack-destination=")).partition("=")[2]
assert sys.argv[1:3] == ["pack", "rp2040js@1.4.1"]
Path(folder, "rp2040js-1.4.1.tgz").write_bytes(Path({tarball!r}).read_bytes())
"""


def tarball(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("BURNC_CACHE", str(folder))
    return folder


@pytest.fixture
def npm(tmp_path):
    """An npm that fetches a small package of the test's own."""
    packed = tarball(tmp_path / "fake.tgz", {"package/package.json": b"{}", "package/dist/index.js": b"1"})
    script = tmp_path / "npm.py"
    script.write_text(FAKE_NPM.format(tarball=str(packed)))
    return [sys.executable, str(script)]


def test_another_package_than_the_pinned_one_is_not_used(cache, npm):
    with pytest.raises(BurncError, match="not the one burnc was tested with"):
        obtain_package(npm=npm, report=lambda message: None)
    assert cached_package() is None
    assert list(cache.iterdir()) == []


def test_package_is_fetched_once(cache, npm, monkeypatch):
    monkeypatch.setattr(rp2040js_package, "verify", lambda data: None)
    messages: list[str] = []
    folder = obtain_package(npm=npm, report=messages.append)
    assert (folder / "dist" / "index.js").read_text() == "1"
    assert [entry.name for entry in cache.iterdir()] == ["rp2040js-1.4.1"]
    assert obtain_package(npm=["no such npm"], report=messages.append) == folder == cached_package()
    assert len(messages) == 1


@pytest.mark.parametrize("npm", [["no-such-npm-at-all"], [sys.executable, "-c", "import sys; sys.exit('ENOTFOUND')"]])
def test_without_network_or_npm_there_is_one_clear_error(cache, npm):
    with pytest.raises(ToolMissingError, match="npm could not fetch it") as caught:
        obtain_package(npm=npm, report=lambda message: None)
    assert "python -m burnc.sim.rp2040js_package" in caught.value.hint
    assert cached_package() is None


def test_cache_that_cannot_be_written(tmp_path, monkeypatch, npm):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BURNC_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(ToolMissingError, match="cannot be kept") as caught:
        obtain_package(npm=npm, report=lambda message: None)
    assert "BURNC_CACHE" in caught.value.hint


@pytest.mark.parametrize("name", ["../evil.js", "/evil.js", "package/../../evil.js", "other/evil.js"])
def test_archive_that_reaches_outside_is_refused(tmp_path, name):
    with pytest.raises(BurncError, match="outside its folder"):
        unpack(tarball(tmp_path / "evil.tgz", {name: b""}), tmp_path / "inner" / "package")
    assert not list(tmp_path.rglob("evil.js"))


def test_main_reports_failure_without_a_traceback(cache, monkeypatch, capsys):
    monkeypatch.setattr(rp2040js_package, "find_npm", lambda: ("no-such-npm-at-all",))
    assert rp2040js_package.main() == 2
    assert "error: the emulator needs" in capsys.readouterr().err
