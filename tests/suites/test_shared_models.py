"""The real networks keep what they reached; the ones that are not shipped are tested where their folder is."""

from __future__ import annotations

import pytest

import burnc
from burnc.errors import UnsupportedError
from burnc.ops import spec_of
from requirements import requires_package
from suites.shared_models import FOLDER, REACHED, check_meaning, golden_runs, model_files

FILES = model_files() if FOLDER.is_dir() else []
# More takes numpy too long; benchmarks/operators.py runs those too.
LARGEST_MACS = 1e8


@requires_package("tflite_micro")
@requires_package("onnxruntime")
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_it_keeps_what_it_reached(path):
    if path.stem in REACHED["refused"]:
        with pytest.raises(UnsupportedError):
            burnc.load(path)
        return
    model = burnc.load(path)
    if sum(spec_of(node).macs(node) for node in model.graph.nodes) <= LARGEST_MACS:
        exact = check_meaning(path, model, golden_runs(path, model))
        assert exact == (path.stem in REACHED["exact"])


def test_each_file_is_listed_once():
    listed = [name for names in REACHED.values() for name in names]
    assert len(listed) == len(set(listed))
    assert {path.stem for path in FILES} <= set(listed)
