"""A lowered model: everything that the C will say, before it is text."""

from __future__ import annotations

from dataclasses import dataclass, field

from burnc.boards import Board
from burnc.codegen.flash_waits import Sweeps
from burnc.ir import Array, DType, Graph, Node, State, Value
from burnc.memory import ArenaPlan


@dataclass(frozen=True, eq=False)
class ConstantArray:
    """A ``const`` array in the weights file; ``name`` lacks the model's prefix."""

    name: str
    data: Array
    comment: str

    @property
    def dtype(self) -> DType:
        return DType.of(self.data)


@dataclass(frozen=True, eq=False)
class Params:
    """A ``static const`` parameter struct of a runtime kernel: (field, value) in the header's order."""

    name: str
    type: str
    fields: tuple[tuple[str, FieldValue], ...]  # a struct among them is pointed to


@dataclass(frozen=True, eq=False)
class Code:
    """Weights as instructions, in a file of their own, with the numbers for cores that cannot run them."""

    name: str
    text: str
    bytes: int
    twin: ConstantArray


@dataclass(frozen=True)
class Kernel:
    """A runtime function in assembly, and what it takes."""

    name: str
    bytes: int


def bytes_of(item: ConstantArray | Code | Kernel) -> int:
    return int(item.data.nbytes) if isinstance(item, ConstantArray) else item.bytes


FieldValue = int | ConstantArray | Code | Params | tuple[int, ...]


@dataclass(frozen=True)
class Scratch:
    """The scratch memory of the step itself, as pointer to elements of that type; ``offset`` within it, in bytes."""

    dtype: DType
    offset: int = 0


@dataclass(frozen=True)
class Slice:
    """The elements of a value from the byte ``offset`` on."""

    value: Value
    offset: int


Argument = Value | Slice | ConstantArray | Params | Scratch


@dataclass(frozen=True)
class Call:
    """One call in the run function; runtime functions start with ``burnc_``, rendered ones have bare names."""

    function: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Step:
    """One layer of the run: the nodes it computes and the kernel row that does it.

    Attributes:
        cycles: in memory that never waits.
        sweeps: how it reads its constants and code.
        kernel_bytes: of the kernel's code, about.
        waits: cycles that a run waits for flash here.
        second: where two cores share the layer, the part of the other core.
    """

    nodes: tuple[Node, ...]
    row: str
    call: Call
    scratch_bytes: int
    macs: int
    cycles: float
    sweeps: Sweeps = field(default=Sweeps())
    kernel_bytes: int = 0
    waits: float = 0.0
    second: Call | None = None

    @property
    def calls(self) -> tuple[Call, ...]:
        return (self.call,) if self.second is None else (self.call, self.second)

    @property
    def node(self) -> Node:
        """The node whose result the step writes."""
        return self.nodes[-1]


@dataclass(frozen=True)
class Placed:
    """A constant array or code that lies in RAM, copied from flash at start-up; ``saves`` cycles of each run."""

    item: ConstantArray | Code | Kernel
    saves: float

    @property
    def bytes(self) -> int:
        return bytes_of(self.item)


@dataclass(frozen=True)
class Port:
    """A model input or output as C sees it; ``symbol`` lacks the prefix."""

    value: Value
    symbol: str


@dataclass(frozen=True)
class StateBuffer:
    """A state in the state struct: its place in bytes, and the array it begins as where that is not one number."""

    state: State
    offset: int
    initial: ConstantArray | None


@dataclass(frozen=True)
class InBands:
    """A stage that is computed in ``count`` bands of rows, so that the arena has ``arena_before`` bytes no longer.

    ``nodes``: names of the operators. ``macs`` of a run without bands; ``recomputed`` are added to them.
    """

    count: int
    nodes: tuple[str, ...]
    macs: int
    recomputed: int
    arena_before: int


@dataclass
class Program:
    """What ``emit_c`` writes.

    Attributes:
        prefix: of every file and symbol.
        functions: rendered kernels, name (without prefix) -> C text with ``burnc_`` names.
        codes: weights as instructions; their numbers are no part of ``constants``.
        headers: runtime headers that the rendered kernels need.
        storage: for each value that lives in the arena, the name of its request in ``plan``.
        held: for each value that lives in the state struct, its byte offset there.
        shifts: for a value that is a part of another one's bytes, the byte of that one where it begins.
        left_out: results of which nothing is stored, as nothing reads them.
        borrowed: for each value that lives in a buffer of the caller's, the port of that buffer.
        ram_budget: bytes of constants and code that may be placed in RAM; those that are stand in ``placed``.
        io: ``arena`` (inputs and outputs inside the arena) or ``caller`` (buffers of the caller's own).
        cores: how many may share a run.
        in_bands: the stage that RAM asks to be computed in bands, where there is one.
    """

    graph: Graph
    prefix: str
    board: Board
    io: str
    optimize: str
    cores: int = 1
    inputs: list[Port] = field(default_factory=list)
    outputs: list[Port] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    constants: list[ConstantArray] = field(default_factory=list)
    params: list[Params] = field(default_factory=list)
    functions: dict[str, str] = field(default_factory=dict)
    codes: list[Code] = field(default_factory=list)
    headers: set[str] = field(default_factory=set)
    states: list[StateBuffer] = field(default_factory=list)
    storage: dict[Value, str] = field(default_factory=dict)
    held: dict[Value, int] = field(default_factory=dict)
    shifts: dict[Value, int] = field(default_factory=dict)
    left_out: set[Value] = field(default_factory=set)
    borrowed: dict[Value, Port] = field(default_factory=dict)
    plan: ArenaPlan = field(default_factory=lambda: ArenaPlan({}, 0, 0))
    ram_budget: int = 0
    placed: list[Placed] = field(default_factory=list)
    in_bands: InBands | None = None

    @property
    def weights_bytes(self) -> int:
        """Bytes of all constant arrays."""
        return sum(c.data.nbytes for c in self.constants)

    @property
    def placed_bytes(self) -> int:
        """Bytes of constants and code that lie in RAM."""
        return sum(p.bytes for p in self.placed)

    @property
    def buffer_bytes(self) -> int:
        """Bytes of inputs and outputs in buffers of the caller's own."""
        ports = [*self.inputs, *self.outputs] if self.io == "caller" else []
        return sum(port.value.type.nbytes for port in ports)

    @property
    def state_bytes(self) -> int:
        """Size of the state struct; 0 where the graph keeps no state."""
        if not self.states:
            return 0
        alignment = max(4, *(b.state.read.type.dtype.bytes for b in self.states))
        end = max(b.offset + b.state.read.type.nbytes for b in self.states)
        return -(-end // alignment) * alignment

    @property
    def cycles(self) -> float:
        """Of a run, in memory that never waits."""
        return sum(step.cycles for step in self.steps)

    @property
    def waits(self) -> float:
        """Cycles that a run waits for flash."""
        return sum(step.waits for step in self.steps)

    @property
    def macs(self) -> int:
        return sum(step.macs for step in self.steps)

    def offset(self, value: Value) -> int:
        """Byte offset of a value in the arena."""
        return self.plan.offsets[self.storage[value]] + self.shifts.get(value, 0)
