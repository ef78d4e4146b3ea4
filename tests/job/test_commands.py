"""The commands as their users type them: results, exit codes, and nothing left after a refusal."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eigengraphs as eg
from eigengraphs.cli.main import application, main
from eigengraphs.errors import InputError
from eigengraphs.job.analysis import FitSettings, analyse
from eigengraphs.job.inputs import InputSettings
from eigengraphs.job.results import write_results

CODE = "from eigengraphs.cli import main; main()"


def command(*words, folder, **environment):
    return subprocess.run(
        [sys.executable, "-c", CODE, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | {"NO_COLOR": "1", "COLUMNS": "200"} | environment,
    )


@pytest.fixture
def entered(study, monkeypatch, capsys):
    """Run a command from its entry on, with its exit code, but without a process of its own."""
    monkeypatch.chdir(study)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["eigengraphs", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        code = ended.value.code or 0
        return subprocess.CompletedProcess(words, code, printed.out, printed.err)

    return run


def here(*words):
    """Run a command in this process, where its errors are ours."""
    application()(words, standalone_mode=False)


def table(path):
    return pd.read_csv(path, sep="\t", dtype={"id": str})


def test_fit_writes_the_whole_folder(study):
    done = command("fit", "connectomes", "results", "-d", "2", "--participants", "participants.tsv",
                   "--label", "group", "--seed", "3", folder=study)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "2 components" in done.stdout
    assert "group of graphs that were held out, accuracy: joint embedding 1.000" in done.stdout
    results = study / "results"
    assert sorted(path.name for path in results.iterdir()) == [
        "components.tsv", "loadings.tsv", "methods.md", "model.eg", "positions.tsv",
        "provenance.json", "qc.tsv", "report.html", "report.json",
    ]  # fmt: skip
    loadings = table(results / "loadings.tsv")
    columns = ["id", "sub", "participant_id", "group", "age", "je1", "je2", "residual"]
    assert list(loadings) == columns
    assert loadings["id"][0] == "sub-01"
    assert (loadings["group"] == np.where(np.arange(24) % 2, "patient", "control")).all()
    model = eg.load(results / "model.eg")
    assert np.allclose(loadings[["je1", "je2"]], model.loadings_, rtol=1e-8)
    assert np.allclose(table(results / "positions.tsv")[["je1", "je2"]], model.latent_positions_)
    components = table(results / "components.tsv")
    assert np.allclose(components["explained"], model.explained_ratio_)
    assert len(table(results / "qc.tsv")) == 24
    kept = json.loads((results / "provenance.json").read_text(encoding="utf-8"))
    assert kept["settings"]["random_state"] == 3
    assert len(kept["inputs"]) == 24
    assert len(kept["inputs"][0]["sha256"]) == 64
    methods = (results / "methods.md").read_text(encoding="utf-8")
    assert "24 undirected graphs on 20 vertices" in methods
    assert "doi:10.1109/TPAMI.2019.2948619" in methods
    assert "Pedregosa" in methods  # a label was predicted
    assert not [path for path in study.iterdir() if path.name.startswith(".")]
    assert {path.stat().st_mode & 0o444 for path in results.iterdir()} == {0o444}
    page = (results / "report.html").read_bytes()
    (results / "report.html").unlink()
    shutil.rmtree(study / "connectomes")  # the page needs no graphs
    done = command("report", "results", folder=study)
    assert done.returncode == 0, done.stderr
    assert (results / "report.html").read_bytes() == page


def test_the_page_again_under_another_heading(study, monkeypatch):
    monkeypatch.chdir(study)
    write_results(analyse("connectomes", settings=FitSettings(components=2)), Path("results"))
    page, data = Path("results/report.html").read_bytes(), Path("results/report.json").read_bytes()
    here("report", "results", "--title", "A & B", "--output", "b.html")
    assert "<h1>A &amp; B</h1>" in Path("b.html").read_text(encoding="utf-8")
    here("report", "results/report.json")
    assert Path("results/report.html").read_bytes() == page
    with pytest.raises(InputError, match="holds the data of the report"):
        here("report", "results", "--output", "results/report.json")
    assert Path("results/report.json").read_bytes() == data
    with pytest.raises(InputError, match="nowhere"):
        here("report", "nowhere")


def test_loadings_and_residuals_are_those_of_the_library(study, entered):
    entered("fit", "connectomes", "results", "-d", "2", "--center")
    graphs = eg.read(study / "connectomes", on_notice=lambda _: None)
    je = eg.JointEmbedding(2, center=True, random_state=0).fit(graphs)
    found = table(study / "results" / "loadings.tsv")
    assert np.allclose(found[["je1", "je2"]], je.loadings_, rtol=1e-6)
    assert np.allclose(found["residual"], je.residuals(graphs), rtol=1e-6)
    assert 1 - found["residual"].mean() == pytest.approx(je.score(graphs), abs=0.05)


def test_fit_again_replaces_its_results_and_nothing_else(study, entered):
    assert entered("fit", "connectomes", "results", "-d", "2").returncode == 0
    assert entered("fit", "connectomes", "results", "-d", "3").returncode == 0
    assert "je3" in table(study / "results" / "loadings.tsv")
    (study / "results" / "notes.txt").write_text("mine", encoding="utf-8")
    done = entered("fit", "connectomes", "results", "-d", "2")
    assert done.returncode == 3
    assert "notes.txt" in done.stderr
    assert "je3" in table(study / "results" / "loadings.tsv")


def test_a_quantity_and_an_order(study, capsys):
    path = study / "participants.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    months = [f"20{19 + i % 2}-{1 + i // 2:02d}" for i in range(24)]
    head, people = (
        f"{lines[0]}\tscan",
        [f"{a}\t{b}" for a, b in zip(lines[1:], months, strict=True)],
    )
    path.write_text("\n".join([head, *people]) + "\n", encoding="utf-8")
    words = ("fit", str(study / "connectomes"), str(study / "results"), "-d", "2", "--participants",
             str(path), "--label", "age", "--order", "scan")  # fmt: skip
    here(*words)
    printed = capsys.readouterr().out
    assert "age of graphs that were held out, explained variance: joint embedding" in printed
    told = json.loads((study / "results" / "report.json").read_text(encoding="utf-8"))
    assert told["prediction"]["kind"] == "quantity"
    assert len(told["prediction"]["methods"][0]["folds"]) == 5
    assert told["timeline"]["by"] == "scan"
    assert told["timeline"]["order"] == [*range(0, 24, 2), *range(1, 24, 2)]
    # Tables stay as the input is.
    ids = [f"sub-{i + 1:02d}" for i in range(24)]
    assert table(study / "results" / "loadings.tsv")["id"].tolist() == ids
    assert told["graph_names"] == ids
    path.write_text("\n".join([head, *people[:-1], people[-1][:-7] + "n/a"]), encoding="utf-8")
    with pytest.raises(InputError, match="no value for 'sub-24'"):
        here(*words)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([f"name {i}" for i in range(24)], "each of the 24 graphs has a value of its own"),
        (["n/a"] * 24, "no graph has a value"),
        (["7"] * 24, "all graphs have the same value"),
        ([*map(str, range(20, 42)), "old", "unknown"], "it is neither a quantity nor classes"),
    ],
)
def test_what_is_no_label_is_a_notice_in_a_report_that_is_whole(study, values, said):
    rows = [f"sub-{i + 1:02d}\t{value}" for i, value in enumerate(values)]
    text = "\n".join(["participant_id\tthing", *rows]) + "\n"
    (study / "participants.tsv").write_text(text, encoding="utf-8")
    settings = FitSettings(components=2, label="thing", order="input")
    found = analyse(
        study / "connectomes", InputSettings(participants=study / "participants.tsv"), settings
    )
    assert found.prediction is None
    write_results(found, study / "results")
    page = (study / "results" / "report.html").read_text(encoding="utf-8")
    assert f"thing was not predicted: {said}" in page
    assert "No label was predicted in this fit" in page


def test_a_name_is_no_markup_in_the_methods(study):
    path, name = study / "participants.tsv", "<img src=x onerror=alert(1)>[a](javascript:b)"
    path.write_text(path.read_text(encoding="utf-8").replace("group", name), encoding="utf-8")
    settings = FitSettings(components=2, label=name)
    found = analyse(study / "connectomes", InputSettings(participants=path), settings)
    write_results(found, study / "results")
    written = (study / "results" / "methods.md").read_text(encoding="utf-8")
    assert r"\<img src=x onerror=alert(1)>\[a](javascript:b)" in written
    assert not re.search(r"(?<!\\)[<\[]", written)


def test_a_quantity_is_no_class(study):
    settings = FitSettings(components=2, label="age", loadings="class")
    with pytest.raises(InputError, match="'age' is a quantity"):
        analyse(
            study / "connectomes", InputSettings(participants=study / "participants.tsv"), settings
        )


def test_check_reads_and_writes_nothing(study, entered):
    before = sorted(path.name for path in study.iterdir())
    done = entered("check", "connectomes", "--participants", "participants.tsv")
    assert done.returncode == 0, done.stderr
    assert "24 undirected weighted graphs on 20 vertices" in done.stdout
    assert "group" in done.stdout
    assert "nothing unusual" in done.stdout
    assert sorted(path.name for path in study.iterdir()) == before


def test_check_points_at_a_graph_unlike_the_others(study, entered):
    path = study / "connectomes" / "sub-05_connectome.csv"
    np.savetxt(path, 100 * np.loadtxt(path, delimiter=","), delimiter=",")
    done = entered("check", "connectomes", "--json")
    last = json.loads(done.stdout.splitlines()[-1])
    odd = [row for row in last["quality"] if row["verdict"] != "ok"]
    assert [row["id"] for row in odd] == ["sub-05"]
    assert "far from the usual" in odd[0]["messages"][0]
    assert last["noticed"][0]["level"] == "warning"
    assert "in the scale of the weights" in last["noticed"][0]["text"]


def test_check_ends_with_what_it_noticed_worst_first(study, entered):
    for k, change in ((3, np.triu), (7, lambda A: 100 * A)):  # a notice of reading, and a warning
        path = study / "connectomes" / f"sub-{k:02d}_connectome.csv"
        np.savetxt(path, change(np.loadtxt(path, delimiter=",")), delimiter=",")
    done = entered("check", "connectomes")
    last = done.stdout.splitlines()[-1]
    assert last == "2 noticed, worst first: odd scale (1 graph), triangle mirrored"
    assert done.stderr.index("sub-07") < done.stderr.index("one triangle")


def test_check_says_wrong_data_before_odd_graphs_before_what_was_done(study, entered):
    rng = np.random.default_rng(0)
    base, gain = rng.integers(1, 2000, (20, 20)), np.exp(rng.normal(0, 0.7, 20))
    names = [f"v{s}" for s in range(20)]
    for k in range(24):
        A = np.triu(np.ceil(base * rng.lognormal(0, 0.2, (20, 20))), 1)
        A += A.T
        if k < 6:
            A = np.ceil(A * gain[:, None] * gain)
        if k == 9:
            A[2, 5] = A[5, 2] = -7
        order = np.r_[10:20, :10] if k == 12 else np.arange(20)
        A = (100 if k == 15 else 1) * A[np.ix_(order, order)]
        header = ",".join(names[s] for s in order)
        path = study / "connectomes" / f"sub-{k + 1:02d}_connectome.csv"
        np.savetxt(path, A, delimiter=",", fmt="%d", header=header, comments="")
    done = entered("check", "connectomes")
    last = done.stdout.splitlines()[-1]
    assert last == (
        "4 noticed, worst first: odd scale (1 graph), negative weights (1 graph), "
        "two groups (6 and 18 graphs), aligned by name"
    )


def test_check_names_the_file_and_the_cell_of_a_negative_weight(study, entered):
    for k in range(24):
        path = study / "connectomes" / f"sub-{k + 1:02d}_connectome.csv"
        A = np.abs(np.round(10 * np.loadtxt(path, delimiter=",")))
        if k == 6:
            A[2, 5] = A[5, 2] = -7
        np.savetxt(path, A, delimiter=",", fmt="%d")
    done = entered("check", "connectomes")
    last = done.stdout.splitlines()[-1]
    assert last == "1 noticed: negative weights (1 graph)"
    assert "sub-07_connectome.csv (negative weight -7 from '2' to '5')" in done.stderr


def test_a_broken_weight_is_refused_with_file_graph_and_vertices(study, entered):
    path = study / "connectomes" / "sub-07_connectome.csv"
    A = np.loadtxt(path, delimiter=",")
    A[2, 5] = A[5, 2] = 1e300
    np.savetxt(path, A, delimiter=",")
    for command in (("check", "connectomes"), ("fit", "connectomes", "results", "-d", "2")):
        done = entered(*command)
        assert done.returncode == 3
        assert "sub-07_connectome.csv" in done.stderr
        assert "entry (2, 5) is 1e+300" in done.stderr
    assert not (study / "results").exists()


def test_swapped_hemispheres_are_found_by_the_column_of_the_vertices(study, entered):
    rng = np.random.default_rng(0)
    base = rng.random((20, 20)) * 100
    mirror = np.r_[10:20, :10]
    for k in range(24):
        A = np.triu(base * rng.lognormal(0, 0.3, (20, 20)), 1)
        A += A.T
        if k == 4:
            A = A[np.ix_(mirror, mirror)]
        path = study / "connectomes" / f"sub-{k + 1:02d}_connectome.csv"
        np.savetxt(path, A, delimiter=",")
    rows = [f"{side}-area{s}\t{side}" for side in ("left", "right") for s in range(10)]
    (study / "regions.tsv").write_text("\n".join(["name\themisphere", *rows]), encoding="utf-8")
    done = entered("check", "connectomes", "--vertices", "regions.tsv")
    assert done.stdout.splitlines()[-1] == "1 noticed: swapped hemispheres (1 graph)"
    assert "left and right swapped (are the hemispheres swapped?): sub-05" in done.stderr


def test_more_components_than_the_graphs_carry_are_a_note(study, entered):
    for k in range(24):
        path = study / "connectomes" / f"sub-{k + 1:02d}_connectome.csv"
        np.savetxt(path, np.loadtxt(path, delimiter=",")[:5, :5], delimiter=",")
    done = entered("fit", "connectomes", "results", "-d", "12")
    assert done.returncode == 0
    assert "the first 10 components explain all of the graphs but rounding" in done.stderr


def test_transform_projects_new_graphs_and_info_describes(study, entered):
    entered("fit", "connectomes", "results", "-d", "2")
    done = entered("transform", "results", "connectomes", "new.tsv")
    assert done.returncode == 0, done.stderr
    old, new = table(study / "results" / "loadings.tsv"), table(study / "new.tsv")
    assert np.allclose(old[["je1", "je2"]], new[["je1", "je2"]], rtol=1e-6)
    done = entered("info", "results/model.eg")
    assert "2 components of 24 graphs on 20 vertices" in done.stdout
    assert entered("info", "participants.tsv").returncode == 3


def test_convert_keeps_values_and_names(study, entered):
    done = entered("convert", "connectomes", "all.npz")
    assert done.returncode == 0, done.stderr
    one, two = (
        eg.read(study / name, on_notice=lambda _: None) for name in ("connectomes", "all.npz")
    )
    assert one.graph_names == two.graph_names
    assert np.allclose(one.dense, two.dense, rtol=1e-12)


def test_events_as_json(study, entered):
    done = entered("fit", "connectomes", "results", "-d", "2", "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[0]["event"] == "read"
    # The command speaks before the job does, and the job does not repeat it.
    assert [event["event"] for event in events].count("read") == 1
    assert events[-1]["event"] == "done"
    assert events[-1]["converged"] is True
    assert done.stderr == "" or "compiling" in done.stderr


def test_strict_is_an_exit_code(study, entered):
    rng = np.random.default_rng(0)
    for path in (study / "connectomes").iterdir():
        A = rng.standard_normal((120, 120))
        np.savetxt(path, A + A.T, delimiter=",")
    # One iteration is never enough on noise.
    done = entered("fit", "connectomes", "results", "-d", "6", "--strict", "--max-iter", "1")
    assert done.returncode == 4
    assert (study / "results" / "report.html").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--label", "colour"), "there is no column 'colour'"),
        (("--loadings", "class"), "--loadings class needs --label"),
        (("--order", "colour"), "there is no column 'colour' to order by"),
        (("--participants", "nobody.tsv"), "nobody.tsv"),
        (("-d", "5000"), "--components 5000 is more than"),
        (("--transform", "cube"), "cube"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_is_written(study, words, said, entered):
    before = sorted(path.name for path in study.iterdir())
    done = entered("fit", "connectomes", "results", *words)
    assert done.returncode == 3, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in study.iterdir()) == before


@pytest.mark.parametrize("words", [("fit",), ("fit", "connectomes"), ("fit", "a", "b", "-d", "x")])
def test_usage_is_exit_code_two(study, words, entered):
    done = entered(*words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def spoil(study, fault):
    """Plant a fault in a study; return what to add to the command."""
    folder = study / "connectomes"
    victim = folder / "sub-07_connectome.csv"
    A = np.loadtxt(victim, delimiter=",")
    if fault == "wrong delimiter":
        victim.write_text(victim.read_text().replace(",", "|"))
    elif fault == "one smaller":
        np.savetxt(victim, A[:-1, :-1], delimiter=",")
    elif fault == "other names":
        names = [f"r{s}" for s in range(len(A))]
        for path in folder.iterdir():
            values = np.loadtxt(path, delimiter=",")
            pd.DataFrame(values, names, names).to_csv(path)
        names[3] = "elsewhere"
        pd.DataFrame(A, names, names).to_csv(victim)
    elif fault == "nan row":
        A[4] = A[:, 4] = np.nan
        np.savetxt(victim, A, delimiter=",")
    elif fault == "duplicate subject":
        other = study / "connectomes" / "again"
        other.mkdir()
        (other / victim.name).write_text(victim.read_text())
    elif fault == "missing participant":
        text = (study / "participants.tsv").read_text().splitlines()
        kept = [line.replace("participant_id", "colour") for line in text]
        (study / "participants.tsv").write_text("\n".join(kept) + "\n")
        return ("--participants", "participants.tsv")
    elif fault == "not square":
        np.savetxt(victim, A[:-2], delimiter=",")
    elif fault == "empty":
        victim.write_text("")
    elif fault == "three keys":
        from scipy.io import savemat

        for path in list(folder.iterdir()):
            values = np.loadtxt(path, delimiter=",")
            savemat(path.with_suffix(".mat"), {"fa": values, "md": values, "count": values})
            path.unlink()
    return ()


@pytest.mark.parametrize(
    "fault",
    ["wrong delimiter", "one smaller", "other names", "nan row", "duplicate subject",
     "missing participant", "not square", "empty", "three keys"],
)  # fmt: skip
def test_planted_faults_are_named(study, fault, entered):
    words = spoil(study, fault)
    done = entered("fit", "connectomes", "results", "-d", "2", *words)
    assert done.returncode == 3, done.stdout + done.stderr
    named = {"missing participant": "participants.tsv", "three keys": ".mat"}
    assert named.get(fault, "sub-07_connectome.csv") in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert not (study / "results").exists()


def test_a_triangle_is_mirrored_and_said(study, entered):
    for path in (study / "connectomes").iterdir():
        np.savetxt(path, np.triu(np.loadtxt(path, delimiter=",")), delimiter=",")
    done = entered("fit", "connectomes", "results", "-d", "2")
    assert done.returncode == 0, done.stderr
    assert "24 files hold one triangle; mirrored" in done.stderr
    assert "one triangle" in (study / "results" / "report.html").read_text(encoding="utf-8")


def test_files_that_a_rule_on_names_leaves_out_are_counted(study, run):
    folder = study / "connectomes"
    for i in (1, 2, 3):
        path = folder / f"sub-{i:02d}_connectome.csv"
        path.rename(folder / f"sub-{i:02d}_matrix.csv")
    said = "3 files of IN left out, see the notes"
    code, out, err = run("fit", "connectomes", "out", "-d", "2", "--no-halves")
    assert code == 0
    assert out.strip().splitlines()[-1].endswith(said)
    assert "3 files left out (sub-01_matrix.csv" in err
    assert "*_connectivity" in err  # every name of the rule
    report = (study / "out" / "report.html").read_text(encoding="utf-8")
    assert "<strong>refused:</strong> 3 files left out" in report
    for words in (
        ("convert", "connectomes", "all.npz"),
        ("convert", "connectomes", "all.egs"),
        ("transform", "out", "connectomes", "new.tsv"),
        (
            "contest",
            "connectomes",
            "--participants",
            "participants.tsv",
            "--label",
            "group",
            "--methods",
            "PCA",
            "--cv",
            "2",
            "-d",
            "1",
        ),
    ):
        code, out, err = run(*words)
        assert code == 0, err
        assert out.strip().splitlines()[-1].endswith(said), words
        assert "3 files left out" in err
    code, out, _ = run("check", "connectomes", "--json")
    assert json.loads(out.strip().splitlines()[-1])["left_out"] == 3


def test_ids_inside_names_on_the_command_line(study, run):
    rows = (study / "participants.tsv").read_text().splitlines()
    folder = study / "connectomes"
    for i, path in enumerate(sorted(folder.iterdir())):
        path.rename(folder / f"BNU1_{25864 + i:07d}_{i % 2 + 1}_DTI.csv")
        rows[i + 1] = rows[i + 1].replace(f"sub-{i + 1:02d}", str(25864 + i))
    (study / "participants.tsv").write_text("\n".join(rows) + "\n")
    words = ("check", "connectomes", "--participants", "participants.tsv", "--label", "group")
    code, out, err = run(*words)
    assert code == 0, err
    assert "'25864' in 'BNU1_0025864_1_DTI'" in err
    assert "control 12" in out
    assert "--id-pattern" in err
    code, _, err = run(*words, "--id-pattern", r"_0*(\d+)_\d_DTI\.csv")
    assert code == 0
    assert "inside the names" not in err
    (study / "participants.tsv").write_text("\n".join(rows[:-1]) + "\n")
    code, _, err = run(*words)
    assert code == 3
    assert "--id-pattern '_([0-9]+)_'" in err


def test_marks_of_numbers_on_the_command_line(study, run):
    (study / "in").mkdir()
    (study / "in" / "a.csv").write_text("0;12,438;1,500\n12,438;0;2,250\n1,500;2,250;0\n")
    code, _, err = run("check", "in", "--format", "matrix")
    assert code == 3
    assert "--decimal ','" in err
    assert "--thousands ','" in err
    for option, total in (("--decimal", "16.188"), ("--thousands", "16188")):
        code, out, err = run("check", "in", "--format", "matrix", option, ",")
        assert code == 0, err
        assert total in out
        code, _, err = run("convert", "in", f"{option[2:]}.egs", "--format", "matrix", option, ",")
        assert code == 0, err


@pytest.mark.parametrize("name", ["BNU1_0025864", "sub-NDARAB123456_ses-01_run-2"])
def test_names_of_graphs_are_whole_in_a_narrow_table(study, run, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    for k in range(1, 25):
        path = study / "connectomes" / f"sub-{k:02d}_connectome.csv"
        A = np.loadtxt(path, delimiter=",")
        new = study / "connectomes" / f"{name}{k:02d}.csv"
        np.savetxt(new, 100 * A if k == 7 else np.triu(A) if k == 9 else A, delimiter=",")
        path.unlink()
    code, out, err = run("check", "connectomes")
    assert code == 0, err
    assert f"{name}07" in out
    assert f"{name}09" in out
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 80
    assert "22 graphs that are ok are not shown\n" in out
    lines = out.splitlines()
    (header,) = [line for line in lines if line.startswith("graph ")]
    assert {"density", "weight", "isolated", "correlation"} <= set(header.split())
    place = header.index("correlation") + len("correlation")
    said = "".join(line[place:].replace(" ", "") for line in lines)
    assert "farfromtheusual" in said  # messages are whole, however narrow
    assert "holdsonetriangle;mirrored" in said


def test_one_of_anything_is_never_a_plural(study, run):
    first = study / "connectomes" / "sub-01_connectome.csv"
    names = ",".join(f"v{s}" for s in range(20))
    A = np.loadtxt(first, delimiter=",")
    (study / "named").mkdir()
    for k in range(3):
        n = 20 - (k == 2)
        head = ",".join(names.split(",")[:n])
        path = study / "named" / f"sub-{k}.csv"
        np.savetxt(path, A[:n, :n] + k, delimiter=",", header=head, comments="")
    said = ""
    for words in (
        ("check", first),
        ("fit", first, "out", "-d", 1),
        ("fit", "connectomes", "all", "-d", 1),  # tested on halves
        ("info", "out/model.eg"),
        ("transform", "out", first, "new.tsv"),
        ("convert", first, "one.npz"),
        ("convert", first, "one.egs"),
        ("check", "one.egs"),
        ("plan", "one.egs", "-d", 1),
        ("check", "named", "--align", "union", "--allow-missing"),
    ):
        code, out, err = run(*words)
        assert code == 0, err
        said += out + err
    assert "1 of 3 graphs names only some" in said
    things = "graphs|components|vertices|files|blocks|passes|matrices"
    assert not re.search(rf"(?<![\w.])1 ((un)?directed |(un)?weighted )*({things})\b", said), said
