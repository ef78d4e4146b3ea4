"""The ``eigengraphs`` command.

Exit codes: 0 well, 2 usage, 3 input refused, 4 not converged (--strict), 5 the cluster is gone;
130 interrupted, 143 terminated, 129 the terminal is gone.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from eigengraphs import __version__
from eigengraphs.cli.stopping import Stopped, stoppable
from eigengraphs.cli.wording import for_shell, say
from eigengraphs.errors import ClusterError, EigengraphsError, InputError, MissingExtraError, short
from eigengraphs.system.labels import not_utf8

__all__ = ["application", "main"]


def application() -> Any:
    """Return the typer application with all its commands."""
    try:
        import typer
    except ImportError:
        raise MissingExtraError("typer", "cli", "the command line") from None
    from eigengraphs.cli.changes import changes
    from eigengraphs.cli.check import check
    from eigengraphs.cli.cluster import cluster
    from eigengraphs.cli.compare import compare
    from eigengraphs.cli.contest import contest
    from eigengraphs.cli.convert import convert
    from eigengraphs.cli.demo import demo
    from eigengraphs.cli.evaluate import evaluate
    from eigengraphs.cli.fit import fit
    from eigengraphs.cli.info import info
    from eigengraphs.cli.plan import plan
    from eigengraphs.cli.read import read
    from eigengraphs.cli.report import report
    from eigengraphs.cli.simulate import simulate
    from eigengraphs.cli.transform import transform
    from eigengraphs.cli.uncertainty import uncertainty

    app = typer.Typer(
        name="eigengraphs",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )

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

    panels = {
        "From files to results": (check, fit, transform, report, contest),
        "Questions to a fit": (compare, evaluate, read, uncertainty, cluster, changes),
        "Files, stores and sizes": (convert, info, plan),
        "To learn and to test": (demo, simulate),
    }
    for panel, commands in panels.items():
        for command in commands:
            app.command(rich_help_panel=panel)(_interruptible(command))
    return app


def _interruptible(command: Callable[..., None]) -> Callable[..., None]:
    """Make Ctrl-C the exit code 130, which typer's versions differ about."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
        except Stopped as stop:
            sys.exit(_complain(stop, stop.code))
        except KeyboardInterrupt as stop:
            stop.args = ("interrupted",)
            sys.exit(_complain(stop, 130))

    return run


def main() -> None:
    """Run the command line; errors become one line and an exit code."""
    with stoppable():
        _run()


def _run() -> None:
    wrong = not_utf8(sys.argv[1:])
    if wrong is not None:
        error = InputError(f"{wrong!r} is no text in UTF-8; name it in another way")
        sys.exit(_complain(error, 3))
    try:
        # Named, so that help and completion do not depend on how Python was started.
        application()(prog_name="eigengraphs")
    except MissingExtraError as error:
        sys.exit(_complain(error, 2))
    except ClusterError as error:
        sys.exit(_complain(error, 5))
    except EigengraphsError as error:
        sys.exit(_complain(error, 3))
    except BrokenPipeError:
        # The reader of a pipe (head) has enough; nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        sys.exit(_complain(error, 3, _of_the_system(error)))
    except MemoryError as error:
        sys.exit(_complain(error, 3, _of_memory(error)))
    except Stopped as stop:  # before a command began, or after its end
        sys.exit(stop.code)
    except KeyboardInterrupt:
        sys.exit(130)


def _of_memory(error: MemoryError) -> str:
    """Say that memory is short, and which way there is without all graphs in it."""
    asked = f" ({error})" if str(error) else ""
    return (
        f"not enough memory{asked}; nothing is half written. Put the graphs into a store, "
        "'eigengraphs convert IN graphs.egs', and fit that with less --memory, such as 1G"
    )


def _of_the_system(error: OSError) -> str:
    """Say what the operating system refused: a full disk, a folder of somebody else."""
    name = error.filename2 or error.filename
    place = f" {str(name)!r}" if name else " the output"
    return (
        f"cannot read or write{place}: {error.strerror or error}; nothing is half written. See "
        "whether it is there, is yours, and its disk has room, or name another place"
    )


def _complain(error: BaseException, code: int, text: str | None = None) -> int:
    """Say what went wrong, and what was added on the way: what is kept, and how to go on."""
    words = [str(error) if text is None else text, *getattr(error, "__notes__", ())]
    text = short(for_shell("; ".join(words)))
    if "--json" in sys.argv[1:]:
        say(json.dumps({"event": "error", "text": text, "code": code}), flush=True)
    say(f"eigengraphs: {text}", file=sys.stderr)
    return code
