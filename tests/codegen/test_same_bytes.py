"""The same model, options and version give the same bytes, whatever the process, folder or hash seed."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from codegen.exported import MODELS, ROOT

_SCRIPT = """
import hashlib, sys
from pathlib import Path
from burnc.boards import load_board
from burnc.codegen.emit_c import emit_c
from burnc.codegen.lower import lower
from burnc.importers import import_model
from burnc.passes import canonical_passes, run_passes

for path in sys.argv[1:]:
    graph = import_model(Path(path))
    run_passes(graph, canonical_passes())
    for name, text in emit_c(lower(graph, load_board("pico"))).items():
        print(name, hashlib.sha256(text.encode()).hexdigest())
"""


def test_two_processes_give_the_same_bytes(tmp_path):
    answers = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        folder.mkdir()
        paths = []
        for model in ("resnet", "emx_kws"):
            paths.append(folder / f"a{seed}{'.tflite' if model == 'resnet' else '.onnx'}")
            paths[-1].write_bytes((ROOT / MODELS[model]).read_bytes())
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", _SCRIPT, *map(str, paths)]
        answers.append(subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True).stdout)
    assert answers[0] == answers[1]
    assert answers[0].count(b"\n") > 20


def test_no_date_and_no_path(exported):
    for model in ("kws", "mnist8"):
        for path in exported(model).folder.glob("*.[ch]"):
            text = path.read_text()
            assert not re.search(r"\b20\d\d-\d\d|\b\d\d:\d\d:\d\d|__DATE__|__TIME__", text)
            assert not re.search(r"/(tmp|home|usr|Users)/", text)
            assert str(ROOT) not in text


def test_header_names_what_it_was_made_from(exported):
    import hashlib

    from burnc.version import VERSION

    found = exported("kws")
    text = (found.folder / f"{found.prefix}.h").read_text()
    banner = text[: text.index("*/")]
    assert f"burnc {VERSION}" in banner
    assert hashlib.sha256((ROOT / MODELS["kws"]).read_bytes()).hexdigest() in banner
    assert re.search(r"arena \d+ bytes", banner)
