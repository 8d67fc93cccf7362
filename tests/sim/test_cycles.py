"""Cycles as the Cortex-M0+ Technical Reference Manual gives them (table 3-1, no wait states, single-cycle multiplier).

Each sequence runs between two reads of SysTick, whose difference is the sequence and the first read itself.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from burnc.boards import load_board
from burnc.sim.simulated_board import open_simulator
from requirements import requires

pytestmark = requires("arm compiler", "node", "rp2040js")

READ_CYCLES = 2  # ldr rt, [rn]

# name -> (instructions before the clock starts, instructions that are timed, their cycles)
SEQUENCES = {
    "nothing": ("", "", 0),
    "nop": ("", "nop", 1),
    "twenty nops": ("", "nop\n" * 20, 20),
    "adds": ("", "adds r0, r0, r1", 1),
    "adcs": ("", "adcs r0, r1", 1),
    "add high": ("", "add r0, r8", 1),
    "adr": ("", "adr r0, 1f\n.balign 4\n1:", 1),
    "muls": ("", "muls r0, r1, r0", 1),
    "shifts": ("", "lsls r0, r0, #3\nlsrs r0, r1\nasrs r0, r1\nrors r0, r1", 4),
    "extend": ("", "sxtb r0, r1\nuxth r0, r1\nrev r0, r1", 3),
    "ldr": ("mov r0, sp", "ldr r1, [r0]", 2),
    "ldr literal": ("", "ldr r1, =0x12345678", 2),
    "ldr sp": ("", "ldr r1, [sp, #4]", 2),
    "ldrb": ("mov r0, sp\nmovs r1, #1", "ldrb r2, [r0, r1]", 2),
    "ldrsh": ("mov r0, sp\nmovs r1, #2", "ldrsh r2, [r0, r1]", 2),
    "str": ("sub sp, #8\nmov r0, sp", "str r1, [r0]\nstrb r1, [r0]\nstrh r1, [r0]\nadd sp, #8", 7),
    "ldm 1": ("mov r0, sp", "ldmia r0!, {r1}", 2),
    "ldm 3": ("mov r0, sp", "ldmia r0!, {r1, r2, r3}", 4),
    "stm 3": ("sub sp, #16\nmov r0, sp", "stmia r0!, {r1, r2, r3}\nadd sp, #16", 5),
    "push and pop 1": ("", "push {r0}\npop {r1}", 4),
    "push and pop 4": ("", "push {r0-r3}\npop {r0-r3}", 10),
    "push with lr": ("", "push {r0, r1, lr}\npop {r0, r1, r2}", 8),
    "pop pc": ("ldr r0, =1f + 1\npush {r0}", "pop {pc}\n.balign 2\n1:", 4),
    "pop 2 and pc": ("ldr r2, =1f + 1\npush {r0-r2}", "pop {r0, r1, pc}\n.balign 2\n1:", 6),
    "b": ("", "b 1f\nnop\n1:", 2),
    "b taken": ("movs r0, #0", "beq 1f\nnop\n1:", 2),
    "b not taken": ("movs r0, #0", "bne 1f\n1:", 1),
    "loop of 10": ("movs r0, #10", "1: subs r0, #1\nbne 1b", 10 * 3 - 1),
    "bl and bx": ("", "bl 2f\nb 1f\n2: bx lr\n1:", 3 + 2 + 2),
    "blx and bx": ("ldr r0, =2f + 1", "blx r0\nb 1f\n.balign 2\n2: bx lr\n1:", 2 + 2 + 2),
    "blx lr": ("ldr r0, =1f + 1\nmov lr, r0", "blx lr\nnop\n.balign 2\n1:", 2),
    "call that saves": ("", "bl 2f\nb 1f\n2: push {r4, lr}\npop {r4, pc}\n1:", 3 + 3 + 5 + 2),
    "mov pc": ("ldr r0, =1f", "mov pc, r0\nnop\n.balign 2\n1:", 2),
    "mrs msr": ("", "mrs r0, primask\nmsr primask, r0", 6),
    "cps": ("", "cpsid i\ncpsie i", 2),
    "barriers": ("", "dmb\ndsb\nisb", 9),
    "sev and wfe": ("", "sev\nwfe", 3),
    "SIO load": ("ldr r0, =0xd0000000", "ldr r1, [r0]", 1),
    "divider": (
        "ldr r0, =0xd0000060\nmovs r1, #100\nmovs r2, #7",
        "str r1, [r0]\nstr r2, [r0, #4]\nb 1f\n1: b 1f\n1: b 1f\n1: b 1f\n1: ldr r1, [r0, #20]\nldr r2, [r0, #16]",
        2 + 8 + 2,
    ),
}

MAIN = """
#include <stdint.h>
#include "burnc_port.h"
typedef uint32_t (*sequence)(void);
static const sequence sequences[] = {%s};
int main(void) {
    burnc_port_init();
    for (uint32_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++) {
        const uint32_t cycles = sequences[i]();
        burnc_port_putc((uint8_t)cycles);
        burnc_port_putc((uint8_t)(cycles >> 8));
    }
    for (;;) {
    }
}
"""

FUNCTION = """
__attribute__((naked, noinline)) static uint32_t sequence_{number}(void) {{
    __asm__ volatile(".syntax unified\\n"
                     "push {{r4-r7, lr}}\\n"
                     "ldr r6, =0xe000e018\\n"
                     {before}
                     ".balign 4\\n"
                     "ldr r4, [r6]\\n"
                     {timed}
                     "ldr r5, [r6]\\n"
                     "subs r0, r4, r5\\n"
                     "lsls r0, r0, #8\\n"
                     "lsrs r0, r0, #8\\n"
                     "pop {{r4-r7, pc}}\\n"
                     ".pool\\n");
}}
"""


def quoted(lines: str) -> str:
    return "\n".join(f'"{line}\\n"' for line in lines.splitlines()) or '""'


@pytest.fixture(scope="module")
def measured(build, tmp_path_factory):
    """Cycles of each sequence, measured by firmware on the emulated board."""
    functions = [
        FUNCTION.format(number=number, before=quoted(before), timed=quoted(timed))
        for number, (before, timed, _) in enumerate(SEQUENCES.values())
    ]
    table = ", ".join(f"sequence_{number}" for number in range(len(SEQUENCES)))
    source: Path = tmp_path_factory.mktemp("cycles") / "cycles.c"
    source.write_text("#include <stdint.h>\n" + "".join(functions) + MAIN % table)

    with open_simulator(load_board("pico"), build("cycles", [source])) as board:
        data = b""
        while len(data) < 2 * len(SEQUENCES):
            data += board.read(4096, 60.0)
    values = [int.from_bytes(data[at : at + 2], "little") for at in range(0, len(data), 2)]
    return dict(zip(SEQUENCES, values, strict=True))


@pytest.mark.parametrize("name", SEQUENCES)
def test_cycles(measured, name):
    assert measured[name] - READ_CYCLES == SEQUENCES[name][2]
