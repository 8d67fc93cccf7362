"""The rules of .ci/house_rules.py hold, and each of them bites."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from requirements import requires

ROOT = Path(__file__).resolve().parents[1]


def load_rules() -> ModuleType:
    spec = importlib.util.spec_from_file_location("house_rules", ROOT / ".ci" / "house_rules.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


rules = load_rules()


@requires("git")
@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_rule_holds(rule):
    assert list(rule()) == []


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A tiny repository with one fault against each rule."""
    (tmp_path / "boards").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "boards" / "x.toml").write_text('name = "x"\n')
    (tmp_path / "long.py").write_text("x = 1\n" * 501)
    (tmp_path / "notes.txt").write_text("see /ro" + "ot/secret\nand https://pypi" + ".org/simple\n")
    (tmp_path / "docs" / "lost.md").write_text("# Lost\n")
    (tmp_path / "README.md").write_text("[gone](docs/gone.md) [elsewhere](https://example.org) ![picture](none.png)\n")
    monkeypatch.setattr(rules, "ROOT", tmp_path)
    monkeypatch.setattr(rules, "tracked_files", lambda: sorted(p for p in tmp_path.rglob("*") if p.is_file()))
    return tmp_path


def test_rules_bite(house):
    assert len(list(rules.every_free_file_says_so())) == 1
    assert len(list(rules.no_source_file_is_long())) == 1
    assert len(list(rules.no_file_names_a_machine())) == 2
    assert list(rules.every_page_is_reachable()) == [
        "README.md: the link to docs/gone.md leads nowhere",
        "docs/lost.md: no chain of links leads here from README.md",
    ]
