"""Draw the graph of a mouse as a sum of four patterns that all mice share, and what is left."""

import numpy as np
from look import figure, matrix, save

import eigengraphs as eg

D, MOUSE, CELL = 4, 0, 4  # a cell of the picture is the mean of 4 x 4 entries

mice = eg.datasets.load_mice()
graphs = mice.graphs.log1p()
je = eg.JointEmbedding(D, random_state=0).fit(graphs)
order = np.argsort(mice.regions.hemispheres, kind="stable")  # left, then right
H, lam = je.latent_positions_[order], je.loadings_[MOUSE]
graph = np.asarray(graphs[MOUSE])[np.ix_(order, order)]
patterns = [lam[k] * np.outer(H[:, k], H[:, k]) for k in range(D)]
rest = graph - sum(patterns)
off = ~np.eye(len(graph), dtype=bool)
print("explained of this mouse:", 1 - (rest[off] ** 2).sum() / (graph[off] ** 2).sum())
print("loadings:", lam.round(0))


def shrunk(values):
    """Return means of cells, the diagonal left out."""
    masked = np.where(off, values, np.nan)
    n = len(values) // CELL
    return np.nanmean(masked.reshape(n, CELL, n, CELL), axis=(1, 3))


drawn, axes = figure(7.3, 3, 2)
panels = [
    (graph, 10, f"mouse {mice.subjects[MOUSE]}"),
    *[
        (patterns[k], 3 if k else 10, f"{'+' if k else '='}  {lam[k]:.0f} × pattern {k + 1}")
        for k in range(D)
    ],
    (rest, 3, "+  what is left"),
]
images = [
    matrix(ax, shrunk(values), limit, title)
    for ax, (values, limit, title) in zip(axes.flat, panels, strict=True)
]
half = len(graph) / CELL / 2
for ax in axes.flat:
    ax.set_xticks([half / 2, 1.5 * half], ["left", "right"])
    ax.set_yticks([half / 2, 1.5 * half], ["left", "right"], rotation=90, va="center")
    ax.tick_params(length=0, labelsize=9)
for image, rows, last in ((images[0], axes[:1], 10), (images[-1], axes[1:], 3)):
    bar = drawn.colorbar(
        image, ax=rows, location="bottom", shrink=0.75, aspect=40, pad=0.03, extend="both"
    )
    bar.set_ticks([-last, 0, last], labels=[f"−{last}", "0", f"{last}"])
    bar.set_label("weight, log(1 + streamlines)" if last == 10 else "the same, on a finer scale")
save(drawn, "sum-of-patterns.png")
