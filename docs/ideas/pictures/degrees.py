"""Draw two graphs whose hubs differ, and vertex positions with and without degree correction."""

import numpy as np
from look import BLUE, GREEN, ORANGE, WIDTH, matrix, plt, save
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import eigengraphs as eg

N, L = 150, 10
rng = np.random.default_rng(7)
block = np.repeat([0, 1, 2], N // 3)
A = np.zeros((L, N, N))
for i in range(L):
    hubs = np.tile(np.repeat([0.15, 0.8] if i % 2 else [0.8, 0.15], N // 6), 3)
    P = hubs[:, None] * np.where(block[:, None] == block, 0.10, 0.04) * hubs
    upper = np.triu(rng.random((N, N)) < np.minimum(P * 10 * N / P.sum(), 1), 1)
    A[i] = upper + upper.T

drawn = plt.figure(figsize=(WIDTH, 5.0), layout="constrained")
axes = drawn.subplots(2, 2, height_ratios=[1, 1.05])
for ax, i in zip(axes[0], (0, 1), strict=True):
    near = A[i::2].mean(axis=0)  # five graphs of a kind, so that their hubs show
    matrix(ax, near, near.max(), ("graphs 1, 3, 5, ...", "graphs 2, 4, 6, ...")[i], cmap="Blues")
for ax, corrected in zip(axes[1], (False, True), strict=True):
    je = eg.JointEmbedding(3, degree_corrected=corrected, random_state=0).fit(A)
    rows = np.linalg.qr(je.latent_positions_)[0]
    labels = KMeans(3, n_init=10, random_state=0).fit_predict(rows)
    agreement = adjusted_rand_score(block, labels)
    print(corrected, agreement)
    for k, (hue, marker) in enumerate(zip((BLUE, GREEN, ORANGE), "o^s", strict=True)):
        of = block == k
        ax.scatter(rows[of, 1], rows[of, 2], color=hue, marker=marker, s=18, edgecolor="white")
    ax.set_title(f"{'corrected' if corrected else 'plain'}: {agreement:.2f}")
    ax.set(xlabel="component 2", ylabel="component 3", xticks=[], yticks=[])
save(drawn, "degrees.png")
