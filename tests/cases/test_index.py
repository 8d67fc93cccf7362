"""The index of cases names tests that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INDEX = tomllib.loads((Path(__file__).parent / "index.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", INDEX)
def test_a_case_is_tested_or_says_why_not(case):
    entry = INDEX[case]
    assert entry.keys() <= {"tests", "why"}
    assert entry.get("tests") or entry.get("why")
    for place in entry.get("tests", ()):
        file, function = place.split("::")
        assert re.search(rf"def {function}\(", (ROOT / file).read_text(encoding="utf-8")), place
