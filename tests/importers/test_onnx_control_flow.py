"""If, Loop and Scan whose course is known: unrolled, and refused where it is not. Oracle: onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from burnc.errors import BurncError, UnsupportedError
from burnc.importers.onnx import import_onnx
from cases.run_model import run_model
from oracles.float_onnx import run_onnx

HEAD = '<ir_version: 8, opset_import: ["": 17]>'
X = np.arange(12, dtype=np.float32).reshape(3, 4) - 5


def model_of(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f"{HEAD} agraph {text}")


def same_as_onnxruntime(text: str, **inputs: Any) -> list[Any]:
    model = model_of(text)
    got, wanted = run_model(model, inputs), run_onnx(model, inputs)
    for ours, theirs in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    return got


def refusal(text: str) -> str:
    with pytest.raises(UnsupportedError) as caught:
        import_onnx(model_of(text))
    return str(caught.value)


BRANCHES = """
    y = If (c) <
        then_branch = then () => (float[3,4] a) { k = Constant <value: tensor = float {2.0}> ()
            a = Mul (d, k) },
        else_branch = other () => (float[3,4] b) { m = If (c2) <
            then_branch = inner () => (float[3,4] e) { e = Add (d, x) },
            else_branch = outer () => (float[3,4] g) { g = Sub (x, d) } >
            b = Neg (m) }
    >"""


@pytest.mark.parametrize(("first", "second"), [(1, 0), (0, 1)])
def test_if_takes_the_branch_of_its_constant(first: int, second: int):
    # The branches read what stands outside of them, and what stands outside of the outer branch.
    text = f"""(float[3,4] x) => (float[3,4] y) <bool c = {{{first}}}, bool c2 = {{{second}}}>
    {{ d = Abs (x) {BRANCHES} }}"""
    same_as_onnxruntime(text, x=X)


def test_if_whose_condition_is_a_shape():
    text = """(float[3,4] x) => (float[] y) <int64 four = {4}, int64 one = {1}, int64[1] a = {0}> {
        s = Shape (x) n = Gather (s, one) c = Equal (n, four)
        y = If (c) < then_branch = then () => (float[] p) { p = Relu (x) },
            else_branch = other () => (float[] q) { q = Unsqueeze (x, a) } > }"""
    (y,) = same_as_onnxruntime(text, x=X)
    assert y.shape == (3, 4)


def test_a_condition_at_run_time_is_refused():
    text = f"(float[3,4] x, bool c, bool c2) => (float[3,4] y) {{ d = Abs (x) {BRANCHES} }}"
    assert "If  the condition ('c') is computed at run time" in refusal(text)


LOOP = """(float[4] x) => (float[4] last, float[5,4] all)
    <int64 count = {5}, bool yes = {1}, float half = {0.5}> {
    last, all = Loop (count, yes, x) < body = turn (int64 i, bool go, float[4] v)
        => (bool go_on, float[4] w, float[4] s)
        { f = Cast <to = 1> (i) t = Mul (v, half) w = Add (t, f) s = Sub (w, x) go_on = Identity (go) } > }"""


def test_loop_of_a_constant_trip_count():
    same_as_onnxruntime(LOOP, x=X[0])


def test_loop_that_its_own_condition_ends():
    text = """(float[4] x) => (float[4] last, int64 n)
        <bool yes = {1}, int64 one = {1}, int64 four = {4}, int64 zero = {0}> {
        last, n = Loop ("", yes, x, zero) < body = turn (int64 i, bool go, float[4] v, int64 c)
            => (bool go_on, float[4] w, int64 d)
            { w = Neg (v) d = Add (c, one) go_on = Less (d, four) } > }"""
    (_, n) = same_as_onnxruntime(text, x=X[0])
    assert n == 4


def test_loop_of_no_turn_leaves_what_it_was_given():
    text = """(float[4] x) => (float[4] last) <int64 count = {0}, bool yes = {1}> {
        t = Neg (x)
        last = Loop (count, yes, t) < body = turn (int64 i, bool go, float[4] v) => (bool go_on, float[4] w)
            { w = Neg (v) go_on = Identity (go) } > }"""
    same_as_onnxruntime(text, x=X[0])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (LOOP.replace("(float[4] x)", "(float[4] x, int64 count)").replace("int64 count = {5}, ", ""), "trip count"),
        (LOOP.replace("go_on = Identity (go)", "m = ReduceMax (w) go_on = Less (m, half)"), "condition of Loop"),
        (LOOP.replace("{5}", "{100000}"), "more than 5000 nodes"),
        (LOOP.replace("Mul (v, half)", "Multinomial <sample_size = 4> (v)"), "Multinomial"),
    ],
    ids=["count", "condition", "length", "inside"],
)
def test_loops_that_cannot_be_unrolled(text: str, why: str):
    message = refusal(text)
    assert why in message
    assert message.count("\n") < 10  # told once, not once a turn


def test_scan_over_two_inputs_in_both_directions():
    text = """(float[3,4] x, float[4,3] z) => (float[4] last, float[3,4] sums, float[4,3] products)
        <float[4] zero = {0,0,0,0}> {
        last, sums, products = Scan <num_scan_inputs = 2, scan_input_axes = [0, -1], scan_input_directions = [0, 1],
            scan_output_axes = [0, -1], scan_output_directions = [1, 0],
            body = turn (float[4] s, float[4] a, float[4] b) => (float[4] t, float[4] u, float[4] p)
            { t = Add (s, a) u = Identity (t) p = Mul (t, b) }> (zero, x, z) }"""
    same_as_onnxruntime(text, x=X, z=X.T * 2)


def test_an_old_scan_whose_batch_the_converter_takes_away():
    text = """<ir_version: 7, opset_import: ["": 8]> agraph (float[1,2] s0, float[1,3,2] x)
        => (float[1,2] s, float[1,3,2] y) {
        s, y = Scan <num_scan_inputs = 1, body = turn (float[2] a, float[2] b) => (float[2] c, float[2] d)
            { c = Add (a, b) d = Identity (c) }> ("", s0, x) }"""
    with pytest.raises(BurncError, match="Scan is supported from opset 9 on"):
        import_onnx(onnx.parser.parse_model(text))


def test_a_standard_body_whose_operands_are_left_out():
    """Attention with a past but without a mask: onnx's own inliner stumbles over the absent operand."""
    rng = np.random.default_rng(3)
    shapes = {"q": (1, 2, 3, 4), "k": (1, 2, 3, 4), "v": (1, 2, 3, 4), "pk": (1, 2, 2, 4), "pv": (1, 2, 2, 4)}
    inputs = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    text = """<ir_version: 10, opset_import: ["": 23]> agraph (float[1,2,3,4] q, float[1,2,3,4] k, float[1,2,3,4] v,
        float[1,2,2,4] pk, float[1,2,2,4] pv) => (float[1,2,3,4] y, float[1,2,5,4] nk, float[1,2,5,4] nv)
        { y, nk, nv = Attention <is_causal = 1> (q, k, v, "", pk, pv) }"""
    model = onnx.parser.parse_model(text)
    for ours, theirs in zip(run_model(model, inputs), run_onnx(model, inputs), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_an_old_meaning_inside_a_body_is_refused():
    """Upsample of opset 9 rounds down, which onnx's converter does not write; and what bodies compute it renames."""
    text = """<ir_version: 4, opset_import: ["": 9]> agraph (float[1,1,2,2] x) => (float[1,1,4,4] y)
        <float[4] s = {1,1,2,2}, bool c = {1}> {
        y = If (c) < then_branch = then () => (float[1,1,4,4] a) { a = Upsample <mode = "nearest"> (x, s) },
            else_branch = other () => (float[1,1,4,4] b) { b = Upsample <mode = "nearest"> (x, s) } > }"""
    with pytest.raises(BurncError, match="Upsample"):
        import_onnx(onnx.parser.parse_model(text))
