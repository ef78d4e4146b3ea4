"""Connectomes of 32 mice of four strains, on one set of 332 brain regions."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from eigengraphs.datasets.published_files import Names, Published, ReadOnly
from eigengraphs.stack import GraphStack


@dataclass(frozen=True, repr=False, eq=False)
class MouseRegions(ReadOnly):
    """The brain regions that the mice share, in the order of the vertices.

    Attributes
    ----------
    names : ndarray of str, shape (332,)
        Abbreviation and hemisphere, such as ``"A24a_L"``; unique.
    structures, abbreviations : ndarray of str, shape (332,)
        Long and short name in the atlas, the same on both sides of the brain.
    hemispheres : ndarray of str, shape (332,)
        ``"L"`` for the first 166 regions, ``"R"`` for the same regions again.
    blocks : ndarray of str, shape (332,)
        One of seven superstructures, such as ``"isocortex"`` or ``"white_matter"``.
    levels : ndarray of str, shape (332, 4)
        Levels 1 (coarse) to 4 (fine) of the atlas; empty where the atlas gives none.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> regions = eg.datasets.load_mice().regions
    >>> regions
    MouseRegions(332 regions, 2 hemispheres, 7 blocks)
    >>> str(regions.names[0]), str(regions.blocks[0]), regions.levels.shape
    ('A24a_L', 'isocortex', (332, 4))
    """

    names: Names
    structures: Names
    abbreviations: Names
    hemispheres: Names
    blocks: Names
    levels: Names

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        n_blocks = len(np.unique(self.blocks))
        return f"MouseRegions({len(self)} regions, 2 hemispheres, {n_blocks} blocks)"


@dataclass(frozen=True, repr=False, eq=False)
class Mice(Published):
    """The mouse connectomes with all that is known of mice and regions.

    Attributes
    ----------
    graphs : GraphStack
        32 undirected hollow graphs on 332 vertices. A weight is a number of fiber
        streamlines, a whole number kept as float64. Graphs are named by ``subjects``,
        vertices by ``regions.names``.
    genotypes : ndarray of str, shape (32,)
        ``"B6"``, ``"BTBR"``, ``"CAST"`` or ``"DBA2"``, eight of each.
    sexes : ndarray of str, shape (32,)
        ``"female"`` or ``"male"``, four of each within a genotype.
    subjects : ndarray of str, shape (32,)
        Participant, such as ``"sub-54776"``.
    regions : MouseRegions
        Names and atlas levels of the vertices.
    citation, license : str
        The study to cite, and the terms of the data.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> mice = eg.datasets.load_mice()
    >>> mice.graphs.shape, str(mice.sexes[0]), str(mice.subjects[0])
    ((32, 332, 332), 'male', 'sub-54776')
    """

    graphs: GraphStack
    genotypes: Names
    sexes: Names
    subjects: Names
    regions: MouseRegions

    def __repr__(self) -> str:
        genotypes, counts = np.unique(self.genotypes, return_counts=True)
        strains = ", ".join(
            f"{count} {name}" for name, count in zip(genotypes, counts, strict=True)
        )
        return f"Mice({len(self.subjects)} graphs on {len(self.regions)} regions: {strains})"


def load_mice() -> Mice:
    """Load the connectomes of 32 mice: 332 regions, four genotypes of eight mice.

    Nothing is downloaded. The file, its provenance and its license are in
    ``eigengraphs/datasets/data``.

    Returns
    -------
    Mice
        Graphs, genotypes, sexes, subjects, regions, citation and license. Arrays are
        read-only.

    Examples
    --------
    >>> from eigengraphs.datasets import load_mice
    >>> mice = load_mice()
    >>> mice
    Mice(32 graphs on 332 regions: 8 B6, 8 BTBR, 8 CAST, 8 DBA2)
    >>> str(mice.genotypes[0]), str(mice.regions.names[0])
    ('DBA2', 'A24a_L')
    """
    with (
        as_file(files("eigengraphs.datasets") / "data" / "mice.npz") as path,
        np.load(path, allow_pickle=False) as bundle,
    ):
        fields: dict[str, NDArray[np.generic]] = {name: bundle[name] for name in bundle.files}

    def names(field: str) -> Names:
        return fields[field].astype(np.str_)

    abbreviations, hemispheres = names("abbreviations"), names("hemispheres")
    regions = MouseRegions(
        names=np.strings.add(np.strings.add(abbreviations, "_"), hemispheres),
        structures=names("structures"),
        abbreviations=abbreviations,
        hemispheres=hemispheres,
        blocks=names("blocks"),
        levels=names("levels"),
    )
    subjects = names("subjects")
    return Mice(
        graphs=GraphStack(
            _adjacency(fields["weight_bytes"].astype(np.uint32), n=len(regions)),
            graph_names=subjects.tolist(),
            vertex_names=regions.names.tolist(),
        ),
        genotypes=names("genotypes"),
        sexes=names("sexes"),
        subjects=subjects,
        regions=regions,
    )


def _adjacency(planes: NDArray[np.uint32], n: int) -> NDArray[np.float64]:
    """Return A, shape (m, n, n), from the bytes of its upper triangle, (3, n(n-1)/2, m)."""
    weights = planes[0] | planes[1] << 8 | planes[2] << 16
    s, t = np.triu_indices(n, k=1)
    A = np.zeros((weights.shape[1], n, n))
    A[:, s, t] = A[:, t, s] = weights.T
    return A
