"""Runs firmware on an emulated board and says what it cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from burnc.backends.protocol import Executable
from burnc.devices.compare import differences
from burnc.devices.emulated_model import EmulatedModel
from burnc.ir import Array
from burnc.reports import LayerCycles, SimulateReport


def simulate(
    served: EmulatedModel,
    layers: Sequence[tuple[str, str, int]],
    arena_bytes: int,
    inputs: Sequence[Mapping[str, Array]],
    expected: Executable | None,
    progress: Callable[[str, int, int], None],
    cores: int = 1,
) -> SimulateReport:
    """Run all inputs and close the emulator.

    Args:
        layers: name, operator and MACs of each.
        expected: what the outputs are compared with, if anything.
        cores: how many the firmware was made for.

    Returns:
        The figures of the last inference, the stack of the first; ``outputs`` holds those of all, stacked along a new
        first axis where there are several; ``matches_reference`` is over all of them. Latency and energy are with the
        flash cache where the board has one.
    """
    graph, board = served.graph, served.board
    outputs: list[dict[str, Array]] = []
    matches = None if expected is None else True
    stack = helper_stack = None
    try:
        for done, arrays in enumerate(inputs):
            run = served.measured_run(arrays, measure_stack=done == 0)
            if done == 0:
                stack, helper_stack = run.report.stack_bytes, run.report.helper_stack_bytes
            outputs.append(run.outputs)
            if expected is not None:
                wanted = expected.run(arrays)
                matches = matches and not any(
                    differences(run.outputs[v.name], wanted[v.name]).any() for v in graph.outputs
                )
            progress("simulating", done + 1, len(inputs))
        with_cache = _cycles_with_flash_cache(served, inputs[-1])
    finally:
        served.close()
    clock = board.cpu.clock_hz or 1
    seconds = (with_cache or run.report.cycles) / clock if served.unit == "cycles" else None
    watts = board.active_watts if cores == 1 else None  # which the board file knows for one core
    names = [v.name for v in graph.outputs]
    return SimulateReport(
        board=board.key,
        engine=board.sim_engine or "",
        unit=served.unit,
        cores=board.cpu.count,
        cores_used=cores,
        clock_hz=clock,
        cycles=run.report.cycles,
        cycles_with_flash_cache=with_cache,
        latency_ms=None if seconds is None else seconds * 1e3,
        energy_uj=None if seconds is None or watts is None else watts * seconds * 1e6,
        layers=[LayerCycles(*layer, cycles) for layer, cycles in zip(layers, run.report.layer_cycles, strict=True)],
        flash_bytes=served.firmware.flash_bytes,
        ram_bytes=served.firmware.ram_bytes,
        arena_bytes=arena_bytes,
        stack_bytes=stack,
        helper_stack_bytes=helper_stack,
        inferences=len(outputs),
        outputs={n: outputs[0][n] if len(outputs) == 1 else np.stack([o[n] for o in outputs]) for n in names},
        matches_reference=matches,
    )


def _cycles_with_flash_cache(served: EmulatedModel, inputs: Mapping[str, Array]) -> int | None:
    """Of the second of two equal runs: what stays in the cache from one inference to the next is in it."""
    flash = served.board.first_memory("flash")
    if flash is None or flash.cache is None:
        return None
    served.close()
    served.flash_cache = True
    served.run(inputs)
    return served.measured_run(inputs).report.cycles
