"""The main job on bundled data: embed 32 mouse brains, and leave something to look at."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from eigengraphs.baselines import VectorizedPCA
from eigengraphs.datasets import Mice, load_mice
from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.io import write
from eigengraphs.plot.three_panels import embedding_figure
from eigengraphs.report import MethodScore, Prediction, Summary, summarize, write_report
from eigengraphs.report.input_quality import describe_graphs
from eigengraphs.stack import GraphStack
from eigengraphs.system.tables import write_table
from eigengraphs.system.whole_files import (
    output_folder,
    replace_together,
    scratch_folder,
    whole_folder,
)

__all__ = ["DemoResult", "leave_one_out_predictions", "run_demo", "write_files"]

#: What the demo writes, in the order in which it is worth a look.
FILES = ("report.html", "embedding.png", "loadings.tsv", "positions.tsv", "report.json")


@dataclass(frozen=True)
class DemoResult:
    """What the demo found, and where it put it."""

    embedding: JointEmbedding
    accuracy: float
    files: tuple[Path, ...]


def leave_one_out_predictions(
    embedding: Any,
    graphs: GraphStack,
    y: NDArray[Any],
    on_graph: Callable[[int], None] = lambda _: None,
) -> NDArray[Any]:
    """Predict the label of each graph from all others: embed those, project it, 1-NN.

    ``embedding`` is a :class:`~eigengraphs.JointEmbedding`, or any estimator like it.
    """
    model = make_pipeline(clone(embedding), KNeighborsClassifier(n_neighbors=1))
    predictions = np.empty_like(y)
    for train, test in LeaveOneOut().split(y):
        predictions[test] = model.fit(graphs[train], y[train]).predict(graphs[test])
        on_graph(int(test[0]))
    return predictions


def run_demo(
    output: str | os.PathLike[str],
    n_components: int = 8,
    seed: int = 0,
    on_graph: Callable[[int], None] = lambda _: None,
) -> DemoResult:
    """Embed the mice (log1p weights, centred), and write tables, a picture and a report.

    Parameters
    ----------
    output
        Folder for ``loadings.tsv``, ``positions.tsv``, ``embedding.png``, ``report.html`` and
        ``report.json``.
    n_components
        Number of components, at least 2.
    seed
        Seed of the random starts.
    on_graph
        Called after each mouse that was held out and classified.
    """
    folder = output_folder(output)
    mice = load_mice()
    graphs = mice.graphs.log1p()
    embedding = JointEmbedding(n_components, center=True, random_state=seed).fit(graphs)
    predictions = leave_one_out_predictions(embedding, graphs, mice.genotypes, on_graph)
    accuracy = float(np.mean(predictions == mice.genotypes))

    title = f"32 mouse brains in {n_components} components"
    with scratch_folder(folder / "demo") as scratch:
        _write(scratch, mice, embedding, predictions, title)
        write_report(_summary(mice, graphs, embedding, accuracy, title), scratch)
        replace_together([(scratch / name, folder / name) for name in FILES])
    return DemoResult(embedding, accuracy, tuple(folder / name for name in FILES))


def write_files(folder: Path) -> Path:
    """Write the mice as a study comes: a matrix a brain, and ``participants.tsv`` about them.

    Parameters
    ----------
    folder
        Absent, an empty folder, or one with these files.

    Returns
    -------
    Path
        The folder.
    """
    mice = load_mice()
    try:
        with whole_folder(folder) as temporary:
            write(mice.graphs, temporary, format="csv")
            rows = zip(mice.subjects, mice.genotypes, mice.sexes, strict=True)
            write_table(
                temporary / "participants.tsv",
                ["participant_id", "genotype", "sex"],
                rows,
            )
    except (FileExistsError, NotADirectoryError):
        raise InputError(
            f"{folder} is there, with something else in it; give the name of a new folder"
        ) from None
    return folder


def _write(
    folder: Path, mice: Mice, embedding: JointEmbedding, predictions: NDArray[Any], title: str
) -> None:
    """Write both tables and the picture."""
    components = [f"je{k + 1}" for k in range(embedding.n_components_)]
    loadings = folder / "loadings.tsv"
    write_table(
        loadings,
        ["subject", "genotype", "sex", "predicted_genotype", *components],
        (
            [*row, *map(float, lam)]
            for *row, lam in zip(
                mice.subjects, mice.genotypes, mice.sexes, predictions, embedding.loadings_,
                strict=True,
            )
        ),
    )  # fmt: skip
    positions = folder / "positions.tsv"
    regions = mice.regions
    write_table(
        positions,
        ["region", "structure", "hemisphere", "block", *components],
        (
            [*row, *map(float, h)]
            for *row, h in zip(
                regions.names, regions.structures, regions.hemispheres, regions.blocks,
                embedding.latent_positions_, strict=True,
            )
        ),
    )  # fmt: skip
    figure = embedding_figure(embedding, mice.genotypes.tolist(), regions.blocks.tolist(), title)
    figure.savefig(folder / "embedding.png", dpi=150)


def _summary(
    mice: Mice, graphs: GraphStack, embedding: JointEmbedding, accuracy: float, title: str
) -> Summary:
    d, n, m = embedding.n_components_, len(mice.regions), len(mice.subjects)
    peer = leave_one_out_predictions(VectorizedPCA(d), graphs, mice.genotypes)

    def score(name: str, right: float, n_parameters: int) -> MethodScore:
        # Agresti and Coull's: 32 right of 32 does not mean that there is no error.
        shrunk = (right * m + 2) / (m + 4)
        se = float(np.sqrt(shrunk * (1 - shrunk) / (m + 4)))
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
                "projected on their components, and the genotype of its nearest neighbour was "
                f"taken. PCA is of all weights, with as many components ({d}). Standard errors are "
                "Agresti and Coull's."
            ),
            classes=tuple(classes.tolist()),
            n_graphs=m,
        ),
        provenance={
            "data": "mouse connectomes: streamline counts between 332 regions, log1p",
            "citation": mice.citation,
            "licence": mice.licence,
        },
    )
    counts_first = "Weights are numbers of fibre streamlines, taken as log(1 + number)."
    return replace(found, methods=f"{counts_first} {found.methods}")
