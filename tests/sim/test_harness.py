"""Host and harness firmware talk on the emulated board."""

from __future__ import annotations

import pytest

from burnc.boards import load_board
from burnc.errors import InputError, ProtocolError
from burnc.protocol.client import Client
from burnc.protocol.framing import FrameReader, encode_frame
from burnc.protocol.messages import ErrorCode, Request, TensorInfo
from requirements import requires

pytestmark = requires("arm compiler", "node", "rp2040js")


@pytest.fixture
def board(start, toy_model):
    return start(toy_model)


def exchange(board, *frames: bytes) -> list[bytes]:
    """Sends raw bytes and waits for one reply to each piece."""
    reader, replies = FrameReader(), []
    for frame in frames:
        board.write(frame)
        expected = len(replies) + 1
        while len(replies) < expected:
            replies += reader.feed(board.read(4096, 60.0))
    return replies


def test_hello_describes_the_model(board):
    hello = board.client().hello()
    assert (hello.model, hello.model_sha256, hello.board, hello.version) == ("toy", "00ff", "pico", "0.0.1")
    assert hello.inputs == (TensorInfo("image", 700),)
    assert hello.outputs == (TensorInfo("scores", 700), TensorInfo("runs", 4))
    assert (hello.clock_hz, hello.layer_count, hello.max_payload) == (125_000_000, 2, 512)


def test_run_gives_the_models_bytes(board):
    client = board.client()
    for shift in range(3):
        data = bytes((i * 7 + shift + 1) % 251 + 1 for i in range(700))
        client.write_input(0, data)
        assert client.run().status == 0
        assert client.read_output(0) == bytes(b + 1 & 0xFF for b in data)


def test_status_of_the_run_is_told(board):
    client = board.client()
    client.write_input(0, bytes([255]) * 700)
    assert client.run().status == -7


def test_profile_and_stack(board):
    client = board.client()
    plain = client.run()
    assert (plain.layer_cycles, plain.stack_bytes) == ((), None)
    assert client.run().cycles == plain.cycles
    full = client.run(profile=True, measure_stack=True)
    first, second = full.layer_cycles
    assert 5 < second / first < 7  # 600 bytes to 100
    assert 0 < full.cycles - first - second < 500
    assert full.stack_bytes is not None
    assert 0 < full.stack_bytes < 1024


def test_flash_cache_costs_cycles_until_it_is_warm(start, toy_model):
    without = start(toy_model).client().run().cycles
    client = start(toy_model, with_flash_cache=True).client()
    cold, warm = client.run().cycles, client.run().cycles
    assert cold > warm >= without
    # boot2.S has set up the very read that the board's file reckons with: every wait takes so long.
    assert (cold - without) % load_board("pico").first_memory("flash").cache.miss_cycles == 0


def test_reset_state(board):
    client = board.client()
    for _ in range(3):
        client.run()
    assert client.read_output(1) == (3).to_bytes(4, "little")
    client.reset_state()
    assert client.read_output(1) == bytes(4)


def test_reboot_ends_the_session(board):
    client = board.client()
    client.run()
    client.reboot()
    assert client.hello().model == "toy"
    assert client.read_output(1) == bytes(4)
    assert board.resets == ["watchdog"]


def test_restarted_board_is_noticed(board):
    client = board.client()
    client.hello()
    Client(board, reply_timeout_s=60.0).reboot()
    with pytest.raises(ProtocolError, match="restarted"):
        client.run()


def test_repeated_run_is_answered_but_not_run_again(board):
    client = board.client()
    client.hello()
    frame = encode_frame(bytes([Request.RUN, 99, 0]))
    first, again = exchange(board, frame, frame)
    assert first == again
    assert client.read_output(1) == (1).to_bytes(4, "little")
    exchange(board, encode_frame(bytes([Request.RUN, 100, 0])))
    assert client.read_output(1) == (2).to_bytes(4, "little")


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b"\x05\x01\x00", ErrorCode.BAD_FRAME),
        (encode_frame(b"\x01"), ErrorCode.BAD_FRAME),
        (b"\x01" * 2000 + b"\x00", ErrorCode.BAD_FRAME),
        (b"\x07\x01\x02\x03\x04\x05\x06\x00", ErrorCode.BAD_CRC),
        (encode_frame(bytes([0x42, 1])), ErrorCode.UNKNOWN_COMMAND),
        (encode_frame(bytes([Request.RUN, 1])), ErrorCode.BAD_ARGUMENTS),
        (encode_frame(bytes([Request.TENSOR, 1, 0, 9, 0])), ErrorCode.BAD_ARGUMENTS),
        (encode_frame(bytes([Request.WRITE_INPUT, 1, 0, 0, 188, 2, 0, 0, 1])), ErrorCode.BAD_ARGUMENTS),
        (encode_frame(bytes([Request.WRITE_INPUT, 1, 0, 0, 255, 255, 255, 255, 1])), ErrorCode.BAD_ARGUMENTS),
        (encode_frame(bytes([Request.READ_OUTPUT, 1, 0, 0, 0, 0, 0, 0, 1, 2])), ErrorCode.BAD_ARGUMENTS),
        (encode_frame(bytes([Request.READ_OUTPUT, 1, 2, 0, 0, 0, 0, 0, 1, 0])), ErrorCode.BAD_ARGUMENTS),
        (encode_frame(bytes([Request.READ_PROFILE, 1, 0, 0, 0, 0, 1, 0])), ErrorCode.BAD_ARGUMENTS),
    ],
)
def test_bad_requests_are_refused_and_the_next_good_one_is_served(board, frame, code):
    client = board.client()
    client.hello()
    (reply,) = exchange(board, frame)
    assert reply[0] == 0xFF
    assert reply[2] == code
    assert client.hello().model == "toy"


def test_noise_before_the_first_request_does_no_harm(board):
    board.write(b"\x11\x22\x33")
    # The client ends the noise with a zero; the complaint about it costs the first attempt.
    assert Client(board, reply_timeout_s=60.0).hello().model == "toy"


def test_wrong_sizes_are_refused_before_anything_is_sent(board):
    client = board.client()
    with pytest.raises(InputError, match="700 bytes"):
        client.write_input(0, b"too short")
    with pytest.raises(InputError, match="no input 3"):
        client.write_input(3, b"")
    with pytest.raises(InputError, match="no output 2"):
        client.read_output(2)
