"""The whole card: train, export, build, flash an emulated Pico over a pty, validate everywhere; measures of the house.

``python benchmarks/whole_card.py [--json]`` prints the verdicts and exits 1 when a figure misses its threshold.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from figures import Figure, report

from burnc.boards import load_board
from burnc.devices.emulated_port import emulated_port
from burnc.ops import operators

ROOT = Path(__file__).resolve().parents[1]
BURNC = str(Path(sys.executable).with_name("burnc"))
TRAINING = ROOT / "examples/digits/train.toml"
DIGITS = ROOT / "examples/mnist_pico/digits.npz"
INPUTS = 20
# Operators that were chosen to bend the contracts, with the lines of code that each may take.
HARD_OPERATORS = {
    ("conv2d_input_gradient",): 150,
    ("conv2d_weight_gradient",): 150,
    ("softmax",): 150,
    ("lstm", "lstm_int8"): 250,
    ("resize", "interpolation"): 150,
    ("gather",): 150,
    ("top_k",): 150,
    ("fully_connected",): 150,
}


def main(arguments: Sequence[str]) -> int:
    return report(figures(), as_json="--json" in arguments)


def figures() -> Iterator[Figure]:
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        yield from card(Path(folder))
    yield Figure("train to validate, all together", time.perf_counter() - start, 8 * 60, "s")
    yield from house()


def card(folder: Path) -> Iterator[Figure]:
    """The main way through every room, by the command line alone."""
    trained = burnc("train", TRAINING, "--output", folder / "digits")
    yield Figure("float accuracy, held out", 100 * trained["float_accuracy"], 97.5, "%", at_most=False)
    loss = 100 * (trained["float_accuracy"] - trained["int8_accuracy"])
    yield Figure("accuracy lost by int8", loss, 0.3, "points")
    yield Figure("training", trained["seconds"], 180, "s")
    model = folder / "digits" / "int8.onnx"
    exported = burnc("export", model, "--board", "pico", "--project", "bare", "--measure", "-o", folder / "firmware")
    yield Figure("flash, of the Pico's", exported["flash_bytes"], 2 * 1024 * 1024, "bytes")
    with emulated_port(load_board("pico")) as port:
        flashed = burnc("flash", model, "--board", "pico", "--port", port)
        yield Figure("image flashed over the pty and verified", float(flashed["verified"]), 1, at_most=False)
        yield from verdicts(model, f"serial:{port}")
    yield from verdicts(model, "pico", "webgpu", "c", "numpy")


def verdicts(model: Path, *devices: str) -> Iterator[Figure]:
    options = [option for device in devices for option in ("--on", device)]
    answer = burnc("validate", model, *options, "--inputs", DIGITS, "--count", str(INPUTS))
    for target in answer["targets"]:
        name = "serial:PORT" if target["name"].startswith("serial:") else target["name"]
        print(f"       {name}: {target['verdict']} {target['why']}", file=sys.stderr)
        exact = target["verdict"] == "bit-exact" and target["inputs"] == INPUTS
        yield Figure(f"bit-exact on {INPUTS} digits: {name}", float(exact), 1, at_most=False)


def burnc(*arguments: object) -> dict[str, Any]:
    """A command's JSON answer; a command that could not answer ends the benchmark."""
    command = [BURNC, *map(str, arguments), "--json"]
    result = subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True)
    if result.returncode > 1:
        raise SystemExit(f"{' '.join(command)} failed with status {result.returncode}\n{result.stdout}")
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def house() -> Iterator[Figure]:
    """What must stay true of the source."""
    for names, limit in HARD_OPERATORS.items():
        count = sum(code_lines(ROOT / "toolchain/burnc/ops" / f"{name}.py") for name in names)
        yield Figure(f"code of {' + '.join(names)}", count, limit, "lines")
    package = [*(ROOT / "toolchain").rglob("*.py"), *(ROOT / "host_backends").rglob("*.py")]
    longest = max(package, key=line_count)
    yield Figure(f"longest source file ({longest.name})", line_count(longest), 500, "lines")
    folders = [ROOT / "toolchain/burnc" / room for room in ("importers", "exporters", "kernel")]
    branching = [branch for folder in folders for path in folder.rglob("*.py") for branch in name_branches(path)]
    for branch in branching:
        print(f"       branches on an operator's name: {branch}", file=sys.stderr)
    yield Figure("branches on an operator's name in importers and renderers", len(branching), 0)
    layers = subprocess.run([ROOT / ".ci/layers"], capture_output=True, check=False)
    yield Figure("import contracts broken", layers.returncode, 0)


def code_lines(path: Path) -> int:
    """Lines with code: neither blank, nor a comment or docstring alone."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    documented = [n for n in ast.walk(tree) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)]
    docstrings = [n.body[0] for n in documented if ast.get_docstring(n) is not None]
    quiet = {line for d in docstrings for line in range(d.lineno, (d.end_lineno or d.lineno) + 1)}
    lines = enumerate(text.splitlines(), start=1)
    return sum(
        number not in quiet and bool(line.strip()) and not line.lstrip().startswith("#") for number, line in lines
    )


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def name_branches(path: Path) -> Iterator[str]:
    """Comparisons with the name of an operator, IR's or a file format's, as ``file:line``."""
    names = set(operators())
    for spec in operators().values():
        names |= {mapping.op_type for mapping in spec.onnx} | {mapping.code for mapping in spec.tflite}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare):
            texts = {c.value for c in ast.walk(node) if isinstance(c, ast.Constant) and isinstance(c.value, str)}
            subject = ast.unparse(node.left)
            if texts & names and subject.endswith((".op", ".op_type", ".name", ".code")):
                yield f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(node)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
