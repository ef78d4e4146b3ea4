"""``check`` names what is wrong with graphs and tables, worst first, and writes nothing."""

import json

import numpy as np
import pytest

import eigengraphs as eg

PEOPLE = ("--participants", "participants.tsv")


def last_line(text):
    return text.splitlines()[-1]


def test_check_reads_and_writes_nothing(study, done):
    before = sorted(path.name for path in study.iterdir())
    said = done("check", "connectomes", *PEOPLE)
    assert "24 undirected weighted graphs on 20 vertices" in said
    assert "group" in said
    assert "nothing unusual" in said
    assert sorted(path.name for path in study.iterdir()) == before


def test_check_points_at_a_graph_unlike_the_others(change, told):
    change(lambda i, A: 100 * A if i == 4 else A)
    last = told("check", "connectomes")
    odd = [row for row in last["quality"] if row["verdict"] != "ok"]
    assert [row["id"] for row in odd] == ["sub-05"]
    assert "far from the usual" in odd[0]["messages"][0]
    assert last["noticed"][0]["level"] == "warning"
    assert "in the scale of the weights" in last["noticed"][0]["text"]


def test_wrong_data_come_before_odd_graphs_before_what_was_done(study, run):
    rng = np.random.default_rng(0)
    base, gain = rng.integers(1, 2000, (20, 20)), np.exp(rng.normal(0, 0.7, 20))
    for k in range(24):
        A = np.triu(np.ceil(base * rng.lognormal(0, 0.2, (20, 20))), 1)
        A += A.T
        if k < 6:
            A = np.ceil(A * gain[:, None] * gain)
        if k == 9:
            A[2, 5] = A[5, 2] = -7
        order = np.r_[10:20, :10] if k == 12 else np.arange(20)
        A = (100 if k == 15 else 1) * A[np.ix_(order, order)]
        header = ",".join(f"v{s}" for s in order)
        path = study / "connectomes" / f"sub-{k + 1:02d}_connectome.csv"
        np.savetxt(path, A, delimiter=",", fmt="%d", header=header, comments="")
    _, out, err = run("check", "connectomes")
    assert last_line(out) == (
        "4 noticed, worst first: odd scale (1 graph), negative weights (1 graph), "
        "two groups (6 and 18 graphs), aligned by name"
    )
    assert "sub-10_connectome.csv (negative weight -7 from 'v2' to 'v5')" in err
    assert err.index("sub-16") < err.index("sub-10")


def test_swapped_hemispheres_are_found_by_the_column_of_the_vertices(study, change, run):
    rng = np.random.default_rng(0)
    base, mirror = rng.random((20, 20)) * 100, np.r_[10:20, :10]

    def brain(i, _):
        A = np.triu(base * rng.lognormal(0, 0.3, (20, 20)), 1)
        return (A + A.T)[np.ix_(mirror, mirror)] if i == 4 else A + A.T

    change(brain)
    rows = [f"{side}-area{s}\t{side}" for side in ("left", "right") for s in range(10)]
    (study / "regions.tsv").write_text("\n".join(["name\themisphere", *rows]), encoding="utf-8")
    _, out, err = run("check", "connectomes", "--vertices", "regions.tsv")
    assert last_line(out) == "1 noticed: swapped hemispheres (1 graph)"
    assert "left and right swapped (are the hemispheres swapped?): sub-05" in err


@pytest.mark.parametrize("name", ["BNU1_0025864", "sub-NDARAB123456_ses-01_run-2"])
def test_names_of_graphs_are_whole_in_a_narrow_table(study, change, monkeypatch, name, done):
    monkeypatch.setenv("COLUMNS", "80")
    change(lambda i, A: {6: 100 * A, 8: np.triu(A)}.get(i, A))
    for k, path in enumerate(sorted((study / "connectomes").iterdir()), start=1):
        path.rename(path.with_name(f"{name}{k:02d}.csv"))
    out = done("check", "connectomes")
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


def test_names_that_look_like_markup_are_shown_as_they_are(tmp_path, done):
    graphs = np.ones((2, 4, 4)) - np.eye(4)
    eg.io.write(eg.GraphStack(graphs, graph_names=["g[bold]1", ":smile:"]), tmp_path / "a.npz")
    said = done("check", "a.npz")
    assert "g[bold]1" in said
    assert ":smile:" in said


def test_the_label_is_counted_or_it_is_said_what_there_is(study, done, refused, told):
    words = ("check", "connectomes", *PEOPLE, "--label")
    assert "group: control 12, patient 12" in done(*words, "group")
    err = refused(*words, "color")
    assert "there is no column 'color' to use as a label; columns are: sub, participant_id" in err
    err = refused(*words, "gruop")
    assert "did you mean 'group'?" in err
    assert "was given" not in err
    err = refused("check", "connectomes", "--label", "group")
    assert "there is no column 'group' to use as a label; columns are: sub. No table" in err
    assert "--participants" in err
    table = study / "participants.tsv"
    table.write_text(table.read_text().replace("\t33\n", "\tn/a\n"), encoding="utf-8")
    counts = told(*words, "age")["label"]
    assert counts["missing"] == 1
    assert counts["30"] == 1  # a whole number, though another is missing


def test_tables_that_may_be_wrong(study, refused, run):
    table = study / "participants.tsv"
    text = table.read_text()
    table.write_text(text.replace("patient", "Patient", 1))
    err = run("fit", "connectomes", "out", "-d", 1, *PEOPLE, "--label", "group")[2]
    assert "value 'Patient'" in err
    assert "is 'patient' meant?" in err
    table.write_text("".join(text.splitlines(keepends=True)[:-1]))
    err = refused("check", "connectomes", *PEOPLE)
    assert "sub-24" in err
    assert "missing=" not in err
    eg.io.write(eg.GraphStack(np.ones((3, 4, 4))), study / "stack.npy")
    assert "called by their places, 0 to 2" in refused("check", "stack.npy", *PEOPLE)


def test_ids_inside_names(study, noted, refused):
    table = study / "participants.tsv"
    table.write_text(table.read_text().replace("sub-", "258"))
    for i, path in enumerate(sorted((study / "connectomes").iterdir()), start=1):
        path.rename(path.with_name(f"BNU1_00258{i:02d}_DTI.csv"))
    words = ("check", "connectomes", *PEOPLE)
    err = noted(*words)
    assert "'25801' in 'BNU1_0025801_DTI'" in err
    assert "--id-pattern" in err
    assert "inside the names" not in noted(*words, "--id-pattern", r"_0*(\d+)_DTI\.csv")
    table.write_text("".join(table.read_text().splitlines(keepends=True)[:-1]))
    assert "--id-pattern '_([0-9]+)_'" in refused(*words)


def test_marks_of_numbers(study, done, refused):
    (study / "in").mkdir()
    (study / "in" / "a.csv").write_text("0;12,438;1,500\n12,438;0;2,250\n1,500;2,250;0\n")
    err = refused("check", "in", "--format", "matrix")
    assert "--decimal ','" in err
    assert "--thousands ','" in err
    for option, total in (("--decimal", "16.188"), ("--thousands", "16188")):
        assert total in done("check", "in", "--format", "matrix", option, ",")
        done("convert", "in", f"{option[2:]}.egs", "--format", "matrix", option, ",")


def test_errors_are_events_too(study, run):
    code, out, _ = run("check", "nothing", "--json")
    last = json.loads(last_line(out))
    assert code == 3
    assert (last["event"], last["code"]) == ("error", 3)
    assert "nothing" in last["text"]
