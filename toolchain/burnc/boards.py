"""Boards as data: one TOML file a board, read into frozen dataclasses.

A board's key is the name of its file. Everything that is true of one board stands in that file; nothing in Python
names a board.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar, cast

from burnc.errors import BoardError
from burnc.resources import data_folder

MemoryKind = Literal["flash", "ram"]


@dataclass(frozen=True)
class Cpu:
    """Core by its usual name (``cortex-m0plus``), number of cores, clock in hertz (None where it is not fixed)."""

    core: str
    count: int
    clock_hz: int | None


@dataclass(frozen=True)
class Cache:
    """A cache in front of a memory; sizes in bytes, ``miss_cycles`` CPU cycles to fetch one line."""

    size: int
    ways: int
    line: int
    miss_cycles: int


@dataclass(frozen=True)
class Memory:
    """One memory region: origin an address, size and erase sector in bytes (sector None where nothing is erased)."""

    name: str
    kind: MemoryKind
    origin: int
    size: int
    sector: int | None = None
    cache: Cache | None = None


@dataclass(frozen=True)
class Build:
    """What firmware for the board is made from: support sources, a linker script, further compiler flags."""

    support: Path
    link_script: Path
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Image:
    """What the flash image needs: a checksum over a second-stage boot, and the UF2 family where UF2 is used."""

    boot2_crc: bool = False
    uf2_family: int | None = None


@dataclass(frozen=True)
class Uart:
    """The serial link to the host: baud, and the pins by the names printed on the board."""

    baud: int
    tx: str
    rx: str


@dataclass(frozen=True)
class FlashMethod:
    """One way to get firmware onto the board; ``options`` holds what is particular to the method."""

    method: str
    usb: tuple[int, int] | None
    touch_1200: bool
    options: Mapping[str, object]


@dataclass(frozen=True)
class Bootloader:
    """burnc's resident bootloader: bytes it takes at the start of flash, and bytes that are programmed at once."""

    size: int
    page: int


@dataclass(frozen=True)
class Board:
    """A target. ``key`` is the file's name, ``name`` the one for people, ``aliases`` further names for commands.

    ``usb_id`` is what the firmware's USB serial port calls itself: vendor and product. ``sim_options`` holds what is
    particular to the emulator.
    """

    key: str
    name: str
    mcu: str
    aliases: tuple[str, ...]
    cpu: Cpu
    memories: tuple[Memory, ...]
    build: Build | None
    image: Image
    uart: Uart | None
    usb_id: tuple[int, int] | None
    flash_methods: tuple[FlashMethod, ...]
    bootloader: Bootloader | None
    sim_engine: str | None
    sim_options: Mapping[str, object]
    active_watts: float | None

    def first_memory(self, kind: MemoryKind) -> Memory | None:
        """The first region of a kind, which firmware is linked to; None on a board without limits."""
        return next((memory for memory in self.memories if memory.kind == kind), None)

    @property
    def flash_bytes(self) -> int | None:
        """Size of the flash that firmware is linked to, in bytes; None where there is no limit."""
        memory = self.first_memory("flash")
        return memory.size if memory else None

    @property
    def ram_bytes(self) -> int | None:
        """Size of the RAM that firmware is linked to, in bytes; None where there is no limit."""
        memory = self.first_memory("ram")
        return memory.size if memory else None


def all_boards() -> list[Board]:
    """Every board that this installation describes, by key.

    Raises:
        BoardError: a description is wrong.
    """
    return [_read_board(path) for path in _board_files()]


def load_board(name_or_path: str) -> Board:
    """The board of that key, name or alias (case does not matter), or the one that a ``.toml`` file describes.

    Raises:
        BoardError: no such board (the hint names the nearest ones), or its description is wrong.
    """
    if name_or_path.endswith(".toml"):
        return _read_board(Path(name_or_path))
    wanted = name_or_path.strip().casefold()
    boards = all_boards()
    for board in boards:
        if wanted in _names(board):
            return board
    known = sorted({name for board in boards for name in _names(board)})
    near = difflib.get_close_matches(wanted, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known boards: {', '.join(b.key for b in boards)}"
    raise BoardError(f"no board is called {name_or_path!r}", hint=f"{hint}  `burnc boards` lists all of them")


def _names(board: Board) -> set[str]:
    return {name.casefold() for name in (board.key, board.name, *board.aliases)}


def _board_files() -> list[Path]:
    return sorted(data_folder("boards").glob("*.toml"))


_Scalar = TypeVar("_Scalar", str, int, float, bool)
_KIND_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


class _Table:
    """A TOML table that checks types as it is read and knows where it stands in which file."""

    def __init__(self, content: Mapping[str, object], file: Path, place: str = "") -> None:
        self._content = content
        self._file = file
        self._place = place
        self._read: set[str] = set()

    def error(self, key: str, what: str) -> BoardError:
        return BoardError(
            f"{self._place}{key} {what}", where=str(self._file), hint="docs/adding_a_board.md describes the format"
        )

    def has(self, key: str) -> bool:
        return key in self._content

    def get(self, key: str, kind: type[_Scalar], default: _Scalar | None = None) -> _Scalar:
        self._read.add(key)
        if key not in self._content:
            if default is None:
                raise self.error(key, "is missing")
            return default
        value = self._content[key]
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:  # not isinstance: a bool is an int there
            raise self.error(key, f"must be {_KIND_WORDS[kind]}, not {value!r}")
        return value

    def positive(self, key: str) -> int:
        value = self.get(key, int)
        if value <= 0:
            raise self.error(key, f"must be positive, not {value}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(cast(str, item) for item in self._list(key, str, "a list of texts"))

    def usb_id(self, key: str) -> tuple[int, int] | None:
        if not self.has(key):
            return None
        items = self._list(key, int, "a list of vendor and product number")
        if len(items) != 2:
            raise self.error(key, "must be a list of vendor and product number")
        return cast(tuple[int, int], tuple(items))

    def table(self, key: str) -> _Table | None:
        self._read.add(key)
        value = self._content.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.error(key, "must be a table")
        return _Table(value, self._file, f"{self._place}{key}.")

    def tables(self, key: str) -> list[_Table]:
        items = self._list(key, dict, f"a list of tables, [[{key}]]")
        return [
            _Table(cast(Mapping[str, object], item), self._file, f"{self._place}{key}[{index}].")
            for index, item in enumerate(items)
        ]

    def rest(self) -> dict[str, object]:
        """The entries nobody has asked for."""
        return {key: value for key, value in self._content.items() if key not in self._read}

    def done(self) -> None:
        """Refuse what nobody has asked for: most likely a slip of the pen."""
        for key in self.rest():
            near = difflib.get_close_matches(key, self._read, n=1)
            raise self.error(key, "is not known here" + (f"; did you mean {near[0]}?" if near else ""))

    def _list(self, key: str, kind: type, words: str) -> list[object]:
        self._read.add(key)
        value = self._content.get(key, [])
        if not isinstance(value, list) or any(type(item) is not kind for item in value):
            raise self.error(key, f"must be {words}")
        return value


def _read_board(path: Path) -> Board:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BoardError("the board file does not exist", where=str(path)) from None
    except OSError as error:
        raise BoardError(f"the board file cannot be read: {error.strerror}", where=str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BoardError(f"the board file is not valid TOML: {error}", where=str(path)) from error
    table = _Table(content, path)
    sim_engine, sim_options = _read_sim(table.table("sim"))
    board = Board(
        key=path.stem,
        name=table.get("name", str),
        mcu=table.get("mcu", str),
        aliases=table.texts("aliases"),
        cpu=_read_cpu(table),
        memories=tuple(_read_memory(item) for item in table.tables("memory")),
        build=_read_build(table.table("build"), path),
        image=_read_image(table.table("image")),
        uart=_read_uart(table.table("uart")),
        usb_id=_read_usb(table.table("usb")),
        flash_methods=tuple(_read_flash_method(item) for item in table.tables("flash")),
        bootloader=_read_bootloader(table.table("bootloader")),
        sim_engine=sim_engine,
        sim_options=sim_options,
        active_watts=_read_only(table.table("energy"), "active_watts", float),
    )
    table.done()
    if board.build is not None and not (board.first_memory("flash") and board.first_memory("ram")):
        raise table.error("memory", "must list a flash and a ram region, because the board has a [build] table")
    _check_bootloader(table, board)
    return board


def _read_cpu(board: _Table) -> Cpu:
    table = board.table("cpu")
    if table is None:
        raise board.error("cpu", "is missing")
    clock_hz = table.positive("clock_hz") if table.has("clock_hz") else None
    cpu = Cpu(core=table.get("core", str), count=table.positive("count"), clock_hz=clock_hz)
    table.done()
    return cpu


def _read_memory(table: _Table) -> Memory:
    kind = table.get("kind", str)
    if kind not in ("flash", "ram"):
        raise table.error("kind", f"must be flash or ram, not {kind!r}")
    cache = table.table("cache")
    memory = Memory(
        name=table.get("name", str),
        kind=cast(MemoryKind, kind),
        origin=table.get("origin", int),
        size=table.positive("size"),
        sector=table.positive("sector") if table.has("sector") else None,
        cache=None if cache is None else Cache(**{key: cache.positive(key) for key in Cache.__dataclass_fields__}),
    )
    if cache is not None:
        cache.done()
    table.done()
    return memory


def _read_build(table: _Table | None, path: Path) -> Build | None:
    if table is None:
        return None
    name = table.get("support", str)
    beside = path.resolve().parent / "support" / name  # a user's own board may bring its own support code
    support = beside if beside.is_dir() else data_folder("boards") / "support" / name
    if not support.is_dir():
        raise table.error("support", f"names the folder support/{name}, which does not exist")
    if not (support.parent / "common").is_dir():
        shared = data_folder("boards") / "support"
        raise table.error("support", f"lies beside no folder support/common: copy what all boards share from {shared}")
    link_script = support / table.get("link_script", str)
    if not link_script.is_file():
        raise table.error("link_script", f"names {link_script.name}, which support/{name} does not hold")
    build = Build(support=support, link_script=link_script, flags=table.texts("flags"))
    table.done()
    return build


def _read_image(table: _Table | None) -> Image:
    if table is None:
        return Image()
    family = table.get("uf2_family", int) if table.has("uf2_family") else None
    image = Image(boot2_crc=table.get("boot2_crc", bool, False), uf2_family=family)
    table.done()
    return image


def _read_uart(table: _Table | None) -> Uart | None:
    if table is None:
        return None
    uart = Uart(baud=table.positive("baud"), tx=table.get("tx", str), rx=table.get("rx", str))
    table.done()
    return uart


def _read_usb(table: _Table | None) -> tuple[int, int] | None:
    if table is None:
        return None
    usb_id = table.usb_id("id")
    table.done()
    return usb_id


def _read_flash_method(table: _Table) -> FlashMethod:
    method = table.get("method", str)
    usb = table.usb_id("usb")
    touch_1200 = table.get("touch_1200", bool, False)
    return FlashMethod(method=method, usb=usb, touch_1200=touch_1200, options=table.rest())


def _read_bootloader(table: _Table | None) -> Bootloader | None:
    if table is None:
        return None
    bootloader = Bootloader(size=table.positive("size"), page=table.positive("page"))
    table.done()
    return bootloader


def _check_bootloader(table: _Table, board: Board) -> None:
    if board.bootloader is None:
        return
    flash = board.first_memory("flash")
    if board.build is None or flash is None or flash.sector is None:
        raise table.error("bootloader", "needs a [build] table and a flash region with a sector size")
    size, sector = board.bootloader.size, flash.sector
    if size % sector or not 2 * sector <= size < flash.size:
        raise table.error("bootloader.size", f"must be two sectors of {sector} bytes or more, and less than the flash")
    if sector % board.bootloader.page:
        raise table.error("bootloader.page", f"must divide the sector of {sector} bytes")


def _read_sim(table: _Table | None) -> tuple[str | None, Mapping[str, object]]:
    """The emulator, and what is particular to it."""
    if table is None:
        return None, {}
    return table.get("engine", str), table.rest()


def _read_only(table: _Table | None, key: str, kind: type[_Scalar]) -> _Scalar | None:
    if table is None:
        return None
    value = table.get(key, kind)
    table.done()
    return value
