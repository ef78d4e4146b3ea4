"""--harmonize: what a fit writes, what follows it, and what is refused."""

import json

import numpy as np
import pytest

from eigengraphs.inference import Harmonize

FIT = ("fit", "connectomes", "out", "-d", 2, "--participants", "participants.tsv", "--no-halves")


@pytest.fixture
def sites(study, table):
    """Add a column of sites to the participants, and return their values."""
    people = table(study / "participants.tsv")
    people["site"] = np.array(["north", "south", "west"])[np.arange(24) % 3]
    people.to_csv(study / "participants.tsv", sep="\t", index=False)
    return people["site"]


def test_a_fit_harmonizes_and_what_follows_does_the_same(study, sites, done, told, refused, table):
    said = done(*FIT, "--label", "group", "--harmonize", "site", "--keep", "age")
    assert "harmonized over site by ComBat" in said
    raw, even = (table(study / "out" / f"{name}.tsv") for name in ("loadings", "harmonized"))
    own, age = raw[["je1", "je2"]], {"age": raw["age"]}
    assert np.allclose(
        even[own.columns], Harmonize().fit_transform(own, site=sites, covariates=age)
    )
    record = json.loads((study / "out" / "provenance.json").read_text())["harmonize"]
    assert (record["harmonize"], record["keep"]) == ("site", ["age"])
    assert "harmonized over site" in (study / "out" / "methods.md").read_text()
    assert "harmonized over site" in told("compare", "out", "--group", "group")["methods"]
    plain = told("compare", "out", "--group", "group", "--harmonize", "none")
    assert "harmonized" not in plain["methods"]
    assert "as for the fit" in done("cluster", "out", "--of", "graphs", "--clusters", 2)
    planned = told("power", "out", "--group", "group", "--sizes", "8", "--studies", 10)
    assert "as for the fit" in planned["methods"]
    by_site = ("evaluate", "out", "--target", "group", "--methods", "none", "--folds", "site")
    assert "(--unseen-sites estimate)" in refused(*by_site)
    found = told(*by_site, "--unseen-sites", "estimate", "--controls", "group=control")
    assert "learned from controls among" in found["protocol"]
    well = done(*FIT, "--harmonize", "site", "--controls", "group=control")
    assert "as learned from 12 graphs" in well
    done(*FIT)
    assert not (study / "out" / "harmonized.tsv").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [(("--harmonize", "sit"), "did you mean 'site'"), (("--keep", "age"), "is for --harmonize"),
     (("--harmonize", "site", "--keep", "site"), "named by --harmonize and by --keep"),
     (("--location-only",), "name the column of sites"),
     (("--harmonize", "site", "--controls", "group"), "must be COLUMN=VALUE"),
     (("--harmonize", "site", "--controls", "group=ill"), "it has: control, patient")],
)  # fmt: skip
def test_what_cannot_be_harmonized_is_refused_before_the_fit(words, said, sites, refused):
    told = refused(*FIT, *words)
    assert said in told
    assert "fitting" not in told
