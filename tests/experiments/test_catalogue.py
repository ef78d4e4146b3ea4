"""Every experiment runs, leaves what it promises, goes on after a stop, uses public names."""

import ast
import csv
import json
from pathlib import Path

import numpy as np
import pytest
from experiments.journal import Journal
from experiments.outcome import measured
from experiments.run import Run

import experiments as experiments
from eigengraphs.errors import InputError
from experiments import CATALOGUE, reproduce

FOLDER = Path(experiments.__file__).parent
WRITERS = {"catalogue", "drawing", "journal", "outcome", "results"}  # of files
FILES = {"eigengraphs.system.tables", "eigengraphs.system.whole_files"}
# Data that is not bundled: tests of their own, which skip where it is absent.
SIMULATED = (
    "figure1", "figure2", "figure3", "table1", "figure4", "figure5", "theory", "hollow",
    "refined", "misaligned", "mice",
)  # fmt: skip


LONG = ("table1", "figure5", "mice")  # ten seconds each


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in SIMULATED],
)
def test_a_quick_run_leaves_tables_pictures_and_a_row(name, tmp_path):
    told = []
    path = reproduce(name, output=tmp_path, progress=lambda *step: told.append(step))
    assert path == tmp_path / "quick" / "RESULTS.md"
    kept = json.loads((tmp_path / "quick" / f"{name}.json").read_text(encoding="utf-8"))
    assert kept["findings"]
    assert kept["pictures"]
    for picture in kept["pictures"]:
        assert (tmp_path / "quick" / picture).stat().st_size > 5000
        assert (tmp_path / "quick" / picture).with_suffix(".pdf").exists()
    text = path.read_text(encoding="utf-8")
    for finding in kept["findings"]:
        assert finding["verdict"] in {"reproduced", "better", "differs", "new"}
        assert finding["reason"]
        assert finding["outcome"].replace("|", "&#124;") in text
    with (tmp_path / "quick" / f"{name}.tsv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    assert len(rows) > 2
    assert len({len(row) for row in rows}) == 1
    assert told[0][1] == 0
    assert told[-1][1] == told[-1][2] > 0
    done = [step[1] for step in told]
    assert done == sorted(done)
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


def test_experiments_use_the_public_interface_alone():
    public = {"eigengraphs", "eigengraphs.errors", "eigengraphs.datasets", "eigengraphs.baselines"}
    for path in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = []
            if isinstance(node, ast.ImportFrom) and node.module:
                modules = [node.module]
            elif isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            for module in modules:
                if module.split(".")[0] == "eigengraphs":
                    own = module.startswith("experiments")
                    writes = path.stem in WRITERS and module in FILES
                    assert own or writes or module in public, f"{path.name} imports {module}"


def test_an_interrupted_run_goes_on_and_ends_the_same(tmp_path):
    tasks = [{"repetition": r} for r in range(6)]
    whole = _run(tmp_path / "whole").repeat(_draw, tasks)
    with pytest.raises(KeyboardInterrupt):
        _run(tmp_path / "cut", stop_after=3).repeat(_draw, tasks)
    with (tmp_path / "cut" / "state.jsonl").open("ab") as file:
        file.write(b'{"run": "seed 0", "key": "cut in the mid')  # a line that was being written
    counted = []
    again = _run(tmp_path / "cut", progress=lambda *step: counted.append(step[1]))
    assert again.repeat(_draw, tasks) == whole
    assert counted == [3, 4, 5, 6]


def test_another_seed_gives_other_results_and_processes_change_nothing(tmp_path):
    tasks = [{"repetition": r} for r in range(4)]
    one = _run(tmp_path).repeat(_draw, tasks)
    assert _run(tmp_path, seed=1).repeat(_draw, tasks) != one
    assert _run(tmp_path).repeat(_draw, tasks) == one
    assert _run(tmp_path / "two", jobs=2).repeat(_draw, tasks) == one


def test_unknown_names_and_numbers_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"no experiment 'figure99'; there are: .*figure2"):
        reproduce("figure99", output=tmp_path)
    with pytest.raises(InputError, match="seed must be at least 0"):
        reproduce("figure2", output=tmp_path, seed=-1)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot make the output folder"):
        reproduce("figure2", output=tmp_path / "file")
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_every_name_of_the_paper_is_there_and_loads():
    paper = "figure1 figure2 figure3 table1 figure4 figure5 figure6 figure7 table2 figure8 theory"
    assert set(paper.split()) < set(CATALOGUE)
    for entry in CATALOGUE.values():
        assert callable(entry.load())


def test_runs_with_other_seeds_do_not_mix_and_damaged_lines_are_dropped(tmp_path):
    tasks = [{"repetition": r} for r in range(3)]
    one = _run(tmp_path).repeat(_draw, tasks)
    other = Journal(tmp_path / "state.jsonl", "seed 1")
    assert len(other) == 0
    other.add("key", 1.0)
    with (tmp_path / "state.jsonl").open("ab") as file:
        file.write(b"\x00\x00\x00\n[1, 2]\n")
    assert _run(tmp_path).repeat(_draw, tasks) == one
    assert Journal(tmp_path / "state.jsonl", "seed 1")["key"] == 1.0


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "quick").mkdir()
    (tmp_path / "quick" / "state").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot keep finished steps"):
        reproduce("figure3", output=tmp_path)


def test_a_timed_step_is_run_once_before_it_counts(tmp_path):
    _CALLS.clear()
    _run(tmp_path).repeat(_count, [{"repetition": r} for r in range(2)], timed=True)
    assert _CALLS == [0, 0, 1]
    _run(tmp_path).repeat(_count, [{"repetition": r} for r in range(2)], timed=True)
    assert _CALLS == [0, 0, 1]  # nothing left to do, nothing to warm up for


def test_standard_errors_show_two_digits():
    assert measured([1.0, 1.0001]) == "1.000050 (0.000050)"
    assert measured([1.0, 3.0]) == "2.000 (1.000)"
    assert measured([0.5, 0.5]) == "0.500 (0.000)"
    assert measured([0.5]) == "0.500"


_CALLS = []


def _count(rng, *, repetition):
    _CALLS.append(repetition)


def _draw(rng, *, repetition):
    return {"repetition": repetition, "value": float(rng.standard_normal())}


def _run(folder, seed=0, jobs=1, stop_after=None, progress=None):
    def watch(name, done, total):
        if stop_after is not None and done == stop_after:
            raise KeyboardInterrupt
        if progress is not None:
            progress(name, done, total)

    journal = Journal(folder / "state.jsonl", f"seed {seed}")
    return Run("test", full=False, seed=seed, folder=folder, journal=journal, jobs=jobs,
               progress=watch)  # fmt: skip


def test_random_streams_differ_by_name_and_key(tmp_path):
    run = _run(tmp_path)
    draws = [run.rng("a", 1).random(), run.rng("a", 2).random(), run.rng("b", 1).random()]
    assert len(set(draws)) == 3
    assert run.rng("a", 1).random() == draws[0]
    assert np.isfinite(draws).all()
