"""Draw a directed graph, the positions of its two components, and both sides of a vertex."""

import numpy as np
from look import BLUE, GREEN, GREY, ORANGE, WIDTH, matrix, plt, save

import eigengraphs as eg

N, M = 30, 40
group = np.repeat([0, 1, 2], N // 3)  # sources, relays, sinks
out = np.array([1.0, 0.6, 0.05])[group]
into = np.array([0.05, 0.6, 1.0])[group]
rng = np.random.default_rng(0)
P = 0.8 * np.outer(out, into)
strength = rng.uniform(0.6, 1.2, size=M)
A = (rng.random((M, N, N)) < strength[:, None, None] * P).astype(float)
A[:, np.arange(N), np.arange(N)] = 0
je = eg.JointEmbedding(1, directed=True, random_state=0).fit(A)
h, g = je.latent_positions_[:, 0], je.latent_positions_right_[:, 0]
print(np.corrcoef(je.loadings_[:, 0], strength)[0, 1])

drawn = plt.figure(figsize=(WIDTH, 2.9))
left, right = drawn.subplots(1, 2, width_ratios=[1, 1.1])
matrix(left, A.mean(axis=0), 0.8, "mean of 40 graphs", cmap="Oranges")
left.set(xlabel="to", ylabel="from")
names = ("sources", "relays", "sinks")
for k, (hue, marker) in enumerate(zip((BLUE, GREEN, ORANGE), "o^s", strict=True)):
    of = group == k
    right.scatter(h[of], g[of], color=hue, marker=marker, s=30, edgecolor="white")
    right.text(h[of].mean(), g[of].mean() + (0.05 if k else 0.06), names[k], color=hue, ha="center")
right.plot([0, 0.28], [0, 0.28], color=GREY, linewidth=0.8, linestyle=":")
right.set(xlabel="sends: position in H", ylabel="receives: position in G", xlim=(-0.03, 0.34),
          ylim=(-0.03, 0.34), aspect="equal", title="vertices")  # fmt: skip
right.set_xticks([0, 0.1, 0.2, 0.3])
right.set_yticks([0, 0.1, 0.2, 0.3])
save(drawn, "directed.svg")
