"""What commands answer, as data: the JSON that other tools rely on is made from these (``to_json``)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from burnc.ir import Array

SCHEMA = 1


class Report:
    """A dataclass with a JSON form."""

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON types, with ``schema: 1`` first."""
        return {"schema": SCHEMA, **_plain(asdict(self))}  # type: ignore[call-overload]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON has no infinity and no NaN
    return value


@dataclass(frozen=True)
class LayerReport:
    """One layer: its node's name, operator, MACs, the kernel that computes it and its result's bytes."""

    name: str
    op: str
    macs: int
    kernel: str
    output_bytes: int


@dataclass(frozen=True)
class PlacedReport:
    """Constants or code that lie in RAM, copied from flash at start-up, and the waits that this spares a run."""

    name: str
    bytes: int
    saved_cycles: int


@dataclass(frozen=True)
class BandsReport:
    """Layers that are computed together in ``count`` bands of rows, so that less RAM is needed.

    ``recomputed_macs`` are computed more than once, ``recomputed_percent`` of the MACs of a run without bands. Its
    arena has ``arena_bytes_before`` bytes.
    """

    count: int
    layers: list[str]
    recomputed_macs: int
    recomputed_percent: float
    arena_bytes_before: int


@dataclass(frozen=True)
class ExportReport(Report):
    """``measured``: the sizes were read from a linked ELF, not estimated. Bytes; the stack is not in ``ram_bytes``.

    ``in_ram`` lists the constants and the code that lie in RAM; ``in_ram_bytes`` of ``ram_bytes`` are theirs.
    """

    model: str
    board: str
    optimize: str
    files: list[str]
    macs: int
    parameters: int
    arena_bytes: int
    state_bytes: int
    weights_bytes: int
    code_bytes: int
    flash_bytes: int
    ram_bytes: int
    fits: bool
    measured: bool
    layers: list[LayerReport]
    in_ram_bytes: int = 0
    in_ram: list[PlacedReport] = field(default_factory=list)
    bands: BandsReport | None = None


@dataclass(frozen=True)
class LayerCycles:
    """One layer of a simulated run."""

    name: str
    op: str
    macs: int
    cycles: int


@dataclass(frozen=True)
class SimulateReport(Report):
    """One inference on an emulated board. ``matches_reference`` is None where there is no model to compare with.

    ``unit`` says what all ``cycles`` are: ``cycles``, or ``instructions`` on an emulator that knows nothing of time;
    there ``latency_ms`` and ``energy_uj`` are None. ``cycles`` and the layers' are those of memory that never waits;
    ``cycles_with_flash_cache`` has the waits for flash in it. Latency and energy are made from it where it is known.
    ``cores`` are the board's, of which ``cores_used`` shared a run; the second one's stack is ``helper_stack_bytes``.
    """

    board: str
    engine: str
    unit: str
    cores: int
    clock_hz: int
    cycles: int
    cycles_with_flash_cache: int | None
    latency_ms: float | None
    energy_uj: float | None
    layers: list[LayerCycles]
    flash_bytes: int
    ram_bytes: int
    arena_bytes: int
    stack_bytes: int | None
    inferences: int
    outputs: Mapping[str, Array | str]
    matches_reference: bool | None
    cores_used: int = 1
    helper_stack_bytes: int | None = None
    bands: BandsReport | None = None


@dataclass(frozen=True)
class FirstDifference:
    """Where a device first left the reference: in the result of ``node``, at ``index``."""

    node: str
    op: str
    index: list[int]
    expected: float
    got: float


@dataclass(frozen=True)
class TargetVerdict:
    """``verdict``: bit-exact, within-tolerance, differs or unavailable; ``why`` says more of the last two.

    ``latency_ms`` of one run at ``clock_hz`` where the target is a board, else None.
    """

    name: str
    verdict: str
    inputs: int = 0
    mismatches: int = 0
    max_abs_diff: float = 0.0
    first_difference: FirstDifference | None = None
    why: str = ""
    latency_ms: float | None = None
    clock_hz: int | None = None


@dataclass(frozen=True)
class ValidateReport(Report):
    """What each device answered, compared with ``reference``."""

    reference: str
    targets: list[TargetVerdict]

    @property
    def ok(self) -> bool:
        return all(t.verdict in ("bit-exact", "within-tolerance") for t in self.targets)


@dataclass(frozen=True)
class FlashReport(Report):
    """What went onto a board. ``port`` is where the board is now, a serial port or else its drive.

    ``written_bytes`` is 0 where the board held the image already. ``verified``: flash was read back, by CRC-32.
    ``answers`` is the model that the new firmware says it serves; None where it was not asked.
    """

    board: str
    method: str
    port: str
    model: str | None
    address: int
    image_bytes: int
    written_bytes: int
    seconds: float
    verified: bool
    answers: str | None


@dataclass(frozen=True)
class EvaluateReport(Report):
    """Accuracy as a fraction of ``samples``."""

    model: str
    device: str
    samples: int
    correct: int
    accuracy: float


@dataclass(frozen=True)
class TensorReport:
    """A value and its type as the printed form writes it."""

    name: str
    type: str


@dataclass(frozen=True)
class ChangeReport:
    """What a pass did to the graph: places changed, and the nodes that it removed, replaced or made."""

    name: str
    count: int
    nodes: list[str]


@dataclass(frozen=True)
class InspectReport(Report):
    """``fits`` and what follows it are None without a board. ``latency_ms`` has the waits for flash in it.

    ``advice``: where RAM is too small, whether a limit (``--max-ram``) would help.
    """

    model: str
    format: str
    inputs: list[TensorReport]
    outputs: list[TensorReport]
    operators: dict[str, int]
    macs: int
    parameters: int
    unsupported: list[dict[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    changes: list[ChangeReport] = field(default_factory=list)
    tensors: list[TensorReport] = field(default_factory=list)
    states: list[TensorReport] = field(default_factory=list)
    board: str | None = None
    fits: bool | None = None
    arena_bytes: int | None = None
    flash_bytes: int | None = None
    ram_bytes: int | None = None
    in_ram_bytes: int | None = None
    in_ram: list[PlacedReport] = field(default_factory=list)
    cycles: int | None = None
    cycles_with_flash_cache: int | None = None
    latency_ms: float | None = None
    bands: BandsReport | None = None
    advice: str = ""


@dataclass(frozen=True)
class NodeErrorReport:
    """Signal-to-quantization-noise ratios in decibels of a node's value; ``own_sqnr_db`` is the node's share alone."""

    node: str
    op: str
    value: str
    sqnr_db: float
    own_sqnr_db: float | None
    flagged: bool


@dataclass(frozen=True)
class QuantizeReport(Report):
    """``nodes`` holds the signal-to-quantization-noise ratio of each node's result, where it was asked for."""

    model: str
    output: str | None
    samples: int
    int8_values: int
    values: int
    left_in_float: list[str]
    warnings: list[str]
    nodes: list[NodeErrorReport]
