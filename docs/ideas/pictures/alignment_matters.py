"""Draw what components explain of the mice as they are, and with vertices out of place."""

import numpy as np
from look import BLUE, GREY, ORANGE, PINK, figure, save

import eigengraphs as eg

D = 8
graphs = eg.datasets.load_mice().graphs.log1p()
whole = np.asarray(graphs)
rng = np.random.default_rng(0)


def shuffled(share):
    """Return the graphs with a share of the vertices of each one exchanged among themselves."""
    n = whole.shape[1]
    out = whole.copy()
    for i, graph in enumerate(whole):
        order, moved = np.arange(n), rng.choice(n, size=round(share * n), replace=False)
        order[moved] = rng.permutation(moved)
        out[i] = graph[np.ix_(order, order)]
    return out


drawn, ax = figure(3.7)
for share, hue, style in ((0, BLUE, "o-"), (0.2, ORANGE, "^--"), (1, PINK, "s:")):
    je = eg.JointEmbedding(D, random_state=0, tol=1e-4).fit(shuffled(share))
    explained = 100 * np.cumsum(je.explained_ratio_)
    print(share, explained.round(1))
    name = {0: "vertices aligned", 0.2: "a fifth out of place", 1: "in random order"}[share]
    ax.plot(range(1, D + 1), explained, style, color=hue, markersize=5)
    ax.text(D, explained[-1] + (2.2 if share < 1 else 3), name, color=hue, ha="right")
ax.set(xlabel="number of patterns", ylabel="explained, % of squared weight", ylim=(0, 100))
ax.grid(axis="y", color="#e5e5e5")
ax.axhline(0, color=GREY, linewidth=0.8)
save(drawn, "alignment-matters.svg")
