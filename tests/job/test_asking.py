"""Questions to a folder of results: components, uncertainty, clusters; answers in its report."""

import csv
import json

import pytest

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
    assert all(float(row["je1_low"]) < float(row["je1"]) < float(row["je1_high"]) for row in table)
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
