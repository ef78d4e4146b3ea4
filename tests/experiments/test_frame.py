"""Every experiment runs, leaves what it promises, goes on after a stop, uses public names."""

import ast
import csv
import json
import os
import signal
import subprocess
import sys
import time
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

import pytest
from experiments.frame import Run

import experiments
from eigengraphs import datasets
from eigengraphs.errors import EigengraphsError, InputError
from experiments import CATALOG, reproduce

FOLDER = Path(experiments.__file__).parent
HNU1, WIKI, TRADE = (datasets.fetch_hnu1,), (datasets.fetch_wiki,), (datasets.fetch_agri_trade,)
MULTIPLEX = (partial(datasets.load_multiplex, "aarhus"),)
#: By experiment: first letters of the verdicts of a quick run (? where the clock decides), what all
#: of its reasons and outcomes must say, and the data that is not bundled.
QUICK = {
    "figure1": ("rrnrd", "every conversion keeps the distribution", ()),
    "figure2": ("rdnrdn", "", ()),
    "figure3": ("rr", "", ()),
    "table1": ("dd?ndd?n", "", ()),
    "figure4": ("rr", "", ()),
    "figure5": ("rrrnrrrn", "", ()),
    "figure6": ("ddrrrrrrrnn", "at least 3 times at every target", HNU1),
    "figure7": ("rdnrdnnnnn", "accuracy is at least 0.9", HNU1),
    "table2": ("rrddrrdrddrrddnn", "704: 328 on people, 376 on mathematics", WIKI),
    "figure8": ("ddn", "accuracy rises with d", WIKI),
    "theory": ("rdrnnrnrrnrd", "by the construction of the proof", ()),
    "dimension": ("d", "", HNU1 + TRADE),
    "hollow": ("dn", "hollow graphs do as well as graphs with loops", ()),
    "refined": ("rd", "", ()),
    "misaligned": ("rdnrdn", "restores 100% of the vertices", ()),
    "hnu1": ("nnn", "the bar holds", ()),
    "links": ("bbb?bb", "first: ", MULTIPLEX),
    "table_a": ("rrbrrb", "below the published value", ()),
    "table_b": ("bb[br]", "at most 1.05", ()),
    "table_c": ("rn", "", (partial(datasets.load_multiplex, "celegans-neurons"),)),
    "table_d": ("n", "is lowest here, by communities", (datasets.fetch_us_airports,)),
    "aucs": ("nnn", "degree-corrected is better", (partial(datasets.load_multiplex, "aucs"),)),
}
#: Those that take ten seconds.
LONG = (
    "table1", "figure5", "figure6", "figure7", "table2", "dimension", "hnu1", "links",
    "table_a", "table_c", "table_d", "aucs",
)  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=pytest.mark.slow) if x in LONG else x for x in CATALOG]
)
def test_a_quick_run_leaves_tables_pictures_and_verdicts(name, tmp_path):
    verdicts, words, data = QUICK[name]
    try:
        for fetch in data:
            fetch(download=False)
    except EigengraphsError as error:
        pytest.skip(f"the data sets are not here: {error}")
    told = []
    path = reproduce(name, output=tmp_path, progress=lambda *step: told.append(step))
    assert path == tmp_path / "quick" / "RESULTS.md"
    kept = json.loads((tmp_path / "quick" / f"{name}.json").read_text(encoding="utf-8"))
    assert kept["command"] == f"python -m experiments {name} --quick --seed 0"
    letters = "".join(finding["verdict"][0] for finding in kept["findings"])
    assert fnmatch(letters, verdicts)
    assert words in " ".join(x["outcome"] + x["reason"] for x in kept["findings"])
    assert kept["pictures"]
    for picture in kept["pictures"]:
        assert (tmp_path / "quick" / picture).stat().st_size > 5000
        assert (tmp_path / "quick" / picture).with_suffix(".pdf").exists()
    text = path.read_text(encoding="utf-8")
    for finding in kept["findings"]:
        assert finding["reason"]
        assert finding["outcome"].replace("|", "&#124;") in text
    with (tmp_path / "quick" / f"{name}.tsv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    assert len(rows) > 1  # under the head
    assert len({len(row) for row in rows}) == 1
    done, total = zip(*told, strict=True)
    assert done[0] == 0
    assert done[-1] == total[-1] > 0
    assert list(done) == sorted(done)
    assert {path.name for path in tmp_path.rglob(".*")} <= {".gitignore"}


def test_experiments_use_the_public_interface_alone():
    public = {"eigengraphs", "eigengraphs.errors", "eigengraphs.datasets", "eigengraphs.baselines",
              "eigengraphs.models.paper"}  # fmt: skip
    writers = {
        "frame": {"eigengraphs.system.tables", "eigengraphs.system.whole_files"},
        "drawing": {"eigengraphs.system.whole_files"},
        "__main__": {"eigengraphs.cli.terminal"},
    }
    for path in FOLDER.rglob("*.py"):
        allowed = public | writers.get(path.stem, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names = [node.module] if isinstance(node, ast.ImportFrom) else names
            ours = {name for name in names if name.split(".")[0] == "eigengraphs"}
            assert ours <= allowed, f"{path.name} imports {ours}"


def test_an_interrupted_run_goes_on_and_ends_the_same(tmp_path):
    tasks = [{"repetition": r} for r in range(6)]
    whole = _run(tmp_path / "whole").repeat(_draw, tasks)
    assert len({one["value"] for one in whole}) == 6
    with pytest.raises(KeyboardInterrupt):
        _run(tmp_path / "cut", stop_after=3).repeat(_draw, tasks)
    next((tmp_path / "cut").rglob("output.pkl")).write_bytes(b"cut in the mid")
    counted = []
    again = _run(tmp_path / "cut", progress=lambda done, _: counted.append(done))
    assert again.repeat(_draw, tasks) == whole
    assert counted == [3, 4, 5, 6]  # what is damaged is done again when it is read
    by_name = _run(tmp_path / "whole").repeated(_draw, {"a": {}}, 6)
    assert by_name["a"]["value"].tolist() == [one["value"] for one in whole]


def test_another_seed_gives_other_results_and_processes_change_nothing(tmp_path):
    tasks = [{"repetition": r} for r in range(4)]
    one = _run(tmp_path).repeat(_draw, tasks)
    assert _run(tmp_path, seed=1).repeat(_draw, tasks) != one
    assert _run(tmp_path).repeat(_draw, tasks) == one
    assert _run(tmp_path / "two", jobs=2).repeat(_draw, tasks) == one


def test_unknown_names_numbers_and_places_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"no experiment 'figure99'; there are: .*figure2"):
        reproduce("figure99", output=tmp_path)
    with pytest.raises(InputError, match="seed must be at least 0"):
        reproduce("figure2", output=tmp_path, seed=-1)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot make the output folder"):
        reproduce("figure2", output=tmp_path / "file")
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]
    (tmp_path / "quick").mkdir()
    (tmp_path / "quick" / "state").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot write to"):
        reproduce("figure3", output=tmp_path)


def _draw(rng, *, repetition):
    return {"repetition": repetition, "value": float(rng.standard_normal())}


def _run(folder, seed=0, jobs=1, stop_after=None, progress=lambda *_: None):
    def watch(done, total):
        if done == stop_after:
            raise KeyboardInterrupt
        progress(done, total)

    return Run("test", folder / "state", seed=seed, jobs=jobs, progress=watch)


# ------------------------------------------------------------------------------- the command


def command(*arguments, folder, **environment):
    return subprocess.Popen(
        [sys.executable, "-m", "experiments", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [
            str(FOLDER.parent), os.environ.get("PYTHONPATH")]))} | environment,
        # Tests in the background of a shell ignore Ctrl-C, and so would what they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip


def test_list_and_usage(tmp_path):
    done = command("list", folder=tmp_path)
    out, _ = done.communicate()
    assert done.returncode == 0
    assert [line.split()[0] for line in out.splitlines()] == list(CATALOG)
    done = command("figure99", folder=tmp_path)
    _, errors = done.communicate()
    assert done.returncode == 2
    assert "figure99" in errors
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


def test_what_lacks_its_data_does_not_keep_others_from_running(tmp_path):
    (tmp_path / "empty").mkdir(mode=0o555)
    lacking = {"EIGENGRAPHS_DATA": str(tmp_path / "empty"), "https_proxy": "http://127.0.0.1:9"}
    done = command("table_d", "figure3", folder=tmp_path, **lacking)
    out, errors = done.communicate()
    assert done.returncode == 3
    assert "could not run table_d" in errors
    assert "US_airport_data.RData" in errors
    assert "Traceback" not in errors
    assert "wrote experiments/quick/RESULTS.md" in out
    assert (tmp_path / "experiments" / "quick" / "figure3.png").exists()
    assert not list((tmp_path / "experiments" / "quick").glob("table_d.*"))


def test_an_interrupt_keeps_finished_steps(tmp_path):
    state = tmp_path / "experiments" / "full" / "state"
    running = command("table1", "--full", folder=tmp_path)
    for _ in range(600):
        if len(list(state.rglob("output.pkl"))) > 3:
            break
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Traceback" not in errors
    assert len(list(state.rglob("output.pkl"))) > 3
    assert not (tmp_path / "experiments" / "RESULTS.md").exists()
