"""Writes the generated pages of docs/; with --check it only says which of them are out of date (exit status 1)."""

from __future__ import annotations

import sys
from pathlib import Path

from burnc.ops import operators
from burnc.ops.described import described_operators

HERE = Path(__file__).resolve().parent

OPERATORS_HEAD = """\
# Operators

Written by `make docs` from `toolchain/burnc/ops`; do not edit. `burnc operators` prints the same on your machine.

- A name in the first column is the IR's. One operator may stand for several of a model file, and one of a file may
  become several here. The file of that name in `toolchain/burnc/ops` says what of each is refused.
- *float*, *int8* and *int16* (16-bit activations, 8-bit weights) count the cases of the conformance suite: each is run
  on every backend, integer ones with several sets of scales and zero points. *apart*: tested outside the table of
  cases. An empty cell: there is no such kind.
- What depends on constants and shapes alone (ONNX's Constant, Shape, Gather of a shape and the like) is computed when
  the file is read, and needs no operator.
- ONNX operators that are not named here but that the standard defines by others (LayerNormalization,
  GroupNormalization, ReduceL2, Attention and the like) are read as those others.
- All of them run on every backend: what has no hand-written kernel is rendered from the operator's own definition.

An operator that is missing can be [added](adding_an_operator.md), also from outside the package.

| operator | meaning | ONNX | TFLite | float | int8 | int16 |
|---|---|---|---|---|---|---|
"""


def operators_page() -> str:
    """docs/operators.md."""
    specs = operators()
    rows = []
    for described in described_operators():
        kinds = [kind for case in specs[described.name].cases for kind in case.kinds]
        cells = [
            f"`{described.name}`",
            described.meaning.replace("|", "\\|"),
            ", ".join(described.onnx),
            ", ".join(described.tflite),
            _count(kinds, "float32"),
            _count(kinds, "int8") if described.int8 else "",
            _count(kinds, "int16") if described.int16 else "",
        ]
        rows.append(f"| {' | '.join(cells)} |\n")
    return OPERATORS_HEAD + "".join(rows)


def _count(kinds: list[str], kind: str) -> str:
    return str(kinds.count(kind)) if kind in kinds else "apart"


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
