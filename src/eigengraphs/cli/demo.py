"""``eigengraphs demo``: embed 32 mouse brains, or write them as files to try commands on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from eigengraphs.cli.shared_options import option
from eigengraphs.cli.terminal import say
from eigengraphs.errors import InputError
from eigengraphs.system.labels import count_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eigengraphs.datasets import Mice
    from eigengraphs.embedding import JointEmbedding
    from eigengraphs.report import Summary
    from eigengraphs.stack import GraphStack

__all__ = ["demo"]

# What the demo writes, in the order in which it is worth a look.
FILES = ("report.html", "embedding.png", "loadings.tsv", "positions.tsv", "report.json")


def demo(
    output: Annotated[Path, option("Folder for the tables, the picture and the page.")] = Path(
        "demo-output"
    ),
    components: Annotated[int, option("Number of components.", min=2)] = 8,
    seed: Annotated[int, option("Seed of the random starts.", min=0)] = 0,
    files: Annotated[
        Path | None, option("Only write the brains as files into this folder.", metavar="FOLDER")
    ] = None,
) -> None:
    """Embed 32 mouse brains, classify each by its nearest neighbor, write a report.

    Example: eigengraphs demo --output demo-output
    """
    if files is not None:
        write_files(files)
        say(f"wrote {files}: 32 matrices and participants.tsv")
        return
    import numpy as np
    from rich.console import Console
    from rich.progress import Progress

    from eigengraphs.datasets import load_mice
    from eigengraphs.embedding import JointEmbedding
    from eigengraphs.fitting.messages import explained_of
    from eigengraphs.report import write_report
    from eigengraphs.system.whole_files import output_folder, replace_together, scratch_folder

    folder = output_folder(output)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("32 mice, one held out at a time", total=32)
        mice = load_mice()
        graphs = mice.graphs.log1p()
        embedding = JointEmbedding(components, center=True, random_state=seed).fit(graphs)
        predicted = leave_one_out_predictions(
            embedding, graphs, mice.genotypes, lambda _: progress.advance(task)
        )
        accuracy = float(np.mean(predicted == mice.genotypes))
    title = f"32 mouse brains in {components} components"
    with scratch_folder(folder / "demo") as scratch:
        _write_tables(scratch, mice, embedding, predicted, title)
        write_report(_summary(mice, graphs, embedding, accuracy, title), scratch)
        replace_together([(scratch / name, folder / name) for name in FILES])
    say(f"32 mouse brains, 332 regions, {count_of(components, 'component')}")
    share = embedding.explained_ratio_.sum()
    say(f"explained: {share:.1%} of {explained_of(embedding.center)}")
    say(f"converged: {'yes' if embedding.converged_ else 'no'}, {embedding.n_passes_} passes")
    say(f"genotype of the held-out mouse by its nearest neighbor: {accuracy:.1%} right")
    for name in FILES:
        say(f"wrote {folder / name}")


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
    import numpy as np
    from sklearn.base import clone
    from sklearn.model_selection import LeaveOneOut
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(clone(embedding), KNeighborsClassifier(n_neighbors=1))
    predictions = np.empty_like(y)
    for train, test in LeaveOneOut().split(y):
        predictions[test] = model.fit(graphs[train], y[train]).predict(graphs[test])
        on_graph(int(test[0]))
    return predictions


def write_files(folder: Path) -> None:
    """Write the mice as a study comes: one matrix per brain, and ``participants.tsv``.

    The folder must be absent, empty, or hold these files.
    """
    from eigengraphs import io
    from eigengraphs.datasets import load_mice
    from eigengraphs.system.tables import write_table
    from eigengraphs.system.whole_files import whole_folder

    mice = load_mice()
    try:
        with whole_folder(folder) as temporary:
            io.write(mice.graphs, temporary, format="csv")
            rows = zip(mice.subjects, mice.genotypes, mice.sexes, strict=True)
            header = ["participant_id", "genotype", "sex"]
            write_table(temporary / "participants.tsv", header, rows)
    except (FileExistsError, NotADirectoryError):
        raise InputError(
            f"{folder} exists and holds something else; give the name of a new folder"
        ) from None


def _write_tables(
    folder: Path, mice: Mice, embedding: JointEmbedding, predicted: NDArray[Any], title: str
) -> None:
    """Write both tables and the picture."""
    from eigengraphs.plot.three_panels import embedding_figure
    from eigengraphs.system.tables import write_table

    components = embedding.get_feature_names_out().tolist()
    regions = mice.regions
    for name, columns, values in (
        ("loadings.tsv", {"subject": mice.subjects, "genotype": mice.genotypes, "sex": mice.sexes,
                          "predicted_genotype": predicted}, embedding.loadings_),
        ("positions.tsv", {"region": regions.names, "structure": regions.structures,
                           "hemisphere": regions.hemispheres, "block": regions.blocks},
         embedding.latent_positions_),
    ):  # fmt: skip
        rows = zip(*columns.values(), values.tolist(), strict=True)
        write_table(folder / name, [*columns, *components], ([*row, *x] for *row, x in rows))
    figure = embedding_figure(embedding, mice.genotypes.tolist(), regions.blocks.tolist(), title)
    figure.savefig(folder / "embedding.png", dpi=150)


def _summary(
    mice: Mice, graphs: GraphStack, embedding: JointEmbedding, accuracy: float, title: str
) -> Summary:
    """Return what the report shows, with the prediction by PCA beside ours."""
    import numpy as np

    from eigengraphs.baselines import VectorizedPCA
    from eigengraphs.report import MethodScore, Prediction, summarize
    from eigengraphs.report.input_quality import describe_graphs

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
            "license": mice.license,
        },
    )
    counts_first = "Weights are numbers of fiber streamlines, transformed by log(1 + number)."
    return replace(found, methods=f"{counts_first} {found.methods}")
