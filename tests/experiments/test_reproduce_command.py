"""``eigengraphs reproduce``: usage, missing data, interruption."""

import os
import signal
import subprocess
import sys
import time

CODE = "from eigengraphs.cli import main; main()"


def command(*arguments, folder, **environment):
    return subprocess.run(
        [sys.executable, "-c", CODE, "reproduce", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | environment,
    )


def test_list_and_usage(tmp_path):
    done = command("list", folder=tmp_path)
    assert done.returncode == 0
    assert {"figure1", "figure5", "table2", "theory"} <= {
        line.split()[0] for line in done.stdout.splitlines()
    }
    done = command("figure99", folder=tmp_path)
    assert done.returncode == 2
    assert "figure99" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_lacks_its_data_does_not_keep_others_from_running(tmp_path):
    (tmp_path / "empty").mkdir(mode=0o555)
    lacking = {"EIGENGRAPHS_DATA": str(tmp_path / "empty"), "https_proxy": "http://127.0.0.1:9"}
    done = command("airports", "hollow", folder=tmp_path, **lacking)
    assert done.returncode == 3
    assert "could not run airports" in done.stderr
    assert "US_airport_data.RData" in done.stderr
    assert "wrote experiments/quick/RESULTS.md" in done.stdout
    assert (tmp_path / "experiments" / "quick" / "hollow.png").exists()
    assert not list((tmp_path / "experiments" / "quick").glob("airports.*"))
    done = command("airports", folder=tmp_path, **lacking)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr


def test_an_interrupt_keeps_finished_steps(tmp_path):
    journal = tmp_path / "experiments" / "full" / "state" / "table1-0.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", CODE, "reproduce", "table1", "--full"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        for _ in range(600):
            if journal.exists() and len(journal.read_bytes().splitlines()) > 3:
                break
            time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Traceback" not in errors
    assert len(journal.read_bytes().splitlines()) > 3
    assert not (tmp_path / "experiments" / "RESULTS.md").exists()
