"""Writes the generated pages of docs/; with --check it only says which of them are out of date (exit status 1)."""

from __future__ import annotations

import sys
from pathlib import Path

from burnc.ops.described import Described, described_operators

HERE = Path(__file__).resolve().parent

OPERATORS_HEAD = """\
# Operators

Written by `make docs` from `toolchain/burnc/ops`; do not edit. `burnc operators` prints the same on your machine.

- A name in the first column is the IR's. One operator may stand for several of a model file, and one of a file may
  become several here. The file of that name in `toolchain/burnc/ops` says what of each is refused.
- *float*, *int8* and *int16* (16-bit activations, 8-bit weights) count the cases of the conformance suite behind what
  comes from an ONNX or a TFLite file: each is run on every backend, integer ones with several sets of scales and zero
  points. *apart*: tested outside the table of cases. An empty cell: there is no such kind, or the format has no such
  operator.
- What depends on constants and shapes alone (ONNX's Constant, Shape, Gather of a shape and the like) is computed when
  the file is read, and needs no operator.
- ONNX operators that are not named here but that the standard defines by others (LayerNormalization,
  GroupNormalization, ReduceL2, Attention and the like) are read as those others.
- All of them run on every backend: what has no hand-written kernel is rendered from the operator's own definition.

An operator that is missing can be [added](adding_an_operator.md), also from outside the package.

| operator | ONNX | float | int8 | int16 | TFLite | float | int8 | int16 | meaning |
|---|---|---|---|---|---|---|---|---|---|
"""

INTERNAL_HEAD = """
Operators that stand for none of a file: passes, quantization and training make them.

| operator | float | int8 | int16 | meaning |
|---|---|---|---|---|
"""


def operators_page() -> str:
    """docs/operators.md."""
    found = described_operators()
    of_files = [_row(op.name, *_half(op.onnx, op), *_half(op.tflite, op), op.meaning) for op in found if _names(op)]
    others = [_row(op.name, *_counts(op), op.meaning) for op in found if not _names(op)]
    return OPERATORS_HEAD + "".join(of_files) + INTERNAL_HEAD + "".join(others)


def _names(op: Described) -> list[str]:
    return op.onnx + op.tflite


def _row(name: str, *cells: str) -> str:
    return f"| `{name}` | {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _half(names: list[str], op: Described) -> list[str]:
    """The cells of one file format."""
    return [", ".join(names), *_counts(op)] if names else [""] * 4


def _counts(op: Described) -> list[str]:
    return ["" if count is None else str(count or "apart") for count in (op.float_cases, op.int8_cases, op.int16_cases)]


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
