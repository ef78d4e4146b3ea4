"""
Which mouse is it? Genotypes of 32 brains
=========================================

Diffusion MRI of 32 mice of four strains gives 32 graphs on the same 332 brain regions; a weight is
a number of fibre streamlines. We ask whether the strains differ, in which regions, and how well the
strain of a new mouse could be told. The data are bundled (Wang et al., 2020, NeuroImage 222).
"""

import textwrap

import matplotlib.pyplot as plt
import numpy as np

import eigengraphs as eg

mice = eg.datasets.load_mice()
print(mice)

# %%
# Four numbers a mouse
# --------------------
# Streamline counts span five orders of magnitude, so we take logarithms, as a part of the model.
# ``center=True`` subtracts the mean graph: components describe how mice differ. Genotypes take no
# part in the fit. Why four components: both the elbow of the objective and the agreement of halves
# of the mice say 4 (:doc:`/guide/choosing-d`).

je = eg.JointEmbedding(4, preprocess="log1p", center=True, random_state=0).fit(mice.graphs)
print("converged:", je.converged_)
print("explained:", " ".join(f"{share:.1%}" for share in je.explained_ratio_))

# %%
# Each mouse is a point. Components 1 and 2 tell BTBR from all others, component 4 tells CAST.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
eg.plot.loadings(je, (0, 1), color=mice.genotypes, ax=left)
eg.plot.loadings(je, (2, 3), color=mice.genotypes, ax=right)
right.get_legend().remove()
left.legend(title="genotype", frameon=False)
plt.show()

# %%
# Which regions carry component 2?
# --------------------------------
# It is positive on the left side of the brain and negative on the right. So a large loading means:
# more streamlines within either side, fewer between the two. ``read_components`` names the
# regions, and fits halves of the mice anew to see whether they find the same component.

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
# right panel has the position of every region; the isocortex stands farthest apart.

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
for side, colour, marker in (("L", "#0072B2", "o"), ("R", "#D55E00", "^")):
    for row, block in enumerate(blocks):
        mine = (regions.blocks == block) & (regions.hemispheres == side)
        rows = row + rng.uniform(-0.25, 0.25, mine.sum())
        label = {"L": "left side", "R": "right side"}[side] if row == 0 else None
        right.scatter(h[mine], rows, s=14, color=colour, marker=marker, alpha=0.8, label=label)
right.axvline(0, color="0.8", linewidth=0.8, zorder=0)
right.set_yticks(range(len(blocks)), [block.replace("_", " ") for block in blocks])
right.invert_yaxis()
right.set(xlabel="position in component 2")
right.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
plt.show()

# %%
# A pattern is a summary, so we look at the counts themselves. Of the streamlines between regions
# of the isocortex, these shares cross from one side to the other. In BTBR mice nearly none do: the
# strain is known to lack the corpus callosum, which joins the two sides.

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
# ``compare`` tests every component, and all together, by permutations of the mice, beside sex. The
# size of an effect is omega squared: the share of the variance of loadings that genotypes explain.

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
# All p-values are 1 in 10,000, the smallest that 9,999 permutations can give: no arrangement that
# was drawn separates the strains as well as the true one. Sizes tell more. Each has a bootstrap
# interval; with eight mice a strain these are rough. Sex, asked in the same way, shows nothing.

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
# Could we tell a new mouse?
# --------------------------
# In each of four folds everything is learned from 24 mice (mean graph, components, logistic
# regression), and eight others are predicted. PCA of the same graphs, written as vectors of 54,946
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
    print(f"PCA less joint embedding: {gap.value:.3f} [{gap.low:.3f}, {gap.high:.3f}]\n")

figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
x = np.arange(len(tried))
for shift, method, colour, marker in (
    (-0.08, "joint embedding", "#0072B2", "o"),
    (0.08, "PCA", "#D55E00", "^"),
):
    scores = [result.score(method) for result in results]
    middle = np.array([one.score for one in scores])
    reach = [middle - [one.low for one in scores], [one.high for one in scores] - middle]
    ax.errorbar(x + shift, middle, yerr=reach, fmt=marker, color=colour, capsize=3, label=method)
ax.axhline(0.25, color="0.5", linestyle="--", linewidth=1, label="chance")
ax.set_xticks(x, [str(d) for d in tried])
ax.set(xlim=(-0.5, 2.5), ylim=(0, 1.05))
ax.set(xlabel="dimensions", ylabel="accuracy on held-out mice")
ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
plt.show()

# %%
# Eight numbers of a brain suffice for all 32 mice. With fewer, PCA has the higher accuracy, though
# no difference can be told on 32 mice: its patterns may be any matrix, those of a joint embedding
# have rank one. That is what makes them readable, region by region.
