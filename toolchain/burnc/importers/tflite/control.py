"""Operators that hold a TFLite file together: variables, and subgraphs that are called. They make no nodes themselves.

A subgraph is inlined where it is called, so a condition must be constant; a loop whose condition is constant in every
turn is unrolled. Sources: TFLite's schema and TFLite Micro's kernels of these names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from burnc.importers.tflite.reading import FileOperator
from burnc.importers.tflite.scope import Control, Held, Scope
from burnc.importers.tflite.variables import named_by
from burnc.ir import Value
from burnc.ops.mapping import RefusalError, known_data


def var_handle(scope: Scope, operator: FileOperator) -> None:
    scope.bind(_only(operator.outputs), scope.shared.variables.named(*named_by(operator)))


def read_variable(scope: Scope, operator: FileOperator) -> None:
    variable, result = scope.handle(_operand(operator, 0)), _only(operator.outputs)
    if not scope.shared.is_before_runs:
        type_ = scope.declared_type(result)
        scope.bind(result, scope.shared.variables.read(variable, type_, scope.shared.builder))
    elif variable.initial is not None:
        scope.bind(result, variable.initial)
    else:
        raise RefusalError(f"variable {variable.name!r} is read before it is initialized")


def assign_variable(scope: Scope, operator: FileOperator) -> None:
    variable, value = scope.handle(_operand(operator, 0)), scope.value(_operand(operator, 1))
    if not scope.shared.is_before_runs:
        scope.shared.variables.assign(variable, value)
        return
    initial = _folded(scope, value)
    if initial.data is None:
        raise RefusalError(f"what variable {variable.name!r} begins as is not constant")
    scope.shared.variables.initialize(variable, initial)


def call_once(scope: Scope, operator: FileOperator) -> None:
    scope.called(_subgraph(operator, "init_subgraph_index"), (), before_runs=True)


def if_(scope: Scope, operator: FileOperator) -> None:
    condition, *arguments = _arguments(scope, operator)
    chosen = _subgraph(operator, "then_subgraph_index" if _truth(condition) else "else_subgraph_index")
    _bind(scope, operator, scope.called(chosen, arguments))


def while_(scope: Scope, operator: FileOperator) -> None:
    condition, body = (_subgraph(operator, f"{role}_subgraph_index") for role in ("cond", "body"))
    held = _arguments(scope, operator)
    while _truth(*scope.called(condition, held)):
        # Counters become constants again, so that the next condition is known at once.
        held = [_folded(scope, v) if isinstance(v, Value) else v for v in scope.called(body, held)]
    _bind(scope, operator, held)


def call(scope: Scope, operator: FileOperator) -> None:
    _bind(scope, operator, scope.called(_subgraph(operator, "subgraph"), _arguments(scope, operator)))


def _only(indices: Sequence[int]) -> int:
    if len(indices) != 1:
        raise RefusalError(f"it has {len(indices)} results, not one")
    return indices[0]


def _operand(operator: FileOperator, index: int) -> int:
    if index >= len(operator.inputs) or operator.inputs[index] == -1:
        raise RefusalError(f"input {index} is missing")
    return operator.inputs[index]


def _arguments(scope: Scope, operator: FileOperator) -> list[Held]:
    return [scope.argument(_operand(operator, i)) for i in range(len(operator.inputs))]


def _subgraph(operator: FileOperator, option: str) -> int:
    return int(operator.options.get(option, -1))


def _bind(scope: Scope, operator: FileOperator, results: Sequence[Held]) -> None:
    if len(results) != len(operator.outputs):
        raise RefusalError(f"what it calls gives {len(results)} results, not {len(operator.outputs)}")
    for index, held in zip(operator.outputs, results, strict=True):
        scope.bind(index, held)


def _truth(*condition: Held) -> bool:
    """A condition's value; raises RefusalError where it is not known before the model runs."""
    value = condition[0] if len(condition) == 1 else None
    data = known_data(value) if isinstance(value, Value) else None
    if data is None or data.size != 1:
        raise RefusalError("its condition is computed at run time; it must be constant")
    return bool(data.reshape(()))


def _folded(scope: Scope, value: Value) -> Value:
    """The value as a constant where it is known."""
    data = None if value.is_constant else known_data(value)
    return value if data is None else scope.shared.builder.constant(value.name, data, value.type.quant)


CONTROL: Mapping[str, Control] = {
    "ASSIGN_VARIABLE": assign_variable,
    "CALL": call,
    "CALL_ONCE": call_once,
    "IF": if_,
    "READ_VARIABLE": read_variable,
    "VAR_HANDLE": var_handle,
    "WHILE": while_,
}
