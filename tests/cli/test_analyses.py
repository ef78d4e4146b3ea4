"""Analyses of a fit, compare to changes: answers in tables and in the report."""

import json
import re

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.cli.results_folder import FinishedFit
from eigengraphs.inference.intervals_and_bootstrap import cosines_squared


def page_of(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


def add_column(folder, name, values, categories=()):
    """Put a column of the graphs into a report, as if it had been in the table."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    kind = "category" if categories else "number"
    report["columns"].append(
        {"name": name, "kind": kind, "categories": list(categories), "values": values}
    )
    (folder / "report.json").write_text(json.dumps(report), encoding="utf-8")


def test_compare_says_writes_and_reports(out, done, told, table):
    said = done("compare", "out", "--group", "group", "--covariates", "age")
    assert "differ between groups of group (12 control, 12 patient)" in said
    assert "The loading on component 2 is largest in the group patient" in said
    assert "je2" not in said  # that is its name in tables
    assert "Methods: Loadings were compared" in said
    found = table(out / "compare-group-age.tsv")
    assert list(found["component"]) == ["je1", "je2", "all"]
    assert found["p_fdr"][1] < 0.05 < found["p_fdr"][0]
    assert found["low"][1] > 0
    assert "Loadings by group, adjusted for age" in page_of(out)
    assert ">component 2</" in page_of(out)
    assert "je2" not in page_of(out)
    methods = (out / "methods.md").read_text(encoding="utf-8")
    assert methods.startswith("We embedded 24 undirected graphs")
    assert methods.count("Loadings were compared between the groups of group") == 1
    assert methods.count("**References**") == methods.count("- Freedman, D.") == 1
    assert "patient minus control" in methods
    last = told("compare", "out", "--group", "age")
    assert list(last["components"][0]) == list(table(out / "compare-age.tsv"))
    assert (last["kind"], last["effect"]) == ("quantity", "partial correlation")
    asked = [found.key for found in FinishedFit(out).summary.findings]
    assert [key for key in asked if key.startswith("compare")] == ["compare group age",
                                                                   "compare age"]  # fmt: skip


def test_power_says_how_many_participants_are_needed(out, told, table, refused):
    words = ("power", "out", "--group", "group", "--effect", "1.5", "--sizes", "8,16", "--studies",
             40, "--component", 1)  # fmt: skip
    found, rows = told(*words), table(out / "power-group-1.5-je1.tsv")
    assert rows["per_group"].tolist() == [8, 16]
    assert rows["family"].tolist() == [row["family"] for row in found["sizes"]]
    assert found["effects"] == {"component 1": 1.5, "component 2": 0.0}
    needed = found["participants_per_group"]["0.8"]["family"]
    assert needed["low"] <= needed["value"] <= 16
    assert f"80% power needs {needed['value']:g} participants per group" in page_of(out)
    assert "--sizes takes numbers" in refused(*words, "--sizes", "8;16")
    assert "--test must be one of fdr" in refused(*words[:4], "--effect", "pilot", "--studies", 10,
                                                   "--test", "alone")  # fmt: skip


def test_a_formula_is_tested_beside_a_group(out, done, told, table):
    plain = told("compare", "out", "--group", "group", "--covariates", "age")
    same = told("compare", "out", "--formula", "~ group + age", "--test", "group")
    assert same["components"] == plain["components"]
    assert same["estimates"] == plain["estimates"]
    said = done("compare", "out", "--formula", "~ group * age", "--test", "group:age")
    assert "are not shown to depend on group:age (12 control, 12 patient)" in said
    found = table(out / "compare-group-x-age-in-group-by-age.tsv")
    assert list(found)[8:10] == ["group[T.patient]:age", "group[T.patient]:age_se"]
    rows = table(out / "compare-group-x-age-in-group-by-age.coefficients.tsv")
    assert list(rows["name"][:4]) == [
        "Intercept",
        "group[T.patient]",
        "age",
        "group[T.patient]:age",
    ]
    assert list(rows["kind"][4:6]) == ["adjusted mean"] * 2
    assert rows["estimate"][3] == found["group[T.patient]:age"][0]
    assert "Loadings by group:age in ~ group * age" in page_of(out)


def test_effects_are_tested_written_and_drawn(out, done, told, table, refused):
    words = ("effects", "out", "--group", "group", "--covariates", "age", "--by", "half",
             "--permutations", 199)  # fmt: skip
    said = done(*words)
    assert "of 190 edges differ between groups of group (effects: patient minus control)" in said
    assert "All pairs of networks" in said
    last = told(*words)
    stem = out / "effects-group-age-by-half"
    edges, regions, pairs, strongest = (
        table(stem.with_name(f"{stem.name}{part}.tsv"))
        for part in (".edges", ".regions", ".networks", "")
    )
    assert [len(x["pattern_p"]) for x in (edges, regions, pairs)] == [190, 20, 3]
    assert last["edges"] == 190
    assert last["named"]["combined"] == list(edges["named"]).count("yes") > 100
    assert (
        last["strongest_edges"][0]["pattern_p_family"] == strongest["pattern_p_family"][0] == 0.005
    )
    assert sorted(pairs["pattern_effect"]) == pytest.approx(
        sorted(row["pattern_effect"] for row in last["strongest_networks"])
    )
    assert sorted(pairs["weights_p_family"]) == [
        row["weights_p_family"] for row in last["strongest_networks"]
    ]
    assert set(pairs["network"]) | set(pairs["network 2"]) == {"a", "b"}
    assert stem.with_name(f"{stem.name}.png").stat().st_size > 10_000
    assert (
        "Effects of group, adjusted for age (patient minus control): pairs of networks"
        in page_of(out)
    )
    # A formula of the same columns is the same question; and the pattern needs no graphs.
    formula = told("effects", "out", "--formula", "~ group + age", "--test", "group",
                   "--permutations", 199, "--pattern-only")  # fmt: skip
    row = {
        key: value
        for key, value in formula["strongest_edges"][0].items()
        if not key.startswith("named")
    }
    same = [i for i in range(190) if (edges["region"][i], edges["region 2"][i])
            == (row["region"], row["region 2"])]  # fmt: skip
    assert [edges[key][same[0]] for key in row] == pytest.approx(list(row.values()))
    assert list(formula["named"]) == ["combined"]
    # What is missing is said before graphs are read, which are not there.
    said = refused("effects", "out", "--formula", "~ group + age", "--graphs", "nowhere")
    assert "say by --test" in said
    said = refused(*words[:4], "--by", "lobe")
    assert "there is no column 'lobe' of the vertices for --by" in said


def test_trajectories_are_drawn_and_written(scans, told, table):
    out = scans / "out"
    add_column(out, "years", [0.5 * (i % 2) + 0.01 * i for i in range(24)])
    last = told("trajectories", "out", "--time", "years", "--group", "group")
    assert (last["people"], last["df"]) == (12, 10)
    assert [row["what"] for row in last["slopes"][:3]] == [
        "control", "patient", "patient - control"]  # fmt: skip
    found = table(out / "trajectories-years-group.tsv")
    assert found["slope"].tolist() == pytest.approx([row["slope"] for row in last["slopes"]])
    assert len(table(out / "trajectories-years-group.people.tsv")) == 12
    assert (out / "trajectories-years-group.png").stat().st_size > 10_000
    assert "component 1 patient - control" in page_of(out)
    assert told("trajectories", "out", "--time", "ses")["time"] == "ses"  # codes 1 and 2


def test_scans_of_participants_are_kept_together(scans, told):
    last = told("compare", "out", "--group", "group")
    assert (last["design"], last["graphs"], last["units"]) == ("between", 24, 12)
    assert "graphs with the same participant_id are taken together" in last["notes"]
    last = told("compare", "out", "--group", "ses")
    assert (last["design"], last["units"], last["permutations"]) == ("within", 12, 4096)
    # Every graph of its own, if that is asked; the other answer stays.
    assert told("compare", "out", "--group", "group", "--subject", "none")["units"] == 24
    first, second = (scans / "out" / f"compare-group{end}.tsv" for end in ("", "-of-none"))
    assert first.read_text(encoding="utf-8") != second.read_text(encoding="utf-8")
    # Where participants are what is compared, they are the groups.
    assert told("compare", "out", "--group", "sub")["design"] == "single"


def test_participants_may_be_named(out, told):
    # Two neighbors, one of each group, as if they were one participant before and after.
    add_column(out, "person", [i // 2 for i in range(24)], [f"p{i}" for i in range(12)])
    last = told("compare", "out", "--group", "group", "--subject", "person")
    assert (last["design"], last["units"], last["permutations"]) == ("within", 12, 4096)
    assert (out / "compare-group-of-person.tsv").exists()


def test_changes_are_found_in_the_order_that_is_asked(out, done, told, table):
    assert "No change of level is shown" in done("changes", "out", "--order", "age")
    # In this order all controls come first: the level changes where patients begin.
    add_column(out, "visit", [i // 2 + 12 * (i % 2) for i in range(24)])
    assert "1 change, first seen in sub-02 (visit 12)." in done("changes", "out", "--order",
                                                                "visit")  # fmt: skip
    last = told("changes", "out", "--order", "visit")
    assert [(one["graph"], one["when"]) for one in last["changes"]] == [("sub-02", "12")]
    assert list(table(out / "changes.tsv")["segment"]) == [1.0] * 12 + [2.0] * 12
    assert "Changes and anomalies, in the order of visit" in page_of(out)


def test_the_opening_follows_what_is_asked_later(study, done):
    done("fit", "connectomes", "out", "-d", 2, "--participants", "participants.tsv", "--label",
         "group")  # fmt: skip
    out = study / "out"

    def opening():
        words = FinishedFit(out).summary.words
        assert json.loads((out / "report.json").read_text(encoding="utf-8"))["words"] == list(words)
        return " ".join(words)

    assert "described, not tested" in opening()
    assert "no order in time" in page_of(out)
    done("compare", "out", "--group", "age")  # another column is another question
    assert "described, not tested" in opening()
    done("compare", "out", "--group", "group", "--covariates", "age")
    assert "not tested" not in opening()
    assert "differ between groups of group" in opening()
    done("changes", "out", "--order", "age")
    assert "no order in time" not in page_of(out)
    assert FinishedFit(out).summary.timeline.by == "age"
    assert "Changes and anomalies, in the order of age" in opening()


def test_explained_and_residual_have_one_meaning_everywhere(study, done, told, table):
    told = told("fit", "connectomes", "out", "-d", 2, "--center")
    out = study / "out"
    assert told["explained_of"] == "the sum of squares around the mean graph"
    explained = table(out / "components.tsv")["explained"]
    assert explained.sum() == pytest.approx(told["explained"], rel=1e-8)
    found = table(out / "loadings.tsv")
    residual = found["residual"].to_numpy()
    graphs = eg.read(study / "connectomes", on_notice=lambda _: None)
    je = eg.JointEmbedding(2, center=True, random_state=0).fit(graphs)
    assert np.allclose(found[["je1", "je2"]], je.loadings_, rtol=1e-6)
    assert np.allclose(residual, je.residuals(graphs), rtol=1e-6)
    summary, page = FinishedFit(out).summary, page_of(out)
    assert 1 - summary.explained_by_graph == pytest.approx(residual, rel=1e-6)
    data = json.loads(re.search(r'report-data">(.*?)</script>', page, re.DOTALL)[1])
    assert data["residual"] == pytest.approx(residual, rel=1e-5)
    worst = summary.worst[0].graph
    assert summary.residual_with_mean[worst] < residual[worst]  # of the whole graph: less
    assert "around the mean graph, " in page
    for words in (" ".join(summary.words), summary.methods, done("info", "out")):
        assert f"{told['explained']:.1%} of the sum of squares around the mean graph" in words


def test_components_are_described(out, done, table):
    assert "component 1: replicates" in done("read", "out")
    found = table(out / "read-components.tsv")
    assert list(found["component"]) == ["je1", "je2"]
    assert found["replicability"][0] > 0.9
    assert "2 of 2 components replicate on halves" in page_of(out)


def test_halves_decide_whether_a_component_is_trusted(study, done):
    said = done("fit", "connectomes", "out", "-d", 5, "--n-init", 3)
    out = study / "out"
    summary = FinishedFit(out).summary
    (finding,) = summary.findings
    verdicts = [row[finding.header.index("verdict")] for row in finding.rows]
    assert verdicts[:2] == ["replicates"] * 2
    assert "replicates" not in verdicts[2:]  # noise
    assert finding.words[0] in said
    # Agreement of starts is a detail.
    assert not any(part.remarks for part in summary.components)
    assert not any("start" in problem.text for problem in summary.problems)
    opening = " ".join(summary.words)
    assert "3, 4 and 5" in opening or opening.count("Component") > 1
    assert not any(f"Component {k}" in opening for k in (1, 2))
    page = page_of(out)
    assert "uncertain" not in page
    assert page.count("Split-half replication: replicates. Search:") == 2
    assert "of starts agree" in page


@pytest.mark.parametrize("less", [0, 1])
def test_the_size_of_the_problem_decides_whether_halves_are_tested(study, done, monkeypatch, less):
    # Entries, and products with a basis of 64 columns, for each of two components.
    work = 24 * (20 * 20 + 64 * 20) * 2
    monkeypatch.setattr("eigengraphs.cli.commands.fit._MOST_WORK", work - less)
    done("fit", "connectomes", "out", "-d", 2)
    assert len(FinishedFit(study / "out").summary.findings) == 1 - less


def test_one_component_has_one_number_in_every_table(out, done, told, table):
    """Replicability in one table is the agreement behind c² of another; printed is what is kept."""
    printed = done("uncertainty", "out", "--resamples", 10)
    found = table(out / "uncertainty-components.tsv")
    shown = [line for line in printed.splitlines() if line.startswith("component")]
    assert "All positions are well determined." in printed
    for (_, row), line in zip(found.iterrows(), shown[1:], strict=True):
        for name in ("same in the bootstrap", "with the truth (c²)", "fitted loadings inside"):
            assert f" {row[name]:.3g} " in f"{line} "
    done("read", "out")
    halves = table(out / "read-components.tsv")["replicability"].to_numpy()
    assert cosines_squared(halves, 0.9) == pytest.approx(found["with the truth (c²)"], rel=1e-8)
    assert "intervals are of cross-fitted loadings" in page_of(out)
    intervals = table(out / "uncertainty-loadings.tsv")
    fitted = table(out / "loadings.tsv")
    assert list(intervals["id"]) == list(fitted["id"])
    assert "je1" not in intervals  # the loading of the fit is another estimate
    for k in (1, 2):
        low, high = intervals[f"je{k}_low"], intervals[f"je{k}_high"]
        assert intervals[f"je{k}_cross_fitted"].between(low, high, inclusive="neither").all()
        inside = fitted[f"je{k}"].between(low, high).mean()
        assert found["fitted loadings inside"][k - 1] == pytest.approx(inside)
    errors = table(out / "uncertainty-positions.tsv")["je2_se"]
    assert len(errors) == 20
    assert errors.between(0, 0.1, inclusive="neither").all()
    last = told("uncertainty", "out", "--resamples", 10)
    assert [one["weak"] for one in last["components"]] == [False, False]


def test_vertices_and_graphs_are_clustered(out, done, told, table):
    said = done("cluster", "out", "--truth", "half", "--clusters", 2, "--stability", 2)
    assert "Agreement with half: adjusted Rand index 1.000" in said
    assert "Stability: mean adjusted Rand index 1.000 with the clusters of 2 fits" in said
    last = told("cluster", "out", "--of", "graphs", "--truth", "group", "--clusters", 2)
    # The first loading is as spread as the second, and has nothing to do with the groups.
    assert last["ari"] > 0.4
    assert len(table(out / "cluster-graphs.tsv")) == 24
    assert "Bayesian information criterion" not in page_of(out)
    done("cluster", "out")
    assert "Bayesian information criterion" in page_of(out)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("compare", "out", "--group", "groop"), "did you mean 'group'"),
        (("compare", "out", "--group", "group", "--covariates", "age,age"), "named twice"),
        (("compare", "out"), "by --group, or a linear model by --formula"),
        (("compare", "out", "--formula", "~ groop"), "did you mean 'group'"),
        (("compare", "out", "--group", "group", "--test", "group"), "of a --formula"),
        (("trajectories", "out", "--time", "age"), "name their column by --subject"),
        (("changes", "out", "--order", "groop"), "did you mean 'group'"),
        (("cluster", "out", "--of", "edges"), "vertices or graphs"),
        (("cluster", "out", "--truth", "lobe"), "columns are: vertex, half"),
        (("cluster", "out", "--of", "graphs", "--graph", "sub-01"), "for clusters of vertices"),
        (("read", "elsewhere"), "elsewhere"),
        (("read", "out", "--graphs", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_answered(out, refused, words, said):
    assert said in refused(*words)
    assert [one.key for one in FinishedFit(out).summary.findings] == ["read"]
