"""Straight-line ARMv6-M code for inner products with constant weights, two pixels in a word (docs/kernels.md).

A register model of the kernel that runs it (runtime_c/src/burnc_dot_pairs_s8_m0.S):

    r0      next word a + (b << 16) of the pair, one word for each tap
    r1, r2  two of them         r3  32768, where a block begins     r4  a product
    r5-r7   sums of the block of channels 0, 1, 2
    r8, r10, r12  sums of the upper halves        r9, r11, lr  sums of the whole words

At its end it leaves the last channel's whole words in r7 and r0 behind the pair, and goes back through the stack; the
link register then says where the code of the next group begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from burnc.ir import Array

BLOCK_WEIGHTS_SUM = 255
_BLOCK_SUMS = ("r5", "r6", "r7")
_UPPER = ("r8", "r10", "r12")
_WHOLE = ("r9", "r11", "lr")
_RETURN_SLOT = 72
_MOST_IMMEDIATE = 252  # of adds, in whole words


@dataclass
class GroupCode:
    """Code of one group: its lines, cycles for one pair, bytes, and how many blocks each channel has."""

    lines: list[str] = field(default_factory=list)
    cycles: int = 0
    blocks: tuple[int, ...] = ()

    @property
    def bytes(self) -> int:
        return 2 * len(self.lines)

    def emit(self, text: str, cycles: int = 1) -> None:
        self.lines.append(text)
        self.cycles += cycles


class _Channel:
    """One channel of the group while the code is made."""

    def __init__(self, code: GroupCode, index: int, *, is_last: bool) -> None:
        self._code, self._index, self._is_last = code, index, is_last
        self.sum = _BLOCK_SUMS[index]
        self._size = 0
        self._begun = False
        self.blocks = 0

    def is_full_for(self, weight: int) -> bool:
        return self._size + abs(weight) > BLOCK_WEIGHTS_SUM

    def add(self, weight: int, product: str) -> None:
        """``product`` is |weight| times the word; the block must have room for it."""
        self._size += abs(weight)
        source = self.sum if self._begun else "r3"
        self._begun = True
        self._code.emit(f"{'adds' if weight > 0 else 'subs'} {self.sum}, {source}, {product}")

    def end_block(self) -> None:
        first = self.blocks == 0
        how = "mov" if first else "add"
        self._code.emit(f"asrs r4, {self.sum}, #16")
        self._code.emit(f"{how} {_UPPER[self._index]}, r4")
        self._code.emit(f"{how} {_WHOLE[self._index]}, {self.sum}")
        self._size, self._begun = 0, False
        self.blocks += 1

    def finish(self) -> None:
        if not self._begun and self.blocks == 0:
            self._code.emit("movs r4, #0")
            self._code.emit(f"mov {_UPPER[self._index]}, r4")
            self._code.emit("movs r7, #0" if self._is_last else f"mov {_WHOLE[self._index]}, r4")
        elif not self._is_last:
            if self._begun:
                self.end_block()
        elif self._begun:
            first = self.blocks == 0
            self._code.emit(f"asrs r4, {self.sum}, #16")
            self._code.emit(f"{'mov' if first else 'add'} {_UPPER[self._index]}, r4")
            if self.sum != "r7":
                self._code.emit(f"mov r7, {self.sum}")
            if not first:
                self._code.emit(f"add r7, {_WHOLE[self._index]}")
            self.blocks += 1
        else:
            self._code.emit(f"mov r7, {_WHOLE[self._index]}")


def group_code(weights: Array) -> GroupCode:
    """Code for up to three channels.

    Args:
        weights: [channels, taps], int8.
    """
    code = GroupCode()
    three = weights.shape[0] == len(_BLOCK_SUMS)
    channels = [_Channel(code, i, is_last=three and i == 2) for i in range(weights.shape[0])]
    skipped = 0
    for tap in range(0, weights.shape[1], 2):
        pair = weights[:, tap : tap + 2].astype(int)
        if not pair.any():
            skipped += 4 * pair.shape[1]
            continue
        _skip(code, skipped)
        skipped = 0
        two = pair.shape[1] == 2
        code.emit("ldmia r0!, {r1, r2}" if two else "ldmia r0!, {r1}", 3 if two else 2)
        for k in range(pair.shape[1]):
            _add_tap(code, channels, pair[:, k], ("r1", "r2")[k])
    _skip(code, skipped)
    for channel in channels:
        channel.finish()
    code.emit(f"ldr r4, [sp, #{_RETURN_SLOT}]", 2)
    code.emit("blx r4", 2)
    code.blocks = tuple(c.blocks for c in channels)
    return code


def _skip(code: GroupCode, skipped: int) -> None:
    while skipped > 0:
        step = min(skipped, _MOST_IMMEDIATE)
        code.emit(f"adds r0, #{step}")
        skipped -= step


def _add_tap(code: GroupCode, channels: Sequence[_Channel], weights: Array, word: str) -> None:
    """Channels with weights of one size share the product."""
    for channel, weight in zip(channels, weights, strict=True):
        if channel.is_full_for(int(weight)):
            channel.end_block()  # takes r4, so before any product
    for size in sorted({abs(int(w)) for w in weights} - {0}):
        if size > 1:
            _multiply(code, size, word)
        for channel, weight in zip(channels, weights, strict=True):
            if abs(weight) == size:
                channel.add(int(weight), "r4" if size > 1 else word)


def _multiply(code: GroupCode, size: int, word: str) -> None:
    if size & (size - 1) == 0:
        code.emit(f"lsls r4, {word}, #{size.bit_length() - 1}")
    else:
        code.emit(f"movs r4, #{size}")
        code.emit(f"muls r4, {word}, r4")


def code_text(symbol: str, groups: Iterable[GroupCode]) -> str:
    """An assembler file that defines ``symbol``, the code of the groups one behind the other."""
    lines = [
        "/* SPDX-License-Identifier: 0BSD */",
        "/* Generated by burnc: inner products with the weights of one layer, as instructions (docs/kernels.md).",
        "   r0 next word of the pair, r1 and r2 taps, r3 32768, r4 product, r5 to r7 sums of a block, r8 to lr wide",
        "   sums. */",
        "#if defined(__thumb__) && !defined(__thumb2__) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)",
        "    .syntax unified",
        f'    .section .text.{symbol}, "ax", %progbits',
        "    .balign 4",
        "    .thumb",
        f"    .globl  {symbol}",
        f"    .type   {symbol}, %object",
        f"{symbol}:",
    ]
    for group in groups:
        lines += [f"    {line}" for line in group.lines]
    lines += [f"    .size   {symbol}, . - {symbol}", "#elif defined(__linux__) && defined(__ELF__)"]
    lines += ['    .section .note.GNU-stack, "", %progbits', "#endif"]
    return "\n".join(lines) + "\n"
