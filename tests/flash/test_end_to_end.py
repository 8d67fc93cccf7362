"""`burnc flash` and `burnc validate --on serial:PORT` against an emulated Pico on a pseudo-terminal."""

from __future__ import annotations

import math
import os
import random
import sys
from pathlib import Path

import pytest

import burnc
from burnc.boards import load_board
from burnc.compilers.uf2 import pack_uf2
from burnc.devices.emulated_port import emulated_port
from burnc.devices.flash import BoardFlasher
from burnc.devices.serial import SerialBackend
from burnc.errors import BurncError, InputError, PortError, ProtocolError
from burnc.flash.bootloader import flash_application
from burnc.flash.serial_port import SerialPort
from burnc.protocol.client import Client
from burnc.protocol.exchange import Exchange
from burnc.protocol.transport import Transport
from burnc.quant import load_dataset
from burnc.resources import data_folder
from burnc.sim.pty_port import PtyPort
from burnc.sim.simulated_board import open_simulator
from cli.conftest import run
from requirements import requires

pytestmark = [
    requires("arm compiler", "node", "rp2040js"),
    pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals"),
]

PICO = load_board("pico")
MODELS = Path(__file__).parents[1] / "models"
HELLO_WORLD = MODELS / "tflm_hello_world_int8.tflite"
DIGITS = data_folder("examples") / "mnist_pico"


def ignore(what: str, done: int, total: int) -> None:
    pass


@pytest.fixture(scope="module")
def mnist(tmp_path_factory):
    """MNIST-8 in int8, as a file."""
    model = burnc.load(DIGITS / "mnist8.onnx")
    small = model.quantize(load_dataset(DIGITS / "digits.npz", inputs=model.graph.inputs)[:20])
    path = tmp_path_factory.mktemp("mnist") / "mnist_int8.onnx"
    small.save(path)
    return path


def test_mnist_is_flashed_and_validated_on_20_digits(mnist):
    with emulated_port(PICO) as port:
        flashed = run("flash", mnist, "--board", "pico", "--port", port, "--json").json
        assert flashed["method"] == "serial"
        assert flashed["verified"]
        assert flashed["address"] == 0x10004000
        assert flashed["written_bytes"] >= flashed["image_bytes"] > 10_000
        digits = ("--inputs", DIGITS / "digits.npz", "--count", "20")
        (target,) = run("validate", mnist, "--on", f"serial:{port}", *digits, "--json").json["targets"]
        assert (target["name"], target["verdict"], target["inputs"]) == (f"serial:{port}", "bit-exact", 20)
        assert 20 < target["latency_ms"] < 95
        again = run("flash", mnist, "--board", "pico", "--port", port)
        assert "the board holds them already" in again.stdout


def test_the_cable_is_pulled_while_flashing(tmp_path, toy):
    kept = tmp_path / "flash.bin"
    with emulated_port(PICO, kept, power_fails_at=5.5) as port:
        flasher = BoardFlasher(PICO, port, progress=ignore)
        with pytest.raises(PortError, match="is gone"):
            flasher.flash_file(uf2_of(tmp_path, toy))
    with emulated_port(PICO, kept) as port:
        with pytest.raises(BurncError, match="in its bootloader"):
            SerialBackend(port).compile(burnc.load(HELLO_WORLD).graph)
        assert BoardFlasher(PICO, port, progress=ignore).flash_file(uf2_of(tmp_path, toy)).answers == "toy"
    with emulated_port(PICO, kept) as port, SerialPort(port, 921_600) as line:
        assert Client(line).hello().model == "toy"


class NoisyLine:
    """A transport that loses, changes, adds and repeats bytes both ways, by chance from a seed."""

    def __init__(self, line: Transport, seed: int, rate: float) -> None:
        self._line = line
        self._rng = random.Random(seed)
        self._rate = rate
        self.harm = 0

    def write(self, data: bytes) -> None:
        self._line.write(self._harmed(data))

    def read(self, max_bytes: int, timeout_s: float) -> bytes:
        return self._harmed(self._line.read(max_bytes, timeout_s))

    def _harmed(self, data: bytes) -> bytes:
        if len(data) < 2 or self._rng.random() > self._rate:
            return data
        self.harm += 1
        at = self._rng.randrange(len(data))
        match self._rng.randrange(4):
            case 0:
                return data[:at] + data[at + 1 :]
            case 1:
                return data[:at] + bytes([data[at] ^ 1 << self._rng.randrange(8)]) + data[at + 1 :]
            case 2:
                return data[:at] + self._rng.randbytes(3) + data[at:]
            case _:
                return data + data


@pytest.mark.parametrize("seed", range(3))
def test_a_line_that_damages_bytes(plug_in, larger_toy, seed):
    with SerialPort(plug_in().path, 921_600) as port:
        noisy = NoisyLine(port, seed, 0.15)
        exchange = Exchange(noisy, reply_timeout_s=0.5, attempts=20)
        done = flash_application(exchange, PICO, larger_toy, ignore)
        assert done.written > len(larger_toy.content)
        client = Client(exchange)
        data = bytes(i % 250 for i in range(700))
        for _ in range(5):
            client.write_input(0, data)
            assert client.run().status == 0
            assert client.read_output(0) == bytes(b + 1 for b in data)
        assert noisy.harm > 3
        assert exchange.repeats > 0


def test_nobody_answers(tmp_path, toy):
    import pty
    import tty

    master, slave = pty.openpty()
    tty.setraw(slave)
    with SerialPort(os.ttyname(slave), 921_600) as port:
        exchange = Exchange(port, reply_timeout_s=0.01, attempts=2)
        with pytest.raises(ProtocolError, match="nothing on the port answers") as caught:
            flash_application(exchange, PICO, toy, ignore)
        assert "bootloader" in caught.value.hint
    os.close(master)
    os.close(slave)


def test_firmware_at_the_start_of_flash_has_no_bootloader(tmp_path, plain_toy, toy):
    """It is what the USB drive gets; the file for the bootloader is no good there, and the other way round."""
    plain = tmp_path / "plain.bin"
    plain.write_bytes(plain_toy.content)
    with PtyPort(open_simulator(PICO, plain, silence_limit_s=math.inf)) as port:
        flasher = BoardFlasher(PICO, port.path, progress=ignore)
        with pytest.raises(ProtocolError, match="not started by burnc's bootloader"):
            flasher.flash_file(uf2_of(tmp_path, toy))
        with SerialPort(port.path, 921_600) as line:
            assert Client(line).hello().model == "toy"
    with pytest.raises(InputError, match="belongs behind a bootloader"):
        BoardFlasher(PICO, method="uf2", progress=ignore).flash_file(uf2_of(tmp_path, toy))
    with emulated_port(PICO) as path, pytest.raises(InputError, match="the bootloader leaves"):
        BoardFlasher(PICO, path, progress=ignore).flash_file(uf2_of(tmp_path, plain_toy))


def test_another_model_is_refused(plug_in, tmp_path, toy):
    port = plug_in().path
    BoardFlasher(PICO, port, progress=ignore).flash_file(uf2_of(tmp_path, toy))
    model = burnc.load(HELLO_WORLD)
    (target,) = model.validate(1, on=[f"serial:{port}"]).targets
    assert target.verdict == "unavailable"
    assert "holds another model: 'toy', this one is 'main'" in target.why
    assert "burnc flash MODEL --board pico" in target.why


def test_an_exported_project_is_flashed_from_its_own_sources(plug_in, tmp_path):
    port = plug_in().path
    folder = tmp_path / "firmware"
    run("export", HELLO_WORLD, "--board", "pico", "-o", folder, "--project", "bare")
    said = run("flash", folder, "--board", "pico", "--port", port).stdout
    assert "0x10004000" in said
    assert "answers    the model 'main'" in said
    model = burnc.load(HELLO_WORLD)
    assert model.validate(3, on=[f"serial:{port}"]).ok


def test_a_difference_is_found_but_not_its_layer(plug_in, tmp_path, monkeypatch):
    """Where the board is wrong, the answer is `differs`, and why no layer can be named."""
    port = plug_in().path
    model = burnc.load(HELLO_WORLD)
    BoardFlasher(PICO, port, progress=ignore).flash_model(model.graph)
    monkeypatch.setattr(Client, "read_output", lambda self, index: bytes([77]))
    (target,) = model.validate(2, on=[f"serial:{port}"]).targets
    assert target.verdict == "differs"
    assert target.mismatches == 2
    assert "built to return them" in target.why


def uf2_of(folder: Path, image) -> Path:
    path = folder / f"{image.address:08x}.uf2"
    path.write_bytes(pack_uf2(image.content, address=image.address, family=image.family))
    return path
