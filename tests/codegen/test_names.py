"""Names that a model file brings cannot break the C: keywords, Unicode, comment marks, duplicates, our own symbols."""

from __future__ import annotations

import re
import string

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper, numpy_helper

from burnc.boards import load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.names import comment_text, identifier, model_prefix, string_literal
from burnc.importers import import_model
from burnc.passes import canonical_passes, run_passes
from codegen.exported import STRICT, build, graph_of, run_driver, run_tool, write
from requirements import requires

HOSTILE = [
    "int", "class", "run", "arena", "self_test", "on_layer", "reset", "state", "status", "conv2d_s8",
    "min_f32", "memcpy", "a.b", "a/b", "a_b", "A_B", "*/ int x; /*", "*\\", "\\", "??/", "??=", "x??/",
    "// x", "/*", "%s%n", '"', "'", "#if", "line\nfeed", "tab\there", "nul\0byte", "ünïcode", "神経", "🔥", " ",
    "", "0", "9lives", "_", "__x", "_Static", "size_t", "int8_t", "NULL", "linux", "burnc_status", "burnc_x",
    "i", "want", "error", "bound", "byte", "LAYERS", "ARENA_BYTES", "x", "x_quantize", "x_size", "n" * 400,
    "n" * 400 + "2", "random_byte", "identity", "add_kernel", "main",
    "functional_1/dense/MatMul;functional_1/dense/BiasAdd",
]  # fmt: skip


def chain_model(path, names):
    """One addition or multiplication by a constant after the other; every name in it is hostile."""
    total = "start " + names[0]
    nodes, constants = [], {}
    for number, name in enumerate(names):
        constant = name if number % 2 else f"{name}/w"
        values = [-1.0, 0.5 + number] if number % 3 == 0 else [number + 1.0, -number]
        constants[constant] = numpy_helper.from_array(np.array(values, np.float32), constant)
        operator = "Mul" if number % 3 == 0 and number < 20 else "Add"
        nodes.append(helper.make_node(operator, [total, constant], [f"{name} sum"], name=name))
        total = f"{name} sum"
        if number % 5 == 0:
            nodes.append(helper.make_node("Relu", [total], [f"{name} relu"], name=""))
            total = f"{name} relu"
    graph = helper.make_graph(
        nodes,
        names[0],
        [helper.make_tensor_value_info("start " + names[0], onnx.TensorProto.FLOAT, [1, 2])],
        [helper.make_tensor_value_info(total, onnx.TensorProto.FLOAT, [1, 2])],
        constants.values(),
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    path.write_bytes(model.SerializeToString())
    return model


def run_ort(model, start):
    import onnxruntime

    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: start})[0]


@requires("gcc", "c++ compiler")
@pytest.mark.parametrize("io", ["arena", "caller"])
def test_hostile_names_of_nodes_and_initializers(tmp_path, io):
    names = [n for n in HOSTILE if "\0" not in n and n]
    model = chain_model(tmp_path / "hostile.onnx", names)
    graph = import_model(tmp_path / "hostile.onnx")
    found = write(lower(graph, load_board("host"), LowerOptions(io=io)), tmp_path / "out")
    run_tool("gcc", "-std=c99", *STRICT, "-Wcomment", "-trigraphs", "-fsyntax-only", *found.sources)
    run_tool("g++", "-std=c++11", "-x", "c++", *STRICT, "-fsyntax-only", *found.sources)
    start = np.array([[0.5, 300.0]], np.float32)
    (got,) = run_driver(build(found, ["-O1"]), found.program, [{found.program.inputs[0].value.name: start}])
    np.testing.assert_array_equal(next(iter(got.values())), run_ort(model, start))


@requires("gcc")
@pytest.mark.parametrize("io", ["arena", "caller"])
def test_hostile_names_of_inputs_and_outputs(tmp_path, io):
    names = [n for n in HOSTILE if n and "\0" not in n]
    inputs = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [2]) for n in names]
    outputs = [helper.make_tensor_value_info(n + "!", onnx.TensorProto.FLOAT, [2]) for n in names]
    nodes = [helper.make_node("Relu", [n], [n + "!"], name=n) for n in names]
    model = helper.make_model(
        helper.make_graph(nodes, "string", inputs, outputs), opset_imports=[helper.make_opsetid("", 21)], ir_version=10
    )
    (tmp_path / "ports.onnx").write_bytes(model.SerializeToString())
    graph = import_model(tmp_path / "ports.onnx")
    run_passes(graph, canonical_passes())
    found = write(lower(graph, load_board("host"), LowerOptions(io=io)), tmp_path / "out")
    assert found.prefix == "string_model"
    run_tool("gcc", "-std=gnu99", *STRICT, "-fsyntax-only", *found.sources)
    start = {n: np.array([i, -i], np.float32) for i, n in enumerate(names)}
    (got,) = run_driver(build(found, ["-O1"]), found.program, [start])
    for i, n in enumerate(names):
        assert got[n + "!"].tolist() == [i, 0.0]


@requires("gcc")
@pytest.mark.parametrize(
    "name", ["math", "string", "*/", "int", "", "42", "burnc", "burnc_status", "神経", "size_t", "main"]
)
def test_hostile_model_names(tmp_path, name):
    graph = graph_of("hello").copy()
    graph.name = name
    found = write(lower(graph, load_board("host")), tmp_path)
    run_tool("gcc", "-std=c99", *STRICT, "-fsyntax-only", *found.sources)
    run_tool(build(found, ["-O1"]))
    assert not {p.stem for p in tmp_path.glob("*.h")} & STANDARD_HEADERS


STANDARD_HEADERS = set(
    """
    assert complex ctype errno fenv float inttypes iso646 limits locale math memory setjmp signal
    stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings tgmath
    threads time uchar unistd version wchar wctype
    """.split()  # noqa: SIM905
)


@given(st.text(max_size=60))
def test_identifiers_are_identifiers(text):
    for made in (identifier(text), model_prefix(text)):
        assert re.fullmatch(r"[a-z][a-z0-9_]*", made)
        assert "__" not in made


@settings(max_examples=300)
@given(st.text(alphabet=st.sampled_from("*/\\?\n =x" + string.ascii_letters), max_size=40) | st.text(max_size=100))
def test_comments_stay_whole(text):
    safe = comment_text(text)
    assert safe.isascii()
    assert safe.isprintable()
    assert len(safe) <= 80
    assert not any(mark in f"/* {safe} */"[3:-3] for mark in ("*/", "/*", "//", "??", "\\"))
    literal = string_literal(text)
    assert literal.isascii()
    assert "??" not in literal
    assert re.fullmatch(r'"(\\[\\"?]|[^\\"])*"', literal)
