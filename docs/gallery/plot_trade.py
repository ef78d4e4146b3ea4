"""
Food trade: products by loadings, countries by positions
========================================================

Trade in 13 agricultural products among 145 countries in 2010: one graph per product, with weights
in tonnes. A few pairs of countries account for most of the trade. We show how this affects an
embedding, what a transform of the weights changes, which products and countries belong together,
and what ``refine=True`` does. The data are downloaded (Food and Agriculture Organization, as
published with MacDonald, Levina and Zhu, 2022).
"""

import textwrap
import warnings

import matplotlib.pyplot as plt
import numpy as np

import eigengraphs as eg

trade = eg.datasets.fetch_agri_trade()
print(trade)

# %%
# Heavy tails
# -----------
# The top 1 % of the pairs of countries that trade a product account for about half of its trade.

pairs = np.triu_indices(len(trade.countries), 1)
weights = [np.sort(np.asarray(graph)[pairs])[::-1] for graph in trade.graphs]
weights = [w[w > 0] for w in weights]
top = [w[: len(w) // 100].sum() / w.sum() for w in weights]
print(f"share of the top 1 % of the pairs: {min(top):.0%} to {max(top):.0%}")

# %%
# A least-squares fit then describes mainly these pairs. The number of countries over which a
# component is spread is 1 / sum of h^4: 145 if all count equally, 1 for a single country. Fitted to
# tonnes, components cover two to nine countries. With logarithms, ranks, or 0 and 1, all countries
# contribute.

transforms = {"tonnes": None, "log1p": "log1p", "rank": "rank", "binarize": "binarize"}
spread = {}
for name, transform in transforms.items():
    fit = eg.JointEmbedding(4, preprocess=transform, random_state=0).fit(trade.graphs)
    H = fit.latent_positions_
    spread[name] = 1 / (H**4).sum(axis=0)
    first = trade.countries[np.argsort(-np.abs(H[:, 1]))[:4]]
    print(f"{name:9s} component 2 is mostly {', '.join(first)}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.9), layout="constrained")
for w in weights:
    left.loglog(w, np.arange(1, len(w) + 1) / len(w), color="0.75", linewidth=0.8)
for product, color in (("Wine", "#D55E00"), ("Tea", "#0072B2"), ("Prepared foods", "#009E73")):
    w = weights[trade.products.tolist().index(product)]
    left.loglog(w, np.arange(1, len(w) + 1) / len(w), color=color, linewidth=1.6, label=product)
left.set(xlabel="trade of a pair, tonnes", ylabel="share of pairs that trade as much")
left.legend(frameon=False, loc="lower left")
for k, marker in enumerate("o^sD"):
    right.scatter(
        range(len(spread)),
        [values[k] for values in spread.values()],
        marker=marker,
        s=42,
        color=("#0072B2", "#D55E00", "#009E73", "#CC79A7")[k],
        label=f"component {k + 1}",
    )
right.set_xticks(range(len(spread)), list(spread))
right.set(xlim=(-0.5, 3.5), ylim=(0, 90))
right.set(xlabel="weights", ylabel="countries that a component is spread over")
right.legend(frameon=False, loc="upper left")
plt.show()

# %%
# How products differ
# -------------------
# We keep logarithms and subtract the mean graph, so that components describe how products differ.

je = eg.JointEmbedding(3, preprocess="log1p", center=True, random_state=0).fit(trade.graphs)
print("converged:", je.converged_)
print("explained:", " ".join(f"{share:.1%}" for share in je.explained_ratio_))

# %%
# Component 1 measures how widely a product is traded.

partners = [len(w) for w in weights]
print(
    f"correlation with the number of pairs: {np.corrcoef(je.loadings_[:, 0], partners)[0, 1]:.2f}"
)

# %%
# Components 2 and 3 separate drinks. Wine and spirits are traded more than other products among
# France, Italy, Spain and Australia; tea and crude materials among countries of Asia. Component 3
# separates wine, and the southern countries that grow it, from prepared foods and beverages.

label = {"textcoords": "offset points", "fontsize": 8.5}
moved = {
    "Preserved fruits": (-40, -14),
    "Essential oils": (7, -8),
    "Fruit juices": (-66, -3),
    "Preserved vegetables": (7, -8),
    "Sugar": (7, 2),
    "Pastry": (7, 4),
    "Chocolate": (7, -8),
    "Non-alcoholic beverages": (-126, 8),
    "Prepared foods": (-80, -4),
    "Distilled alcoholic beverages": (-136, 8),
    "Wine": (-28, -4),
}
figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 5.2), layout="constrained")
eg.plot.loadings(je, (1, 2), ax=left)
for product, point in zip(trade.products, je.loadings_[:, 1:], strict=True):
    left.annotate(product, point, moved.get(product, (7, -3)), **label)
left.axvline(0, color="0.8", linewidth=0.8, zorder=0)
eg.plot.positions(je, (1, 2), ax=right)
right.axvline(0, color="0.8", linewidth=0.8, zorder=0)
chosen = {
    "France": (7, -10),
    "Italy": (7, -3),
    "Australia": (7, -1),
    "Spain": (7, -6),
    "Chile": (7, -3),
    "Argentina": (7, -3),
    "Uruguay": (7, -3),
    "South Africa": (7, -6),
    "Sri Lanka": (-46, -9),
    "Egypt": (-34, 3),
    "India": (-32, -3),
    "China": (-8, -14),
    "Iran": (-26, -4),
    "Saudi Arabia": (-66, 4),
    "Turkey": (7, 2),
    "Malaysia": (-52, 0),
    "Ecuador": (-48, -4),
    "Belgium": (7, 4),
    "Ireland": (7, 0),
    "United Kingdom": (7, -3),
}
for country, shift in chosen.items():
    s = trade.countries.tolist().index(country)
    right.annotate(country, je.latent_positions_[s, 1:], shift, **label)
right.set_xlim(-0.25, 0.29)
left.set_title("products", fontsize=10)
right.set_title("countries", fontsize=10)
plt.show()

# %%
# Would other products show the same components? Component 2 depends on wine and spirits, and random
# halves of the 13 products do not agree on it; they barely agree on component 3. So both describe
# these products, but are not general laws of trade.

for one in eg.inference.read_components(je, trade.graphs, n_splits=5, random_state=0):
    print(f"component {one.number}: {one.verdict}, cosine of halves {one.replicability:.2f}")

# %%
# What refine does
# ----------------
# Components are found one after the other, each in the residuals of the earlier ones.
# ``refine=True`` improves all of them together. We fit both ways with 1 to 5 components, and keep
# the warnings.

numbers = range(1, 6)
plain, refined, said = [], [], set()
for d in numbers:
    settings = {"preprocess": "log1p", "center": True, "random_state": 0}
    plain.append(eg.JointEmbedding(d, **settings).fit(trade.graphs))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        refined.append(eg.JointEmbedding(d, refine=True, **settings).fit(trade.graphs))
    said |= {str(warning.message) for warning in caught}
    cosines = np.abs(refined[-1].latent_positions_.T @ refined[-1].latent_positions_)
    print(
        f"d = {d}: refining reduces the residuals by {refined[-1].refinement_.gain:.1%}, "
        f"largest cosine {np.max(cosines - np.eye(d)):.2f}, "
        f"stopped by the bound: {refined[-1].refinement_.bound_met}"
    )
print(textwrap.fill(min(said), 80))

# %%
# The refined fit explains a little more, but components become nearly collinear, with large
# loadings of opposite signs. Their sum describes the graphs, but neither can be interpreted by
# itself. So here the greedy components are the better choice, as the warning says. Refining helps
# if true components are strong and far from orthogonal (:doc:`/guide/variations`).

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
for fits, name, color, marker in (
    (plain, "one by one", "#0072B2", "o"),
    (refined, "refined", "#D55E00", "^"),
):
    style = {"color": color, "marker": marker, "label": name}
    left.plot(numbers, [100 * fit.explained_ratio_.sum() for fit in fits], **style)
    right.plot(numbers, [np.abs(fit.loadings_).max() for fit in fits], **style)
left.set(xlabel="number of components", ylabel="explained, %", ylim=(0, None))
right.set(xlabel="number of components", ylabel="largest loading", ylim=(0, None))
for ax in (left, right):
    ax.set_xticks(list(numbers))
    ax.legend(frameon=False, loc="upper left")
plt.show()
