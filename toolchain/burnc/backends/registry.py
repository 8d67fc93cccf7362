"""Backends by name, through the entry-point group ``burnc.backends``, loaded when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points, metadata
from importlib.util import find_spec

from burnc.backends.protocol import Backend
from burnc.boards import all_boards, load_board
from burnc.errors import BoardError, BurncError, ToolMissingError

GROUP = "burnc.backends"
BOARD = "board"


def device(name: str) -> Backend:
    """The backend of that name: ``numpy``, ``c``, a board's name or alias, ``serial:PORT``, ``cuda:0``, ...

    What follows a colon is handed to the backend.

    Raises:
        BurncError: there is no such backend.
        ToolMissingError: it needs a package that is not installed.
    """
    kind, _, argument = name.strip().partition(":")
    plug_ins = available()
    if kind not in plug_ins and _is_board(name):
        kind, argument = BOARD, name.strip()
    if kind not in plug_ins:
        boards = ", ".join(board.key for board in all_boards())
        raise BurncError(
            f"there is no device {name!r}",
            hint=f"backends: {', '.join(sorted(plug_ins))}; boards: {boards}; docs/choosing_a_backend.md",
        )
    constructor = _load(plug_ins[kind])
    return constructor(argument) if argument else constructor()


def available() -> dict[str, EntryPoint]:
    """Installed backends by name, not loaded."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


@dataclass(frozen=True)
class Installed:
    """A backend by name: what its class says of itself, or why it cannot be loaded."""

    name: str
    ok: bool
    description: str
    why: str


def installed() -> list[Installed]:
    """Every backend, loaded to see whether what it needs is there."""
    found = []
    for name, entry in sorted(available().items()):
        try:
            constructor = _load(entry)
        except BurncError as error:
            found.append(Installed(name, False, "", f"{error.what}: {error.hint}" if error.hint else error.what))
        else:
            line = (constructor.__doc__ or "").strip().partition("\n")[0]
            found.append(Installed(name, True, line.replace("``", ""), ""))
    return found


def _is_board(name: str) -> bool:
    try:
        load_board(name)
    except BoardError:
        return False
    return True


def _extras() -> list[str]:
    """The extras of burnc itself; one that has a backend's name brings what that backend needs."""
    return metadata("burnc").get_all("Provides-Extra") or []


def _load(entry: EntryPoint) -> Callable[..., Backend]:
    try:
        constructor: Callable[..., Backend] = entry.load()
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0] or str(error)
        if find_spec(package) is not None:
            raise  # it is there and lacks a module: a fault, not something the user could install
        raise ToolMissingError(
            f"device {entry.name!r} needs the Python package {package!r}, which is not installed",
            where=f"entry point {entry.value}",
            hint=f"pip install 'burnc[{entry.name}]'" if entry.name in _extras() else f"pip install {package}",
        ) from None
    return constructor
