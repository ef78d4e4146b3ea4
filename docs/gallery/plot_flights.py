"""
The spring of 2020 in the air traffic of the United States
==========================================================

Flights among 343 airports, month by month from January 2016 to September 2021: 69 graphs, whose
weights are the numbers of flights between two airports. We look for the months in which the traffic
changed, and for the airports that carry the change. The embedding does not use the coordinates of
the airports; they are only for the map. The data are downloaded (Bureau of Transportation
Statistics, as published with Agterberg, Lubberts and Arroyo, 2022).
"""

import textwrap

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr

import eigengraphs as eg

flights = eg.datasets.fetch_us_airports()
print(flights)

# %%
# A level for every month
# -----------------------
# Logarithms keep the largest routes from dominating. ``center=True`` subtracts the mean
# graph, so that loadings show how a month differs from the average month.

je = eg.JointEmbedding(2, preprocess="log1p", center=True, random_state=0).fit(flights.graphs)
print("converged:", je.converged_)
print("explained:", " ".join(f"{share:.1%}" for share in je.explained_ratio_))

# %%
# This is a small part of all squared differences. Most of them are on small routes: pairs of
# airports with fewer than 100 flights per month have 9 % of the flights and 82 % of the squared
# differences.

dense = np.stack([graph.toarray() for graph in flights.graphs])
small = dense.mean(axis=0) < 100
squares = ((np.log1p(dense) - np.log1p(dense).mean(axis=0)) ** 2).sum(axis=0)
print(f"flights on small routes: {dense[:, small].sum() / dense.sum():.0%}")
print(f"squared differences on small routes: {squares[small].sum() / squares.sum():.0%}")

# %%
# What the components do explain is clearly visible.

total = dense.sum(axis=(1, 2)) / 2
months = flights.months.astype("datetime64[D]")
figure, (above, below) = plt.subplots(2, 1, figsize=(8.5, 5.4), sharex=True, layout="constrained")
above.plot(months, total / 1000, color="0.3", marker="o", markersize=3.5, linewidth=1.2)
above.set(ylabel="flights per month, thousands", ylim=(0, None))
eg.plot.timeline(je, times=months, ax=below)
below.set(xlabel="month", ylabel="loading (0: the average month)")
below.legend(frameon=False, loc="lower left")
for ax in (above, below):
    ax.axvline(np.datetime64("2020-04-01"), color="0.6", linestyle="--", linewidth=1)
above.text(np.datetime64("2020-03-10"), 60, "April 2020", ha="right", color="0.35")
plt.show()

# %%
# When did it change?
# -------------------
# ``change_points`` divides the series where the level of the loadings changes. It accounts
# for the similarity of neighboring months, and divides a series without a change in 5 % of cases.

names = flights.months.astype(str).tolist()
changes = eg.inference.change_points(je.loadings_, random_state=0)
print(textwrap.fill(" ".join(changes.words(names)), 80))
print("gain of each change, in penalties:", changes.gains.round(1))

# %%
# A season is also a change of level, so we remove it: we subtract from each loading the mean of the
# same calendar month in 2016 to 2019. Then the change is already visible in March. March usually
# has more traffic than February; in 2020, with the second half of the month lost, it did not.

of_year = flights.months.astype(int) % 12
usual = flights.months < np.datetime64("2020-01")
season = np.stack([je.loadings_[usual & (of_year == k)].mean(axis=0) for k in range(12)])
without_season = eg.inference.change_points(je.loadings_ - season[of_year], random_state=0)
print(textwrap.fill(" ".join(without_season.words(names)), 80))
for year in range(2016, 2021):
    february, march = (names.index(f"{year}-{month}") for month in ("02", "03"))
    step = je.loadings_[march, 0] - je.loadings_[february, 0]
    print(f"{year}: from February to March, component 1 changes by {step:+.1f}")

# %%
# Which airports carry it?
# ------------------------
# In component 1 nearly all positions are positive, so its loading measures overall traffic, mostly
# between airports with large positions. When the loading fell, routes among these lost most.

h = je.latent_positions_[:, 0]
order = np.argsort(-h)
print("largest positions:", ", ".join(f"{flights.airports[s]} {h[s]:.2f}" for s in order[:8]))
print("most negative:    ", ", ".join(f"{flights.airports[s]} {h[s]:.2f}" for s in order[:-6:-1]))
print(f"positions above -0.01: {np.mean(h > -0.01):.1%} of the airports")

longitude, latitude = flights.coordinates.T
figure, ax = plt.subplots(figsize=(9, 4.5), layout="constrained")
drawn = ax.scatter(
    longitude[order[::-1]],
    latitude[order[::-1]],
    c=h[order[::-1]],
    cmap="viridis_r",
    s=8 + 700 * np.abs(h[order[::-1]]),
    edgecolor="white",
    linewidth=0.5,
)
figure.colorbar(drawn, ax=ax, label="position in component 1", shrink=0.8)
places = {
    "LGA": (12, -4),
    "DCA": (12, -8),
    "SFO": (-32, -4),
    "BOS": (10, -3),
    "RDU": (10, -6),
    "MSP": (-10, 11),
    "LAX": (-30, -10),
    "ATL": (-10, -17),
    "DEN": (-10, 9),
    "SRQ": (-30, -7),
    "EYW": (8, -5),
}
for code, shift in places.items():
    s = flights.airports.tolist().index(code)
    words = "LGA, EWR, JFK" if code == "LGA" else code
    ax.annotate(words, flights.coordinates[s], shift, textcoords="offset points", fontsize=9)
ax.set(xlabel="longitude, degrees", ylabel="latitude, degrees", xlim=(-127, -60), aspect=1.25)
plt.show()

# %%
# Back to the counts
# ------------------
# Do positions predict what happened to an airport? We compare flights in months of 2020 and 2021
# with the same months of 2019, at airports that had at least 1,000 flights per month.

degrees = dense.sum(axis=1)


def mean_flights(year, first, last):
    """Return the mean number of flights per month at each airport, (n,)."""
    start, end = np.datetime64(f"{year}-{first:02d}"), np.datetime64(f"{year}-{last:02d}")
    return degrees[(flights.months >= start) & (flights.months <= end)].mean(axis=0)


before = mean_flights(2019, 4, 9)
large = before >= 1000
shifts = {"LGA": (-28, -4), "SFO": (-8, -15), "SRQ": (-10, 8), "EYW": (-8, -14)}
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.2), sharex=True, layout="constrained")
for ax, year, last, words in (
    (axes[0], 2020, 6, "April to June 2020"),
    (axes[1], 2021, 9, "April to September 2021"),
):
    share = mean_flights(year, 4, last)[large] / mean_flights(2019, 4, last)[large]
    ax.scatter(h[large], share, s=22, color="#0072B2", edgecolor="white", linewidth=0.5)
    ax.axhline(1, color="0.6", linestyle="--", linewidth=1)
    ax.set(xlabel="position in component 1", ylim=(0, 1.12 * max(1, share.max())))
    ax.set_title(words, fontsize=10)
    for code, shift in shifts.items():
        s = flights.airports[large].tolist().index(code)
        ax.annotate(code, (h[large][s], share[s]), shift, textcoords="offset points", fontsize=9)
    print(
        f"{words}: {large.sum()} airports, median share {np.median(share):.2f}, rank correlation "
        f"with positions {spearmanr(h[large], share).statistic:.2f}"
    )
axes[0].set_ylabel("flights, as a share of those in 2019")
plt.show()

# %%
# The airports of New York, Washington and San Francisco are at one end: in the summer of 2021 they
# still had about half to two thirds of their flights. Sarasota and Key West, on the beaches of
# Florida, are at the other end, and had many more flights than in 2019. Positions summarize all
# routes, so the correlation is not perfect.
