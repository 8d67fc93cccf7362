"""Kernels for cores with SIMD, vectors or many registers: C twins on the host, the assembly on emulated chips."""

from __future__ import annotations

import numpy as np
import pytest

from burnc.backends import device
from burnc.boards import load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.rows import convolution_rv32, cortex_dsp, cortex_mve, depthwise_rv32, many_registers
from burnc.codegen.rows.high_scaling import high_scaling
from burnc.codegen.rows.row import sum_bounds
from burnc.codegen.rows.scaling_dsp import dsp_constants, limits_fields
from burnc.devices.board import BoardBackend
from burnc.numerics import multiply_by_quantized_multiplier, quantize_multiplier
from codegen.exported import build, run_driver, write
from codegen.many_layers import many_layers
from codegen.pointwise_nets import hard_inputs
from requirements import requires

SANITIZE = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
# The quads are the kernel of Cortex-M0+, which has tests of its own.
RV32_ROWS = tuple(
    row
    for row in (*many_registers.ROWS, *convolution_rv32.ROWS, *depthwise_rv32.ROWS)
    if row.name != "fully_connected_quads_s8"
)
ROWS_OF = {"cortex-m33": cortex_dsp.ROWS, "cortex-m55": cortex_mve.ROWS, "rv32imc": RV32_ROWS}


@pytest.fixture(scope="module")
def graph():
    return many_layers()


@pytest.fixture(scope="module")
def runs(graph):
    inputs = list(hard_inputs(graph))
    executable = device("numpy").compile(graph)
    return [(arrays, executable.run(arrays)) for arrays in inputs]


def assert_equal(graph, got, wanted):
    for value in graph.outputs:
        np.testing.assert_array_equal(got[value.name], wanted[value.name])


def rows_used(graph, core):
    return [step.row for step in lower(graph, load_board("host"), LowerOptions(core=core, optimize="speed")).steps]


def test_they_take_the_layers_of_their_cores_and_none_elsewhere(graph):
    for core, rows in ROWS_OF.items():
        names, used = {row.name for row in rows}, rows_used(graph, core)
        assert sum(row in names for row in used) >= 0.8 * len(used)
        assert names <= set(used)
    names = {row.name for rows in ROWS_OF.values() for row in rows}
    assert not names & set(rows_used(graph, "cortex-m3"))


@requires("gcc")
@pytest.mark.parametrize("core", ["cortex-m4", "cortex-m55", "rv32imc"])
def test_the_twins_under_sanitizers(graph, runs, tmp_path, core):
    options = LowerOptions(name="net", core=core, optimize="speed")
    exported = write(lower(graph, load_board("host"), options), tmp_path)
    results = run_driver(build(exported, SANITIZE), exported.program, [arrays for arrays, _ in runs])
    for got, (_, wanted) in zip(results, runs, strict=True):
        assert_equal(graph, got, wanted)


ARM = requires("arm compiler", "host compiler", "qemu-system-arm")
RISCV = requires("host compiler", "qemu-system-riscv32")


@pytest.mark.parametrize(
    "board",
    [
        *(pytest.param(board, marks=ARM) for board in ("cortex-m4", "cortex-m33", "cortex-m55")),
        pytest.param("rv32imc", marks=RISCV),
    ],
)
def test_the_assembly(graph, runs, board):
    executable = BoardBackend(board, optimize="speed").compile(graph)
    for arrays, wanted in runs:
        assert_equal(graph, executable.run(arrays), wanted)
    executable.close()


def requantized(total: int, constants: list[int], form: int) -> int:
    """What requantize_dsp.h says, before the clamp; the form is plain, wide or general."""
    multiplier, second, third, fourth = constants
    if form == 0:
        return ((total << third) * multiplier + (signed(second, 32) << 32)) >> 48
    sign = 0 if fourth >> 8 or total >= 0 else 1 << 31
    rounding = signed(third << 32 | second, 64)
    return (total * multiplier + rounding - sign) >> ((32 if form == 1 else 31) + (fourth & 255))


def signed(number: int, bits: int) -> int:
    return number - (1 << bits) if number >> bits - 1 else number


def around_steps(factor: float, least: int, most: int) -> np.ndarray:
    """Sums beside each step from one result to the next, and at both ends of what an accumulator may be."""
    steps = ((np.arange(-256, 257) - 0.5) / factor).clip(least, most).astype(np.int64)
    return np.unique(np.concatenate([steps + d for d in (-2, -1, 0, 1, 2)]).clip(least, most))


def assert_as_two_roundings(node, got, sums, factor):
    wanted = multiply_by_quantized_multiplier(sums.astype(np.int32), *quantize_multiplier(float(factor)))
    limits = limits_fields(node)[1:]
    np.testing.assert_array_equal(np.clip(got, *limits), np.clip(wanted + node.output.type.zero_point, *limits))


def test_the_constants_requantize_as_two_roundings_do(graph):
    for node in graph.nodes:
        bias_and_rest, form = dsp_constants(node).astype(np.int64), limits_fields(node)[0]
        factors = np.broadcast_to(node.operator.requantize_factors(node).reshape(-1), len(bias_and_rest))
        for constants, factor, least, most in zip(bias_and_rest, factors, *sum_bounds(node), strict=True):
            if int(constants[1]) == 0:
                continue  # the one result of a channel that has no other; the layers above try it
            sums = around_steps(factor, least, most)
            got = [requantized(s, constants[1:].tolist(), form) for s in sums.tolist()]
            assert_as_two_roundings(node, got, sums, factor)


def test_upper_products_requantize_as_two_roundings_do(graph):
    found = [(node, scaling) for node in graph.nodes if (scaling := high_scaling(node)) is not None]
    assert len(found) > 0.9 * len(graph.nodes)
    assert any(scaling.step.any() for _, scaling in found)
    for node, scaling in found:
        factors = np.broadcast_to(node.operator.requantize_factors(node).reshape(-1), len(scaling.left))
        for k, (factor, least, most) in enumerate(zip(factors, *sum_bounds(node), strict=True)):
            sums = around_steps(factor, least, most)
            upper = (sums << scaling.left[k]) * scaling.multiplier[k] >> 32
            upper += scaling.rounding[k] - np.where(sums < 0, scaling.step[k], 0)
            assert np.abs(upper).max() < 2**31
            assert_as_two_roundings(node, upper >> scaling.places[k], sums, factor)
