"""Writes docs/performance.md from what benchmarks/mcu.py measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from burnc.files import write_file

# TFLite Micro with CMSIS-NN, the same models and the same emulation; gcc 12.2, -O2. Flash without the .tflite file.
PEER: Mapping[str, Sequence[float]] = {
    "cortex-m0plus speed": (131.5, 35.1, 104.6, 2.31),
    "cortex-m0plus size": (131.5, 35.1, 104.6, 2.31),
    "cortex-m0plus balanced": (131.5, 35.1, 104.6, 2.31),
    "cortex-m4": (29.87, 7.70, 24.10, 0.583),
    "cortex-m33": (29.96, 7.68, 24.05, 0.583),
    "cortex-m55": (4.91, 1.81, 6.56, 0.150),
    "arena": (54_980, 22_820, 100_708, 2_580),
    "flash over weights, size": (57_064, 59_580, 59_580, 33_176),
    "flash over weights, balanced": (57_064, 59_580, 59_580, 33_176),
}

HEAD = """\
# Performance

Written by `benchmarks/mcu.py --write`; do not edit. The four int8 networks of MLPerf Tiny, imported as `.tflite`; every
run's outputs equal those of tflite-micro bit for bit. `make bench-mcu` prints the figures again.

- Cortex-M0+: cycles of the emulated RP2040. *Flash cache*: with the waits for flash, which the chip reads through its
  16 KiB cache, 56 cycles for a line of 8 bytes (four bits a clock at half of the CPU's). Without: memory that never
  waits. `speed` is built twice, for either.
- *Weights and code in RAM* are copied from flash at start-up, so that a run does not wait for them
  ([kernels](kernels.md#what-lies-in-ram)). They are no part of the arena.
- *Both cores*: the same networks with a [helper](two_cores.md) on the RP2040's second core, `balanced`.
- Other cores: instructions under QEMU, which knows nothing of time.
- *Flash* is the smallest firmware's, less weights, biases and multipliers. *Arena* holds inputs and outputs too.
  *Stack* is counted from the call of the run function.
- The peer is TFLite Micro with CMSIS-NN, compiled with gcc 12.2 at -O2 and counted under the same emulation, in memory
  that never waits; its flash is that of a build slimmed by hand, less the model file.
- No figure comes from real hardware.

"""

TAIL = """
Weights decide what straight-line code costs. With other weights in the same networks, `balanced`, M cycles with the
flash cache:

"""


def write_page(path: Path, measured: Sequence[Mapping[str, Any]], limits: Mapping[str, Sequence[float]]) -> None:
    """Put the table of measured figures, peers and goals into the page."""
    models = [m["model"] for m in measured]
    names = dict.fromkeys(name for m in measured for name in m["figures"])
    rows = [row for name in names for row in _rows(name, measured, limits)]
    variants = dict.fromkeys(name for m in measured for name in m["variants"])
    others = [[name.partition(",")[0], *(_number(m["variants"][name]) for m in measured)] for name in variants]
    text = HEAD + table(["", *models], rows) + TAIL + table(["", *models], others)
    write_file(path, text.encode(), force=True)


def _rows(name: str, measured: Sequence[Mapping[str, Any]], limits: Mapping[str, Sequence[float]]) -> list[list[str]]:
    values = [m["figures"][name] for m in measured]
    rows = [[f"**{name}**", *(f"**{_number(v)}**" for v in values)]]
    if name in PEER:
        rows.append(["the peer's", *(f"{_number(p)} ({p / v:.1f} x)" for p, v in zip(PEER[name], values, strict=True))])
    if name in limits:
        rows.append(["goal", *(_number(limit) for limit in limits[name])])
    return rows


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 1000 else f"{value:,.0f}".replace(",", " ")
