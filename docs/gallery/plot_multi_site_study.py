"""
A study of several sites, from files to the methods paragraph
=============================================================

Three hospitals scan people with and without a disease, each on its own scanner, and one of them
sees more patients than the others. What differs between patients and controls, and what only
between scanners? We simulate such a study, so that the truth is known, write it to files, and work
on the files with the command line, as one would with real data.
"""

import contextlib
import io
import shlex
import sys
import tempfile
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from eigengraphs.cli import main

# %%
# The truth
# ---------
# There are 24 regions and three patterns: overall density, edges within the same side, and edges
# within the same tissue. Patients have less of the second. The third decreases with age. Each
# scanner adds something of its own to every loading, and multiplies what varies by a factor. The
# share of patients is about 65 % in the north, 35 % in the south, and 50 % in the west.

rng = np.random.default_rng(4)
n, sites = 24, ["north", "south", "west"]
k = np.repeat([0, 1, 2], 30)
ill = rng.random(90) < np.array([0.65, 0.35, 0.5])[k]
age, sex = rng.normal(40, 10, 90).round(), rng.integers(0, 2, 90)
region = np.arange(n)
H = np.stack([np.ones(n), np.where(region < n // 2, 1, -1), np.where(region % 2, 1, -1)], axis=1)
H = H / np.sqrt(n)
location = np.array([[0.0, 0.0, 0.0], [2.0, 3.0, -1.0], [-2.0, -2.0, 1.5]])[k]
scale = np.array([0.8, 1.6, 1.0])[k]
vary = rng.normal(size=(90, 3)) * [1.0, 0.8, 0.8]
vary[:, 1] -= 1.5 * ill
vary[:, 2] -= 0.06 * (age - 40)
loadings = np.array([14.0, 5.0, 4.0]) + location + scale[:, None] * vary

# %%
# The files: one matrix per person, and a table of participants.

folder = tempfile.TemporaryDirectory()
study = Path(folder.name)
(study / "connectomes").mkdir()
names = [f"sub-{i + 1:02d}" for i in range(90)]
for name, lam in zip(names, loadings, strict=True):
    A = (H * lam) @ H.T + rng.normal(0, 0.12, (n, n))
    A = np.triu(A, 1)
    np.savetxt(study / "connectomes" / f"{name}.csv", A + A.T, fmt="%.4f", delimiter=",")
people = {
    "participant_id": names,
    "site": np.array(sites)[k],
    "diagnosis": np.where(ill, "patient", "control"),
    "age": age.astype(int),
    "sex": np.where(sex, "M", "F"),
}
pd.DataFrame(people).to_csv(study / "participants.tsv", sep="\t", index=False)


def run(command, most=99):
    """Run a command line in the folder of the study, and print what it says, the first lines."""
    sys.argv, said = shlex.split(command), io.StringIO()
    with contextlib.chdir(study), contextlib.redirect_stdout(said):
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise
    print("$", textwrap.fill(command, 92, subsequent_indent="    "))
    for line in said.getvalue().splitlines()[:most]:
        table = "  " in line or line.startswith("─")
        print(line if table else textwrap.fill(line, 100, break_on_hyphens=False))
    print()


run("eigengraphs check connectomes --participants participants.tsv --label diagnosis", 3)

# %%
# Fit and harmonize
# -----------------
# The components are found without sites, groups or ages. ``--harmonize site`` gives the loadings of
# all sites the same location and scale (ComBat), and keeps what age and sex explain. The diagnosis
# is not kept: loadings that know the groups would tell us what we told them.

run(
    "eigengraphs fit connectomes results -d 3 --participants participants.tsv --label diagnosis "
    "--harmonize site --keep age,sex"
)

# %%
# ``loadings.tsv`` has the loadings as they were fitted, ``harmonized.tsv`` those without the sites.

tables = {
    "as fitted": pd.read_csv(study / "results" / "loadings.tsv", sep="\t"),
    "harmonized": pd.read_csv(study / "results" / "harmonized.tsv", sep="\t"),
}
figure, axes = plt.subplots(
    1, 2, figsize=(9.5, 3.6), sharex=True, sharey=True, layout="constrained"
)
for ax, (title, table) in zip(axes, tables.items(), strict=True):
    for site, color in zip(sites, ("#0072B2", "#D55E00", "#009E73"), strict=True):
        for group, marker in (("control", "o"), ("patient", "^")):
            rows = table[(table["site"] == site) & (table["diagnosis"] == group)]
            ax.scatter(rows["je1"], rows["je2"], color=color, marker=marker, s=22, alpha=0.8,
                       label=f"{site}, {group}")  # fmt: skip
    ax.set(title=title, xlabel="loading on component 1")
axes[0].set_ylabel("loading on component 2")
axes[1].legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %%
# Do patients differ?
# -------------------
# ``compare`` harmonizes as the fit did, without the diagnosis, and takes the site as a covariate of
# the test, which therefore keeps its level although patients are not equally frequent everywhere.

run("eigengraphs compare results --group diagnosis --covariates age,sex", 8)

# %%
# It finds the second component, the one that differs, and the size is right: the truth is 1.5 / 0.8
# or 1.9 standard deviations within a site. If sites are ignored, scanners add to what varies, and
# the same difference appears to be 1.1:

run("eigengraphs compare results --group diagnosis --covariates age,sex --harmonize none", 8)

# %%
# Who can be told from a graph?
# -----------------------------
# Predictions are of held-out graphs, and everything is learned from the others, the harmonization
# too. First the site: from loadings as they are, and from harmonized ones, where it should be at
# chance.

run("eigengraphs evaluate results --target site --methods none --harmonize none", 6)
run("eigengraphs evaluate results --target site --methods none", 6)

# %%
# Then the diagnosis, in people from the same sites, and in sites that were not seen. Such a site is
# refused, unless its location and scale may be estimated from its own graphs, without their labels.

run("eigengraphs evaluate results --target diagnosis --methods none --harmonize none", 6)
run("eigengraphs evaluate results --target diagnosis --methods none", 6)
run(
    "eigengraphs evaluate results --target diagnosis --methods none --folds site --harmonize none",
    6,
)
run(
    "eigengraphs evaluate results --target diagnosis --methods none --folds site "
    "--unseen-sites estimate --by site",
    13,
)

# %%
# All together, with intervals. The site is told before, and at chance after. The diagnosis is told
# about as well as before by logistic regression, which had learned to do with the scanners. In new
# sites it could not have learned that, and gains; but 90 people are few, and all these intervals
# overlap. Harmonization without the diagnosis also costs something here, because the share of
# patients differs between the sites, and goes with their locations.

rows = {
    "site, as fitted": "evaluate-site",
    "site, harmonized": "evaluate-site-over-site",
    "diagnosis, as fitted": "evaluate-diagnosis",
    "diagnosis, harmonized": "evaluate-diagnosis-over-site",
    "diagnosis in new sites, as fitted": "evaluate-diagnosis-by-site",
    "diagnosis in new sites, harmonized": "evaluate-diagnosis-by-site-over-site",
}
figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
for y, (name, file) in enumerate(rows.items()):
    table = pd.read_csv(study / "results" / f"{file}.tsv", sep="\t").set_index("pipeline")
    best, chance = table.loc["joint embedding, logistic"], table.loc["chance"]
    reach = [[best["accuracy"] - best["low"]], [best["high"] - best["accuracy"]]]
    color = "#0072B2" if "harmonized" in name else "#D55E00"
    ax.errorbar(best["accuracy"], y, xerr=reach, fmt="o", color=color, capsize=3)
    ax.plot(chance["accuracy"], y, "|", color="0.4", markersize=14)
ax.set_yticks(range(len(rows)), list(rows))
ax.invert_yaxis()
ax.set(xlim=(0, 1), xlabel="accuracy on held-out graphs, 95 % interval (gray: chance)")
plt.show()

# %%
# The methods paragraph
# ---------------------
# ``methods.md`` has the methods of the fit and of every analysis after it, and the references.
# Here are the fit, the first comparison, and the references.

methods = (study / "results" / "methods.md").read_text(encoding="utf-8").split("\n\n")
for paragraph in "\n\n".join([*methods[:2], *methods[-2:]]).split("\n"):
    print(textwrap.fill(paragraph, 92, subsequent_indent="  " if paragraph[:1] == "-" else ""))
folder.cleanup()
