"""``eigengraphs demo``: embed 32 mouse brains, or write them as files to try commands on."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from eigengraphs import io
from eigengraphs.cli.command_options import Demo
from eigengraphs.cli.results_folder import by_component, write_columns, write_files
from eigengraphs.cli.terminal import Listener, Outcome, counting
from eigengraphs.datasets import Mice, load_mice
from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.fitting.messages import explained_of
from eigengraphs.inference import Evaluation, evaluate
from eigengraphs.report import MethodScore, Prediction, Summary, summarize
from eigengraphs.report.input_quality import describe_graphs
from eigengraphs.stack import GraphStack
from eigengraphs.system.labels import count_of
from eigengraphs.system.whole_files import output_folder, whole_folder


def demo(asked: Demo, listen: Listener) -> Outcome:
    """Embed the mice and classify each; or write them as files."""
    mice = load_mice()
    if asked.files is not None:
        _write_files(mice, asked.files)
        said = f"wrote {asked.files}: 32 matrices and participants.tsv"
        return Outcome([said], {"files": [asked.files]})
    output_folder(asked.output)
    graphs = mice.graphs.log1p()
    je = JointEmbedding(asked.components, center=True, random_state=asked.seed).fit(graphs)
    found = evaluate(
        graphs, mice.genotypes, embedding=je, methods="PCA", rules="1-NN", cv="loo",
        on_fold=counting(listen, "predict", "held-out mouse"),
    )  # fmt: skip
    accuracy, predicted = found.scores[0].score, np.empty_like(mice.genotypes)
    folds = zip(found.splits, found.predictions[found.scores[0].name], strict=True)
    for (_, held_out), labels in folds:
        predicted[held_out] = labels
    title, regions = f"32 mouse brains in {asked.components} components", mice.regions
    files = write_files(
        asked.output,
        {
            "loadings.tsv": {
                "subject": mice.subjects, "genotype": mice.genotypes, "sex": mice.sexes,
                "predicted_genotype": predicted, **by_component({"": je.loadings_}),
            },
            "positions.tsv": {
                "region": regions.names, "structure": regions.structures,
                "hemisphere": regions.hemispheres, "block": regions.blocks,
                **by_component({"": je.latent_positions_}),
            },
        },
        _summary(mice, graphs, je, found, title),
    )  # fmt: skip
    share = float(je.explained_ratio_.sum())
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
    mice: Mice, graphs: GraphStack, embedding: JointEmbedding, found: Evaluation, title: str
) -> Summary:
    """Return what the report shows, with the prediction by PCA beside ours."""
    *scores, chance = found.scores
    methods, m = [], found.n_graphs
    for way in scores:
        # Agresti and Coull's: 32 right of 32 does not mean that there is no error.
        shrunk = (way.score * m + 2) / (m + 4)
        se = math.sqrt(shrunk * (1 - shrunk) / (m + 4))
        methods.append(MethodScore(way.method, way.score, se, way.n_parameters))
    summary = summarize(
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
            tuple(methods),
            chance=chance.score,
            protocol=(
                f"Each of the {m} mice was left out once; the others were embedded, the mouse was "
                "projected on their components, and the genotype of its nearest neighbor, by the "
                "angle of standardized loadings, was taken. PCA is that of all weights, with as "
                f"many components ({embedding.n_components_}). Standard errors are Agresti and "
                "Coull's."
            ),
            classes=found.classes,
            n_graphs=m,
        ),
        provenance={
            "data": "mouse connectomes: streamline counts between 332 regions, log1p",
            "citation": mice.citation,
            "license": mice.license,
        },
    )
    counts_first = "Weights are numbers of fiber streamlines, transformed by log(1 + number)."
    return replace(summary, methods=f"{counts_first} {summary.methods}")
