"""Cases from the collection of what went wrong elsewhere, about the command line, by their ids."""

from __future__ import annotations

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from onnx import TensorProto, helper

from burnc.devices.board import BoardBackend
from burnc.ir import Value
from burnc.model import load
from burnc.resources import data_folder
from cli import nets
from cli.conftest import run
from importers.tflite_files import chain_file
from requirements import requires

EMULATED = requires("arm compiler", "node", "rp2040js")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cases")


@pytest.fixture(scope="module")
def int8_model(folder):
    data = nets.samples(folder / "data.npz")
    run("quantize", nets.classifier(folder / "net.onnx"), "--calibration", data, "-o", folder / "int8.onnx")
    return folder / "int8.onnx"


# U121: int8 was asked for and a float model written.


def test_u121_no_calibration_samples(tmp_path):
    np.savez(tmp_path / "none.npz", x=np.zeros((0, 1, 8, 8), np.float32))
    model = nets.classifier(tmp_path / "net.onnx")
    answer = run("quantize", model, "--calibration", tmp_path / "none.npz", "-o", tmp_path / "q.onnx", status=2)
    assert "no samples" in answer.stderr
    assert not (tmp_path / "q.onnx").exists()


@pytest.fixture
def partly_float(tmp_path):
    """A network with an operator that has no int8 form."""
    nodes = [
        helper.make_node("Conv", ["image", "w"], ["conv"], name="conv", kernel_shape=[3, 3]),
        helper.make_node("Cast", ["conv"], ["whole"], name="to_int", to=TensorProto.INT32),
        helper.make_node("Cast", ["whole"], ["scores"], name="to_float", to=TensorProto.FLOAT),
    ]
    return nets.write_net(tmp_path / "cast.onnx", nodes, {"w": nets.normal(2, 1, 3, 3)})


def test_u121_an_operator_without_int8_form_is_listed(partly_float, tmp_path):
    data = nets.samples(tmp_path / "data.npz")
    answer = run("quantize", partly_float, "--calibration", data, "-o", tmp_path / "q.onnx", status=2)
    assert "to_float" in answer.stderr
    assert not (tmp_path / "q.onnx").exists()
    run("export", partly_float, "--calibration", data, "--board", "pico", "-o", tmp_path / "fw", status=2)
    assert not (tmp_path / "fw").exists()


def test_u121_left_in_float_on_purpose_is_said(partly_float, tmp_path):
    data = nets.samples(tmp_path / "data.npz")
    command = ["quantize", partly_float, "--calibration", data, "-o", tmp_path / "q.onnx", "--allow-float", "--json"]
    answer = run(*command)
    assert any("to_float" in line for line in answer.json["left_in_float"])
    assert "left in float: to_float" in answer.stderr
    assert answer.json["int8_values"] < answer.json["values"]


# U177: the RAM that was reported is not enough to run.


@EMULATED
def test_u177_the_reported_ram_and_stack_suffice(int8_model, tmp_path):
    on_pico = run("simulate", int8_model, "--board", "pico", "--json").json
    needed = on_pico["ram_bytes"] + (on_pico["stack_bytes"] + 7) // 8 * 8
    pico = (data_folder("boards") / "pico.toml").read_text()
    assert pico.count("270_336") == 1
    size = max(needed, on_pico["ram_bytes"] + LEAST_STACK)
    (tmp_path / "tight.toml").write_text(pico.replace("270_336", str(size)))
    tight = run("simulate", int8_model, "--board", tmp_path / "tight.toml", "--json").json
    assert tight["matches_reference"] is True
    assert tight["outputs"] == on_pico["outputs"]
    assert tight["stack_bytes"] == on_pico["stack_bytes"]


# The linker script reserves at least so much.
LEAST_STACK = 2048


@requires("arm compiler")
def test_u177_the_report_equals_the_elf(int8_model, tmp_path):
    out = tmp_path / "fw"
    command = ["export", int8_model, "--board", "pico", "-o", out, "--project", "bare", "--measure", "--json"]
    report = run(*command).json
    executable = BoardBackend("pico").compile(load(int8_model).graph)
    firmware = executable.firmware
    with firmware.elf.open("rb") as file:
        writable = [s for s in ELFFile(file).iter_sections() if s["sh_addr"] >= 0x20000000 and s["sh_size"]]
        assert sum(section["sh_size"] for section in writable) == firmware.ram_bytes
    assert report["ram_bytes"] >= report["arena_bytes"]


# U178: the board's outputs differ from the computer's and nobody can see where.


@EMULATED
def test_u178_the_first_differing_layer_is_named(int8_model, monkeypatch):
    compile_right = BoardBackend.compile

    def compile_wrong(self, graph, keep=()):
        graph = graph.copy()
        node = next(node for node in graph.nodes if node.op == "fully_connected")
        weights = node.inputs[1].data.copy()
        weights[2, 7] ^= 0x40
        node.inputs[1] = Value(node.inputs[1].name, node.inputs[1].type, weights)
        return compile_right(self, graph, keep)

    monkeypatch.setattr(BoardBackend, "compile", compile_wrong)
    answer = run("validate", int8_model, "--on", "numpy", "--on", "pico", "--json", status=1).json
    right, wrong = answer["targets"]
    assert right["verdict"] == "bit-exact"
    assert wrong["verdict"] == "differs"
    first = wrong["first_difference"]
    assert (first["node"], first["op"], first["index"]) == ("scores", "fully_connected", [0, 2])
    assert first["expected"] != first["got"]
    text = run("validate", int8_model, "--on", "pico", status=1).stdout
    assert "first difference at node 'scores' (fully_connected), index [0, 2]: expected" in text
    assert (
        run("simulate", int8_model, "--board", "pico", "--count", 9, "--json", status=1).json["matches_reference"]
        is False
    )


# U179: firmware of another version.


@EMULATED
def test_u179_another_protocol_is_refused_with_both_versions(int8_model, tmp_path):
    out = tmp_path / "fw"
    run("export", int8_model, "--board", "pico", "-o", out, "--project", "bare")
    harness = out / "support" / "common" / "burnc_harness.c"
    harness.write_text(harness.read_text().replace("#define PROTOCOL_VERSION 1u", "#define PROTOCOL_VERSION 7u"))
    answer = run("simulate", out, status=2)
    assert "speaks protocol 7" in answer.stderr
    assert "speaks protocol 1" in answer.stderr
    assert "export and flash the model again" in answer.stderr


# U182: a custom operator is refused without its name.


def test_u182_custom_operators_are_named(tmp_path):
    import tflite

    path = tmp_path / "custom.tflite"
    path.write_bytes(chain_file(["x", "y"], builtin=tflite.BuiltinOperator.CUSTOM, custom="FlexErf"))
    answer = run("inspect", path, "--json", status=2)
    (item,) = answer.json["unsupported"]
    assert item["op"] == "FlexErf"
    assert "SELECT_TF_OPS" in item["why"]
    assert "FlexErf" in answer.stderr


# U189: the "int8" file is float32, and one must open another program to see it.


def test_u189_types_are_printed(int8_model, tmp_path):
    data = nets.samples(tmp_path / "data.npz")
    model = nets.classifier(tmp_path / "net.onnx")
    text = run("quantize", model, "--calibration", data, "-o", tmp_path / "q.onnx").stdout
    assert "tensors are int8 (100.00 %)" in text
    tensors = run("inspect", tmp_path / "q.onnx", "--tensors", "--json").json["tensors"]
    assert {tensor["type"].partition("[")[0] for tensor in tensors} == {"int8", "int32"}
