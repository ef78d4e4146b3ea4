"""How often `edge_effects` names edges that differ, and edges that do not.

``python -m tests.inference.calibrate_effects`` (from the root of the repository) takes about half
an hour on one core and writes calibration-effects.md beside this file; ``power``, ``null`` or
``partial`` measures one of its three tables. Rows that are in calibration-effects.json already are
not measured again. Default tests run smaller samples.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

import eigengraphs as eg
from eigengraphs.inference import edge_effects

RESULTS = Path(__file__).with_name("calibration-effects.json")
LEVEL = 0.05
TESTS = ("pattern", "combined", "weights", "connected")
NETWORKS = np.repeat(["a", "b", "c"], 8)  # of the 24 vertices of studies without an effect


def noise(rng, m, n, draw=None):
    """Return undirected graphs (m, n, n) without loops, all weights drawn alike."""
    A = rng.normal(size=(m, n, n)) if draw is None else draw((m, n, n))
    A = np.triu(A, 1)
    return A + A.transpose(0, 2, 1)


def effects_of(A, group, d, *, directed=False, **options):
    """Fit graphs without knowledge of the groups, and test all of their edges."""
    je = eg.JointEmbedding(d, center=True, directed=directed, random_state=0).fit(A)
    return edge_effects(je, group, graphs=A, **options)


# Power


def planted(rng, what, n):
    """Return an effect on the edges, (n, n), in standard deviations of a weight."""
    effect = np.zeros((n, n))
    if what == "network":
        effect[:8, :8] = 0.6
    elif what == "low rank":
        x = rng.uniform(0.6, 1.4, 16) * rng.choice([-1, 1], 16)
        effect[:16, :16] = 0.6 * np.outer(x, x)
    else:
        s, t = np.triu_indices(n, 1)
        which = rng.choice(len(s), 30, replace=False)
        effect[s[which], t[which]] = effect[t[which], s[which]] = 0.9
    np.fill_diagonal(effect, 0)
    return effect


def power(rng, what, each, n, d=10, n_permutations=999):
    """Return shares of the planted edges that are named, and of others, by each test, (4, 2)."""
    effect, group = planted(rng, what, n), np.repeat(["a", "b"], each)
    A = noise(rng, 2 * each, n)
    A[each:] += effect
    found = effects_of(A, group, d, n_permutations=n_permutations, random_state=rng)
    edges = found.pattern["edges"]
    true = effect[edges.first, edges.second] != 0
    named = np.array([found.named(by) for by in TESTS])
    return np.stack([named[:, true].mean(axis=1), named[:, ~true].mean(axis=1)], axis=1)


POWER = {
    f"{text}, 2 x {each} graphs, {n} vertices, d = {d}": (what, each, n, d)
    for what, text in {
        "network": "network of 8 vertices, +0.6 sd",
        "low rank": "low-rank pattern on 16 vertices, 0.6 sd on average",
        "scattered": "30 scattered edges, +0.9 sd",
    }.items()
    for each, n, d in ((20, 50, 10), (40, 36, 10), (20, 50, 5), (20, 50, 20))
    if what != "scattered" or d == 10
}

# Levels


def anything(found):
    """Return whether anything is found: edges, regions and networks; then FDR and named edges."""
    family = [
        (maps[what].p_family <= LEVEL).any()
        for maps in (found.pattern, found.weights) for what in ("edges", "regions", "networks")
    ]  # fmt: skip
    fdr = [(maps["edges"].p_fdr <= LEVEL).any() for maps in (found.pattern, found.weights)]
    return [*family, *fdr, *(found.named(by).any() for by in ("combined", "connected"))]


def null(rng, A, group, **options):
    """Test graphs without an effect."""
    return anything(effects_of(A, group, 5, networks=NETWORKS, n_permutations=199, random_state=rng,
                           **options))  # fmt: skip


def few(rng):
    return null(rng, noise(rng, 12, 24), np.repeat(["a", "b"], 6))


def covariates(rng, draw=None):
    """Groups that differ in age and site alone, which weights follow."""
    age = rng.normal(size=24) + np.repeat([0, 1], 12)
    site = np.concatenate([rng.permutation(list(x)) for x in ("aaaaaabbbccc", "aaabbbbccccc")])
    A = noise(rng, 24, 24, draw)
    A[:, :8, :8] += 0.8 * age[:, None, None]
    A[:, 8:16] += (site == "b")[:, None, None]
    A = A + A.transpose(0, 2, 1)
    A *= 1 - np.eye(24)
    return null(rng, A, np.repeat(["x", "y"], 12), covariates={"age": age, "site": site})


def heavy(rng):
    return null(rng, noise(rng, 20, 24, lambda size: rng.standard_t(3, size)),
                np.repeat(["a", "b"], 10))  # fmt: skip


def heavy_covariates(rng):
    return covariates(rng, lambda size: rng.standard_t(3, size))


def spreads(rng, sizes, sds, where=24):
    """Spreads of groups differ, in all edges or in those of the first vertices."""
    A, group = noise(rng, sum(sizes), 24), np.repeat(np.arange(len(sizes)), sizes)
    A[:, :where, :where] *= np.repeat(sds, sizes)[:, None, None]
    return null(rng, A, [f"g{i}" for i in group])


def repeated(rng, within):
    """People differ by as much as their scans do."""
    who = np.repeat(np.arange(12), 3)
    A = noise(rng, 12, 24)[who] + noise(rng, 36, 24)
    group = np.tile(["a", "b", "c"], 12) if within else np.where(who % 2, "a", "b")
    return null(rng, A, group, subjects=[f"s{i}" for i in who])


def slope(rng):
    """A quantity that weights do not follow, but their spread does."""
    age = rng.normal(size=30)
    A = noise(rng, 30, 24) * (1 + np.abs(age))[:, None, None]
    return null(rng, A, age)


def directed(rng):
    A = rng.normal(size=(20, 24, 24)) * (1 - np.eye(24))
    return null(rng, A, np.repeat(["a", "b"], 10), directed=True)


def counts(rng):
    """Sparse graphs of counts: most weights are zero."""
    return null(rng, noise(rng, 24, 24, lambda size: rng.poisson(0.15, size) * 1.0),
                np.repeat(["a", "b"], 12))  # fmt: skip


NULL = {
    "2 x 6 graphs": (few, ()),
    "2 x 12 graphs that differ in age and site (adjusted)": (covariates, ()),
    "the same, heavy tails (t with 3 df)": (heavy_covariates, ()),
    "8 graphs of sd 2, 16 of sd 1": (spreads, ((8, 16), (2, 1))),
    "12 subjects x 3 scans, groups of subjects": (repeated, (False,)),
    "12 subjects x 3 scans, three conditions within": (repeated, (True,)),
    "8 graphs of sd 2, 16 of sd 1, in one network alone": (spreads, ((8, 16), (2, 1), 8)),
    "8 graphs of sd 1, 8 of sd 2, 8 of sd 3": (spreads, ((8, 8, 8), (1, 2, 3))),
    "a quantity, spread grows with it, 30 graphs": (slope, ()),
    "2 x 10 graphs, heavy tails": (heavy, ()),
    "2 x 10 directed graphs": (directed, ()),
    "2 x 12 sparse graphs of counts": (counts, ()),
}


def partial(rng, size, d=5):
    """An effect on the edges of one network of three; return what is found elsewhere.

    For each test: whether any edge outside is named, the share of edges outside that are, the share
    of named edges that are outside (0 if none is), and the share of the network's edges found. Then
    whether other pairs of networks are found to differ, and regions of other networks.
    """
    A, group = noise(rng, 40, 24), np.repeat(["a", "b"], 20)
    A[20:, :8, :8] += size * (1 - np.eye(8))
    found = effects_of(A, group, d, networks=NETWORKS, n_permutations=199, random_state=rng)
    edges = found.pattern["edges"]
    inside = (edges.first < 8) & (edges.second < 8)
    sets = [
        edges.p_family <= LEVEL, *(found.named(by) for by in TESTS),
        edges.p_fdr <= LEVEL, found.weights["edges"].p_fdr <= LEVEL,
    ]  # fmt: skip
    told = [
        [out.any(), out.mean(), out.sum() / max(one.sum(), 1), one[inside].mean()]
        for one in sets for out in [one[~inside]]
    ]  # fmt: skip
    for maps in (found.pattern, found.weights):
        for what in ("regions", "networks"):
            own = maps[what].p_family <= LEVEL
            out = (maps[what].first >= 8) if what == "regions" else (
                (maps[what].first > 0) | (maps[what].second > 0))  # fmt: skip
            told.append([own[out].any(), own[out].mean(), 0, own[~out].mean()])
    return np.array(told, dtype=float)


PARTIAL = {f"+{size} sd, d = {d}": (size, d) for size in (0.6, 1.0) for d in (5, 10)}
SETS = ("pattern alone (the pattern's effect)", "pattern and weights of the same sign", "combined",
        "weights of each edge", "network-based", "pattern alone, FDR", "weights of each edge, FDR",
        "pattern: regions", "pattern: pairs of networks", "weights: regions",
        "weights: pairs of networks")  # fmt: skip


# The page


INTRODUCTION = """# Which edges are named

`python -m tests.inference.calibrate_effects` wrote this. Graphs have independent weights of unit
variance; components are fitted without labels (`center=True`). An edge is *named* by

- **pattern**: the pattern's effect on it is significant (family-wise, largest statistic), and its
  own weights show an effect of the same sign (p <= 0.1);
- **weights**: edge by edge on the raw weights (family-wise, largest statistic);
- **combined**: by either, at one family-wise level;
- **network-based**: it is in a connected component of edges with p < 0.01 that is larger than the
  largest one of 95 % of the permutations.
"""
OF_POWER = """
## Power

Shares of the planted edges that are named at a family-wise level of 5 %, and in parentheses shares
of the other edges. The last columns are ratios to the weights, edge by edge.

| planted effect | studies | pattern | combined | weights | network-based | pattern | combined |
|---|---|---|---|---|---|---|---|"""
OF_NULL = """
## No effect

Shares of studies that find anything at 5 % (24 vertices in three networks, d = 5, 199
permutations).
The standard error of 5 % is 0.7 % over 1,000 studies.

| studies without an effect | studies | pattern: edges | regions | pairs of networks | \
weights: edges | regions | pairs of networks | pattern, FDR | weights, FDR | combined | \
network-based |
|---|---|---|---|---|---|---|---|---|---|---|---|"""
OF_PARTIAL = """
## An effect in one network of three

Two groups of 20 graphs on 24 vertices differ in the 28 edges within one network of 8; nothing
differs elsewhere. *Weights* are about the weights of single edges, and *network-based* about a
component as a whole. *Pattern alone* is about the effect on the fitted pattern, which is not zero
outside the network: what it finds there is true of the pattern, and not of the edge. The last
column is the share of the edges (regions, pairs of networks) with an effect that are found."""
OF_ONE = """
| test | studies that name something outside | share outside that is named | \
share of the named that is outside | found |
|---|---|---|---|---|"""


def percent(x):
    return f"{100 * x:.2g} %" if 0 < x < 0.001 else f"{100 * x:.1f} %"


def write(known):
    """Write the tables of all that was measured."""
    lines = [INTRODUCTION]
    if known.get("power"):
        lines.append(OF_POWER.lstrip())
        for name, (count, rates) in known["power"].items():
            shown = [f"{percent(found)} ({percent(beside)})" for found, beside in rates]
            ratios = [f"{rates[i][0] / max(rates[2][0], 1e-9):.2g}" for i in (0, 1)]
            lines.append(f"| {name} | {count} | {' | '.join([*shown, *ratios])} |")
    if known.get("null"):
        lines.append(OF_NULL)
        for name, (count, rates) in known["null"].items():
            lines.append(f"| {name} | {count:,} | {' | '.join(map(percent, rates))} |")
    if known.get("partial"):
        lines.append(OF_PARTIAL)
        for name, (count, rates) in known["partial"].items():
            lines.append(f"\n**{name}**, {count:,} studies:\n{OF_ONE}")
            for test, row in zip(SETS, rates, strict=True):
                lines.append(f"| {test} | {' | '.join(map(percent, row))} |")
    RESULTS.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


PARTS = {"power": (POWER, power, 200), "null": (NULL, null, 1000),
         "partial": (PARTIAL, partial, 1000)}  # fmt: skip


def main() -> None:
    """Measure one or all of the tables, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=list(PARTS), help="one of the tables")
    parser.add_argument("--studies", type=int, help="of each row; by default 200, 1,000 and 1,000")
    asked = parser.parse_args()
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for part in [asked.part] if asked.part else list(PARTS):
        rows, run, usual = PARTS[part]
        count = asked.studies or usual
        for row, (name, given) in enumerate(rows.items()):
            if known.get(part, {}).get(name, (0,))[0] >= count:
                continue
            call, given = given if part == "null" else (run, given)
            start = time.process_time()
            rates = np.mean([
                np.asarray(call(np.random.default_rng([list(PARTS).index(part), row, i]), *given),
                           dtype=float) for i in range(count)
            ], axis=0)  # fmt: skip
            known.setdefault(part, {})[name] = (count, rates.tolist())
            print(name, count, np.round(rates, 4).tolist(),
                  f"{time.process_time() - start:.0f} s", file=sys.stderr, flush=True)  # fmt: skip
            known[part] = {key: known[part][key] for key in rows if key in known[part]}
            RESULTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
            write(known)


if __name__ == "__main__":
    main()
