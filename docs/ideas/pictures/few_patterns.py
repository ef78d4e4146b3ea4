"""Draw three patterns, and three of thirty graphs that are mixtures of them, as a fit finds it."""

import numpy as np
from look import GREY, WIDTH, matrix, plt, save

import eigengraphs as eg

N, M = 24, 30
s = np.arange(N)
H = np.stack([np.ones(N), np.where(s < N // 2, 1, -1), np.where(s // 3 % 2, -1, 1)], axis=1)
H = H / np.sqrt(N)
truth = np.random.default_rng(2).uniform([50, -25, -20], [75, 35, 30], size=(M, 3))
model = eg.models.MultipleRandomEigenGraphs(H, truth, law="gaussian", noise_scale=0.8)
graphs = model.sample(random_state=2)
je = eg.JointEmbedding(3, random_state=0).fit(graphs)
spread = np.argsort(je.loadings_[:, 1])
shown = spread[[2, M // 2, -3]]
print(je.loadings_[shown].round(0), np.abs(je.loadings_ - truth).max())

drawn = plt.figure(figsize=(WIDTH, 6.6))
top, below = drawn.subfigures(2, 1, height_ratios=[1.25, 3])
top.suptitle("three patterns, shared by all graphs", x=0.02, ha="left", fontsize=11)
for k, ax in enumerate(top.subplots(1, 3)):
    h = je.latent_positions_[:, k]
    matrix(ax, np.outer(h, h), 0.06, f"pattern {k + 1}")
below.suptitle("three of 30 graphs, and their loadings", x=0.02, ha="left", fontsize=11)
for row, i in zip(below.subplots(3, 2, width_ratios=[1, 1.6]), shown, strict=True):
    matrix(row[0], np.asarray(graphs[int(i)]), 5.5, f"graph {i}")
    values = je.loadings_[i]
    colors = ["#5e3c99" if value < 0 else "#e66101" for value in values]  # as in the matrices
    row[1].barh([2, 1, 0], values, color=colors, height=0.6)
    row[1].axvline(0, color=GREY, linewidth=0.8)
    row[1].set(xlim=(-42, 95), yticks=[2, 1, 0], yticklabels=["1", "2", "3"])
    row[1].set_ylabel("pattern")
    for y, value in zip([2, 1, 0], values, strict=True):
        text = f"{value:.0f}".replace("-", "−")
        row[1].text(value + (2 if value >= 0 else -2), y, text, va="center",
                    ha="left" if value >= 0 else "right")  # fmt: skip
    row[1].spines["left"].set_visible(False)
    row[1].tick_params(left=False)
row[1].set_xlabel("loading: how much of the pattern")
save(drawn, "few-patterns.png")
