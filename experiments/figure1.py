"""Figure 1: which random graph models hold which others, on one graph and on many."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments import block_families, nesting_checks
from experiments.nesting_checks import ARROWS, GAPS, SAME_FOR_ALL
from experiments.nesting_picture import picture
from experiments.outcome import Finding, Outcome, Table
from experiments.run import Run

__all__ = ["run"]

PROBABILITY = 1e-12  # largest difference that rounding explains
LIKELIHOOD = 1e-9
BLOCKS = (2, 3, 4, 5)
HALVES = (2, 4, 8, 16)  # vertices in each of two blocks
#: Regions of the picture: the rows of GAPS that set each apart from the smaller ones.
APART = {2: (0,), 3: (1,), 4: (2,), 5: (3, 4), 6: (5,)}


def run(run: Run) -> Outcome:
    """Convert random models along every arrow, and bound distances where there is none."""
    draws, families = (200, 20) if run.full else (20, 3)
    arrows = run.repeat(
        nesting_checks.arrow, ({"which": i, "draws": draws} for i in range(len(ARROWS)))
    )
    gaps = run.repeat(nesting_checks.gap, ({"which": i, "draws": draws} for i in range(len(GAPS))))
    freed = run.repeat(nesting_checks.freed, ({"size": size, "draws": draws} for size in HALVES))
    same = run.repeat(
        nesting_checks.identical, ({"source": name, "draws": draws} for name in SAME_FOR_ALL)
    )
    found = run.repeat(
        block_families.family,
        ({"K": K, "repetition": r} for K in BLOCKS for r in range(families)),
    )
    family = {K: found[i * families : (i + 1) * families] for i, K in enumerate(BLOCKS)}
    rows = _arrow_rows(arrows) + _gap_rows(gaps, draws) + _many_rows(same)
    return Outcome(
        "Nesting of the models on one graph and on many (section 2)",
        "loops are ignored, as the caption has it: probabilities are compared on pairs s < t, and "
        "what is no random dot product graph is none whatever diagonal it is given (up to the "
        "x_s . x_s <= 1 of its definition). Families of block models: bounds on pairs s < t; "
        'joint embeddings of their matrices with *observed* diagonal, for which blocks are exact.',
        (*_one_graph(arrows, gaps, freed, draws), *_many_graphs(same, family, draws)),
        (
            Table(("panel", "model", "is a", "draws", "largest difference of probabilities",
                   "largest difference of log-likelihoods", "verdict"), rows),
            Table(("K", "K (K + 1) / 2", "dimension of the family",
                   "residual with K (K + 1) / 2", "residual with K, at least",
                   "residual with K, fitted",
                   "residual with K (K + 1) / 2, fitted",
                   "residual with one less than K (K + 1) / 2, at least",
                   "residual with K, planted partition"),
                  tuple(_family_row(K, family[K]) for K in BLOCKS), part="families"),
        ),
        (picture(run, _numbers(arrows, gaps, same, family, draws)),),
        "Below, *no* after *is a* stands for models that are none of the kind: the difference is "
        "then a lower bound over all models of that kind, the smallest over the draws. n is 20 to "
        "30, K and d are 2 to 4. Residuals of families are relative Frobenius norms, means over "
        f"{families} families of K (K + 1) graphs. Theorem 2.1 is in *theory*.",
    )  # fmt: skip


def _holds(one: dict[str, Any]) -> bool:
    return bool(
        max(one["probability"]) <= PROBABILITY and max(one["likelihood"]) <= LIKELIHOOD
    )  # fmt: skip


def _kept(one: dict[str, Any]) -> bool:
    """Tell whether an arrow holds in all draws, with what the paper promises of its end."""
    return _holds(one) and one["kept"] == len(one["probability"])


def _apart(one: dict[str, Any]) -> int:
    """Count the draws that are refused and shown to be apart from all of the target."""
    return sum(
        refused and x > PROBABILITY for refused, x in zip(one["refused"], one["least"], strict=True)
    )


def _arrow_rows(arrows: list[Any]) -> tuple[tuple[str | int | float, ...], ...]:
    return tuple(
        ("one graph", arrow.source, arrow.target, len(one["probability"]),
         max(one["probability"]), max(one["likelihood"]), "holds" if _kept(one) else "fails")
        for arrow, one in zip(ARROWS, arrows, strict=True)
    )  # fmt: skip


def _gap_rows(gaps: list[Any], draws: int) -> tuple[tuple[str | int | float | None, ...], ...]:
    return tuple(
        ("one graph", gap.source, f"no {gap.target}", draws,
         min((x for x in one["least"] if x > PROBABILITY), default=None), None,
         f"holds in {_apart(one)}")
        for gap, one in zip(GAPS, gaps, strict=True)
    )  # fmt: skip


def _many_rows(same: list[Any]) -> tuple[tuple[str | int | float | None, ...], ...]:
    inside = tuple(
        ("many graphs", f"{name}, i.i.d.", "MREG, equal loadings", len(one["probability"]),
         max(one["probability"]), max(one["likelihood"]), "holds" if _holds(one) else "fails")
        for name, one in zip(SAME_FOR_ALL, same, strict=True)
    )  # fmt: skip
    spread = [x for one in same for x in one["spread"]]
    outside = ("many graphs", "MREG, loadings that differ", "no i.i.d. model", len(spread),
               min(spread), None, f"holds in {sum(x > PROBABILITY for x in spread)}")  # fmt: skip
    return (*inside, outside)


def _family_row(K: int, found: list[Any]) -> tuple[str | int | float, ...]:
    dimensions = sorted({one["dimension"] for one in found})
    return (
        K, K * (K + 1) // 2, ", ".join(map(str, dimensions)), max(one["exact"] for one in found),
        float(np.mean([one["least"] for one in found])),
        float(np.mean([one["fitted"][str(K)] for one in found])),
        max(one["fitted"][str(K * (K + 1) // 2)] for one in found),
        float(np.mean([one["last"] for one in found])), max(one["planted"] for one in found),
    )  # fmt: skip


def _one_graph(
    arrows: list[Any], gaps: list[Any], freed: list[Any], draws: int
) -> tuple[Finding, ...]:
    worst = max(max(one["probability"]) for one in arrows)
    likelihood = max(max(one["likelihood"]) for one in arrows)
    good = all(_kept(one) for one in arrows)
    by_name = {(g.source, g.target): one for g, one in zip(GAPS, gaps, strict=True)}
    indefinite = [by_name[source, "RDPG"] for source in ("SBM, B indefinite", "MREG")]
    others = [one for gap, one in zip(GAPS, gaps, strict=True) if gap.target != "RDPG"]
    refused = sum(sum(one["refused"]) for one in indefinite)
    apart = sum(_apart(one) for one in indefinite)
    strict = all(_apart(one) == draws for one in others) and apart > 0
    return (
        Finding(
            "one graph: ER is a 1-block SBM; SBM with psd B is an RDPG with at most K distinct "
            "positions; RDPG is an MREG by its columns; SBM is an MREG with d <= K; IER, MREG with "
            "d = n and SBM with n blocks are the same",
            f"{len(ARROWS)} conversions, {draws} random models each: probabilities within "
            f"{worst:.0e}, log-likelihoods of sampled graphs within {likelihood:.0e}",
            "reproduced" if good else "differs",
            "every conversion keeps the distribution and has the dimensions that are promised"
            if good
            else "a conversion fails: see the table",
        ),
        Finding(
            "one graph: an MREG or SBM with an indefinite matrix is not necessarily an RDPG; the "
            "inclusions are strict",
            f"the conversion to RDPG is refused in {refused} of {2 * draws} indefinite models; in "
            f"{apart} no RDPG comes near, whatever its diagonal (the rest: next row); the other "
            f"strict inclusions hold in {sum(_apart(one) for one in others)} of "
            f"{len(others) * draws}",
            "reproduced" if strict else "differs",
            "lower bounds over all models of the smaller kind are above zero, for example by the "
            "negative eigenvalues of P with ones on its diagonal"
            if strict
            else "a model was not set apart from the smaller kind: see the table",
        ),
        Finding(
            "an indefinite matrix makes an SBM no RDPG (reading the caption as a condition)",
            "SBMs of two blocks, B indefinite, are RDPGs all the same in "
            + ", ".join(f"{one['count']}" for one in freed)
            + f" of {draws} draws with n = " + ", ".join(str(2 * size) for size in HALVES)
            + f" (probabilities within {max(one['error'] for one in freed):.0e})",
            "new",
            "loops are ignored, so the diagonal is free: P is that of an RDPG if and only if it is "
            "psd with ones on the diagonal, which small graphs often are. Being psd with its own "
            "diagonal is what an RDPG with only K distinct positions needs",
        ),
    )  # fmt: skip


def _many_graphs(same: list[Any], family: dict[int, list[Any]], draws: int) -> tuple[Finding, ...]:
    spread = [x for one in same for x in one["spread"]]
    good = all(_holds(one) for one in same) and min(spread) > PROBABILITY
    needs = {K: sorted({one["dimension"] for one in found}) for K, found in family.items()}
    exact = max(one["exact"] for found in family.values() for one in found)
    least = {K: min(one["least"] for one in found) for K, found in family.items()}
    corrected = all(needs[K] == [K * (K + 1) // 2] for K in BLOCKS) and exact < PROBABILITY
    return (
        Finding(
            "many graphs: i.i.d. ER, SBM and RDPG are MREG with equal loadings, and MREG with "
            "loadings that differ are more",
            f"log-likelihoods within {max(max(one['likelihood']) for one in same):.0e} in "
            f"{len(same) * draws} samples; graphs with other loadings have probabilities at least "
            f"{min(spread):.2g} from any common P",
            "reproduced" if good else "differs",
            "loadings as parameters, as in the caption; drawn from F, the graphs are i.i.d. again, "
            "with edges that depend on each other",
        ),
        Finding(
            "a d dimensional MREG can represent any SBM with K <= d blocks, memberships in common "
            "and connectivity matrices B_i",
            "dimensions needed for K = " + ", ".join(map(str, BLOCKS)) + ": "
            + ", ".join("/".join(map(str, needs[K])) for K in BLOCKS)
            + f" (then exact, residual {exact:.0e}); with d = K at least "
            + ", ".join(f"{least[K]:.1%}" for K in BLOCKS) + " of the norm is left",
            "differs" if corrected else "reproduced",
            "the B_i of K blocks span K (K + 1) / 2 dimensions and H diag(lambda) H^T only d. "
            "One term for each block and one for each pair of blocks do it; K are enough if the "
            "B_i share eigenvectors, as p_i within and q_i between equal blocks do "
            f"(residual {max(one['planted'] for found in family.values() for one in found):.0e})",
        ),
    )  # fmt: skip


def _numbers(
    arrows: list[Any], gaps: list[Any], same: list[Any], family: dict[int, list[Any]], draws: int
) -> dict[int, tuple[int, int]]:
    """Return for each number in the picture how many of how many draws lie in its region."""
    inside = {1: (0, 1), 2: (2,), 3: (4,), 4: (3,), 5: (6,), 6: (7, 8)}
    numbers = {}
    for region, which in inside.items():
        held = draws if all(_kept(arrows[i]) for i in which) else 0
        numbers[region] = (min([held, *(_apart(gaps[i]) for i in APART.get(region, ()))]), draws)
    drawn = [x for x, name in zip(same, SAME_FOR_ALL, strict=True) if name != "IER"]
    numbers[7] = (sum(len(x["likelihood"]) for x in drawn if _holds(x)), draws * len(drawn))
    spread = [x > PROBABILITY for one in same for x in one["spread"]]
    numbers[8] = (sum(spread), len(spread))
    every = [one for found in family.values() for one in found]
    numbers[9] = (sum(one["planted"] <= PROBABILITY for one in every), len(every))
    numbers[10] = (sum(one["last"] > PROBABILITY >= one["exact"] for one in every), len(every))
    return numbers
