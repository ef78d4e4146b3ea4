"""The first Ctrl-C keeps what there is and says how to go on; the second leaves at once."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import eigengraphs as eg
from faults.commands import (
    COMPARED,
    FIT,
    digest,
    environment,
    graphs,
    left_over,
    passes,
    run,
    start,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stopped")
    eg.store.write_store(folder / "g.egs", [graphs(24)], shard_bytes=4 * 160**2 * 8)
    return folder


def wait_for(condition):
    until = time.monotonic() + 120
    while not condition() and time.monotonic() < until:
        time.sleep(0.002)
    assert condition()


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_the_first_signal_keeps_what_there_is(store, number, code, word):
    name = f"by{code}"
    journal = store / f"{name}.unfinished"
    process = start(store, "fit", "g.egs", name, *FIT)
    wait_for(lambda: passes(journal) >= 2)
    process.send_signal(number)
    _, said = process.communicate(timeout=120)
    assert process.returncode == code
    assert said.splitlines()[-1] == (
        f"eigengraphs: {word}; what was found is kept in '{name}.unfinished': the same command "
        "continues from there"
    )
    assert "Traceback" not in said
    assert not (store / name).exists()
    assert passes(journal) >= 2
    assert left_over(store) == []


def test_it_goes_on_to_the_same_bytes(store):
    """After the two above, and as if nothing had been."""
    run(store, "fit", "g.egs", "whole", *FIT)
    whole = {name: digest(store / "whole" / name) for name in COMPARED}
    for name in ("by130", "by143"):
        run(store, "fit", "g.egs", name, *FIT)
        assert {file: digest(store / name / file) for file in COMPARED} == whole
        assert not (store / f"{name}.unfinished").exists()


# A command whose work is one long call that no handler of Python's interrupts.
STUCK = """
import hashlib
from eigengraphs.cli.main import Stopped, stoppable
print("ready", flush=True)
with stoppable():
    try:
        while True:
            hashlib.pbkdf2_hmac("sha256", b"", b"", {rounds})
    except Stopped:
        print("first", flush=True)
        {then}
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("rounds", "then"),
    [(1000, "import time; time.sleep(60)"), (2_000_000_000, "pass")],
    ids=["while it tidies up", "in a long call"],
)
def test_the_second_leaves_at_once(number, rounds, then):
    code = STUCK.format(rounds=rounds, then=then)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(number)
    if rounds == 1000:
        assert process.stdout.readline() == "first\n"
    time.sleep(0.2)  # two of the same, at the same time, are one
    process.send_signal(number)
    process.communicate(timeout=30)  # and not the minute
    assert process.returncode == 128 + number


def test_signals_that_are_ignored_stay_so_and_handlers_are_put_back():
    from eigengraphs.cli.main import Stopped, stoppable

    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stoppable():
            os.kill(os.getpid(), signal.SIGHUP)  # nothing comes of it
        with pytest.raises(Stopped) as stop, stoppable():
            signal.raise_signal(signal.SIGTERM)
        assert stop.value.code == 143
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before[signal.SIGHUP])
    assert {n: signal.getsignal(n) for n in before} == before


def alive(group):
    """Return the processes of a group, but for those that are dead and not yet asked about."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, of_group = path.read_text().rpartition(")")[2].split()[:3]
            if int(of_group) == group and state != "Z":
                found.append(path.parent.name)
    return found


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_ends_the_workers_too(store):
    """The signal goes to all processes of the group; nothing of theirs is left."""
    scratch = store / "scratch"
    scratch.mkdir()
    process = start(
        store, "fit", "g.egs", "workers", *FIT, "--workers", "2", start_new_session=True,
        env=environment() | {"TMPDIR": str(scratch)},
    )  # fmt: skip
    wait_for(lambda: passes(store / "workers.unfinished") >= 2)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "the same command continues" in err.splitlines()[-1]
    # Dask keeps two empty locks for the next cluster.
    assert {path.suffix for path in scratch.rglob("*") if path.is_file()} <= {".lock"}
    assert list(scratch.glob("eigengraphs-*")) == []
    wait_for(lambda: alive(process.pid) == [])
    run(store, "fit", "g.egs", "workers", *FIT)


@pytest.mark.parametrize("settings", [
    {}, {"directed": True, "loadings": "nonnegative"}, {"diagonal": "unobserved"},
    {"missing": "unobserved"}, {"refine": True}, {"loadings": "sparse", "max_nonzeros": 2},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_no_compiled_function_runs_python_code_in_which_an_interrupt_is_lost(settings, storage):
    # numba returns arrays to Python by code of its own: a Ctrl-C there becomes a SystemError.
    stack, seen = eg.GraphStack(graphs(8, 40), storage=storage), set()
    model = eg.JointEmbedding(2, tol=1e-3, random_state=0, **settings)
    model.fit(stack)  # compiles, in Python

    def note(frame, event, _):
        if event == "call" and frame.f_globals.get("__name__", "").startswith("numba."):
            seen.add(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        model.fit(stack)
    finally:
        sys.setprofile(None)
    assert seen == set()
