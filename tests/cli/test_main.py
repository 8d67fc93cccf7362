"""What is true of the program whatever the command: start, faults, interrupts, closed pipes."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import burnc
from burnc.cli import render
from burnc.cli.output import plain

PROGRAM = [sys.executable, "-c", "from burnc.cli.main import main; main()"]


def test_help_names_every_command_and_loads_nothing_heavy():
    code = (
        "import sys; from burnc.cli.main import cli\n"
        "try: cli.main(['--help'], prog_name='burnc')\n"
        "except SystemExit: print(sorted({'numpy','onnx','rich','jinja2','tflite','elftools'} & set(sys.modules)))"
    )
    text = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert text.endswith("[]\n")
    for name in [
        "demo",
        "inspect",
        "quantize",
        "export",
        "simulate",
        "validate",
        "evaluate",
        "boards",
        "backends",
        "operators",
        "doctor",
    ]:
        assert f"  {name} " in text


def test_every_command_has_help_and_json(burnc):
    from burnc.cli.main import COMMANDS

    for name in COMMANDS:
        text = burnc(name, "--help").stdout
        assert "--json" in text
        assert "Usage: burnc " in text


def test_version():
    done = subprocess.run([*PROGRAM, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"burnc {burnc.__version__}\n"


def test_wrong_usage_is_json_too(burnc):
    answer = burnc("inspect", "--json", status=2)
    assert "MODEL" in answer.json["error"]["what"]
    assert "Usage: burnc inspect" in answer.stderr
    burnc("no-such-command", status=2)


@pytest.fixture
def broken_boards(monkeypatch):
    from burnc import boards

    def set_error(error):
        def all_boards():
            raise error

        monkeypatch.setattr(boards, "all_boards", all_boards)

    return set_error


def test_a_fault_in_burnc_says_so(burnc, broken_boards, monkeypatch):
    monkeypatch.delenv("BURNC_TRACEBACK", raising=False)
    broken_boards(RuntimeError("a \x1b[31mbug"))
    answer = burnc("boards", "--json", status=70)
    assert "this is a fault in burnc: RuntimeError at test_main.py" in answer.stderr
    assert "BURNC_TRACEBACK=1" in answer.stderr
    assert "\x1b" not in answer.stderr
    assert "fault" in answer.json["error"]["what"]


def test_traceback_when_asked_for(broken_boards, monkeypatch, capsys):
    from burnc.cli.main import cli

    monkeypatch.setenv("BURNC_TRACEBACK", "1")
    broken_boards(RuntimeError("bug"))
    with pytest.raises(SystemExit):
        cli.main(["boards"])
    assert "Traceback" in capsys.readouterr().err


def test_interrupt(burnc, broken_boards):
    broken_boards(KeyboardInterrupt())
    assert burnc("boards", status=130).stderr.strip() == "interrupted"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_program_that_is_ended_leaves_nothing_behind(name, tmp_path):
    code = (
        "import os, signal, sys, tempfile\n"
        "from burnc import boards\n"
        "from burnc.cli.main import main\n"
        "folder = sys.argv.pop()\n"
        "def all_boards():\n"
        "    with tempfile.TemporaryDirectory(dir=folder):\n"
        f"        os.kill(os.getpid(), signal.{name})\n"
        "        signal.pause()\n"
        "boards.all_boards = all_boards\n"
        # Whoever runs the tests may have had it ignored (nohup).
        f"signal.signal(signal.{name}, signal.SIG_DFL)\n"
        "main()\n"
    )
    command = [sys.executable, "-c", code, "boards", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 128 + getattr(signal, name)
    assert list(tmp_path.iterdir()) == []


def test_closed_pipe_is_quiet():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*PROGRAM, "operators"], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert done.stderr == ""
    assert done.returncode == 141  # 1 would be an answer


@pytest.mark.parametrize("arguments", [["operators"], ["operators", "--json"], ["--help"]])
def test_standard_output_may_be_closed(arguments):
    command = ["sh", "-c", 'exec "$@" >&-', "sh", *PROGRAM, *arguments]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
@pytest.mark.parametrize("arguments", [["operators"], ["operators", "--json"]])
def test_a_full_disk_is_one_message(arguments):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: nothing more can be written: No space left on device\n"


def test_a_full_disk_for_temporary_files_is_json_too(burnc, broken_boards):
    broken_boards(OSError(errno.ENOSPC, "No space left on device", "/tmp/x"))
    answer = burnc("boards", "--json", status=2)
    assert "No space left" in answer.json["error"]["what"]
    assert "/tmp/x" in answer.stderr


def test_what_the_output_cannot_encode_is_escaped(tmp_path):
    from cli import nets

    names = ("\u00e9\u4e2d", "\u0001conv", "relu", "flat", "scores")
    model = nets.classifier(tmp_path / "m.onnx", names=names)
    done = subprocess.run(
        [*PROGRAM, "inspect", model, "--tensors"],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        encoding="latin-1",
        check=True,
    )
    assert "\u00e9\\u4e2d" in done.stdout
    assert "\\x01conv" in done.stdout


def test_control_characters_cannot_reach_a_terminal():
    assert plain("a\x1b[31mb\nc\u202e") == "a\\x1b[31mb\nc\\u202e"


class TestRender:
    def test_lines(self, capsys):
        render.lines([("c", "bit-exact"), ("pico", "differs")])
        assert capsys.readouterr().out == "c      bit-exact\npico   differs\n"

    def test_table_is_plain_when_piped(self, capsys):
        render.table(("name", ">bytes"), [("a", "1"), ("bb", "1 000")])
        assert capsys.readouterr().out == "name   bytes\na          1\nbb     1 000\n"

    def test_table_on_a_terminal(self, capsys, monkeypatch):
        monkeypatch.setattr(render, "for_terminal", lambda: True)
        render.table(("name", ">bytes"), [("[bold]a", "1")])
        assert "[bold]a" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("value", "text"), [(3.14159, "3.14 ms"), (123.4, "123 ms"), (0.0525, "0.0525 ms"), (None, "")]
    )
    def test_milliseconds(self, value, text):
        assert render.milliseconds(value) == text

    def test_short_names(self):
        assert render.short("a/Relu;b/Conv2D") == "a/Relu"
        assert len(render.short("x" * 100)) == 44


class TestProgress:
    def test_lines_now_and_then(self, monkeypatch, capsys):
        from burnc.cli import progress

        now = iter([0.0, 0.0, 6.0, 6.0, 6.0, 7.0])
        monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
        with progress.progress() as report:
            report("calibrating", 1, 100)
            report("calibrating", 31, 100)
        out = capsys.readouterr()
        assert out.out == ""
        assert out.err == "calibrating: 31 of 100, 5/s, 14 s left\n"

    def test_bars_on_a_terminal(self, monkeypatch, capsys):
        from burnc.cli import progress

        monkeypatch.setattr(progress, "for_terminal", lambda stream: True)
        with progress.progress() as report:
            for done in range(1, 4):
                report("calibrating", done, 3)
            report("evaluating", 1, 2)
        assert capsys.readouterr().out == ""
