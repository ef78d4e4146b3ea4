"""Experiment ``table_b``: shared and individual structure, by the published design of MultiNeSS."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh

from eigengraphs import inference
from experiments import drawing
from experiments.frame import Finding, Outcome, Run, Table, beside, published
from experiments.repetitions import Array, Rng, error_of, measured

OURS, TOLD, COSIE = "structure of graphs", "alternating SVD (told the ranks)", "COSIE"
#: Relative errors by n, m, d1 and d2.
PUBLISHED = published("table_b")


def drawn(rng: Rng, n: int, m: int, d1: int, d2: int) -> tuple[Array, Array, Array]:
    """Draw graphs V V^T + U_i U_i^T + noise (m, n, n) without loops, and the two parts of them."""
    V, U = rng.normal(size=(n, d1)), rng.normal(size=(m, n, d2))
    F, G = np.broadcast_to(V @ V.T, (m, n, n)), U @ U.transpose(0, 2, 1)
    E = np.triu(rng.normal(size=(m, n, n)), 1)
    return _hollow(F + G + E + E.transpose(0, 2, 1)), F, G


def _hollow(A: Array) -> Array:
    return A * (1.0 - np.eye(A.shape[-1]))


def error(found: Array, truth: Array) -> float:
    """Return the relative Frobenius error off the diagonal, mean over graphs; nan for no truth."""
    if not truth.any():
        return float("nan")
    apart, size = (np.linalg.norm(_hollow(x), axis=(1, 2)) for x in (found - truth, truth))
    return float((apart / size).mean())


def _embedded(A: Array, d: int) -> Array:
    """Return the part of A (n, n) of its d largest eigenvalues, as far as these are positive."""
    n = len(A)
    if d == 0:
        return np.zeros_like(A)
    values, vectors = eigh(A, subset_by_index=[n - d, n - 1])
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def alternating(A: Array, d1: int, d2: int) -> tuple[Array, Array]:
    """Embed the mean of what is left of all graphs, and what is left of each, in turn.

    As the authors of the design do: ranks are told, the diagonal is taken as it is, and turns end
    when entries of the common part change by less than 1e-4, or after 100 of them.
    """
    F, G = _embedded(A.mean(axis=0), d1), np.zeros_like(A)
    for _ in range(100 if d2 else 0):
        G = np.array([_embedded(one - F, d2) for one in A])
        before, F = F, _embedded((A - G).mean(axis=0), d1)
        if np.abs(F - before).mean() < 1e-4:
            break
    return np.broadcast_to(F, A.shape), G


def cosie(A: Array, d1: int, d2: int) -> Array:
    """Return the graphs in a common space of told dimension, from embeddings of d1 + d2 each.

    That is MultipleASE, which takes one dimension for both, with the two that the design has.
    """
    n, d = A.shape[1], d1 + d2
    spectra = [np.linalg.eigh(one) for one in A]
    first = [np.argsort(-np.abs(values))[:d] for values, _ in spectra]
    X = np.hstack([
        U[:, k] * np.sqrt(np.abs(t[k])) for (t, U), k in zip(spectra, first, strict=True)
    ])  # fmt: skip
    V = np.linalg.svd(X, full_matrices=False)[0][:, : min(n, d1 + len(A) * d2)]
    return np.asarray(V @ (V.T @ A @ V) @ V.T)


def step(
    rng: Rng, *, n: int, m: int, d1: int, d2: int, repetition: int
) -> dict[str, dict[str, float]]:
    """Draw graphs once, and measure every method."""
    del repetition
    A, F, G = drawn(rng, n, m, d1, d2)
    found = inference.fit_structure(A)
    ours = [np.array([part(i) for i in range(m)]) for part in (found.common, found.individual)]
    parts: dict[str, Any] = {OURS: ours, TOLD: alternating(A, d1, d2)}
    errors = {
        name: {"F": error(f, F), "G": error(g, G), "P": error(f + g, F + G)}
        for name, (f, g) in parts.items()
    }
    errors[OURS]["ranks"] = float(
        found.kinds.count("common") == d1 and found.kinds.count("individual") == m * d2
        and len(found.kinds) == d1 + m * d2
    )  # fmt: skip
    errors[COSIE] = {"P": error(cosie(A, d1, d2), F + G)}
    return errors


def table_b(run: Run) -> Outcome:
    """Compare methods on five sizes of the Gaussian design."""
    chosen, repetitions = (tuple(PUBLISHED), 20) if run.full else (tuple(PUBLISHED)[:1], 3)
    names = ("n", "m", "d1", "d2")
    cells = {key: dict(zip(names, map(int, key.split(", ")), strict=True)) for key in chosen}
    results = run.repeated(step, cells, repetitions)
    rows, findings = [], []
    for key in chosen:
        found, name = results[key], f"n, m, d1, d2 = {key}"
        ours, told = found[OURS]["P"], found[TOLD]["P"]
        printed = PUBLISHED[key]["MultiNeSS+"]["P"]
        findings += [
            _judged(f"{name}: P at most 1.05 times that of alternating SVD", ours / told, 1.05),
            _judged(f"{name}: P below that of COSIE", ours / found[COSIE]["P"], 1.0),
            beside(f"{name}: MultiNeSS+ published {printed:.4f}", ours, printed),
        ]
        rows.append((
            key,
            *(_cell(found[OURS][x]) for x in "FGP"), f"{found[OURS]['ranks'].mean():.0%}",
            *(_cell(found[TOLD][x]) for x in "FGP"), measured(found[COSIE]["P"], 4),
            *(" / ".join(f"{values[x]:.4f}" if x in values else "" for x in "FGP")
              for values in PUBLISHED[key].values()),
        ))  # fmt: skip
    return Outcome(findings, [Table(rows)], _picture(results, chosen), {"repetitions": repetitions})


def _cell(values: Array) -> str:
    return "" if np.isnan(values).any() else measured(values, 4)


def _judged(claim: str, ratios: Array, bound: float) -> Finding:
    """Judge ratios on the same draws: a bound holds if their mean is two errors below it."""
    upper = float(ratios.mean() + 2 * error_of(ratios))
    holds = upper <= bound
    reason = f"mean and two standard errors are {'at most' if holds else 'above'} {bound:g}"
    return Finding(claim, f"ratio {measured(ratios)}", "better" if holds else "differs", reason)


def _picture(results: dict[Any, Any], chosen: tuple[Any, ...]) -> Any:
    figure, ax = drawing.figure(6.4, 3.2)
    for name, color in zip((OURS, TOLD, COSIE), drawing.COLORS, strict=False):
        means = [results[key][name]["P"].mean() for key in chosen]
        errors = [2 * error_of(results[key][name]["P"]) for key in chosen]
        ax.errorbar(range(len(chosen)), means, errors, fmt="o", color=color, label=name)
    printed = [PUBLISHED[key]["MultiNeSS+"]["P"] for key in chosen]
    ax.plot(range(len(chosen)), printed, "k_", markersize=14, label="MultiNeSS+, published")
    ax.set_xticks(range(len(chosen)), chosen)
    ax.set_xlabel("n, m, d1, d2")
    ax.set_ylabel("relative error P")
    ax.legend()
    return figure
