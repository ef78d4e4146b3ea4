"""
Which mouse is it? Genotypes of 32 brains
=========================================

Diffusion MRI of 32 mice of four strains gives 32 graphs on the same 332 brain regions; weights are
numbers of fiber streamlines. We ask whether the strains differ, in which regions, and how well the
strain of a new mouse can be predicted. The data are bundled (Wang et al., 2020, NeuroImage 222).
"""

import textwrap

import matplotlib.pyplot as plt
import numpy as np

import eigengraphs as eg

mice = eg.datasets.load_mice()
print(mice)

# %%
# Four numbers per mouse
# ----------------------
# Streamline counts span five orders of magnitude, so we take logarithms, as a part of the model.
# ``center=True`` subtracts the mean graph: components describe how mice differ. Genotypes are not
# used in the fit. We use four components because both the elbow of the objective and the agreement
# of halves of the mice say 4 (:doc:`/guide/choosing-d`).

je = eg.JointEmbedding(4, preprocess="log1p", center=True, random_state=0).fit(mice.graphs)
print("converged:", je.converged_)
print("explained:", " ".join(f"{share:.1%}" for share in je.explained_ratio_))

# %%
# Each mouse is a point. Components 1 and 2 separate BTBR from all others, component 4 separates
# CAST.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
eg.plot.loadings(je, (0, 1), color=mice.genotypes, ax=left)
eg.plot.loadings(je, (2, 3), color=mice.genotypes, ax=right)
right.get_legend().remove()
left.legend(title="genotype", frameon=False)
plt.show()

# %%
# Which regions carry component 2?
# --------------------------------
# It is positive on the left side of the brain and negative on the right. So a large loading means
# more streamlines within each side, and fewer between the sides. ``read_components`` names the
# regions, and fits halves of the mice to see whether they find the same component.

readings = eg.inference.read_components(je, mice.graphs, random_state=0)
for one in readings:
    print(
        f"component {one.number}: {one.verdict} (cosine of halves {one.replicability:.2f}), "
        f"spread over {one.spread:.0f} regions"
    )
second = readings[1]
print("one side: ", *(name for name, _ in second.high))
print("the other:", *(name for name, _ in second.low))

# %%
# As a matrix the component has four blocks, because the first 166 regions are the left side. The
# right panel shows the position of every region; the sides differ most in the isocortex.

regions = mice.regions
blocks = [
    "isocortex",
    "pallium",
    "subpallium",
    "diencephalon",
    "midbrain",
    "hindbrain",
    "white_matter",
]
h = je.latent_positions_[:, 1]
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
eg.plot.components(je, 1, ax=left)
left.set_xticks([83, 249], ["left side", "right side"])
left.set_yticks([83, 249], ["left side", "right side"], rotation=90, va="center")
rng = np.random.default_rng(0)
for side, color, marker in (("L", "#0072B2", "o"), ("R", "#D55E00", "^")):
    for row, block in enumerate(blocks):
        mine = (regions.blocks == block) & (regions.hemispheres == side)
        rows = row + rng.uniform(-0.25, 0.25, mine.sum())
        label = {"L": "left side", "R": "right side"}[side] if row == 0 else None
        right.scatter(h[mine], rows, s=14, color=color, marker=marker, alpha=0.8, label=label)
right.axvline(0, color="0.8", linewidth=0.8, zorder=0)
right.set_yticks(range(len(blocks)), [block.replace("_", " ") for block in blocks])
right.invert_yaxis()
right.set(xlabel="position in component 2")
right.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
plt.show()

# %%
# A pattern is a summary, so we also look at the counts. These are the shares of the streamlines
# between regions of the isocortex that cross from one side to the other. In BTBR mice nearly none
# do: the strain is known to lack the corpus callosum, which connects the two sides.

counts = np.asarray(mice.graphs)
cortex = regions.blocks == "isocortex"
on_left, on_right = (np.flatnonzero(cortex & (regions.hemispheres == side)) for side in "LR")
across = counts[:, on_left[:, None], on_right].sum(axis=(1, 2))
within = sum(counts[:, side[:, None], side].sum(axis=(1, 2)) / 2 for side in (on_left, on_right))
share = across / (across + within)
for genotype in np.unique(mice.genotypes):
    mine = share[mice.genotypes == genotype]
    print(f"{genotype:5s} {mine.mean():4.0%}  (from {mine.min():.0%} to {mine.max():.0%})")

# %%
# Do the genotypes differ?
# ------------------------
# ``compare`` tests every component, and all together, by permutations of the mice, adjusted for
# sex. The effect size is omega squared: the share of the variance of loadings that genotypes
# explain.

found = eg.inference.compare(
    je.loadings_, mice.genotypes, covariates={"sex": mice.sexes}, name="genotype", random_state=0
)
for sentence in found.words:
    print(textwrap.fill(sentence, 80, subsequent_indent="  "))
print()
for name, p, p_fdr, p_family in zip(
    found.components, found.p_values, found.p_fdr, found.p_family, strict=True
):
    print(f"{name}: p = {p:.4f}, FDR {p_fdr:.4f}, family {p_family:.4f}")

# %%
# All p-values are 1 in 10,000, the smallest that 9,999 permutations can give: no random
# arrangement separates the strains as well as the true one. Effect sizes are more informative. Each
# has a bootstrap interval, which is rough with eight mice per strain. The same test for sex finds
# nothing.

sex = eg.inference.compare(
    je.loadings_, mice.sexes, covariates={"genotype": mice.genotypes}, name="sex", random_state=0
)
print(textwrap.fill(" ".join(sex.words), 80))

figure, ax = plt.subplots(figsize=(6.5, 2.8), layout="constrained")
y = np.arange(len(found.components))
ax.errorbar(
    found.effect,
    y,
    xerr=[found.effect - found.effect_low, found.effect_high - found.effect],
    fmt="o",
    color="#0072B2",
    capsize=3,
)
ax.set_yticks(y, [f"component {k + 1}" for k in y])
ax.set(ylim=(3.5, -0.5), xlim=(0, 1), xlabel="omega squared of genotype, with 95 % interval")
plt.show()

# %%
# Which edges differ?
# -------------------
# ``edge_effects`` carries the question to edges, regions and pairs of networks
# (:doc:`/guide/edge-effects`). Of the four strains we compare BTBR with B6, its usual control; the
# fit is that of all mice. An edge is named if its own weights differ, or if the pattern of
# components differs there and its weights show the same sign. Where nothing differs, one study in
# twenty names an edge.

control = [g if g in ("B6", "BTBR") else None for g in mice.genotypes]
edges = eg.inference.edge_effects(
    je,
    control,
    graphs=mice.graphs,
    networks=regions.blocks,
    covariates={"sex": mice.sexes},
    name="genotype",
    n_permutations=1999,
    random_state=0,
)
for sentence in edges.words:
    print(textwrap.fill(sentence, 80, subsequent_indent="  "))

# %%
# The strongest edges as a table (the whole of it: ``edges.table()``, a mapping of columns). Effects
# are differences of log counts, BTBR minus B6, of the pattern and of the weights themselves. Most
# of these edges join the two sides.

table = edges.table()
strongest = np.lexsort((-np.array(table["weights_F"]), table["p_combined"]))[:10]
print(f"{'edge':22s} {'pattern':>8s} {'weights':>8s}  p (family-wise)")
for i in strongest:
    edge = f"{table['region'][i]} - {table['region 2'][i]}"
    effects = f"{table['pattern_effect'][i]:8.2f} {table['weights_effect'][i]:8.2f}"
    print(f"{edge:22s} {effects}  {table['p_combined'][i]:.4f}")

# %%
# The same as matrices, regions by their part of the brain: the pattern's difference on all edges,
# and the difference in the weights of those that are named. Blue edges are weaker in BTBR.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
eg.plot.edge_effects(edges, limit=5, ax=left)
eg.plot.edge_effects(edges, "weights", named=True, limit=5, ax=right)
plt.show()

# %%
# What replicates in halves?
# --------------------------
# We split the mice in two halves of 16, four of each strain, fit each half alone, and ask in each
# which edges differ between the four strains. Edge by edge next to nothing is left at a family-wise
# level with 16 mice. The pattern still names thousands of edges, and most of those that the first
# half names are named in the second, too.

order = np.lexsort((mice.sexes, mice.genotypes))
halves = [np.sort(order[start::2]) for start in (0, 1)]
found_in = []
for half in halves:
    part = mice.graphs[half]
    own = eg.JointEmbedding(4, preprocess="log1p", center=True, random_state=0).fit(part)
    found_in.append(
        eg.inference.edge_effects(
            own, mice.genotypes[half], graphs=part, n_permutations=1999, random_state=0
        )
    )
first, second = found_in
for by in ("combined", "pattern", "weights"):
    one, other = first.named(by), second.named(by)
    counts = f"{one.sum():6,} in the first half, {other.sum():6,} in the second"
    chance = f"by chance {one.mean() * other.sum():,.0f}"
    print(f"{by:8s} {counts}, {(one & other).sum():6,} in both ({chance})")
for of in ("pattern", "weights"):
    effects = [np.ravel(getattr(x, of)["edges"].estimates.values) for x in found_in]
    print(f"correlation of the effects on the {of} of two halves: {np.corrcoef(effects)[0, 1]:.2f}")

# %%
# Can we predict the strain of a new mouse?
# -----------------------------------------
# In each of four folds everything is learned from 24 mice (mean graph, components, logistic
# regression), and the other eight are predicted. PCA of the same graphs, as vectors of 54,946
# pairs, has the same number of dimensions.

tried = (2, 4, 8)
results = [
    eg.inference.evaluate(
        mice.graphs,
        mice.genotypes,
        cv=4,
        methods=["PCA"],
        rules="linear",
        embedding=eg.JointEmbedding(d, preprocess="log1p", center=True, random_state=0),
    )
    for d in tried
]
for d, result in zip(tried, results, strict=True):
    gap = result.score("PCA").difference
    print(f"{d} dimensions\n{result}")
    print(f"PCA minus joint embedding: {gap.value:.3f} [{gap.low:.3f}, {gap.high:.3f}]\n")

figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
x = np.arange(len(tried))
for shift, method, color, marker in (
    (-0.08, "joint embedding", "#0072B2", "o"),
    (0.08, "PCA", "#D55E00", "^"),
):
    scores = [result.score(method) for result in results]
    middle = np.array([one.score for one in scores])
    reach = [middle - [one.low for one in scores], [one.high for one in scores] - middle]
    ax.errorbar(x + shift, middle, yerr=reach, fmt=marker, color=color, capsize=3, label=method)
ax.axhline(0.25, color="0.5", linestyle="--", linewidth=1, label="chance")
ax.set_xticks(x, [str(d) for d in tried])
ax.set(xlim=(-0.5, 2.5), ylim=(0, 1.05))
ax.set(xlabel="dimensions", ylabel="accuracy on held-out mice")
ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
plt.show()

# %%
# Eight numbers per brain suffice for all 32 mice. With fewer, PCA has the higher accuracy, although
# 32 mice are too few to show a difference: its patterns may be any matrix, whereas those of a joint
# embedding have rank one. This makes them interpretable, region by region.
