"""Experiment ``hnu1``: people recognized from one scan of each, by all methods under one rule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

import eigengraphs as eg
from experiments import drawing
from experiments.frame import Outcome, Run, Table, embed, grid, new
from experiments.repetitions import Array, Rng, error_of, measured

#: Settings of the joint embeddings; the first goes with all other methods.
JOINTS: dict[str, dict[str, Any]] = {
    "joint embedding": {"center": True},
    "joint, laplacian": {"center": True, "preprocess": ["log1p", "laplacian"]},
    "joint, not centered": {},
    "joint, degree-corrected": {"degree_corrected": True},
}
JOINT, *VARIANTS = JOINTS
PAPER, EDGES, EDGES_APART = "joint, as in the paper", "graphs as vectors", "edges, by distance"
DIMENSIONS = (20, 60)
BAR = 0.97


def recognized(rng: Rng, *, method: str, d: int | str, session: int) -> dict[str, Any]:
    """Learn from one session, and recognize the scans of all others.

    Returns
    -------
    dict
        By method "right", share of each person's scans, and "nearer", share of comparisons of each
        person, (30,); and "number" of components of the joint embedding.
    """
    hnu1 = eg.datasets.fetch_hnu1()
    by_session = np.argsort(hnu1.sessions, kind="stable")  # scans count in the order of graphs
    je = eg.JointEmbedding(
        d, random_state=int(rng.integers(2**31)), **{"preprocess": "log1p"} | JOINTS[method]
    )
    found = eg.inference.identify(
        hnu1.graphs[by_session], hnu1.subjects[by_session], galleries=[session - 1], embedding=je,
        methods="all" if method == JOINT else (),
    )  # fmt: skip
    off = ~np.eye(found.n_people, dtype=bool)
    (number,) = found.evaluation.n_components
    return {"number": number} | {
        method if name == JOINT else name: {
            "right": list(found.evaluation.score(name).units),
            "nearer": nearer.mean(axis=1, where=off).tolist(),
        }
        for name, nearer in found.nearer.items()
    }


def by_distance(rng: Rng, *, numbers: list[int], session: int) -> dict[str, list[float]]:
    """Return shares right of Euclidean distances, by person: of loadings with d, and of edges."""
    hnu1 = eg.datasets.fetch_hnu1()
    A, subjects = np.log1p(np.asarray(hnu1.graphs.to_dense(), dtype=float)), hnu1.subjects
    train, test = hnu1.sessions == session, hnu1.sessions != session
    fit = embed(A[train], max(numbers), int(rng.integers(2**31)), center=True)
    features = {str(d): fit.truncate(d).transform(A) for d in numbers}
    found = {}
    for name, Z in (features | {EDGES_APART: A.reshape(len(A), -1)}).items():
        told = subjects[train][cdist(Z[test], Z[train]).argmin(axis=1)]
        found[name] = [float(np.mean(told[subjects[test] == who] == who))
                       for who in np.unique(subjects)]  # fmt: skip
    return found


def hnu1(run: Run) -> Outcome:
    """Recognize with the number of dimensions that a rule chooses, and with fixed ones."""
    sessions = (1, 3, 5, 7, 9) if run.full else (1,)
    first = run.each(recognized, grid({"method": JOINT}, d=("cv", *DIMENSIONS), session=sessions))
    numbers = [first["cv", session]["number"] for session in sessions]
    d = int(np.median(numbers))
    variants = run.each(recognized, grid({}, method=VARIANTS, d=(d, *DIMENSIONS), session=sessions))
    apart = run.repeat(by_distance, [{"numbers": [*DIMENSIONS, d], "session": session}
                                     for session in sessions])  # fmt: skip

    def by_column(steps: dict[Any, Any], name: str, *key: Any, rule: Any) -> dict[Any, Array]:
        """Return shares of each person, (30,), means over sessions, for the columns of a row."""

        def of_people(d: Any, what: str = "right") -> Array:
            return np.mean([steps[(*key, d, session)][name][what] for session in sessions], axis=0)

        return {"rule": of_people(rule), "nearer": of_people(rule, "nearer"),
                **{k: of_people(k) for k in DIMENSIONS}}  # fmt: skip

    rivals = [name for name in first["cv", sessions[0]] if name not in ("number", JOINT)]
    over = {name: np.mean([one[name] for one in apart], axis=0) for name in apart[0]}
    shares = {
        JOINT: by_column(first, JOINT, rule="cv"),
        **{name: by_column(variants, name, name, rule=d) for name in VARIANTS},
        PAPER: {"rule": over[str(d)]} | {k: over[str(k)] for k in DIMENSIONS},
        **{name: by_column(first, name, rule="cv") for name in rivals},
        EDGES_APART: {"rule": over[EDGES_APART]},
    }
    own = (JOINT, *VARIANTS, PAPER)
    fixed = (EDGES, EDGES_APART, "graph statistics", "spectra")  # have no number of dimensions
    rows = [
        (name, *(measured(one[key]) if key in one else "" for key in ("rule", "nearer")),
         *(measured(one[k]) if k in one and name not in fixed else "" for k in DIMENSIONS))
        for name, one in shares.items()
    ]  # fmt: skip
    ours = shares[JOINT]["rule"]
    gaps = {name: one["rule"] - ours for name, one in shares.items() if name not in own}
    ahead = [name for name, gap in gaps.items() if gap.mean() > 2 * error_of(gap)]
    behind = [name for name, gap in gaps.items() if gap.mean() < -2 * error_of(gap)]
    return Outcome(
        [
            new(
                f"our own bar: at least {BAR} are recognized by the rule of `evaluate`",
                measured(ours),
                "the bar holds" if ours.mean() >= BAR else "the bar does not hold",
            ),
            new(
                "hnu1.distances",
                f"{measured(shares[PAPER]['rule'])}; angles of standardized loadings recognize "
                f"{measured(ours - shares[PAPER]['rule'])} more",
            ),
            new(
                "hnu1.others",
                "; ".join(f"{name} {measured(shares[name]['rule'])}" for name in gaps),
                "beyond two standard errors of the difference, better than joint embedding: "
                f"{', '.join(ahead) or 'none'}; worse: {', '.join(behind) or 'none'}",
            ),
        ],
        [Table(rows)],
        _picture(shares, fixed),
        {"sessions": _listed(sessions), "numbers": _listed(numbers), "d": d},
    )


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _picture(shares: dict[str, dict[Any, Array]], fixed: tuple[str, ...]) -> Any:
    figure, ax = drawing.figure(6.4, 3.8)
    names = [name for name in shares if shares[name]["rule"].mean() > 0.6]
    for key, label, color, marker in (
        (DIMENSIONS[0], f"{DIMENSIONS[0]} dimensions", drawing.COLORS[1], "s"),
        (DIMENSIONS[1], f"{DIMENSIONS[1]} dimensions", drawing.COLORS[2], "^"),
        ("rule", "number by the rule, or none to choose", drawing.COLORS[0], "o"),
    ):
        here = [k for k, name in enumerate(names)
                if key in shares[name] and (key == "rule" or name not in fixed)]  # fmt: skip
        values = [shares[names[k]][key] for k in here]
        ax.errorbar([x.mean() for x in values], here, xerr=[error_of(x) for x in values],
                    fmt=marker, color=color, label=label, markersize=4)  # fmt: skip
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    drawing.tidy(ax, "share of scans identified", legend=True)
    return figure
