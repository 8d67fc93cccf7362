"""Firmware for the Pico: it builds, its figures are those of the ELF, and the same input gives the same bytes."""

from __future__ import annotations

import shutil
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from burnc.board_support import linker_script
from burnc.boards import load_board
from burnc.compilers.boot2 import boot2_checksum, seal_boot2
from burnc.compilers.compile import OPTIMIZE_FLAGS, WARNING_FLAGS
from burnc.compilers.elf import Segment, flat_image, read_elf
from burnc.compilers.firmware import build_firmware
from burnc.compilers.uf2 import unpack_uf2
from burnc.errors import BoardError, CompileError, DoesNotFitError
from requirements import requires

HELLO = Path(__file__).parent / "hello" / "hello.c"
PICO = load_board("pico")


@pytest.fixture(
    params=[
        pytest.param("zig", marks=requires("ziglang")),
        pytest.param("arm_gcc", marks=requires("arm-none-eabi-gcc")),
    ]
)
def compiler(request):
    """Both cross compilers that burnc knows how to find."""
    return request.getfixturevalue(request.param)(PICO.cpu.core)


@pytest.mark.parametrize("optimize", OPTIMIZE_FLAGS)
def test_hello(compiler, tmp_path, optimize):
    firmware = build_firmware(
        PICO, [HELLO], out_dir=tmp_path, optimize=optimize, flags=WARNING_FLAGS, compiler=compiler
    )
    assert 2000 < firmware.flash_bytes < 4000
    assert firmware.ram_bytes <= 80
    assert firmware.bin.stat().st_size - firmware.flash_bytes in range(8)
    names = {symbol.name for symbol in firmware.symbols}
    assert {"main", "burnc_reset", "burnc_vectors", "SysTick_Handler"} <= names


def test_image_starts_the_program(compiler, tmp_path):
    firmware = build_firmware(PICO, [HELLO], out_dir=tmp_path, compiler=compiler)
    image = firmware.bin.read_bytes()
    assert firmware.address == 0x10000000
    assert image[:256] == seal_boot2(image[:256])
    stack, reset = struct.unpack_from("<2I", image, 256)
    assert stack == 0x20000000 + 264 * 1024
    reset_symbol = read_elf(firmware.elf).symbol("burnc_reset")
    assert reset_symbol is not None
    assert reset == reset_symbol.address | 1
    assert firmware.uf2 is not None
    uf2 = unpack_uf2(firmware.uf2.read_bytes())
    assert (uf2.address, uf2.family) == (0x10000000, 0xE48BFF56)
    assert uf2.content.startswith(image)
    assert flat_image(read_elf(firmware.elf).segments) == (0x10000000, image)


def test_same_bytes_from_other_folders(compiler, tmp_path):
    copy = tmp_path / "else where" / "hello.c"
    copy.parent.mkdir()
    shutil.copy(HELLO, copy)
    first = build_firmware(PICO, [HELLO], out_dir=tmp_path / "a", compiler=compiler)
    second = build_firmware(PICO, [copy], out_dir=tmp_path / "b c", compiler=compiler)
    assert first.elf.read_bytes() == second.elf.read_bytes()
    assert str(tmp_path).encode() not in first.elf.read_bytes()


def test_variables_and_helper_routines(compiler, tmp_path):
    source = tmp_path / "main.c"
    source.write_text(
        "#include <stdint.h>\n"
        "volatile int64_t numerator = 10;\n"
        "volatile float ratio = 0.5f;\n"
        "volatile uint32_t buffer[100];\n"
        "int main(void) { buffer[0] = (uint32_t)(numerator / 3) + (uint32_t)(ratio * 8.0f); return 0; }\n"
    )
    firmware = build_firmware(PICO, [source], out_dir=tmp_path, compiler=compiler)
    sizes = {symbol.name: symbol.size for symbol in firmware.symbols}
    assert sizes["buffer"] == 400
    assert 12 + 400 <= firmware.ram_bytes <= 12 + 400 + 88


@pytest.mark.parametrize(
    "declaration",
    ["volatile char big[300000];", "const volatile char big[3000000] = {1};", "volatile char big[269000];"],
)
def test_too_large(compiler, tmp_path, declaration):
    source = tmp_path / "main.c"
    source.write_text(f"{declaration}\nint main(void) {{ return big[{len(declaration)}]; }}\n")
    with pytest.raises(DoesNotFitError, match="does not fit the Raspberry Pi Pico"):
        build_firmware(PICO, [source], out_dir=tmp_path, compiler=compiler, flags=["-fno-builtin"])


def test_no_main(compiler, tmp_path):
    source = tmp_path / "nothing.c"
    source.write_text("int nothing;\n")
    with pytest.raises(CompileError, match=r"firmware\.elf cannot be linked") as caught:
        build_firmware(PICO, [source], out_dir=tmp_path, compiler=compiler)
    assert "main" in caught.value.where


def test_a_board_with_less_memory_is_another_linker_script():
    flash, ram = PICO.memories
    small = replace(PICO, memories=(replace(flash, size=65536), ram))
    assert "FLASH (rx) : ORIGIN = 0x10000000, LENGTH = 65536" in linker_script(small)


def test_the_host_takes_no_firmware(tmp_path):
    with pytest.raises(BoardError, match="does not say how firmware for it is built"):
        build_firmware(load_board("host"), [HELLO], out_dir=tmp_path)


def test_boot2_checksum():
    # CRC-32/MPEG-2 of the usual check string.
    assert boot2_checksum(b"123456789") == 0x0376E6E7
    sealed = seal_boot2(bytes(256))
    assert sealed[252:] == boot2_checksum(bytes(252)).to_bytes(4, "little")
    with pytest.raises(ValueError, match="256 bytes"):
        seal_boot2(b"short")


def test_flat_image():
    assert flat_image([Segment(8, b"cd"), Segment(4, b"ab")]) == (4, b"ab\xff\xffcd")
    with pytest.raises(CompileError, match="overlap"):
        flat_image([Segment(0, b"abc"), Segment(2, b"d")])
    with pytest.raises(CompileError, match="nothing to load"):
        flat_image([])


def test_not_an_elf_file(tmp_path):
    path = tmp_path / "text.elf"
    path.write_text("no")
    with pytest.raises(CompileError, match="not a readable ELF file"):
        read_elf(path)
