"""
A two-group study, from its design to the methods paragraph
===========================================================

Do the brains of patients differ from those of controls if patients are also older? We simulate
such a study, so that the truth is known at every step: how many people are needed, what the fit
finds, what a covariate does, how precise single loadings are, and what to write in the paper.
"""

import textwrap

import matplotlib.pyplot as plt
import numpy as np

import eigengraphs as eg
from eigengraphs.report import summarize

# %%
# The truth
# ---------
# There are 40 regions and three patterns. The first is overall density. The second connects regions
# of the same side, and patients have less of it: 3 instead of 4. The third connects regions of the
# same tissue; it decreases with age and is not related to the disease. Patients are 8 years older
# on average.

n = 40
region = np.arange(n)
same_side = np.where(region < n // 2, 1.0, -1.0)
same_tissue = np.where(region % 2 == 0, 1.0, -1.0)
H = np.stack([np.ones(n), same_side, same_tissue], axis=1) / np.sqrt(n)


def draw(people, effect, seed):
    """Return graphs, groups, ages, and the model with the true loadings, of a study."""
    rng = np.random.default_rng(seed)
    group = np.repeat(["control", "patient"], people)
    age = rng.normal(40, 10, 2 * people) + 8 * (group == "patient")
    loadings = np.stack(
        [
            14 + rng.normal(0, 1.0, 2 * people),
            4 + rng.normal(0, 0.8, 2 * people) - effect * (group == "patient"),
            3 + rng.normal(0, 0.8, 2 * people) - 0.08 * (age - 44),
        ],
        axis=1,
    )
    model = eg.models.MultipleRandomEigenGraphs(H, loadings, clip=True)
    return model.sample(random_state=seed), group, age, model


figure, axes = plt.subplots(1, 3, figsize=(10, 3.3), sharey=True, layout="constrained")
graphs, group, age, model = draw(1, 1.0, seed=0)
mean = {"controls": [14, 4, 3], "patients": [14, 3, 3]}
for ax, (name, loadings) in zip(axes, mean.items(), strict=False):
    image = ax.imshow((H * loadings) @ H.T, cmap="Blues", vmin=0, vmax=0.6)
    ax.set_title(f"mean of {name}", fontsize=10)
axes[2].imshow(np.asarray(graphs[0]), cmap="Greys", vmin=0, vmax=1)
axes[2].set_title("the graph of one control", fontsize=10)
for ax in axes:
    ax.set(xlabel="region")
axes[0].set_ylabel("region")
figure.colorbar(image, ax=axes[:2], label="probability of an edge", shrink=0.9)
plt.show()

# %%
# How many people?
# ----------------
# We simulate the study many times, analyze each simulation as we plan to analyze the real study,
# and count. A finding is a component with a false discovery rate of at most 5 %. For each size we
# count how often component 2, which differs, is found; and how often component 3, which does not
# differ by disease, is found with and without age as a covariate. 40 studies of each size give
# rough numbers; a real plan would need more.


def found_components(je, group, covariates):
    """Return which of the three true components are found to differ, (3,) of bool."""
    result = eg.inference.compare(
        je.loadings_,
        group,
        covariates=covariates,
        n_permutations=199,
        n_bootstrap=1,
        random_state=0,
    )
    return result.p_fdr[eg.match_components(H, je).order] <= 0.05


sizes, studies = (10, 20, 40), 40
rates = {"adjusted": [], "not adjusted": []}
for people in sizes:
    counts = {name: np.zeros(3) for name in rates}
    for seed in range(studies):
        graphs, group, age, _ = draw(people, effect=1.0, seed=1000 * people + seed)
        je = eg.JointEmbedding(3, random_state=0).fit(graphs)
        counts["adjusted"] += found_components(je, group, {"age": age})
        counts["not adjusted"] += found_components(je, group, None)
    for name, count in counts.items():
        rates[name].append(count / studies)
        print(f"{people} per group, {name:12s}: found in", count.astype(int), f"of {studies}")

# %%
# With 40 people in each group, a true difference of this size is found in most studies. Without
# age, the third component is also found, more often in larger studies: the groups do differ, but
# because of age. More people do not make up for a missing covariate.

figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.6), sharey=True, layout="constrained")
for ax, k, words in (
    (axes[0], 1, "component 2: differs by disease"),
    (axes[1], 2, "component 3: differs by age"),
):
    for (name, rate), color, marker in zip(
        rates.items(), ("#0072B2", "#D55E00"), "o^", strict=True
    ):
        share = np.array(rate)[:, k]
        spread = np.sqrt(share * (1 - share) / studies)
        ax.errorbar(
            sizes,
            share,
            yerr=spread,
            color=color,
            marker=marker,
            capsize=3,
            label=f"{name} for age",
        )
    ax.axhline(0.05, color="0.5", linestyle="--", linewidth=1, label="5 %")
    ax.set_title(words, fontsize=10)
    ax.set(xlabel="people in each group", ylim=(-0.03, 1.03))
    ax.set_xticks(sizes)
axes[0].set_ylabel("share of studies that find it (± 1 SE)")
axes[1].legend(frameon=False, loc="upper left")
plt.show()

# %%
# The study: how many components?
# -------------------------------
# From now on we have one study with 40 people per group, and pretend not to know the truth. Groups
# are not used in the choice or in the fit.

graphs, group, age, model = draw(40, effect=1.0, seed=7)
choice = eg.select_dimension(graphs, max_components=6, random_state=0)
print(textwrap.fill(choice.explain(), 80))
je = eg.JointEmbedding(choice.n_components, random_state=0).fit(graphs)
match = eg.match_components(H, je)
print("cosines with the true patterns:", match.similarities.round(3))

# %%
# Do the groups differ?
# ---------------------

adjusted = eg.inference.compare(
    je.loadings_, group, covariates={"age": age}, name="diagnosis", random_state=0
)
plain = eg.inference.compare(je.loadings_, group, name="diagnosis", random_state=0)
for how, result in (("With age.", adjusted), ("Without age.", plain)):
    print(textwrap.fill(" ".join((how, *result.words)), 80), end="\n\n")
for name, p, p_fdr in zip(adjusted.components, adjusted.p_values, adjusted.p_fdr, strict=True):
    print(f"{name} with age: p = {p:.4f}, adjusted for three components {p_fdr:.4f}")

# %%
# Effect sizes are Hedges' g, patients minus controls, in standard deviations. With age, the
# study finds the simulated effect. Without age, it wrongly finds the third component. With age, the
# interval of that component just misses zero on the other side, although there is no effect:
# intervals are for single components, and one in twenty misses. The p-value adjusted for the three
# components is above 5 %.

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
y = np.arange(len(adjusted.components))
for shift, result, name, color, marker in (
    (-0.1, adjusted, "adjusted for age", "#0072B2", "o"),
    (0.1, plain, "not adjusted", "#D55E00", "^"),
):
    reach = [result.effect - result.effect_low, result.effect_high - result.effect]
    ax.errorbar(
        result.effect, y + shift, xerr=reach, fmt=marker, color=color, capsize=3, label=name
    )
ax.axvline(0, color="0.6", linewidth=1)
ax.set_yticks(y, [f"component {k + 1}" for k in y])
ax.set(ylim=(len(y) - 0.5, -0.5), xlabel="Hedges' g of patients, with 95 % interval")
ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %%
# How precise is a single loading?
# --------------------------------
# A graph of 40 regions gives only noisy estimates of its loadings. ``loading_intervals`` finds
# positions without the graph in question, and computes an interval for each of its loadings. The
# intervals contain the true loadings of about 95 % of the people.

sure = eg.inference.loading_intervals(je, graphs, n_folds=5, n_splits=3, random_state=0)
true = model.loadings[:, np.argsort(match.order)]
inside = (sure.low <= true) & (true <= sure.high)
print("share of intervals with the true loading:", inside.mean(axis=0).round(3))
print("mean standard errors:", sure.standard_errors.mean(axis=0).round(2))

k = int(match.order[1])
order = np.argsort(true[:, k])
figure, ax = plt.subplots(figsize=(9.5, 3.6), layout="constrained")
x = np.arange(len(order))
for name, color, marker in (("control", "#0072B2", "o"), ("patient", "#D55E00", "^")):
    mine = group[order] == name
    rows = order[mine]
    reach = [
        sure.loadings[rows, k] - sure.low[rows, k],
        sure.high[rows, k] - sure.loadings[rows, k],
    ]
    ax.errorbar(
        x[mine],
        sure.loadings[rows, k],
        yerr=reach,
        fmt=marker,
        color=color,
        markersize=4,
        linewidth=1,
        label=f"{name}, with 95 % interval",
    )
ax.plot(x, true[order, k], color="black", linewidth=1.4, label="truth")
ax.set(xlabel="people, in order of the true loading", ylabel=f"loading of component {k + 1}")
ax.legend(frameon=False, loc="upper left")
plt.show()

# %%
# The methods paragraph
# ---------------------
# The library describes the methods: the embedding in the summary of a report, the test in the
# comparison. Both can be pasted into a paper, with their references.

summary = summarize(
    je, graphs, title="Patients and controls", columns={"diagnosis": group}, choice=choice
)
for paragraph in summary.methods.split("\n"):
    print(textwrap.fill(paragraph, 80, subsequent_indent="  " if paragraph[:1] == "-" else ""))
print(textwrap.fill(adjusted.methods, 80))
