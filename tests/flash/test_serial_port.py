"""Serial ports that are missing, taken, not permitted, or vanish during use."""

from __future__ import annotations

import contextlib
import errno
import os
import sys

import pytest

from burnc.errors import PortError
from burnc.flash.machine import PortInfo
from burnc.flash.serial_port import SerialPort
from flash.fake_machine import PICO_FIRMWARE, FakeMachine, FakePort

ADAPTER = PortInfo("/dev/ttyUSB0", (0x0403, 0x6001), "A1")
OWN = PortInfo("/dev/ttyACM0", PICO_FIRMWARE, "E66")


@pytest.fixture
def machine():
    machine = FakeMachine()
    machine.port_list = [ADAPTER]
    return machine


def test_bytes_go_both_ways(machine):
    line = FakePort()
    machine.make_port = lambda path, baud: line
    with SerialPort(ADAPTER.path, 115_200, machine) as port:
        port.write(b"abc")
        line.answers += b"123456"
        assert port.read(4, 1.0) == b"1234"
        assert port.read(1, 1.0) == b"5"
        assert port.read(100, 1.0) == b"6"
        assert port.read(100, 0.5) == b""
    assert line.written == b"abc"
    assert line.is_closed
    assert machine.opened == [(ADAPTER.path, 115_200)]
    with pytest.raises(PortError, match="is closed"):
        port.write(b"x")


@pytest.mark.parametrize(
    ("error", "what", "hint"),
    [
        (OSError(errno.EACCES, "Permission denied"), "you may not open the port /dev/ttyUSB0", "dialout"),
        (OSError(errno.EBUSY, "Device or resource busy"), "in use by another program", "close that program"),
        (OSError(errno.EAGAIN, "Could not exclusively lock port"), "in use by another program", "close that"),
        (OSError(errno.ENOENT, "no such file"), "there is no port /dev/ttyUSB0", "/dev/ttyUSB0"),
        (OSError(errno.ENOTTY, "not a tty"), "cannot be opened", "is it a serial port?"),
        (ValueError("Invalid baud rate"), "cannot be opened", "serial port"),
    ],
)
def test_what_hinders_opening_is_said(machine, error, what, hint):
    machine.open_error = error
    with pytest.raises(PortError) as caught:
        SerialPort(ADAPTER.path, 115_200, machine)
    assert what in caught.value.what
    assert hint in caught.value.hint


def test_windows_says_it_in_words(machine):
    machine.open_error = OSError(
        "could not open port 'COM3': PermissionError(13, 'Access is denied.', None, 5)"
    )  # pyserial gives no number there
    with pytest.raises(PortError, match="COM3 is in use by another program"):
        SerialPort("COM3", 115_200, machine)
    machine.open_error = OSError("could not open port 'COM3': FileNotFoundError(2, 'cannot find the file', None, 2)")
    with pytest.raises(PortError, match="there is no port COM3"):
        SerialPort("COM3", 115_200, machine)


def test_no_port_at_all(machine):
    machine.port_list = []
    with pytest.raises(PortError, match="there is no port") as caught:
        SerialPort("/dev/ttyACM0", 115_200, machine)
    assert "is the board plugged in?" in caught.value.hint


def test_a_port_that_vanishes_is_told(machine):
    line = FakePort()
    machine.make_port = lambda path, baud: line
    port = SerialPort(ADAPTER.path, 115_200, machine)
    line.lost = True
    with pytest.raises(PortError, match="the port /dev/ttyUSB0 is gone") as caught:
        port.read(1, 1.0)
    assert "Input/output error" in caught.value.where
    with pytest.raises(PortError):
        port.write(b"x")
    port.close()


class TestRestart:
    """A board's own USB port goes away when it restarts, and comes back."""

    @pytest.fixture
    def port(self, machine):
        machine.port_list = [OWN]
        self.lines = []

        def make_port(path, baud):
            self.lines.append(FakePort())
            return self.lines[-1]

        machine.make_port = make_port
        port = SerialPort(OWN.path, 115_200, machine)
        port.restarted()
        self.lines[0].lost = True
        machine.port_list = []
        return port

    def test_it_is_found_under_another_name(self, machine, port):
        other = PortInfo("/dev/ttyACM0", PICO_FIRMWARE, "another board that has taken the name")
        machine.after(1.0, lambda: machine.port_list.append(other))
        machine.after(2.0, lambda: machine.port_list.append(PortInfo("/dev/ttyACM5", PICO_FIRMWARE, "E66")))
        machine.after(2.5, lambda: self.lines[1].answers.extend(b"hello"))
        assert port.read(5, 4.0) == b"hello"
        assert port.path == "/dev/ttyACM5"
        assert self.lines[0].is_closed

    def test_what_was_to_be_sent_is_sent_then(self, machine, port):
        machine.after(2.0, lambda: machine.port_list.append(OWN))
        port.write(b"hello")
        assert self.lines[1].written == b"hello"

    def test_it_may_be_there_before_it_can_be_opened(self, machine, port):
        machine.open_error = OSError(errno.EACCES, "Permission denied")  # until udev has been there
        machine.after(1.0, lambda: machine.port_list.append(OWN))
        machine.after(2.0, lambda: setattr(machine, "open_error", None))
        port.write(b"hello")
        assert self.lines[1].written == b"hello"

    def test_it_stays_away(self, machine, port):
        with pytest.raises(PortError, match="is gone"):
            port.read(1, 1.0)
        assert 20 < machine.time < 22


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
class TestPseudoTerminal:
    """The real thing, as far as a pseudo-terminal is one: it has no DTR and RTS."""

    @pytest.fixture
    def terminal(self):
        import pty
        import tty

        master, slave = pty.openpty()
        tty.setraw(slave)
        yield master, slave
        for descriptor in (master, slave):
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def test_bytes_go_both_ways(self, terminal):
        master, slave = terminal
        with SerialPort(os.ttyname(slave), 921_600) as port:
            port.write(bytes(range(256)))
            assert os.read(master, 256) == bytes(range(256))
            os.write(master, bytes(range(256)))
            assert port.read(256, 5.0) == bytes(range(256))

    def test_twice_at_once_is_refused(self, terminal):
        path = os.ttyname(terminal[1])
        with SerialPort(path, 115_200), pytest.raises(PortError, match="in use by another program"):
            SerialPort(path, 115_200)
        SerialPort(path, 115_200).close()

    def test_it_vanishes(self, terminal):
        master, slave = terminal
        with SerialPort(os.ttyname(slave), 115_200) as port:
            os.close(slave)
            os.close(master)
            with pytest.raises(PortError, match="is gone"):
                port.read(1, 5.0)

    def test_a_file_is_no_port(self, tmp_path):
        path = tmp_path / "file"
        path.touch()
        with pytest.raises(PortError, match="cannot be opened") as caught:
            SerialPort(str(path), 115_200)
        assert caught.value.hint == "is it a serial port?"
