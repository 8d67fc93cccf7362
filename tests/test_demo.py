"""``burnc demo``: the main job on the models that ship."""

from __future__ import annotations

import pytest

from cli.conftest import run
from requirements import requires

pytestmark = [pytest.mark.slow, requires("host compiler", "arm compiler", "node", "rp2040js")]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """The answer for each model, and the folder they went to."""
    folder = tmp_path_factory.mktemp("demo") / "new" / "burnc-demo"
    return run("demo", "--output", folder, "--json").json["models"], folder


def test_everything_is_bit_exact(models):
    for model in models[0].values():
        assert model["simulate"]["matches_reference"] is True
        assert model["host"]["verdict"] == "bit-exact"
        assert model["simulate"]["inferences"] == 10
        assert model["simulate"]["stack_bytes"] > 0


def test_accuracy_is_kept(models):
    mnist = models[0]["mnist"]
    assert mnist["test_samples"] == 9800
    assert mnist["float_accuracy"] > 0.99
    assert mnist["int8_accuracy"] > mnist["float_accuracy"] - 0.003


def test_flash_is_little_more_than_the_weights(models):
    export = models[0]["mnist"]["export"]
    assert export["measured"] is True
    assert export["flash_bytes"] <= export["weights_bytes"] + 12 * 1024


def test_firmware_lies_there(models):
    for name in ("mnist", "kws"):
        for suffix in ("elf", "uf2"):
            assert (models[1] / name / "firmware" / f"{name}.{suffix}").stat().st_size > 10_000


def test_oracle(models):
    pytest.importorskip("tflite_micro")
    assert models[0]["kws"]["oracle_equal"] is True


def test_text(tmp_path):
    text = run("demo", "kws", "--output", tmp_path / "demo").stdout
    for part in ["equal the host's numpy and c, bit for bit", "ms at 125 MHz", "conv2d", "stack"]:
        assert part in text
    run("simulate", tmp_path / "demo" / "kws")
