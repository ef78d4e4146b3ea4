"""Draw errors of the components of section 5.1 by how the diagonal is treated."""

import numpy as np
from look import BLUE, GREEN, ORANGE, PINK, figure, save

import eigengraphs as eg
from eigengraphs.models.paper import LOADINGS_5_1, SECTION_5_1

SIZES, SEEDS = (64, 256, 1024, 4096), range(5)
CASES = (
    ("zeros as data", False, "observed", ORANGE, "s--"),
    ("unobserved", False, "unobserved", PINK, "D:"),
    ("filled (auto)", False, "auto", BLUE, "o-"),
    ("with self-loops", True, "observed", GREEN, "^-."),
)
low, high = np.array(LOADINGS_5_1).T


def errors(m, loops, diagonal, seed):
    """Return distances of the three components from the truth, up to sign."""
    rng = np.random.default_rng([seed, m])
    loadings = rng.uniform(low, high, size=(m, 3))
    model = eg.models.MultipleRandomEigenGraphs(SECTION_5_1, loadings)
    graphs = model.sample(random_state=rng, loops=loops)
    je = eg.JointEmbedding(3, diagonal=diagonal, random_state=0, tol=1e-6).fit(graphs)
    cosines = np.abs((je.latent_positions_ * SECTION_5_1).sum(axis=0))
    return np.sqrt(np.maximum(2 - 2 * cosines, 0))


found = {
    name: np.array(
        [np.mean([errors(m, loops, rule, seed) for seed in SEEDS], axis=0) for m in SIZES]
    )
    for name, loops, rule, _, _ in CASES
}
for name, values in found.items():
    print(name, values.round(3).tolist())

drawn, axes = figure(5.6, 2, 1, sharex=True)
for ax, k in zip(axes, (1, 2), strict=True):
    for name, _, _, hue, style in CASES:
        ax.plot(SIZES, found[name][:, k], style, color=hue, markersize=5, label=name)
    ax.set(xscale="log", yscale="log", ylim=(0.02, 2), ylabel="distance from the truth")
    ax.set_title(f"component {k + 1}")
    ax.set_xticks(SIZES, [f"{m:,}" for m in SIZES])
    ax.set_yticks([0.03, 0.1, 0.3, 1], ["0.03", "0.1", "0.3", "1"])
    ax.minorticks_off()
    ax.grid(axis="y", color="#e5e5e5")
axes[1].set_xlabel("number of graphs")
drawn.legend(*axes[0].get_legend_handles_labels(), ncols=2, loc="outside lower center")
save(drawn, "diagonal.svg")
