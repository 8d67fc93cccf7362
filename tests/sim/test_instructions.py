"""Results and flags of the instructions whose carry and overflow are easily got wrong, against the definitions in the
ARMv6-M Architecture Reference Manual, over pairs of edge values."""

from __future__ import annotations

from itertools import product

import pytest

from burnc.boards import load_board
from burnc.sim.simulated_board import open_simulator
from requirements import requires

pytestmark = requires("arm compiler", "node", "rp2040js")

M32 = 0xFFFFFFFF
VALUES = (0, 1, 2, 0x7F, 0x80, 0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, M32, 0x12345678)
AMOUNTS = (0, 1, 2, 15, 31, 32, 33, 63, 64, 255, 256, 257)


def signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def add_with_carry(a: int, b: int, carry: int) -> tuple[int, int, int]:
    """AddWithCarry() of the manual: result, carry, overflow."""
    total = a + b + carry
    result = total & M32
    return result, int(total != result), int(signed(a) + signed(b) + carry != signed(result))


def shift(kind: str, value: int, amount: int, carry: int) -> tuple[int, int]:
    """Shift_C() of the manual: result, carry."""
    amount &= 0xFF
    if amount == 0:
        return value, carry
    if kind == "lsls":
        wide = value << amount
        return wide & M32, wide >> 32 & 1
    if kind == "rors":
        turned = amount % 32
        result = (value >> turned | value << 32 - turned) & M32
        return result, result >> 31
    wide = signed(value) if kind == "asrs" else value
    return (wide >> amount) & M32, wide >> (amount - 1) & 1


# name -> (second operands, what r0 and carry, overflow become of r0, r1, carry, overflow)
INSTRUCTIONS = {
    "adcs r0, r1": (VALUES, lambda a, b, c, v: add_with_carry(a, b, c)),
    "sbcs r0, r1": (VALUES, lambda a, b, c, v: add_with_carry(a, b ^ M32, c)),
    "adds r0, r0, r1": (VALUES, lambda a, b, c, v: add_with_carry(a, b, 0)),
    "subs r0, r0, r1": (VALUES, lambda a, b, c, v: add_with_carry(a, b ^ M32, 1)),
    "rsbs r0, r1, #0": (VALUES, lambda a, b, c, v: add_with_carry(b ^ M32, 0, 1)),
    "muls r0, r1, r0": (VALUES, lambda a, b, c, v: (a * b & M32, c, v)),
    "lsls r0, r1": (AMOUNTS, lambda a, b, c, v: (*shift("lsls", a, b, c), v)),
    "lsrs r0, r1": (AMOUNTS, lambda a, b, c, v: (*shift("lsrs", a, b, c), v)),
    "asrs r0, r1": (AMOUNTS, lambda a, b, c, v: (*shift("asrs", a, b, c), v)),
    "rors r0, r1": (AMOUNTS, lambda a, b, c, v: (*shift("rors", a, b, c), v)),
    "lsrs r0, r0, #32": ((0,), lambda a, b, c, v: (*shift("lsrs", a, 32, c), v)),
    "asrs r0, r0, #32": ((0,), lambda a, b, c, v: (*shift("asrs", a, 32, c), v)),
    "lsls r0, r0, #31": ((0,), lambda a, b, c, v: (*shift("lsls", a, 31, c), v)),
    "bics r0, r1": (VALUES, lambda a, b, c, v: (a & ~b & M32, c, v)),
    "mvns r0, r1": (VALUES, lambda a, b, c, v: (~b & M32, c, v)),
}

FUNCTION = """
__attribute__((naked, noinline)) static void instruction_{number}(uint32_t *in_out) {{
    __asm__ volatile(".syntax unified\\n"
                     "push {{r4, lr}}\\n"
                     "mov r4, r0\\n"
                     "ldr r0, [r4, #8]\\n"
                     "msr apsr_nzcvq, r0\\n"
                     "ldmia r4!, {{r0, r1}}\\n"
                     "{text}\\n"
                     "mrs r1, apsr\\n"
                     "subs r4, #8\\n"
                     "stmia r4!, {{r0, r1}}\\n"
                     "pop {{r4, pc}}\\n");
}}
"""

MAIN = """
#include "burnc_port.h"
typedef void (*instruction)(uint32_t *in_out);
static const instruction instructions[] = {%s};
static uint32_t receive(void) {
    uint32_t word = 0;
    for (uint32_t i = 0; i < 32u; i += 8u) {
        int byte = -1;
        while (byte < 0) {
            byte = burnc_port_getc();
        }
        word |= (uint32_t)byte << i;
    }
    return word;
}
static void answer(uint32_t word) {
    for (uint32_t i = 0; i < 32u; i += 8u) {
        burnc_port_putc((uint8_t)(word >> i));
    }
}
int main(void) {
    burnc_port_init();
    for (;;) {
        const uint32_t index = receive();
        uint32_t words[3];
        words[0] = receive();
        words[1] = receive();
        words[2] = receive();
        instructions[index](words);
        answer(words[0]);
        answer(words[1]);
    }
}
"""


@pytest.fixture(scope="module")
def board(build, tmp_path_factory):
    functions = [FUNCTION.format(number=number, text=text) for number, text in enumerate(INSTRUCTIONS)]
    table = ", ".join(f"instruction_{number}" for number in range(len(INSTRUCTIONS)))
    source = tmp_path_factory.mktemp("instructions") / "instructions.c"
    source.write_text("#include <stdint.h>\n" + "".join(functions) + MAIN % table)

    with open_simulator(load_board("pico"), build("instructions", [source])) as board:
        yield board


@pytest.mark.parametrize("text", INSTRUCTIONS)
def test_result_and_flags(board, text):
    operands, define = INSTRUCTIONS[text]
    cases = list(product(VALUES, operands, (0, 1), (0, 1)))
    sent = b"".join(
        word.to_bytes(4, "little")
        for a, b, c, v in cases
        for word in (list(INSTRUCTIONS).index(text), a, b, c << 29 | v << 28)
    )
    board.write(sent)
    got = b""
    while len(got) < 8 * len(cases):
        got += board.read(65536, 60.0)
    for number, (a, b, c, v) in enumerate(cases):
        result, flags = (int.from_bytes(got[8 * number + at :][:4], "little") for at in (0, 4))
        want, carry, overflow = define(a, b, c, v)
        want_flags = want >> 31 << 31 | (want == 0) << 30 | carry << 29 | overflow << 28
        assert (hex(result), hex(flags)) == (hex(want), hex(want_flags)), f"{text} of {a:#x}, {b:#x}, C={c}, V={v}"
