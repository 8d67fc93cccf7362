"""What of a program lies in RAM, so that a run does not wait for it: what saves most cycles for its bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from burnc.boards import Board, Cache
from burnc.codegen.flash_waits import missing_share, run_again, sweep_waits
from burnc.codegen.program import Code, ConstantArray, Kernel, Params, Placed, Program, Step, bytes_of
from burnc.codegen.runtime_files import assembly_of

Item = ConstantArray | Code | Kernel

# The share of the board's RAM that arena, state and what is placed there may take unless the user says otherwise.
_SHARE_OF_RAM = 0.55
# What a KiB of RAM must spare of a run, so that it is worth taking.
_LEAST_SHARE_OF_RUN = 1 / 6000
# What two cores lose by fetching the instructions of one kernel through one cache. Seen on the emulated RP2040.
_SHARE_LOST_AT_FETCH = 0.05
# Of the functions in assembly for the Cortex-M0+, as they are assembled.
ASSEMBLY_BYTES = {
    "burnc_add_linear_s8": 132,
    "burnc_depthwise_pairs_s8_m0": 1180,
    "burnc_depthwise_rows_s8_m0": 608,
    "burnc_dot_pairs_s8_m0": 1636,
    "burnc_dot_quads_s8_m0": 2220,
    "burnc_pack_pairs_s8_m0": 168,
    "burnc_pack_words_s8_m0": 104,
}
# What the linker may leave free before each of them.
LARGEST_GAP = 3
# Of the run function and a parameter struct, for each step.
_CALL_BYTES = 100


def ram_budget(program: Program, wanted: int | None, arena: int) -> int:
    """Bytes of constants and code that may lie in RAM: what was asked for, else what a share of the board's RAM leaves.

    Args:
        arena: bytes that the arena takes.
    """
    memory = program.board.first_memory("ram")
    if wanted is not None or memory is None or cache_of(program.board) is None:
        return wanted or 0
    taken = arena + program.state_bytes + program.buffer_bytes
    return max(0, int(memory.size * _SHARE_OF_RAM) - taken)


def cache_of(board: Board) -> Cache | None:
    """The cache that the board reads its flash through."""
    memory = board.first_memory("flash")
    return memory.cache if memory else None


def place(program: Program) -> None:
    """Choose what lies in RAM, within the program's budget, and say what each step then waits for."""
    cache = cache_of(program.board)
    if cache is None:
        return
    left = program.ram_budget
    savings = _savings(program.steps, cache) | _kernel_savings(program)
    # Of those that save alike, the large ones first: the small ones fill what is left.
    for item in sorted(savings, key=lambda i: (-round(savings[i] / max(1, bytes_of(i)), 3), -bytes_of(i))):
        least = bytes_of(item) / 1024 * _LEAST_SHARE_OF_RUN * program.cycles
        if bytes_of(item) + LARGEST_GAP <= left and savings[item] > least:
            left -= bytes_of(item) + LARGEST_GAP
            program.placed.append(Placed(item, savings[item]))
    in_ram = {placed.item for placed in program.placed}
    waits = _step_waits(program.steps, [[i for i in items_of(s) if i not in in_ram] for s in program.steps], cache)
    program.steps = [replace(step, waits=w) for step, w in zip(program.steps, waits, strict=True)]


def items_of(step: Step) -> list[Item]:
    """The constants and the code of a step, each once."""
    return list(dict.fromkeys(_items([argument for call in step.calls for argument in call.arguments])))


def _items(values: Sequence[object]) -> Iterator[Item]:
    for value in values:
        if isinstance(value, Params):
            yield from _items([field for _, field in value.fields])
        elif isinstance(value, ConstantArray | Code):
            yield value


def _savings(steps: Sequence[Step], cache: Cache) -> dict[Item, float]:
    """Cycles that a run waits for each constant and code, all of them in flash."""
    all_items = {item: bytes_of(item) for step in steps for item in items_of(step)}
    first = missing_share(sum(all_items.values()), 0, cache)
    savings: dict[Item, float] = {}
    for step in steps:
        items = items_of(step)
        total = sum(map(bytes_of, items)) + run_again(step.kernel_bytes)
        for item in items:
            size = bytes_of(item)
            waits = sweep_waits(size, total - size, step.sweeps, cache, first)
            savings[item] = savings.get(item, 0.0) + waits
    return savings


def _kernel_savings(program: Program) -> dict[Item, float]:
    """Cycles that two cores lose at each function in assembly, in flash: banks of RAM can be read side by side."""
    savings: dict[Item, float] = {}
    for step in program.steps:
        if step.second is not None and step.call.function not in program.functions:
            names = [name for name in assembly_of(step.call.function) if name in ASSEMBLY_BYTES]
            kernels = [Kernel(name, ASSEMBLY_BYTES[name]) for name in names]
            total = sum(kernel.bytes for kernel in kernels)
            for kernel in kernels:
                share = kernel.bytes / total * _SHARE_LOST_AT_FETCH
                savings[kernel] = savings.get(kernel, 0.0) + share * step.cycles
    return savings


def _step_waits(steps: Sequence[Step], in_flash: Sequence[Sequence[Item]], cache: Cache) -> list[float]:
    """What each step waits for; its kernel and constants may be in the cache still since they were last used."""
    reads: list[tuple[int, object, int]] = []
    for n, step in enumerate(steps):
        reads += [(n, n, _CALL_BYTES), (n, step.call.function, step.kernel_bytes)]
        reads += [(n, item, bytes_of(item)) for item in in_flash[n]]
    waits = [0.0] * len(steps)
    for position, (n, _, size) in enumerate(reads):
        first = missing_share(size, _between(reads, position) - size, cache)
        beside = sum(map(bytes_of, in_flash[n])) + run_again(steps[n].kernel_bytes) - size
        waits[n] += sweep_waits(size, max(0, beside), steps[n].sweeps, cache, first)
    return waits


def _between(reads: Sequence[tuple[int, object, int]], position: int) -> int:
    """Bytes that were read since the same were read last, one run like the other, and these themselves."""
    seen: dict[object, int] = {}
    for back in range(1, len(reads) + 1):
        _, key, size = reads[position - back]
        seen[key] = size
        if key == reads[position][1]:
            break
    return sum(seen.values())
