"""The suite's judges: do two executables agree on a graph?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np

from burnc.ir import Array

RELATIVE, ABSOLUTE = 1e-5, 1e-6
"""A float result may differ from the wanted w by RELATIVE * |w| + ABSOLUTE * max |w|."""


class Runnable(Protocol):
    """An executable, or an oracle."""

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]: ...


def differences(subject: Runnable, oracle: Runnable, inputs: Iterable[Mapping[str, Array]]) -> list[str]:
    """One line for each result of ``subject`` that is not what ``oracle`` says; integers must be equal."""
    found: list[str] = []
    for number, arrays in enumerate(inputs):
        got, wanted = subject.run(arrays), oracle.run(arrays)
        if list(got) != list(wanted):
            found.append(f"input set {number}: results {list(got)}, expected {list(wanted)}")
        found += [
            f"input set {number}, {name}: {line}" for name in wanted for line in disagreement(got[name], wanted[name])
        ]
    return found


def disagreement(got: Any, wanted: Any) -> list[str]:
    """Nothing, or what is wrong with one array."""
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return [f"{got.dtype}{list(got.shape)}, expected {wanted.dtype}{list(wanted.shape)}"]
    wrong = ~_close(got, wanted) if wanted.dtype.kind == "f" else got != wanted
    if not wrong.any():
        return []
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return [f"{int(wrong.sum())} of {wrong.size} differ, first at {list(at)}: {got[at]}, expected {wanted[at]}"]


def _close(got: Any, wanted: Any) -> Any:
    finite = np.isfinite(wanted)
    largest = np.max(np.abs(wanted), initial=0.0, where=finite)
    close = (
        np.abs(got - np.where(finite, wanted, 0)) <= RELATIVE * np.abs(np.where(finite, wanted, 0)) + ABSOLUTE * largest
    )
    return np.where(finite, close, (got == wanted) | (np.isnan(got) & np.isnan(wanted)))
