"""``eigengraphs read``: what the components of a fit are, and which replicate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from eigengraphs.cli.command_options import Read
from eigengraphs.cli.input_files import Inputs
from eigengraphs.cli.results_folder import FinishedFit
from eigengraphs.cli.terminal import Listener, Outcome, counting, written
from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.inference import ComponentReading, read_components, structure
from eigengraphs.report.records import Finding
from eigengraphs.system.labels import component_column, component_name, count_of

_NAMED = 5  # vertices, pairs and graphs in a table


def read(asked: Read, listen: Listener) -> Outcome:
    """Describe the components of a fit, and test them on halves of its graphs."""
    fit = FinishedFit(asked.folder)
    data = fit.inputs(asked.graphs, listen)
    finding, told = reading_finding(fit.embedding, data, listen, asked.splits)
    files = fit.add(finding, "read-components.tsv")
    text, facts = [], []
    for k, one in enumerate(told):
        sides = [", ".join(name for name, _ in side[:3]) for side in (one.high, one.low) if side]
        text.append(
            f"{component_name(k)}: {one.verdict} (explains {one.explained:.1%}, replicability "
            f"{one.replicability:.2f}); vertices {' against '.join(sides)}"
        )
        facts.append({"component": component_column(k), **asdict(one), "verdict": one.verdict})
        del facts[k]["number"]
    return Outcome([*text, written(files)], {"components": facts, "files": files})


def _owners(embedding: JointEmbedding, data: Inputs) -> tuple[str, ...]:
    """Say which components are of some graphs alone, where standard errors of loadings tell."""
    try:
        found = structure(embedding, data.graphs)
    except InputError:
        return ()
    return tuple(text for text in found.words if "alone" in text or "single" in text)


def reading_finding(
    embedding: JointEmbedding, data: Inputs, listen: Listener, splits: int = Read.splits
) -> tuple[Finding, tuple[ComponentReading, ...]]:
    """Return what there is to say about components, as a table of a report."""
    told = read_components(
        embedding, data.graphs, most=_NAMED, n_splits=splits, groups=data.participants,
        on_split=counting(listen, "halves", "components on halves of the graphs,"),
    )  # fmt: skip
    good = [str(one.number) for one in told if one.verdict == "replicates"]
    which = f": {', '.join(good)}" if 0 < len(good) < len(told) else ""
    words = (
        f"{len(good)} of {count_of(len(told), 'component')} "
        f"{'replicates' if len(good) == 1 else 'replicate'} on halves of the graphs{which}."
    )
    together = " Graphs of one participant are in the same half." if data.participants else ""

    def names(pairs: Sequence[tuple[str, float]]) -> str:
        return ", ".join(name for name, _ in pairs)

    finding = Finding(
        key="read",
        title="What the components are, and which replicate",
        words=(words, *_owners(embedding, data)),
        header=(
            "component", "explained", "spread over vertices", "replicability", "p (chance)",
            "p (noise)", "verdict", "one side", "other side", "strongest pairs", "most in",
            "least in",
        ),
        rows=tuple(
            (component_column(k), one.explained, one.spread, one.replicability,
             one.p_not_replicated, one.p_noise, one.verdict, names(one.high), names(one.low),
             ", ".join(f"{a} – {b}" for a, b, _ in one.pairs), names(one.most), names(one.least))
            for k, one in enumerate(told)
        ),
        notes=(
            "Replicability: mean cosine between the positions found in two random halves of the "
            f"graphs, over {splits} halvings. p (chance): probability of such agreement for random "
            "signs. p (noise): probability of such loadings if they were noise around zero in the "
            f"held-out half; not computed for directed or incomplete graphs.{together}",
            "A component that is not shown to replicate may be real, but halves of the graphs find "
            "another pattern for it, or are too few to tell: do not interpret it alone. One that "
            "looks like noise is found again, but its loadings are no larger than noise (both p "
            "are 1); weak patterns may look like this, too.",
            "Spread: 1 / sum of h^4, from 1 for a single vertex to the number of vertices.",
        ),
    )  # fmt: skip
    return finding, told
