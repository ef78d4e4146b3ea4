"""``eigengraphs demo``: embed 32 mouse brains, or write them as files to try commands on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from eigengraphs import io
from eigengraphs.baselines import VectorizedPCA
from eigengraphs.cli.command_options import Demo
from eigengraphs.cli.results_folder import by_component, write_columns
from eigengraphs.cli.terminal import Listener, Outcome
from eigengraphs.datasets import Mice, load_mice
from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.fitting.messages import explained_of
from eigengraphs.plot.three_panels import embedding_figure
from eigengraphs.report import MethodScore, Prediction, Summary, summarize, write_report
from eigengraphs.report.input_quality import describe_graphs
from eigengraphs.stack import GraphStack
from eigengraphs.system.labels import count_of
from eigengraphs.system.whole_files import (
    output_folder,
    replace_together,
    scratch_folder,
    whole_folder,
)

__all__ = ["demo"]

# What the demo writes, in the order in which it is worth a look.
FILES = ("report.html", "embedding.png", "loadings.tsv", "positions.tsv", "report.json")


def demo(asked: Demo, listen: Listener) -> Outcome:
    """Embed the mice and classify each; or write them as files."""
    mice = load_mice()
    if asked.files is not None:
        _write_files(mice, asked.files)
        said = f"wrote {asked.files}: 32 matrices and participants.tsv"
        return Outcome([said], {"files": [asked.files]})
    folder, graphs = output_folder(asked.output), mice.graphs.log1p()
    je = JointEmbedding(asked.components, center=True, random_state=asked.seed).fit(graphs)
    predicted = leave_one_out_predictions(
        je, graphs, mice.genotypes,
        lambda i: listen("predict", f"mouse {i + 1} of 32, held out", i + 1, 32),
    )  # fmt: skip
    accuracy = float(np.mean(predicted == mice.genotypes))
    title, regions = f"32 mouse brains in {asked.components} components", mice.regions
    with scratch_folder(folder / "demo") as scratch:
        write_columns(scratch / "loadings.tsv", {
            "subject": mice.subjects, "genotype": mice.genotypes, "sex": mice.sexes,
            "predicted_genotype": predicted, **by_component({"": je.loadings_}),
        })  # fmt: skip
        write_columns(scratch / "positions.tsv", {
            "region": regions.names, "structure": regions.structures,
            "hemisphere": regions.hemispheres, "block": regions.blocks,
            **by_component({"": je.latent_positions_}),
        })  # fmt: skip
        figure = embedding_figure(je, mice.genotypes.tolist(), regions.blocks.tolist(), title)
        figure.savefig(scratch / "embedding.png", dpi=150)
        write_report(_summary(mice, graphs, je, accuracy, title), scratch)
        replace_together([(scratch / name, folder / name) for name in FILES])
    share, files = float(je.explained_ratio_.sum()), [folder / name for name in FILES]
    text = [
        f"32 mouse brains, 332 regions, {count_of(asked.components, 'component')}",
        f"explained: {share:.1%} of {explained_of(je.center)}",
        f"converged: {'yes' if je.converged_ else 'no'}, {je.n_passes_} passes",
        f"genotype of the held-out mouse by its nearest neighbor: {accuracy:.1%} right",
        *(f"wrote {file}" for file in files),
    ]
    facts = {"explained": share, "converged": bool(je.converged_), "accuracy": accuracy,
             "files": files}  # fmt: skip
    return Outcome(text, facts)


def leave_one_out_predictions(
    embedding: Any,
    graphs: GraphStack,
    y: NDArray[Any],
    on_graph: Callable[[int], None] = lambda _: None,
) -> NDArray[Any]:
    """Predict the label of each graph from all others: embed those, project it, 1-NN.

    ``embedding`` is a :class:`~eigengraphs.JointEmbedding`, or any estimator like it; it is left
    as it is.
    """
    model = make_pipeline(clone(embedding), KNeighborsClassifier(n_neighbors=1))
    predictions = np.empty_like(y)
    for train, test in LeaveOneOut().split(y):
        predictions[test] = model.fit(graphs[train], y[train]).predict(graphs[test])
        on_graph(int(test[0]))
    return predictions


def _write_files(mice: Mice, folder: Path) -> None:
    """Write the mice as a study comes: one matrix per brain, and ``participants.tsv``.

    The folder must be absent, empty, or hold these files.
    """
    try:
        with whole_folder(folder) as temporary:
            io.write(mice.graphs, temporary, format="csv")
            columns = {"participant_id": mice.subjects, "genotype": mice.genotypes,
                       "sex": mice.sexes}  # fmt: skip
            write_columns(temporary / "participants.tsv", columns)
    except (FileExistsError, NotADirectoryError):
        raise InputError(
            f"{folder} exists and holds something else; give the name of a new folder"
        ) from None


def _summary(
    mice: Mice, graphs: GraphStack, embedding: JointEmbedding, accuracy: float, title: str
) -> Summary:
    """Return what the report shows, with the prediction by PCA beside ours."""
    d, n, m = embedding.n_components_, len(mice.regions), len(mice.subjects)
    peer = leave_one_out_predictions(VectorizedPCA(d), graphs, mice.genotypes)

    def score(name: str, right: float, n_parameters: int) -> MethodScore:
        # Agresti and Coull's: 32 right of 32 does not mean that there is no error.
        shrunk = (right * m + 2) / (m + 4)
        se = math.sqrt(shrunk * (1 - shrunk) / (m + 4))
        return MethodScore(name, right, se, n_parameters)

    classes, counts = np.unique(mice.genotypes, return_counts=True)
    found = summarize(
        embedding,
        graphs,
        title=title,
        columns={"genotype": mice.genotypes.tolist(), "sex": mice.sexes.tolist()},
        label="genotype",
        vertex_columns={
            "superstructure": mice.regions.blocks.tolist(),
            "hemisphere": mice.regions.hemispheres.tolist(),
            "structure": mice.regions.structures.tolist(),
        },
        quality=describe_graphs(mice.graphs),
        prediction=Prediction(
            "genotype",
            (
                score("joint embedding", accuracy, n * d),
                score("PCA", float(np.mean(peer == mice.genotypes)), n * (n - 1) // 2 * d),
            ),
            chance=float(counts.max() / m),
            protocol=(
                f"Each of the {m} mice was left out once; the others were embedded, the mouse was "
                "projected on their components, and the genotype of its nearest neighbor was "
                f"taken. PCA is that of all weights, with as many components ({d}). Standard "
                "errors are Agresti and Coull's."
            ),
            classes=tuple(classes.tolist()),
            n_graphs=m,
        ),
        provenance={
            "data": "mouse connectomes: streamline counts between 332 regions, log1p",
            "citation": mice.citation,
            "license": mice.licence,
        },
    )
    counts_first = "Weights are numbers of fiber streamlines, transformed by log(1 + number)."
    return replace(found, methods=f"{counts_first} {found.methods}")
