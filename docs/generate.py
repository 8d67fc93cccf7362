"""Writes the generated pages of docs/; with --check it only says which of them are out of date (exit status 1)."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path

import burnc.ops

HERE = Path(__file__).resolve().parent

OPERATORS_HEAD = """\
# Operators

Written by `make docs` from `toolchain/burnc/ops`; do not edit. A name in the first column is the IR's; one operator may
stand for several of a model file, and one of a file may become several here. *float* and *int8* say which kinds run;
every kind runs on every backend, because what has no hand-written kernel is rendered from the operator's own
definition.

| operator | meaning | ONNX | TFLite | float | int8 |
|---|---|---|---|---|---|
"""


def operators_with_meaning() -> Iterator[tuple[burnc.ops.OpSpec, str]]:
    """Every operator of the package, with what the first line of its module's docstring says it is."""
    for info in sorted(pkgutil.iter_modules(burnc.ops.__path__), key=lambda info: info.name):
        module = importlib.import_module(f"burnc.ops.{info.name}")
        meaning = (module.__doc__ or "").strip().split("\n")[0].split(" Sources:")[0]
        for spec in vars(module).values():
            if isinstance(spec, burnc.ops.OpSpec):
                yield spec, meaning.removeprefix(f"{spec.name}: ").rstrip(".").replace("|", "\\|")


def operators_page() -> str:
    """docs/operators.md."""
    rows = []
    for spec, meaning in operators_with_meaning():
        onnx = ", ".join(f"{op.domain}.{op.op_type}" if op.domain else op.op_type for op in spec.onnx)
        tflite = ", ".join(op.code for op in spec.tflite)
        int8 = "yes" if spec.quant is not None else ""
        rows.append(f"| `{spec.name}` | {meaning} | {onnx} | {tflite} | yes | {int8} |\n")
    return OPERATORS_HEAD + "".join(sorted(rows))


PAGES = {"operators.md": operators_page}


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them."""
    stale = 0
    for name, write in PAGES.items():
        page, text = HERE / name, write()
        if page.exists() and page.read_text(encoding="utf-8") == text:
            continue
        if "--check" in arguments:
            print(f"docs/{name} is out of date: run make docs")
            stale = 1
        else:
            page.write_text(text, encoding="utf-8")
            print(f"wrote docs/{name}")
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
