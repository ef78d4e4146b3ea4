"""Draw the error at hidden pairs by the share that is hidden, four ways to do without them."""

import numpy as np
from look import BLUE, GREEN, ORANGE, PINK, figure, save

import eigengraphs as eg

graphs = eg.datasets.load_mice().graphs.log1p().select_vertices(range(0, 332, 4))
whole = np.asarray(graphs)
m, n, _ = whole.shape
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4)
rng = np.random.default_rng(0)


def errors(share):
    """Return errors at hidden pairs, as shares of their squared weight, four ways."""
    upper = np.triu(rng.random((m, n, n)) < share, 1)
    hidden = upper | upper.transpose(0, 2, 1)
    holes = np.where(hidden, np.nan, whole)
    settings = {"n_components": 4, "random_state": 0, "tol": 1e-5}
    unobserved = eg.JointEmbedding(missing="unobserved", **settings).fit(holes)
    centered = eg.JointEmbedding(missing="unobserved", center=True, **settings).fit(holes)
    zeros = eg.JointEmbedding(**settings).fit(np.where(hidden, 0.0, whole))
    guesses = {
        "mean of the other graphs": np.broadcast_to(np.nanmean(holes, axis=0), whole.shape),
        "zeros put in": zeros.inverse_transform(zeros.loadings_),
        "unobserved": unobserved.inverse_transform(unobserved.loadings_),
        "unobserved, centered": centered.inverse_transform(centered.loadings_),
    }
    total = (whole[hidden] ** 2).sum()
    return {k: ((g - whole)[hidden] ** 2).sum() / total for k, g in guesses.items()}


found = [errors(share) for share in SHARES]
drawn, ax = figure(3.6)
styles = {
    "zeros put in": (ORANGE, "^--"),
    "mean of the other graphs": (PINK, "s:"),
    "unobserved": (BLUE, "o-"),
    "unobserved, centered": (GREEN, "D-."),
}
for name, (hue, style) in styles.items():
    values = [100 * each[name] for each in found]
    print(name, np.round(values, 1).tolist())
    ax.plot([100 * share for share in SHARES], values, style, color=hue, markersize=5, label=name)
ax.set(xlabel="pairs hidden, % of each graph", ylabel="squared error there, %", ylim=(0, None))
ax.set_xticks([5, 10, 20, 30, 40])
ax.grid(axis="y", color="#e5e5e5")
drawn.legend(loc="outside lower center", ncols=2)
save(drawn, "missing-data.svg")
