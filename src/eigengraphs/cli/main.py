"""The ``eigengraphs`` command: its commands, its exit codes, and what Ctrl-C does.

Exit codes: 0 success, 2 usage, 3 input refused, 4 not converged (--strict), 5 the cluster was lost;
130 interrupted, 143 terminated, 129 the terminal is gone.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Any

from eigengraphs import __version__
from eigengraphs.cli.terminal import for_shell, say, showing, tell
from eigengraphs.errors import ClusterError, EigengraphsError, InputError, MissingExtraError, short
from eigengraphs.system.extras import need
from eigengraphs.system.labels import not_utf8


def application() -> Any:
    """Return the typer application with all its commands."""
    need("typer", "cli", "the command line")
    import typer

    from eigengraphs.cli.command_options import COMMANDS, typer_command

    app = typer.Typer(name="eigengraphs", no_args_is_help=True, pretty_exceptions_enable=False)

    def show_version(wanted: bool) -> None:
        if wanted:
            say(f"eigengraphs {__version__}")
            raise typer.Exit

    @app.callback()
    def options(
        version: bool = typer.Option(
            False, "--version", callback=show_version, is_eager=True, help="Show the version."
        ),
    ) -> None:
        """Embed many graphs on one vertex set together."""

    for panel, commands in COMMANDS.items():
        for command in commands:
            app.command(rich_help_panel=panel)(typer_command(command, _run_command))
    return app


def _run_command(asked: Any, as_json: bool) -> None:
    """Run a command: the function of its name in the file of its name; then print what it found."""
    name = type(asked).__name__.lower()
    try:
        with showing(as_json, asked.first_step) as listen:
            job = getattr(import_module(f"eigengraphs.cli.commands.{name}"), name)
            outcome = job(asked, listen)
        tell(outcome, as_json)
    except Stopped as stop:
        sys.exit(_complain(stop, stop.code))
    except KeyboardInterrupt as stop:  # an exit code that typer's versions differ about
        stop.args = ("interrupted",)
        sys.exit(_complain(stop, 130))
    if outcome.code:
        sys.exit(outcome.code)


def main() -> None:
    """Run the command line; errors become one line and an exit code."""
    with stoppable():
        _run()


def _run() -> None:
    wrong = not_utf8(sys.argv[1:])
    if wrong is not None:
        error = InputError(f"{wrong!r} is not text in UTF-8; use another name")
        sys.exit(_complain(error, 3))
    try:
        # Named, so that help and completion do not depend on how Python was started.
        application()(prog_name="eigengraphs")
    except EigengraphsError as error:
        usage, lost = isinstance(error, MissingExtraError), isinstance(error, ClusterError)
        sys.exit(_complain(error, 2 if usage else 5 if lost else 3))
    except BrokenPipeError:
        # The reader of a pipe (head) has enough; nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:  # a full disk, a folder of somebody else
        name = error.filename2 or error.filename
        place = f" {str(name)!r}" if name else " the output"
        sys.exit(_complain(error, 3, (
            f"cannot read or write{place}: {error.strerror or error}; no file is half written. "
            "Check that the path exists, that you may write to it, and that the disk has room, or "
            "choose another path"
        )))  # fmt: skip
    except MemoryError as error:
        asked = f" ({error})" if str(error) else ""
        sys.exit(_complain(error, 3, (
            f"not enough memory{asked}; no file is half written. Put the graphs into a store, "
            "'eigengraphs convert IN graphs.egs', and fit that with less --memory, such as 1G"
        )))  # fmt: skip
    except Stopped as stop:  # before a command began, or after its end
        sys.exit(stop.code)
    except KeyboardInterrupt:
        sys.exit(130)


def _complain(error: BaseException, code: int, text: str | None = None) -> int:
    """Say what went wrong, and what was added on the way: what is kept, and how to continue."""
    words = [str(error) if text is None else text, *getattr(error, "__notes__", ())]
    text = short(for_shell("; ".join(words)))
    if "--json" in sys.argv[1:]:
        say(json.dumps({"event": "error", "text": text, "code": code}), flush=True)
    say(f"eigengraphs: {text}", file=sys.stderr)
    return code


# ------------------------------------------------------------------------------------- signals

_WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "the terminal is gone"}


class Stopped(BaseException):
    """Raised where a command is when the first signal comes.

    Not a KeyboardInterrupt: a fit would answer that with its components so far, which takes another
    pass over the graphs, and a command cannot use half of a fit.

    Attributes
    ----------
    code : int
        Exit code, 128 plus the number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(_WORDS[signal.Signals(number).name])
        self.code = 128 + number


class _Signals:
    """Counts signals, in the main thread or, while that is in a long call, in one of its own."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._came = 0
        self._numbers = [getattr(signal, name) for name in _WORDS if hasattr(signal, name)]
        self._before: dict[int, Any] = {}

    def install(self) -> None:
        for number in self._numbers:
            before = signal.getsignal(number)
            # One that is ignored, as by nohup, stays so.
            if before in (signal.SIG_DFL, signal.default_int_handler):
                self._before[number] = signal.signal(number, self._handle)
        # Python calls handlers between two of its own instructions, which a kernel may keep it
        # from for long; the byte is written at once.
        self._ear, self._mouth = socket.socketpair()
        self._mouth.setblocking(False)
        self._wakeup = signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._listen, name="signals", daemon=True).start()

    def remove(self) -> None:
        signal.set_wakeup_fd(self._wakeup)
        for number, before in self._before.items():
            signal.signal(number, before)
        self._mouth.close()  # which ends the thread

    def _handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if os.getpid() != self._owner:  # a fork of ours, with our handlers: as if it had none
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        self._came += 1
        if self._came > 1:
            _leave(number)
        raise Stopped(number)

    def _listen(self) -> None:
        came = 0
        with self._ear:
            while heard := self._ear.recv(16):
                for number in heard:
                    came += number in self._before
                    if came > 1 and number in self._before:
                        _leave(number)


def _leave(number: int) -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        os.write(2, b"\x1b[?25h\n")  # a progress bar hides the cursor
    os._exit(128 + number)


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise :class:`Stopped` at the first signal in the ``with`` block; leave at the second."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = _Signals()
    signals.install()
    try:
        yield
    finally:
        signals.remove()
