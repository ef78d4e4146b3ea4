"""Blocks of work on threads: in order, few at a time, and errors come through."""

import _thread
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import pytest

from eigengraphs.system.parallel import on_blocks, spans, thread_count


@pytest.mark.parametrize("text", ["3", " 12 "])
def test_the_environment_sets_the_number_of_threads(monkeypatch, text):
    monkeypatch.setenv("EIGENGRAPHS_THREADS", text)
    assert thread_count() == int(text)


@pytest.mark.parametrize("text", ["", "0", "-1", "two", "1.5"])
def test_what_is_no_number_of_threads_is_left_alone(monkeypatch, text):
    monkeypatch.setenv("EIGENGRAPHS_THREADS", text)
    assert 1 <= thread_count() <= (os.cpu_count() or 1)


def test_spans_cover_everything_once():
    for size, step in [(0, 3), (1, 3), (7, 3), (6, 3), (5, 0)]:
        covered = [i for lo, hi in spans(size, step) for i in range(lo, hi)]
        assert covered == list(range(size))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_order_and_few_wait(threads):
    started, gathered, waiting = [], [], []

    def work(lo, hi):
        started.append(lo)
        time.sleep(0.001 * (lo % 3))
        return lo, hi

    def gather(result):
        waiting.append(len(started) - len(gathered))
        gathered.append(result)

    on_blocks(work, spans(40, 1), gather, threads=threads)
    assert gathered == spans(40, 1)
    assert max(waiting) <= threads + 1


def test_of_several_errors_that_of_the_first_block_is_raised():
    second = threading.Event()

    def work(lo, hi):
        if lo == 3:
            second.wait(5)
            raise KeyError(lo)
        if lo == 4:
            second.set()
            raise ZeroDivisionError(lo)
        time.sleep(0.001)

    for _ in range(5):
        second.clear()
        with pytest.raises(KeyError):
            on_blocks(work, spans(30, 1), threads=2)


def test_an_interrupt_is_not_lost_to_an_error():
    both = threading.Barrier(2, timeout=5)

    def work(lo, hi):
        both.wait()
        raise (KeyboardInterrupt if lo == 1 else ValueError)

    with pytest.raises(KeyboardInterrupt):
        on_blocks(work, spans(2, 1), threads=2)


def test_an_error_keeps_nothing_alive():
    class Data:
        pass

    def fail():
        data = Data()

        def work(lo, hi):
            if lo == 3:
                raise ValueError(data)
            return data

        on_blocks(work, spans(9, 1), lambda result: None, threads=2)

    gc.collect()
    gc.disable()
    try:
        try:
            fail()
        except ValueError as error:
            seen = weakref.ref(error.args[0])
            error.args = ()
        assert seen() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_comes_through_and_stops_the_rest(threads):
    done = []

    def work(lo, hi):
        if lo == 5:
            raise ZeroDivisionError("here")
        done.append(lo)

    with pytest.raises(ZeroDivisionError, match="here"):
        on_blocks(work, spans(1000, 1), threads=threads)
    assert len(done) < 20


def test_an_interrupt_stops_promptly():
    done = []

    def work(lo, hi):
        if lo == 4:
            _thread.interrupt_main()
        time.sleep(0.01)
        done.append(lo)

    # Whoever started this in the background may have had it ignore interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            on_blocks(work, spans(1000, 1), threads=2)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(done) < 50


def test_blocks_within_blocks_come_to_an_end():
    done = []

    def work(lo, hi):
        on_blocks(lambda a, b: done.append((lo, a)), spans(4, 1), threads=2)

    on_blocks(work, spans(4, 1), threads=2)
    assert sorted(done) == [(i, j) for i in range(4) for j in range(4)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_has_threads_of_its_own():
    program = (
        "import os\n"
        "from eigengraphs.system.parallel import on_blocks, spans\n"
        "done = []\n"
        "on_blocks(lambda lo, hi: done.append(lo), spans(4, 1), threads=2)\n"
        "child = os.fork()\n"
        "on_blocks(lambda lo, hi: done.append(lo), spans(4, 1), threads=2)\n"
        "if child == 0:\n"
        "    os._exit(len(done))\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert run.stdout.strip() == "8"
