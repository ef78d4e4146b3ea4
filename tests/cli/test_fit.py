"""``fit``, ``report``, ``info`` and ``convert``: what is written, and nothing after a refusal."""

import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from scipy.io import savemat

import eigengraphs as eg

CODE = "from eigengraphs.cli import main; main()"
PEOPLE = ("--participants", "participants.tsv")


def test_fit_writes_the_whole_folder(study, table):
    def command(*words):
        done = subprocess.run([sys.executable, "-c", CODE, *words], capture_output=True, text=True,
                              check=False, cwd=study)  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    printed = command("fit", "connectomes", "results", "-d", "2", *PEOPLE, "--label", "group",
                      "--seed", "3")  # fmt: skip
    assert "2 components" in printed
    assert "group of held-out graphs, accuracy: joint embedding 1.000" in printed
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
    assert kept["versions"]["eigengraphs"] == eg.__version__
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
    command("report", "results")
    assert (results / "report.html").read_bytes() == page


def test_the_page_again_under_another_heading(out, done, refused):
    page, data = (out / "report.html").read_bytes(), (out / "report.json").read_bytes()
    done("report", "out", "--title", "A & B", "--output", "b.html")
    assert "<h1>A &amp; B</h1>" in (out.parent / "b.html").read_text(encoding="utf-8")
    done("report", "out/report.json")
    assert (out / "report.html").read_bytes() == page
    assert "holds the data of the report" in refused("report", "out", "--output", "out/report.json")
    assert (out / "report.json").read_bytes() == data
    assert "nowhere" in refused("report", "nowhere")


def test_fit_again_replaces_its_results_and_nothing_else(study, table, done, refused):
    done("fit", "connectomes", "results", "-d", "2")
    done("fit", "connectomes", "results", "-d", "3")
    assert "je3" in table(study / "results" / "loadings.tsv")
    (study / "results" / "notes.txt").write_text("mine", encoding="utf-8")
    assert "notes.txt" in refused("fit", "connectomes", "results", "-d", "2")
    assert "je3" in table(study / "results" / "loadings.tsv")


def test_a_quantity_and_an_order(study, table, done, refused):
    path = study / "participants.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    months = [f"20{19 + i % 2}-{1 + i // 2:02d}" for i in range(24)]
    rows = [f"{a}\t{b}" for a, b in zip(lines, ["scan", *months], strict=True)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    words = ("fit", "connectomes", "results", "-d", "2", *PEOPLE, "--label", "age", "--order",
             "scan")  # fmt: skip
    assert "age of held-out graphs, R2: joint embedding" in done(*words)
    told = json.loads((study / "results" / "report.json").read_text(encoding="utf-8"))
    assert told["prediction"]["kind"] == "quantity"
    assert len(told["prediction"]["methods"][0]["folds"]) == 5
    assert told["timeline"]["by"] == "scan"
    assert told["timeline"]["order"] == [*range(0, 24, 2), *range(1, 24, 2)]
    # Tables stay as the input is.
    ids = [f"sub-{i + 1:02d}" for i in range(24)]
    assert table(study / "results" / "loadings.tsv")["id"].tolist() == ids
    assert told["graph_names"] == ids
    path.write_text("\n".join([*rows[:-1], rows[-1][:-7] + "n/a"]), encoding="utf-8")
    assert "no value for 'sub-24'" in refused(*words)


def test_a_column_that_cannot_be_predicted_is_a_notice_in_a_complete_report(study, done):
    done("fit", "connectomes", "out", "-d", 2, *PEOPLE, "--label", "participant_id", "--order",
         "input")  # fmt: skip
    page = (study / "out" / "report.html").read_text(encoding="utf-8")
    assert "participant_id was not predicted: each of the 24 graphs has a value of its own" in page
    assert "No label was predicted in this fit" in page


def test_a_name_is_not_markup_in_the_methods(study, done):
    path, name = study / "participants.tsv", "<img src=x onerror=alert(1)>[a](javascript:b)"
    path.write_text(path.read_text(encoding="utf-8").replace("group", name), encoding="utf-8")
    done("fit", "connectomes", "results", "-d", "2", *PEOPLE, "--label", name)
    written = (study / "results" / "methods.md").read_text(encoding="utf-8")
    assert r"\<img src=x onerror=alert(1)>\[a](javascript:b)" in written
    assert not re.search(r"(?<!\\)[<\[]", written)


def test_degree_correction_is_part_of_the_model(study, done):
    done("fit", "connectomes", "results", "-d", 2, "--degree-corrected")
    assert eg.load("results/model.eg").degree_corrected
    assert "with 0.25 of their mean added" in (study / "results/methods.md").read_text("utf-8")


def test_loadings_of_classes_need_classes(study, done, refused):
    words = ("fit", "connectomes", "results", "-d", 2, "--loadings", "class")
    assert "--loadings class needs --label" in refused(*words)
    assert "'age' is a quantity" in refused(*words, *PEOPLE, "--label", "age")
    done(*words, *PEOPLE, "--label", "group")
    path = study / "participants.tsv"
    path.write_text(path.read_text().replace("patient", "n/a", 2), encoding="utf-8")
    said = refused(*words, *PEOPLE, "--label", "group")
    assert "graph 'sub-02' has none: complete the labels, or leave it out" in said


def test_more_components_than_the_graphs_hold_are_a_note(change, noted):
    change(lambda i, A: A[:5, :5])
    err = noted("fit", "connectomes", "results", "-d", "12")
    assert "the first 10 components explain the graphs up to rounding" in err


def test_info_describes_a_model(out, done, refused, told):
    said = done("info", "out/model.eg")
    assert "2 components of 24 graphs on 20 vertices" in said
    assert "component 2: " in said
    assert said == done("info", "out")
    assert (told("info", "out")["components"], told("info", "out")["vertices"]) == (2, 20)
    refused("info", "participants.tsv")


def test_events_as_json(study, run):
    code, out, err = run("fit", "connectomes", "results", "-d", "2", "--json")
    events = [json.loads(line) for line in out.splitlines()]
    # The command speaks before it reads, and does not repeat itself.
    assert [event["event"] for event in events].count("read") == 1
    assert (code, events[0]["event"], events[-1]["event"]) == (0, "read", "done")
    assert events[-1]["converged"] is True
    assert err == "" or "compiling" in err


def test_strict_is_an_exit_code(study, change, run):
    rng = np.random.default_rng(0)

    def noise(i, _):
        A = rng.standard_normal((120, 120))
        return A + A.T

    change(noise)
    # One iteration is never enough on noise.
    assert run("fit", "connectomes", "out", "-d", "6", "--strict", "--max-iter", "1")[0] == 4
    assert (study / "out" / "report.html").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--label", "color"), "there is no column 'color'"),
        (("--order", "color"), "there is no column 'color' to order by"),
        (("--participants", "nobody.tsv"), "nobody.tsv"),
        (("-d", "5000"), "--components 5000 is more than"),
        (("--transform", "cube"), "--transform must be one of 'binarize'"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_is_written(study, words, said, refused):
    before = sorted(path.name for path in study.iterdir())
    assert said in refused("fit", "connectomes", "results", *words)
    assert sorted(path.name for path in study.iterdir()) == before


@pytest.mark.parametrize(
    "words",
    [("fit",), ("fit", "connectomes"), *(("fit", "connectomes", "b", f"--components={wrong}")
                                         for wrong in ("0", "-3", "2.5", "few"))],
)  # fmt: skip
def test_usage_is_exit_code_two(study, words, run):
    code, _, err = run(*words)
    assert code == 2
    assert "whole number" in err or len(words) < 4
    assert not (study / "b").exists()


def test_planted_faults_are_named(study, refused, change):
    """More of them in tests of reading; here, that nothing is written, and options are named."""
    folder = study / "connectomes"
    victim, table = folder / "sub-07_connectome.csv", study / "participants.tsv"
    whole, people = victim.read_text(), table.read_text()

    def named(said, *words):
        for command in (("check", "connectomes"), ("fit", "connectomes", "results", "-d", "2")):
            assert said in refused(*command, *words)

    victim.write_text(whole.replace(",", "|"))
    named("sub-07_connectome.csv")
    victim.write_text(whole)
    change(lambda i, A: A + 1e300 * (np.eye(20)[[5]].T * np.eye(20)[2]) if i == 6 else A)
    named("entry (5, 2) is 1e+300")
    table.write_text(people.replace("participant_id", "color"))
    named("participants.tsv", *PEOPLE)
    for path in list(folder.iterdir()):
        A = np.loadtxt(path, delimiter=",")
        savemat(path.with_suffix(".mat"), {"fa": A, "md": A, "count": A})
        path.unlink()
    named("choose one with --key")
    assert not (study / "results").exists()


def test_what_was_repaired_is_said(study, change, noted, run):
    change(lambda i, A: np.triu(A))
    err = noted("fit", "connectomes", "out", "-d", "2")
    assert "24 files hold one triangle; mirrored" in err
    assert "one triangle" in (study / "out" / "report.html").read_text(encoding="utf-8")
    assert "24 files hold one triangle; mirrored" in run("convert", "connectomes", "all.npz")[2]


def test_files_that_a_rule_on_names_leaves_out_are_counted(study, run, told):
    folder = study / "connectomes"
    for i in (1, 2, 3):
        path = folder / f"sub-{i:02d}_connectome.csv"
        path.rename(folder / f"sub-{i:02d}_matrix.csv")
    for words in (
        ("fit", "connectomes", "out", "-d", "2", "--no-halves"),
        ("convert", "connectomes", "all.npz"),
        ("convert", "connectomes", "all.egs"),
        ("transform", "out", "connectomes", "new.tsv"),
        ("contest", "connectomes", *PEOPLE, "--label", "group", "--methods", "PCA", "--cv", "2",
         "-d", "1"),
    ):  # fmt: skip
        code, out, err = run(*words)
        assert code == 0, err
        last = out.strip().splitlines()[-1]
        assert last.endswith("3 files of IN left out, see the notes"), words
        assert "3 files left out (sub-01_matrix.csv" in err
        assert "*_connectivity" in err  # every name of the rule
    report = (study / "out" / "report.html").read_text(encoding="utf-8")
    assert "<strong>refused:</strong> 3 files left out" in report
    assert told("check", "connectomes")["left_out"] == 3


def test_one_of_anything_is_never_a_plural(study, run):
    first, said = study / "connectomes" / "sub-01_connectome.csv", ""
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
        ("cluster", "all", "--clusters", 1),
    ):
        code, out, err = run(*words)
        assert code == 0, err
        said += out + err
    things = "graphs|components|vertices|files|blocks|passes|matrices|clusters"
    assert not re.search(rf"(?<![\w.])1 ((un)?directed |(un)?weighted )*({things})\b", said), said
