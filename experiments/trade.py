"""Experiment ``trade``: 13 agricultural products traded by 145 countries."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.cluster.hierarchy import dendrogram, linkage

import eigengraphs as eg
from eigengraphs import datasets
from experiments import drawing
from experiments.frame import Outcome, Run, Table, grid, new
from experiments.repetitions import Rng

D = 6


def step(rng: Rng, *, diagonal: str) -> dict[str, Any]:
    """Embed the products; and leave each out, to see how well the others explain it."""
    del rng
    data = datasets.fetch_agri_trade()
    graphs = data.graphs.log1p()

    def embed(some: eg.GraphStack) -> eg.JointEmbedding:
        return eg.JointEmbedding(D, diagonal=diagonal, random_state=0).fit(some)

    fit = embed(graphs)
    H = fit.latent_positions_
    each = range(len(data.products))
    others = [embed(graphs[[j for j in each if j != i]]) for i in each]
    return {
        "products": data.products.tolist(),
        "loadings": fit.loadings_.tolist(),
        "explained": fit.explained_ratio_.tolist(),
        "inside": [float(fit.score(graphs[i : i + 1])) for i in each],
        "outside": [float(others[i].score(graphs[i : i + 1])) for i in each],
        "ends": [
            [[str(data.countries[i]) for i in np.argsort(sign * h, kind="stable")[:5]]
             for sign in (-1, 1)]
            for h in H.T
        ],
    }  # fmt: skip


def trade(run: Run) -> Outcome:
    """Embed 13 products; hold each out."""
    results = run.each(step, grid({}, diagonal=("observed", "auto")))
    findings = []
    for diagonal, found in results.items():
        inside, outside = np.mean(found["inside"]), np.mean(found["outside"])
        worst = int(np.argmin(np.array(found["outside"]) - found["inside"]))
        findings.append(new(
            "(not in the paper: do patterns of twelve products explain the thirteenth?)",
            f"diagonal {diagonal}: {D} components explain {inside:.1%} of a product's squared "
            f"norm, {outside:.1%} when it is held out; the largest loss is "
            f"{found['products'][worst]} ({found['inside'][worst]:.1%} to "
            f"{found['outside'][worst]:.1%})",
            "the patterns are regions and sizes of economies, which all products share",
        ))  # fmt: skip
    found = results["auto"]
    each = enumerate(zip(found["explained"], found["ends"], strict=True))
    ends = [(k + 1, f"{share:.1%}", ", ".join(high), ", ".join(low))
            for k, (share, (high, low)) in each]  # fmt: skip
    rows = [
        (diagonal, product, *map(float, Lam), inside, outside)
        for diagonal, one in results.items()
        for product, Lam, inside, outside in zip(
            one["products"], one["loadings"], one["inside"], one["outside"], strict=True
        )
    ]
    return Outcome(
        "Trade in 13 agricultural products among 145 countries",
        "hollow graphs; *observed* and the default *auto* (filled). log1p of tonnes.",
        findings,
        [
            Table(("component", "explained", "most positive", "most negative"), ends, "countries"),
            Table(("diagonal", "product", *(f"loading {k + 1}" for k in range(D)), "explained",
                   "explained, held out"), rows, shown=False),
        ],
        _picture(found),
    )  # fmt: skip


def _picture(found: dict[str, Any]) -> Any:
    Lam = np.array(found["loadings"])
    # Shape of a product's trade, not its size: loadings beside the first.
    shape = Lam[:, 1:] / Lam[:, :1]
    shape = (shape - shape.mean(axis=0)) / shape.std(axis=0)
    figure, (tree, heat) = drawing.figure(7.4, 3.4, 1, 2, width_ratios=[1, 1.2])
    drawn = dendrogram(linkage(shape, "average"), ax=tree, orientation="left", no_labels=True,
                       color_threshold=0, above_threshold_color=drawing.COLORS[0])  # fmt: skip
    leaves = drawn["leaves"] or []
    tree.set_axis_off()
    tree.set_title("products by the shape of their trade")
    limit = np.abs(shape).max()
    image = heat.imshow(shape[leaves], cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto",
                        origin="lower")  # fmt: skip
    heat.set_yticks(range(len(leaves)), [found["products"][i] for i in leaves])
    heat.set_xticks(range(D - 1), [str(k) for k in range(2, D + 1)])
    heat.set_xlabel("component")
    heat.set_title("loading over the first, standardized")
    figure.colorbar(image, ax=heat, shrink=0.8, label="standard deviations")
    return figure
