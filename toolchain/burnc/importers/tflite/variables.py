"""Variables of a TFLite file (resources that VAR_HANDLE names): state, or constants where nothing assigns them.

Operators of a file run in its order, so a variable is at every place what was assigned to it last; only what it holds
at the beginning and at the end of a run is state.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from burnc.importers.tflite.reading import FileOperator, FileSubgraph
from burnc.ir import Array, Builder, State, TensorType, Value
from burnc.ops.mapping import RefusalError


@dataclass(eq=False)
class Variable:
    """One variable.

    Attributes:
        initial: what CALL_ONCE leaves in it, a constant; real zeros where it says nothing.
        state: made when a run reads what the one before it left.
        current: what it holds at this place of the run; None before it is first read or assigned.
    """

    container: str
    name: str
    initial: Value | None = None
    state: State | None = None
    current: Value | None = None


class Variables:
    """All variables of one import, by container and name.

    Args:
        assigned: container and name of those that a run assigns; None where that cannot be told.
    """

    def __init__(self, assigned: Collection[tuple[str, str]] | None) -> None:
        self._assigned = assigned
        self._by_name: dict[tuple[str, str], Variable] = {}

    def named(self, container: str, name: str) -> Variable:
        return self._by_name.setdefault((container, name), Variable(container, name))

    def read(self, variable: Variable, type: TensorType, builder: Builder) -> Value:
        """What it holds now; at first a state, or a constant where no run assigns it.

        Raises:
            RefusalError: that is of another type, or nothing is ever assigned to it.
        """
        if variable.current is None:
            variable.current = self._at_first(variable, type, builder)
        return _of_type(variable, variable.current, type)

    def _at_first(self, variable: Variable, type: TensorType, builder: Builder) -> Value:
        data: Array | None = None
        if variable.initial is not None:
            data = _of_type(variable, variable.initial, type).data
            if self._is_constant(variable):
                return variable.initial
        elif self._is_constant(variable):
            raise RefusalError(f"variable {variable.name!r} is read, but nothing assigns it")
        variable.state = builder.state(variable.name or "variable", type, data)
        return variable.state.read

    def _is_constant(self, variable: Variable) -> bool:
        return self._assigned is not None and (variable.container, variable.name) not in self._assigned

    def assign(self, variable: Variable, value: Value) -> None:
        """Let it hold a value from here on.

        Raises:
            RefusalError: it is kept as another type.
        """
        if self._is_constant(variable):
            raise RefusalError(f"variable {variable.name!r} is assigned by what is called once and by runs, too")
        if variable.state is not None:
            _of_type(variable, value, variable.state.read.type)
        variable.current = value

    def initialize(self, variable: Variable, value: Value) -> None:
        """Let it begin as a constant; raises RefusalError where a run has used it already."""
        if variable.current is not None:
            raise RefusalError(f"variable {variable.name!r} is used before it is initialized")
        variable.initial = value

    def write_states(self) -> None:
        """At the end of the run: states keep what their variables hold."""
        for variable in self._by_name.values():
            if variable.state is not None and variable.current is not None:
                variable.state.write = variable.current


def _of_type(variable: Variable, value: Value, type: TensorType) -> Value:
    if value.type != type:
        raise RefusalError(f"variable {variable.name!r} holds {value.type}, but {type} is wanted")
    return value


def named_by(operator: FileOperator) -> tuple[str, str]:
    """Container and name that a VAR_HANDLE gives."""
    return str(operator.options.get("container", "")), str(operator.options.get("shared_name", ""))


def assigned_names(subgraphs: Sequence[FileSubgraph]) -> set[tuple[str, str]] | None:
    """The variables that runs assign; None where some handle is not made beside the assignment."""
    once = {o.options.get("init_subgraph_index") for s in subgraphs for o in s.operators if o.code == "CALL_ONCE"}
    names: set[tuple[str, str]] = set()
    for subgraph in subgraphs:
        if subgraph.index in once:
            continue
        made = [o for o in subgraph.operators if o.code == "VAR_HANDLE" and o.outputs]
        handles = {o.outputs[0]: named_by(o) for o in made}
        assigned = [o.inputs[0] for o in subgraph.operators if o.code == "ASSIGN_VARIABLE" and o.inputs]
        if any(index not in handles for index in assigned):
            return None
        names |= {handles[index] for index in assigned}
    return names
