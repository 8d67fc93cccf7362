"""boards/support/memory_functions.c, compiled for the host under other names, does what the C library does."""

from __future__ import annotations

import ctypes
import random

import pytest

from burnc.compilers.compile import CODE_FLAGS, OPTIMIZE_FLAGS, WARNING_FLAGS, compile_objects, link_shared_library
from burnc.compilers.toolchains import find_host_compiler
from burnc.resources import data_folder
from requirements import requires

pytestmark = requires("host compiler")
NAMES = ("memcpy", "memmove", "memset", "memcmp")
SIZE = 64


@pytest.fixture(scope="module", params=OPTIMIZE_FLAGS)
def functions(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("memory")
    compiler = find_host_compiler()
    objects = compile_objects(
        compiler,
        [data_folder("boards") / "support" / "memory_functions.c"],
        defines=[f"{name}=burnc_{name}" for name in NAMES],
        flags=[*CODE_FLAGS, *WARNING_FLAGS, OPTIMIZE_FLAGS[request.param], "-fPIC"],
        out_dir=folder,
    )
    library = ctypes.CDLL(str(link_shared_library(compiler, objects, output=folder / "memory.so")))
    return {name: getattr(library, f"burnc_{name}") for name in NAMES}


@pytest.fixture
def places():
    """Offsets and lengths with every alignment, from a fixed seed."""
    numbers = random.Random(1)
    return [(numbers.randrange(16), numbers.randrange(16), numbers.randrange(40)) for _ in range(500)]


def filled() -> ctypes.Array[ctypes.c_ubyte]:
    return (ctypes.c_ubyte * SIZE)(*range(SIZE))


@pytest.mark.parametrize("name", ["memcpy", "memmove"])
def test_copy(functions, places, name):
    for to, start, count in places:
        source, target = filled(), (ctypes.c_ubyte * SIZE)()
        functions[name](ctypes.byref(target, to), ctypes.byref(source, start), ctypes.c_size_t(count))
        assert bytes(target) == (bytes(to) + bytes(source)[start : start + count]).ljust(SIZE, b"\0")


def test_move_within_one_buffer(functions, places):
    for to, start, count in places:
        buffer = filled()
        expected = bytearray(buffer)
        expected[to : to + count] = expected[start : start + count]
        functions["memmove"](ctypes.byref(buffer, to), ctypes.byref(buffer, start), ctypes.c_size_t(count))
        assert bytes(buffer) == bytes(expected)


def test_set(functions, places):
    for to, value, count in places:
        buffer = filled()
        expected = bytearray(buffer)
        expected[to : to + count] = bytes([value + 0xF0]) * count
        functions["memset"](ctypes.byref(buffer, to), value + 0xF0 - 256, ctypes.c_size_t(count))
        assert bytes(buffer) == bytes(expected)


@pytest.mark.parametrize(
    ("left", "right", "sign"), [(b"abc", b"abc", 0), (b"abc", b"abd", -1), (b"\xff", b"\x01", 1), (b"", b"", 0)]
)
def test_compare(functions, left, right, sign):
    assert functions["memcmp"](left, right, ctypes.c_size_t(len(left))) == sign
