"""Every command does its work, prints plain text when piped, and has the JSON keys that other tools rely on."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from requirements import requires

EMULATED = requires("arm compiler", "node", "rp2040js")
HELLO = Path(__file__).resolve().parents[1] / "models/tflm_hello_world_int8.tflite"

EXPORT_KEYS = [
    "model",
    "board",
    "optimize",
    "files",
    "macs",
    "parameters",
    "arena_bytes",
    "state_bytes",
    "weights_bytes",
    "code_bytes",
    "flash_bytes",
    "ram_bytes",
    "fits",
    "measured",
    "layers",
]
SIMULATE_KEYS = [
    "board",
    "engine",
    "cores",
    "clock_hz",
    "cycles",
    "cycles_with_flash_cache",
    "latency_ms",
    "energy_uj",
    "layers",
    "flash_bytes",
    "ram_bytes",
    "arena_bytes",
    "stack_bytes",
    "outputs",
    "matches_reference",
]


def require_keys(answer, keys):
    assert set(keys) - set(answer) == set()


class TestInspect:
    def test_json(self, burnc, tiny):
        answer = burnc("inspect", tiny, "--json").json
        require_keys(answer, ["format", "inputs", "outputs", "operators", "macs", "parameters", "unsupported", "fits"])
        assert answer["operators"] == {"conv2d": 1, "fully_connected": 1, "reshape": 2}
        assert answer["macs"] == 36 * 4 * 9 + 144 * 3
        assert (answer["unsupported"], answer["fits"], answer["format"]) == ([], None, "onnx")

    def test_board(self, burnc, tiny_int8):
        answer = burnc("inspect", tiny_int8, "--board", "pico", "--json").json
        assert answer["fits"] is True
        assert 0 < answer["latency_ms"] < 100

    def test_changes_name_the_nodes_of_the_file(self, burnc, tiny):
        changes = {change["name"]: change for change in burnc("inspect", tiny, "--json").json["changes"]}
        assert all(change["count"] and change["nodes"] for change in changes.values())
        assert any(node.startswith("conv") for node in changes["sink transposes"]["nodes"])

    def test_text_names_every_tensor(self, burnc, tiny_int8):
        text = burnc("inspect", tiny_int8, "--tensors", "--board", "rp2040").stdout
        for part in ["image", "scores", "int8[1,1,8,8]", "conv2d", "Raspberry Pi Pico: fits"]:
            assert part in text


class TestQuantize:
    def test_json_and_report(self, burnc, tiny, data, tmp_path):
        out = tmp_path / "q.onnx"
        answer = burnc("quantize", tiny, "--calibration", data, "-o", out, "--samples", 8, "--report", "--json").json
        assert (answer["samples"], answer["left_in_float"], answer["output"]) == (8, [], str(out))
        assert answer["int8_values"] == answer["values"]
        assert {"conv", "scores"} <= {node["node"] for node in answer["nodes"]}
        assert all(node["sqnr_db"] is None or node["sqnr_db"] > 20 for node in answer["nodes"])
        assert out.is_file()

    @pytest.mark.parametrize("options", [["--observer", "percentile"], ["--observer", "mse"], ["--per-tensor"]])
    def test_options(self, burnc, tiny, data, tmp_path, options):
        burnc("quantize", tiny, "--calibration", data, "-o", tmp_path / "q.onnx", *options)
        assert "int8" in burnc("inspect", tmp_path / "q.onnx").stdout

    def test_text(self, burnc, tiny, data, tmp_path):
        text = burnc("quantize", tiny, "--calibration", data, "-o", tmp_path / "q.onnx", "--report").stdout
        assert "(100.00 %), calibrated on 16 samples" in text
        assert "dB" in text


class TestExport:
    def test_json(self, burnc, tiny_int8, tmp_path):
        answer = burnc("export", tiny_int8, "--board", "pico", "-o", tmp_path / "c", "--json").json
        require_keys(answer, EXPORT_KEYS)
        assert (answer["fits"], answer["measured"], answer["board"]) == (True, False, "pico")
        assert sorted(p.relative_to(tmp_path / "c").as_posix() for p in (tmp_path / "c").rglob("*.[ch]")) == [
            name for name in answer["files"] if name.endswith((".c", ".h"))
        ]
        for layer in answer["layers"]:
            assert set(layer) == {"name", "op", "macs", "kernel", "output_bytes"}

    @requires("arm compiler")
    def test_measured(self, burnc, tiny_int8, tmp_path):
        answer = burnc(
            "export", tiny_int8, "--board", "pico", "-o", tmp_path / "c", "--project", "bare", "--measure", "--json"
        ).json
        assert answer["measured"] is True
        assert {p.suffix for p in (tmp_path / "c" / "firmware").iterdir()} == {".bin", ".elf", ".uf2"}

    def test_quantizes_a_float_model(self, burnc, tiny, data, tmp_path):
        answer = burnc("export", tiny, "--calibration", data, "--board", "pico", "-o", tmp_path / "c", "--json").json
        kernels = {layer["kernel"] for layer in answer["layers"]}
        assert {kernel.partition("_")[0] for kernel in kernels} >= {"conv2d", "fully"}
        assert any("_s8" in kernel for kernel in kernels)

    def test_float_edges_are_kept(self, burnc, tiny, data, tmp_path):
        out = tmp_path / "q.onnx"
        burnc("quantize", tiny, "--calibration", data, "-o", out, "--io-type", "float")
        burnc("export", out, "--board", "host", "-o", tmp_path / "c", "--name", "net", "--io-type", "float")
        assert "float *net_image(" in (tmp_path / "c" / "net.h").read_text()

    def test_name_and_cmake(self, burnc, tiny_int8, tmp_path):
        text = burnc(
            "export", tiny_int8, "--board", "host", "-o", tmp_path / "c", "--name", "net", "--project", "cmake"
        ).stdout
        assert {"net.h", "net.c", "CMakeLists.txt"} <= {p.name for p in (tmp_path / "c").iterdir()}
        assert "estimated" in text

    def test_force_replaces(self, burnc, tiny_int8, tmp_path):
        burnc("export", tiny_int8, "--board", "host", "-o", tmp_path / "c", "--name", "first")
        (tmp_path / "c" / "mine.txt").write_text("mine")
        burnc("export", tiny_int8, "--board", "host", "-o", tmp_path / "c", "--name", "second", "--force")
        assert (tmp_path / "c" / "second.h").exists()
        assert not {"first.h", "mine.txt"} & {path.name for path in (tmp_path / "c").iterdir()}
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@EMULATED
class TestSimulate:
    def test_model(self, burnc, tiny_int8, data):
        answer = burnc("simulate", tiny_int8, "--board", "pico", "--inputs", data, "--count", 3, "--json").json
        require_keys(answer, SIMULATE_KEYS)
        assert (answer["engine"], answer["cores"], answer["matches_reference"]) == ("rp2040js", 2, True)
        assert np.array(answer["outputs"]["scores"]).shape == (3, 1, 3)
        for layer in answer["layers"]:
            assert {"name", "op", "cycles"} <= set(layer)
        assert sum(layer["cycles"] for layer in answer["layers"]) <= answer["cycles"]

    def test_exported_project(self, burnc, tiny_int8, data, tmp_path):
        out = tmp_path / "firmware"
        exported = burnc("export", tiny_int8, "--board", "pico", "-o", out, "--project", "bare", "--json").json
        answer = burnc("simulate", out, "--inputs", data, "--count", 2, "--json").json
        model = burnc("simulate", tiny_int8, "--board", "pico", "--inputs", data, "--count", 2, "--json").json
        require_keys(answer, SIMULATE_KEYS)
        assert answer["matches_reference"] is None
        assert answer["outputs"] == model["outputs"]
        assert answer["arena_bytes"] == exported["arena_bytes"]
        assert [layer["name"] for layer in answer["layers"]] == [layer["name"] for layer in exported["layers"]]

    def test_an_exported_project_runs_its_own_sources(self, burnc, tiny_int8, tmp_path):
        out = tmp_path / "firmware"
        burnc("export", tiny_int8, "--board", "pico", "-o", out, "--project", "bare", "--name", "net")
        before = burnc("simulate", out, "--json").json["outputs"]
        weights = out / "net_weights.c"
        text = weights.read_text()
        changed, count = re.subn(
            r"(_weights\w*\[\d+\] = \{\s*)(-?\d+)", lambda m: f"{m[1]}{(int(m[2]) + 64) % 128}", text
        )
        assert count > 0
        weights.write_text(changed)
        assert burnc("simulate", out, "--json").json["outputs"] != before

    def test_text(self, burnc, tiny_int8):
        text = burnc("simulate", tiny_int8, "--board", "pico").stdout
        for part in ["at 125 MHz", "flash", "RAM", "stack", "conv2d", "as the reference's"]:
            assert part in text


class TestBench:
    @requires("qemu-system-arm", "arm compiler")
    def test_rows(self, burnc):
        answer = burnc("bench", HELLO, "--board", "cortex-m4", "--json").json
        (row,) = answer["rows"]
        assert (answer["suite"], row["unit"], row["bit_exact"], row["why"]) == ("mcu", "instructions", True, "")
        assert 0 < row["arena_bytes"] < row["ram_bytes"]

    @requires("qemu-system-arm", "arm compiler")
    def test_floats_are_right_within_tolerance(self, burnc, tiny):
        (row,) = burnc("bench", tiny, "--board", "cortex-m4", "--json").json["rows"]
        assert (row["bit_exact"], row["right"]) == (False, True)
        assert "within tolerance" in burnc("bench", tiny, "--board", "cortex-m4").stdout

    def test_a_board_whose_emulator_is_missing_is_named(self, burnc, monkeypatch):
        monkeypatch.setenv("PATH", "/nowhere")
        answer = burnc("bench", HELLO, "--board", "cortex-m4", "--json").json
        assert answer["rows"][0]["cycles"] is None
        assert "qemu" in answer["rows"][0]["why"]
        assert "qemu" in burnc("bench", HELLO, "--board", "cortex-m4").stdout

    def test_a_board_that_cannot_be_emulated_is_wrong_input(self, burnc):
        assert "cannot be emulated" in burnc("bench", HELLO, "--board", "host", status=2).stderr


class TestValidate:
    def test_json(self, burnc, tiny_int8):
        answer = burnc("validate", tiny_int8, "--on", "numpy", "--count", 2, "--json").json
        assert answer["reference"] == "numpy"
        (target,) = answer["targets"]
        require_keys(target, ["name", "verdict", "mismatches", "max_abs_diff", "first_difference", "why"])
        assert (target["name"], target["verdict"], target["first_difference"]) == ("numpy", "bit-exact", None)

    @requires("host compiler")
    @EMULATED
    def test_text(self, burnc, tiny_int8, data):
        lines = burnc("validate", tiny_int8, "--on", "c", "--on", "pico", "--inputs", data).stdout.splitlines()
        assert lines[0] == "c      bit-exact   16 inputs"
        assert lines[1].startswith("pico   bit-exact   16 inputs   ")
        assert lines[1].endswith(" ms at 125 MHz")

    @requires("host compiler")
    def test_float_is_within_tolerance(self, burnc, tiny):
        (target,) = burnc("validate", tiny, "--on", "c", "--json").json["targets"]
        assert target["verdict"] in ("bit-exact", "within-tolerance")


class TestEvaluate:
    def test_json(self, burnc, tiny, tiny_int8, data):
        for model in (tiny, tiny_int8):
            answer = burnc("evaluate", model, "--data", data, "--json").json
            assert answer["samples"] == 16
            assert answer["accuracy"] == answer["correct"] / 16

    def test_text(self, burnc, tiny, data):
        assert burnc("evaluate", tiny, "--data", data).stdout.startswith("tiny on numpy: ")


class TestLists:
    def test_boards(self, burnc):
        boards = {board["key"]: board for board in burnc("boards", "--json").json["boards"]}
        assert boards["pico"]["clock_hz"] == 125_000_000
        assert "Raspberry Pi Pico" in burnc("boards").stdout

    def test_backends(self, burnc):
        backends = {backend["name"]: backend for backend in burnc("backends", "--json").json["backends"]}
        assert {"numpy", "c", "board"} <= set(backends)
        assert backends["numpy"]["available"] is True
        assert "numpy" in burnc("backends").stdout

    def test_operators(self, burnc):
        operators = {op["name"]: op for op in burnc("operators", "--json").json["operators"]}
        assert "Conv" in operators["conv2d"]["onnx"]
        assert operators["softmax"]["int8_cases"] > 0
        assert operators["softmax_cross_entropy"]["int8_cases"] is None
        assert all(op["meaning"] for op in operators.values())
        assert "SOFTMAX" in burnc("operators").stdout

    @requires("host compiler")
    @EMULATED
    def test_doctor(self, burnc):
        answer = burnc("doctor", "--json").json
        assert answer["ok"] is True
        assert {"host C compiler", "Node.js"} <= {tool["name"] for tool in answer["tools"]}
        assert "all that `burnc demo` needs is there" in burnc("doctor").stdout


def test_nothing_but_json_on_stdout_and_no_colour_when_piped(burnc, tiny, data, tmp_path):
    for command in (
        ["inspect", tiny],
        ["quantize", tiny, "--calibration", data, "-o", tmp_path / "q.onnx", "--force"],
        ["export", tiny, "--board", "host", "-o", tmp_path / "c", "--force"],
        ["evaluate", tiny, "--data", data],
        ["boards"],
    ):
        answer = burnc(*command)
        assert "\x1b" not in answer.stdout + answer.stderr
        assert burnc(*command, "--json").json


def test_dimensions(burnc, tmp_path):
    from onnx import helper

    from cli.nets import write_net

    relu = helper.make_node("Relu", ["image"], ["scores"])
    path = write_net(tmp_path / "open.onnx", [relu], {}, inputs={"image": ["batch", "length", 4]})
    answer = burnc("inspect", path, "--dim", "length=5", "--batch", 2, "--json").json
    assert answer["inputs"][0]["type"] == "float32[2,5,4]"
