"""What lies in RAM: the cache's model against one that is played through, the budget, the firmware, the prediction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import burnc
from burnc.boards import Cache, load_board
from burnc.codegen.emit_c import emit_c
from burnc.codegen.flash_waits import missing_share
from burnc.codegen.lower import LowerOptions, lower
from burnc.pipeline import ExportOptions

AUTOENCODER = Path(__file__).resolve().parents[1] / "models/mlperf_ad_int8.tflite"
RESNET = Path(__file__).resolve().parents[1] / "models/mlperf_ic_resnet8_int8.tflite"
BUDGET = 60_000
PICO_CACHE = Cache(size=16_384, ways=2, line=8, miss_cycles=56)


def swept_share(regions: list[tuple[int, int]], cache: Cache) -> float:
    """The share of the first region's lines that miss in the third of three equal sweeps over all of them."""
    sets = cache.size // cache.line // cache.ways
    held: list[list[int]] = [[] for _ in range(sets)]
    missed = lines = 0
    for sweep in range(3):
        for number, (address, size) in enumerate(regions):
            for line in range(address // cache.line, (address + size) // cache.line):
                ways = held[line % sets]
                if sweep == 2 and number == 0:
                    lines, missed = lines + 1, missed + (line not in ways)
                if line in ways:
                    ways.remove(line)
                ways.append(line)
                del ways[: -cache.ways]
    return missed / lines


@pytest.mark.parametrize("size", [4096, 16_384, 18_432, 22_528, 40_000])
@pytest.mark.parametrize("ways", [1, 2, 4])
def test_a_sweep_misses_what_a_played_cache_misses(size: int, ways: int) -> None:
    cache = Cache(size=16_384, ways=ways, line=8, miss_cycles=56)
    assert missing_share(size, 0, cache) == pytest.approx(swept_share([(0, size)], cache), abs=1e-9)


@pytest.mark.parametrize(("size", "beside"), [(9216, 3000), (12_288, 6000), (3000, 9216)])
def test_what_lies_beside_is_expected_anywhere(size: int, beside: int) -> None:
    places = [1 << 20 | place for place in range(0, 8192, 256)]
    played = [swept_share([(0, size), (place, beside)], PICO_CACHE) for place in places]
    assert missing_share(size, beside, PICO_CACHE) == pytest.approx(np.mean(played), abs=0.01)


def test_the_budget_holds_what_saves_most() -> None:
    graph = burnc.load(RESNET).graph
    programs = [lower(graph, load_board("pico"), LowerOptions("resnet", ram_budget=b)) for b in (0, BUDGET, None)]
    placed = [p.placed_bytes for p in programs]
    waits = [sum(step.waits for step in p.steps) for p in programs]
    assert placed[0] == 0
    assert placed[1] <= BUDGET < placed[2] <= programs[2].ram_budget
    assert waits[0] > waits[1] > waits[2]
    assert programs[2].ram_budget + programs[2].plan.bytes == int(0.55 * 270_336)
    assert any(".section .time_critical.resnet" in text for text in emit_c(programs[2]).values())
    without = lower(graph, load_board("cortex-m4"), LowerOptions(ram_budget=BUDGET))
    assert not without.placed  # its flash never waits


def test_firmware_copies_it_to_ram_and_waits_as_predicted(tmp_path: Path) -> None:
    model = burnc.load(AUTOENCODER)
    plain, placed = (
        model.export("pico", tmp_path / f"{budget}", ExportOptions(measure=True, ram_budget=budget))
        for budget in (0, BUDGET)
    )
    assert 0.9 * BUDGET < placed.in_ram_bytes <= BUDGET
    assert placed.in_ram_bytes == sum(item.bytes for item in placed.in_ram)
    assert placed.ram_bytes - plain.ram_bytes == pytest.approx(placed.in_ram_bytes, abs=32)
    assert placed.flash_bytes == pytest.approx(plain.flash_bytes, abs=64)
    report = model.simulate("pico", 1, ram_budget=BUDGET)
    assert report.matches_reference
    predicted = model.inspect("pico", ram_budget=BUDGET)
    assert predicted.cycles_with_flash_cache == pytest.approx(report.cycles_with_flash_cache, rel=0.05)
    assert predicted.cycles == pytest.approx(report.cycles, rel=0.05)
