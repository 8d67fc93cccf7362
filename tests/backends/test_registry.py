from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from burnc.backends import Backend, device, registry
from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import BurncError, ToolMissingError


class Elsewhere(NumpyReference):
    """A stranger's plug-in."""

    name = "elsewhere"

    def __init__(self, argument: str = "nothing") -> None:
        super().__init__()
        self.argument = argument


def install(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    entries = {name: EntryPoint(name, value, registry.GROUP) for name, value in values.items()}
    monkeypatch.setattr(registry, "available", lambda: entries)


@pytest.fixture
def plug_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    here = f"{__name__}:Elsewhere"
    monkeypatch.setattr(registry, "_load", lambda entry: {"numpy": NumpyReference}.get(entry.name, Elsewhere))
    install(monkeypatch, numpy="burnc.backends.numpy_reference:NumpyReference", elsewhere=here, board=here)


@pytest.mark.usefixtures("plug_ins")
@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("elsewhere", "nothing"),
        ("elsewhere:0", "0"),
        ("elsewhere:/dev/ttyACM0:115200", "/dev/ttyACM0:115200"),
        ("pico", "pico"),
        ("RP2040", "RP2040"),
        ("board:pico", "pico"),
    ],
)
def test_names(name: str, argument: str):
    backend: Any = device(name)
    assert isinstance(backend, Elsewhere)
    assert backend.argument == argument


@pytest.mark.usefixtures("plug_ins")
def test_an_unknown_name_lists_the_known():
    with pytest.raises(BurncError) as caught:
        device("toaster")
    text = str(caught.value)
    assert "'toaster'" in text
    assert "elsewhere, numpy" in text
    assert "pico" in text


def test_a_missing_package_is_one_clear_line(monkeypatch: pytest.MonkeyPatch):
    install(monkeypatch, far="no_such_package_at_all.backend:Backend")
    with pytest.raises(ToolMissingError, match="no_such_package_at_all") as caught:
        device("far")
    assert "'far'" in str(caught.value)
    assert caught.value.__suppress_context__


def test_numpy_takes_no_argument(monkeypatch: pytest.MonkeyPatch):
    install(monkeypatch, numpy="burnc.backends.numpy_reference:NumpyReference")
    assert isinstance(device("numpy"), Backend)
    with pytest.raises(BurncError, match="no argument"):
        device("numpy:3")
