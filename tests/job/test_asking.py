"""Questions to a folder of results: components, uncertainty, clusters; answers in its report."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from eigengraphs.inference.intervals_and_bootstrap import cosines_squared
from eigengraphs.job.finished import FinishedFit


@pytest.fixture
def out(study, run):
    vertices = ["vertex\thalf"] + [f"v{s}\t{'ab'[s // 10]}" for s in range(20)]
    (study / "vertices.tsv").write_text("\n".join(vertices) + "\n", encoding="utf-8")
    code, _, said = run(
        "fit", "connectomes", "out", "-d", 2, "--participants", "participants.tsv",
        "--vertices", "vertices.tsv",
    )  # fmt: skip
    assert code == 0, said
    return study / "out"


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_components_are_read(out, run):
    code, said, errors = run("read", "out")
    assert code == 0, errors
    assert "component 1: replicates" in said
    table = rows(out / "read-components.tsv")
    assert [row["component"] for row in table] == ["je1", "je2"]
    assert float(table[0]["replicability"]) > 0.9
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "2 of 2 components replicate on halves" in page


def test_loadings_have_intervals_and_positions_errors(out, run):
    code, said, errors = run("uncertainty", "out", "--resamples", 10, "--json")
    assert code == 0, errors
    told = json.loads(said.splitlines()[-1])
    assert [one["weak"] for one in told["components"]] == [False, False]
    table = rows(out / "uncertainty-loadings.tsv")
    assert len(table) == 24
    assert "je1" not in table[0]  # the loading of the fit is another estimate
    for row in table:
        assert float(row["je1_low"]) < float(row["je1_cross_fitted"]) < float(row["je1_high"])
    places = rows(out / "uncertainty-positions.tsv")
    assert len(places) == 20
    assert all(0 < float(row["je2_se"]) < 0.1 for row in places)
    assert [finding.key for finding in FinishedFit(out).summary.findings][-1] == "uncertainty"


def test_vertices_and_graphs_are_clustered(out, run):
    code, said, errors = run("cluster", "out", "--truth", "half", "--clusters", 2)
    assert code == 0, errors
    assert "adjusted Rand index 1.000" in said
    code, said, errors = run(
        "cluster", "out", "--of", "graphs", "--truth", "group", "--clusters", 2, "--json"
    )
    assert code == 0, errors
    # The first loading is as spread as the second, and has nothing to do with the groups.
    assert json.loads(said)["ari"] > 0.4
    assert len(rows(out / "cluster-graphs.tsv")) == 24


def test_asking_leaves_a_folder_that_can_be_fitted_again(out, run):
    assert run("cluster", "out", "--clusters", 2)[0] == 0
    code, _, errors = run("fit", "connectomes", "out", "-d", 1)
    assert code == 0, errors
    assert not list(out.glob("cluster-*.tsv"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("cluster", "out", "--of", "edges"), "vertices or graphs"),
        (("cluster", "out", "--truth", "lobe"), "columns are: vertex, half"),
        (("cluster", "out", "--of", "graphs", "--graph", "sub-01"), "for clusters of vertices"),
        (("read", "elsewhere"), "elsewhere"),
        (("read", "out", "--graphs", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_answered(out, run, words, said):
    code, _, errors = run(*words)
    assert code == 3
    assert said in errors
    assert [one.key for one in FinishedFit(out).summary.findings] == ["read"]


def test_one_component_has_one_number_in_every_table(out, run):
    """Replicability in one table is the agreement behind c² of another; printed is what is kept."""
    code, printed, errors = run("uncertainty", "out", "--resamples", 10)
    assert code == 0, errors
    uncertain = rows(out / "uncertainty-components.tsv")
    shown = [line for line in printed.splitlines() if line.startswith("component")]
    for row, line in zip(uncertain, shown, strict=True):
        assert f"bootstrap {float(row['same in the bootstrap']):.3f}" in line
        assert f"c² of positions {float(row['with the truth (c²)']):.2f}" in line
        assert "mean little" not in line
    assert run("read", "out")[0] == 0
    halves = np.array([float(row["replicability"]) for row in rows(out / "read-components.tsv")])
    c2 = [float(row["with the truth (c²)"]) for row in uncertain]
    assert cosines_squared(halves, 0.9) == pytest.approx(c2, rel=1e-8)
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "intervals are of cross-fitted loadings" in page
    inside = [float(row["fitted loadings inside"]) for row in uncertain]
    table = {row["id"]: row for row in rows(out / "uncertainty-loadings.tsv")}
    fitted = {row["id"]: row for row in rows(out / "loadings.tsv")}
    for k, share in enumerate(inside, start=1):
        held = [float(one[f"je{k}_low"]) <= float(fitted[name][f"je{k}"]) <= float(
            one[f"je{k}_high"]) for name, one in table.items()]  # fmt: skip
        assert np.mean(held) == pytest.approx(share)


@pytest.mark.parametrize("verdict", ["not shown to replicate", "looks like noise"])
def test_a_doubt_about_a_component_that_differs_says_both(out, run, verdict):
    assert run("compare", "out", "--group", "group")[0] == 0
    summary = FinishedFit(out).summary

    def doubted(ks):
        """Return the summary with this verdict on components (from 0)."""
        read = next(found for found in summary.findings if found.key == "read")
        at = [read.header.index(name) for name in ("replicability", "p (noise)", "verdict")]
        rows = [list(row) for row in read.rows]
        for k in ks:
            for place, value in zip(at, (0.46, 0.12, verdict), strict=True):
                rows[k][place] = value
        again = replace(read, rows=tuple(tuple(row) for row in rows))
        others = [found for found in summary.findings if found.key != "read"]
        return replace(summary, findings=(again, *others))

    def said(ks):
        (line,) = (words for words in doubted(ks).words if words.startswith("Component"))
        return line

    # Groups differ in component 2 alone.
    alone, differs, both = said([0]), said([1]), said([0, 1])
    assert "replicability 0.46, p = 0.12" in alone
    assert "differ" not in alone
    for line, subject in ((differs, "its"), (both, "of component 2")):
        assert "by group" in line
        assert "differ" in line
        assert subject in line
    assert differs.startswith("Component 2: ")
    assert both.startswith("Components 1 and 2: ")
    verbs = ("looks like noise", "look like noise")
    noise = verdict == "looks like noise"
    assert [verbs[0] in differs, verbs[1] in both] == [noise, noise]
    assert verbs[0] not in both


def test_halves_decide_whether_a_component_is_trusted_and_starts_are_a_detail(study, run):
    code, said, errors = run(
        "fit", "connectomes", "out", "-d", 5, "--n-init", 3, "--participants", "participants.tsv"
    )
    assert code == 0, errors
    out = study / "out"
    summary = FinishedFit(out).summary
    verdicts = [
        row[summary.findings[0].header.index("verdict")] for row in summary.findings[0].rows
    ]
    assert verdicts[:2] == ["replicates"] * 2
    assert "replicates" not in verdicts[2:]  # noise
    assert summary.findings[0].words[0] in said
    assert not any(part.remarks for part in summary.components)
    assert not any("start" in problem.text for problem in summary.problems)
    opening = " ".join(summary.words)
    assert "3, 4 and 5" in opening or opening.count("Component") > 1
    assert not any(f"Component {k}" in opening for k in (1, 2))
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "uncertain" not in page
    assert page.count("Split-half replication: replicates. Search:") == 2
    assert "of starts agree" in page
    told = json.loads((out / "provenance.json").read_text(encoding="utf-8"))
    assert told["settings"]["n_init"] == 3
