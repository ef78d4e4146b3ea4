"""Connectomes of 30 people, each scanned ten times within a month (HNU1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eigengraphs.datasets import published_files as published
from eigengraphs.stack import GraphStack

N_VERTICES = 70
# Sorted by subject, then by session as a number: 2 before 10.
SCANS = [(subject, session) for subject in range(25427, 25457) for session in range(1, 11)]


@dataclass(frozen=True, repr=False, eq=False)
class HNU1(published.Published):
    """Connectomes of 30 people in ten sessions each, on 70 regions of the Desikan atlas.

    Attributes
    ----------
    graphs : GraphStack
        300 undirected hollow graphs on 70 vertices. A weight is a number of fibers, a whole
        number kept as float64. Graphs are named as ``"sub-0025427_ses-1"``; vertices
        ``"region-1"`` to ``"region-70"``, as the source counts them.
    subjects : ndarray of str, shape (300,)
        Participant, such as ``"sub-0025427"``; sorted, ten of each.
    sessions : ndarray of int, shape (300,)
        1 to 10 within each subject, in this order.
    hemispheres : ndarray of str, shape (70,)
        ``"R"`` for the first 35 regions, ``"L"`` for the others.
    citation, license, source : str
        What to cite, the terms, and where the files come from.

    Examples
    --------
    With the published files, which are downloaded where absent:

    >>> import eigengraphs as eg
    >>> data = eg.datasets.fetch_hnu1()  # doctest: +SKIP
    >>> data.graphs.shape, str(data.subjects[0]), str(data.hemispheres[0])  # doctest: +SKIP
    ((300, 70, 70), 'sub-0025427', 'R')
    """

    graphs: GraphStack
    subjects: published.Names
    sessions: NDArray[np.intp]
    hemispheres: published.Names


def fetch_hnu1(*, data_folder: published.Folder = None, download: bool = True) -> HNU1:
    """Fetch the HNU1 diffusion connectomes: 30 subjects, ten sessions each, 70 regions.

    Parameters
    ----------
    data_folder : path, optional
        Folder with the files, or for them: by default that of the environment variable
        ``EIGENGRAPHS_DATA``, else the user's cache.
    download : bool
        Whether absent files (300, 3 MB in all) may be downloaded. Every file's SHA-256 is checked.

    Returns
    -------
    HNU1
        Graphs, subjects, sessions, hemispheres, citation, license and source. Arrays are
        read-only.

    Examples
    --------
    With the published files, which are downloaded where absent:

    >>> import eigengraphs as eg
    >>> data = eg.datasets.fetch_hnu1()  # doctest: +SKIP
    >>> data  # doctest: +SKIP
    HNU1(300 undirected graphs on 70 vertices)
    """
    subjects = [f"sub-{subject:07d}" for subject, _ in SCANS]
    names = [f"{name}_ses-{scan[1]}" for name, scan in zip(subjects, SCANS, strict=True)]
    edge_lists = published.read_files(
        [f"hnu1/{name}_dwi_desikan.ssv" for name in names],
        data_folder=data_folder,
        download=download,
    )
    return HNU1(
        graphs=GraphStack(
            _adjacency(edge_lists),
            graph_names=names,
            vertex_names=[f"region-{s}" for s in range(1, N_VERTICES + 1)],
            copy=False,
        ),
        subjects=np.array(subjects),
        sessions=np.array([session for _, session in SCANS], dtype=np.intp),
        hemispheres=np.repeat(["R", "L"], N_VERTICES // 2),
    )


def _adjacency(edge_lists: list[bytes]) -> NDArray[np.float64]:
    """Return A, shape (m, n, n), from lines "s t weight", counted from 1, each pair once."""
    A = np.zeros((len(edge_lists), N_VERTICES, N_VERTICES))
    for graph, edges in zip(A, edge_lists, strict=True):
        s, t, weights = np.array(list(map(int, edges.split()))).reshape(-1, 3).T
        graph[s - 1, t - 1] = graph[t - 1, s - 1] = weights
    return A
