"""``burnc train``: from a configuration to two files, deterministic, with one message for whatever is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from burnc import nn
from burnc.backends import device
from burnc.cli.main import cli
from burnc.errors import BurncError, InputError
from burnc.ir import print_graph
from burnc.model import load
from burnc.train import read_config, train_network
from burnc.train.data import split

CONFIG = """
name = "bars"

[data]
file = "bars.npz"
input = "image"
kind = "image"
shape = [8, 8, 1]
scale = 0.00392156862745098
labels = ["row", "column", "cross"]
held_out = 150
shift = 1

[training]
epochs = 20
batch = 32
seed = 3
learning_rate = 0.01

[quantization]
epochs = 1
learning_rate = 0.001
samples = 100

[goal]
accuracy = 0.95
int8_loss = 0.02

[[layers]]
kind = "conv2d"
filters = 6
kernel = 3
padding = "same"
bias = false
[[layers]]
kind = "batch_norm"
[[layers]]
kind = "relu"
[[layers]]
kind = "max_pool"
kernel = 2
[[layers]]
kind = "depthwise_conv2d"
kernel = 3
padding = "same"
[[layers]]
kind = "relu"
[[layers]]
kind = "flatten"
[[layers]]
kind = "linear"
outputs = 3
"""


def bars(count, seed=0):
    """A row, a column, or both, of bright pixels in noise."""
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 90, (count, 8, 8))
    labels = rng.integers(0, 3, count)
    for image, label in zip(images, labels, strict=True):
        if label != 1:
            image[rng.integers(1, 7)] = rng.integers(120, 256)
        if label != 0:
            image[:, rng.integers(1, 7)] = rng.integers(120, 256)
    return images.astype(np.uint8), labels


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train")
    images, labels = bars(1000)
    np.savez(folder / "bars.npz", x=images, y=labels)
    (folder / "train.toml").write_text(CONFIG)
    return folder


def burnc(*arguments, status=0):
    answer = CliRunner().invoke(cli, [str(a) for a in arguments])
    assert answer.exit_code == status, answer.output
    return answer


@pytest.fixture(scope="module")
def trained(folder):
    """The report of a run, whose networks lie in ``folder / "out"``."""
    answer = burnc("train", folder / "train.toml", "--output", folder / "out", "--json")
    return json.loads(answer.stdout)


def test_it_learns(trained):
    assert trained["ok"]
    assert trained["float_accuracy"] >= 0.97
    assert trained["int8_accuracy"] >= 0.97
    assert (trained["trained_on"], trained["held_out"], trained["parameters"]) == (850, 150, 54 + 12 + 54 + 6 + 291)
    assert [e["epoch"] for e in trained["epochs"]] == list(range(1, 21))
    assert trained["epochs"][-1]["loss"] < 0.5 * trained["epochs"][0]["loss"]


def test_what_is_written_says_the_same(trained, folder):
    held_out = split(load(folder / "out/float.onnx").dataset(folder / "bars.npz"), 150, 0)[1]
    np.savez(folder / "held_out.npz", x=np.rint(held_out.inputs["image"] * 255).astype(np.uint8), y=held_out.labels)
    for name in ("float", "int8"):
        model = load(folder / f"out/{name}.onnx")
        assert model.card is not None
        assert model.card.labels == ("row", "column", "cross")
        assert model.card.accuracy == trained[f"{name}_accuracy"]
        assert model.evaluate(folder / "held_out.npz").accuracy == trained[f"{name}_accuracy"]
        assert [v.name for v in model.graph.outputs] == ["scores"]
    assert not any(v.type.dtype.is_float for v in model.graph.values())


def test_export_continues_and_the_header_holds_the_card(trained, folder):
    burnc("export", folder / "out/int8.onnx", "--board", "host", "--name", "bars", "-o", folder / "c")
    header = (folder / "c/bars.h").read_text()
    assert "labels     row, column, cross" in header
    assert "scaling    stored number * 0.00392156863" in header


def test_the_same_seed_gives_the_same_bytes(trained, folder):
    config = read_config(folder / "train.toml")
    network = train_network(config, device("numpy"))
    assert print_graph(network.int8_graph) == print_graph(load(folder / "out/int8.onnx").graph)


def test_below_the_goal_is_status_1_and_the_budget_ends_training(folder):
    out = folder / "hurried"
    answer = burnc(
        "train", folder / "train.toml", "-o", out, "--epochs", 500, "--seconds", 0.01, "--seed", 5, "--json", status=1
    )
    report = json.loads(answer.stdout)
    assert report["stopped"]
    assert report["seed"] == 5
    assert report["seconds"] < 30
    assert (out / "int8.onnx").exists()


def test_validation_chooses_the_epoch_and_int8_may_be_calibrated_only(folder):
    config = read_config(folder / "train.toml")
    config = replace(
        config,
        data=replace(config.data, validation=100),
        training=replace(config.training, epochs=4, optimizer="sgd", learning_rate=0.05, schedule="constant"),
        quantization=replace(config.quantization, epochs=0),
    )
    network = train_network(config, device("numpy"))
    assert network.report.trained_on == 750
    assert all(0 <= epoch.accuracy <= 1 for epoch in network.report.epochs)
    assert network.report.quantized_epochs == []
    assert abs(network.report.int8_accuracy - network.report.float_accuracy) <= 0.05


def test_a_module_in_place_of_layers(folder):
    config = replace(read_config(folder / "train.toml"), layers=())
    config = replace(config, training=replace(config.training, epochs=1, batch=50), name="own")
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 3))
    network = train_network(config, device("numpy"), network=net)
    assert network.int8_graph.name == "own"
    assert [n.op for n in network.int8_graph.nodes] == ["reshape", "fully_connected", "fully_connected"]
    assert net.parameter_count() == network.report.parameters == 64 * 8 + 8 + 8 * 3 + 3


def test_a_loss_that_explodes_is_said(folder):
    config = read_config(folder / "train.toml")
    config = replace(config, training=replace(config.training, optimizer="sgd", learning_rate=1e30))
    with pytest.raises(BurncError, match="the loss became"):
        train_network(config, device("numpy"))


def test_a_taken_folder_is_refused_before_anything_is_trained(trained, folder):
    answer = burnc("train", folder / "train.toml", "-o", folder / "out", status=2)
    assert "out" in answer.stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("epochs = 20", "epoch = 6", "training.epoch is unknown"),
        ("[goal]", "[goals]", "goals is unknown"),
        ("epochs = 20", 'epochs = "six"', "training.epochs must be of type int"),
        ("epochs = 20", "epochs = 0", "training.epochs must be positive"),
        ("shape = [8, 8, 1]", "", "data.shape is missing"),
        ("shape = [8, 8, 1]", "shape = [7, 8, 1]", "samples have shape [8, 8]"),
        ('kind = "image"', 'kind = "smell"', "'smell' is unknown"),
        ("held_out = 150", "held_out = 1000", "held out"),
        ("held_out = 150", "held_out = 990", "fill a batch"),
        ('file = "bars.npz"', 'file = "nothing.npz"', "cannot be read"),
        ('labels = ["row", "column", "cross"]', 'labels = ["row", "column"]', "there are 2 labels"),
        ('kind = "relu"', 'kind = "swish"', "layer kind 'swish' is unknown"),
        ("filters = 6", "channels = 6", "'filters'"),
        ("filters = 6", "filters = 6\ncolour = 1", "'colour'"),
        ('kernel = 3\npadding = "same"', "kernel = 9", "a window of 9 does not fit"),
        ("name =", "name", "no TOML"),
    ],
)
def test_bad_configurations(folder, tmp_path, old, new, message):
    assert old in CONFIG
    np.savez(tmp_path / "bars.npz", **np.load(folder / "bars.npz"))
    file = tmp_path / "bad.toml"
    file.write_text(CONFIG.replace(old, new, 1))
    answer = burnc("train", file, "-o", tmp_path / "out", status=2)
    assert message in answer.stderr
    assert "next:" in answer.stderr or "where:" in answer.stderr
    assert not (tmp_path / "out").exists()


def test_a_missing_file():
    with pytest.raises(InputError, match="cannot be read"):
        read_config(Path("no/such.toml"))
