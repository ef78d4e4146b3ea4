"""Draw 32 mice by their loadings, and 332 brain regions by their positions."""

import numpy as np
from look import BLUE, GREY, HUES, MARKERS, ORANGE, figure, save

import eigengraphs as eg

mice = eg.datasets.load_mice()
je = eg.JointEmbedding(4, random_state=0).fit(mice.graphs.log1p())
H, Lam = je.latent_positions_, je.loadings_
drawn, (upper, lower) = figure(8.2, 2)

for name, hue, marker in zip(np.unique(mice.genotypes), HUES, MARKERS, strict=True):
    of = mice.genotypes == name
    upper.scatter(
        Lam[of, 0], Lam[of, 2], s=48, color=hue, marker=marker, edgecolor="white", label=name
    )
upper.set(xlabel="loading of pattern 1", ylabel="loading of pattern 3")
upper.set_title("graphs: 32 mice of four strains", fontsize=11, pad=26)
upper.legend(
    ncols=4, loc="lower left", bbox_to_anchor=(-0.02, 0.98), handletextpad=0.1, columnspacing=1
)

blocks, left = mice.regions.blocks, mice.regions.hemispheres == "L"
groups = [
    ("other regions", ~np.isin(blocks, ["isocortex", "hindbrain"]), GREY),
    ("isocortex", blocks == "isocortex", BLUE),
    ("hindbrain", blocks == "hindbrain", ORANGE),
]
for name, of, hue in groups:
    for side, marker, filled in ((left, "o", True), (~left, "^", False)):
        chosen = of & side
        lower.scatter(
            H[chosen, 1], H[chosen, 3], s=26, marker=marker, edgecolor=hue, linewidth=0.9,
            facecolor=hue if filled else "white", alpha=0.9,
            label=f"{name}, {'left' if filled else 'right'}",
        )  # fmt: skip
lower.axhline(0, color="#cccccc", linewidth=0.8, zorder=0)
lower.axvline(0, color="#cccccc", linewidth=0.8, zorder=0)
lower.set(xlabel="position in pattern 2", ylabel="position in pattern 4")
lower.set(xticks=[-0.05, 0, 0.05, 0.1], yticks=[-0.1, -0.05, 0, 0.05, 0.1, 0.15])
lower.set_title("vertices: 332 regions of the brain", fontsize=11, pad=56)
handles, labels = lower.get_legend_handles_labels()
order = [2, 4, 0, 3, 5, 1]  # a column for each side of the brain
lower.legend(
    [handles[i] for i in order], [labels[i] for i in order], ncols=2, loc="lower left",
    bbox_to_anchor=(-0.02, 0.98), handletextpad=0.1,
)  # fmt: skip
save(drawn, "loadings-and-positions.png")
