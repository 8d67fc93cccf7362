"""Pointwise convolution, int8, on Cortex-M0 and M0+: two MACs in one multiply (docs/kernels.md)."""

from __future__ import annotations

from burnc.codegen.flash_waits import Sweeps
from burnc.codegen.program import Call, Scratch
from burnc.codegen.rows.convolution_s8 import CONV2D, is_pointwise
from burnc.codegen.rows.pairs_m0 import (
    CODE_MODES,
    CORES,
    Form,
    dot_cycles,
    exact_scaling,
    layer_params,
    pair_flash,
    pair_sweeps,
    pairs_at_once,
)
from burnc.codegen.rows.row import Emitter, KernelRow
from burnc.ir import DType, Match, Node


def _form(node: Node, *, is_code: bool) -> Form:
    data = node.input(1).data
    assert data is not None
    return Form(data.reshape(data.shape[0], 1, -1), is_code)


def _pixels(node: Node) -> int:
    return node.input(0).type.size // node.input(0).type.shape[3]


def _overlap(m: Match) -> list[tuple[int, int]]:
    """A pair of pixels is read whole before it is written; what is written must end where later pairs begin."""
    node = m.last
    growth = 2 * (node.output.type.shape[3] - node.input(0).type.shape[3])
    pairs_behind_the_first = (_pixels(node) + 1) // 2 - 1
    return [(0, max(0, growth * pairs_behind_the_first))]


def _row(name: str, code_bytes: int, *, is_code: bool) -> KernelRow:
    def when(m: Match) -> bool:
        """Every block's sum is exact, and so is the scaling of every channel."""
        return is_pointwise(m) and exact_scaling(m.last) is not None and _form(m.last, is_code=is_code).is_exact()

    def lower(m: Match, emitter: Emitter) -> Call:
        node, form = m.last, _form(m.last, is_code=is_code)
        params = emitter.struct(
            "burnc_conv1x1_s8_m0_params",
            pixels=_pixels(node),
            in_channels=node.input(0).type.shape[3],
            chunk=pairs_at_once(node, form, emitter.room),
            layer=layer_params(node, form, emitter),
        )
        return Call("burnc_conv1x1_s8_m0", (params, node.input(0), node.output, Scratch(DType.UINT32)))

    def scratch(m: Match, room: int = 0) -> int:
        form = _form(m.last, is_code=is_code)
        return form.pair_bytes * pairs_at_once(m.last, form, room)

    def cycles(m: Match, room: int = 0) -> float:
        """Fitted to the emulated RP2040."""
        node, form = m.last, _form(m.last, is_code=is_code)
        pairs, taps = (_pixels(node) + 1) // 2, node.input(0).type.shape[3]
        pack = 9.0 * taps + 90 if is_code else 11.0 * taps + 110 + 10 * (form.blocked.shape[1] - (taps + 1) // 2)
        return pairs * pack + dot_cycles(node, form, pairs, -(-pairs // pairs_at_once(node, form, room))) + 300

    def sweeps(m: Match, room: int) -> Sweeps:
        node, form = m.last, _form(m.last, is_code=is_code)
        return pair_sweeps(node, form, pairs_at_once(node, form, room))

    return KernelRow(
        name,
        CONV2D,
        when,
        lower,
        cycles,
        code_bytes,
        on=CORES,
        scratch=scratch,
        overlap=_overlap,
        modes=CODE_MODES if is_code else None,
        flash=lambda m: pair_flash(m.last, _form(m.last, is_code=is_code)),
        grown=lambda m, room: (scratch(m, room), cycles(m, room)),
        sweeps=sweeps,
    )


ROWS = (_row("conv1x1_s8_m0", 2300, is_code=False), _row("conv1x1_code_s8_m0", 2300, is_code=True))
