"""The published data sets hold what is known of them."""

from collections import Counter
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from eigengraphs.datasets import (
    MULTIPLEX,
    fetch_agri_trade,
    fetch_hnu1,
    fetch_us_airports,
    fetch_wiki,
    load_multiplex,
)
from eigengraphs.datasets.published_files import read_r
from eigengraphs.errors import DatasetError, InputError


def fixture(fetch):
    return pytest.fixture(lambda data_folder: fetch(data_folder=data_folder, download=False),
                          scope="module")  # fmt: skip


wiki, hnu1 = fixture(fetch_wiki), fixture(fetch_hnu1)
airports, trade = fixture(fetch_us_airports), fixture(fetch_agri_trade)


@pytest.mark.parametrize("name", ["wiki", "hnu1", "airports", "trade"])
def test_nothing_can_be_changed_and_source_and_terms_are_told(name, request):
    data = request.getfixturevalue(name)
    with pytest.raises(FrozenInstanceError):
        data.graphs = None
    arrays = [value for value in vars(data).values() if isinstance(value, np.ndarray)]
    assert len(arrays) >= 1
    assert not any(array.flags.writeable for array in arrays)
    assert data.source.startswith("https://github.com/")
    assert "20" in data.citation
    assert "none stated" in data.license or "GPL" in data.license


# ---------------------------------------------------------------------------------- wiki


def test_wiki_has_two_unweighted_graphs_with_the_known_numbers_of_edges(wiki):
    assert repr(wiki) == "Wiki(2 undirected graphs on 1382 vertices)"
    kinds = {"category": 119, "people": 372, "locations": 270, "dates": 191, "math": 430}
    assert Counter(wiki.labels.tolist()) == kinds
    graphs = wiki.graphs
    assert graphs.graph_names == ("EN", "FR")
    assert graphs.vertex_names[:2] == ("page-1", "page-2")
    facts = (graphs.is_directed, graphs.is_weighted, graphs.is_hollow, graphs.is_sparse)
    assert facts == (False, False, True, True)
    A = graphs.to_dense().dense
    assert (A.sum(axis=(1, 2)) / 2).tolist() == [18_857, 14_973]
    assert (A[0] * A[1]).sum() / 2 == 7_952
    assert (A.sum(axis=2) == 0).sum(axis=1).tolist() == [0, 59]


def test_wiki_counts_are_those_of_the_list_of_links_from_page_to_page(wiki, data_folder):
    tables = read_r("wiki/Wiki_orig.RData", data_folder=data_folder, download=False)
    assert wiki.counts.is_directed
    assert wiki.counts.is_hollow
    for i, language in enumerate(("en", "fr")):
        links = np.asarray(tables[f"ag{language}"], dtype=int) - 1
        written = np.zeros((1382, 1382))
        np.add.at(written, (links[:, 0], links[:, 1]), 1)
        assert np.array_equal(wiki.counts[i].toarray(), written)
        assert np.array_equal(written, np.asarray(tables[f"AG_wiki_{language}_mat"]))


def test_the_subset_of_the_paper_has_704_pages(wiki):
    subset = wiki.paper_subset()
    assert Counter(subset.labels.tolist()) == {"people": 328, "math": 376}
    assert repr(subset) == "Wiki(2 undirected graphs on 704 vertices)"
    A, C = (stack.to_dense().dense for stack in (subset.graphs, subset.counts))
    assert (A.sum(axis=2) > 0).all()
    assert np.array_equal(A, (C + C.transpose(0, 2, 1) > 0).astype(float))
    # The names tell which pages are left, and the labels and links are still theirs.
    pages = [wiki.graphs.vertex_names.index(name) for name in subset.graphs.vertex_names]
    assert subset.counts.vertex_names == subset.graphs.vertex_names
    assert np.array_equal(subset.labels, wiki.labels[pages])
    assert np.array_equal(C[1], wiki.counts[1].toarray()[np.ix_(pages, pages)])
    # Of the pages left out, every one has another kind, or no link to those of the two kinds.
    others = np.setdiff1d(np.arange(1382), pages)
    of_kind = np.isin(wiki.labels, ["people", "math"])
    links = np.array([graph.toarray()[others][:, of_kind].sum(axis=1) for graph in wiki.graphs])
    assert (~of_kind[others] | (links == 0).any(axis=0)).all()
    assert len(subset.paper_subset().labels) == 704


# ---------------------------------------------------------------------------------- hnu1


def test_regions_of_hnu1_come_right_then_left(hnu1, data_folder):
    table = np.loadtxt(data_folder / "hnu1" / "vertices.tsv", dtype=str, skiprows=1)
    assert table[:, 0].tolist() == [str(s) for s in range(1, 71)]
    assert hnu1.hemispheres.tolist() == table[:, 1].tolist() == ["R"] * 35 + ["L"] * 35


# ---------------------------------------------------------------------------------- airports


def test_airports_are_69_months_of_undirected_flights(airports):
    assert repr(airports) == ("USAirports(69 undirected graphs on 343 vertices)")
    graphs = airports.graphs
    assert graphs.shape == (69, 343, 343)
    assert graphs.is_hollow
    assert graphs.is_weighted
    assert graphs.graph_names == tuple(airports.months.astype(str))
    assert graphs.vertex_names == tuple(airports.airports)
    assert airports.months.dtype == np.dtype("datetime64[M]")
    assert (np.diff(airports.months) == np.timedelta64(1, "M")).all()
    assert airports.airports[[0, 1, -1]].tolist() == ["PIT", "ATL", "MWA"]


def test_directed_flights_are_those_of_the_file_and_undirected_ones_their_sum(
    airports, data_folder
):
    tables = read_r("us_airports/US_airport_data.RData", data_folder=data_folder, download=False)
    A = np.array([matrix.toarray() for matrix in tables["Adj_list"]])
    assert np.abs(A - A.transpose(0, 2, 1)).max() == 209
    assert np.trace(A, axis1=1, axis2=2).sum() == 530

    def dense(**settings):
        fetched = fetch_us_airports(data_folder=data_folder, download=False, **settings)
        assert fetched.graphs.is_directed == settings.get("directed", False)
        return fetched.graphs.to_dense().dense

    hollow = A * ~np.eye(343, dtype=bool)
    assert np.array_equal(dense(directed=True, loops=True), A)
    assert np.array_equal(dense(directed=True), hollow)
    assert np.array_equal(dense(), hollow + hollow.transpose(0, 2, 1))
    assert np.array_equal(dense(loops=True), hollow + hollow.transpose(0, 2, 1) + A - hollow)


def test_coordinates_are_longitude_then_latitude(airports):
    where = dict(zip(airports.airports.tolist(), airports.coordinates.tolist(), strict=True))
    assert where["JFK"] == pytest.approx([-73.78, 40.64], abs=0.01)
    assert where["LAX"] == pytest.approx([-118.41, 33.94], abs=0.01)
    assert airports.coordinates.shape == (343, 2)


# ---------------------------------------------------------------------------------- trade


def test_trade_is_symmetric_hollow_and_named(trade, data_folder):
    assert repr(trade) == "AgriTrade(13 undirected graphs on 145 vertices)"
    graphs = trade.graphs
    assert graphs.shape == (13, 145, 145)
    assert graphs.is_hollow
    assert not graphs.is_directed
    assert graphs.graph_names == tuple(trade.products)
    assert graphs.vertex_names == tuple(trade.countries)
    assert len(set(trade.countries)) == 145
    A = graphs.dense
    assert np.array_equal(A, np.round(A))
    assert (A[A > 0].min(), A.max()) == (1, 2_643_638)
    pairs = np.count_nonzero(A, axis=(1, 2)) / 2
    counts = dict(zip(trade.products.tolist(), pairs.tolist(), strict=True))
    assert (counts["Wine"], counts["Prepared foods"], counts["Tea"]) == (2459, 4380, 2188)
    tables = read_r("agri_trade/agri_trade.rda", data_folder=data_folder, download=False)
    table = tables["agri_trade"]
    for product, s, t in [("Wine", "France", "Germany"), ("Tea", "Kenya", "Pakistan")]:
        k = trade.products.tolist().index(product)
        i, j = (trade.countries.tolist().index(name) for name in (s, t))
        weight = float(table.sel(dim_0=s, dim_1=t, dim_2=product))
        assert A[k, i, j] == A[k, j, i] == weight > 0


# ---------------------------------------------------------------------------------- multiplex

#: Per set: vertices, pairs per graph, entries per directed graph, vertices without an edge.
KINDS = {
    "aarhus": (61, [193, 124, 21, 88, 194], [193, 124, 21, 88, 194], 0),
    "ckm": (246, [449, 498, 423], [480, 565, 506], 5),
    "celegans": (279, [514, 888, 1703], [1028, 1639, 3193], 0),
    "kapferer": (39, [158, 223, 76, 95], [316, 446, 109, 147], 0),
    "krackhardt": (21, [145, 79, 20], [190, 102, 20], 0),
    "vickers": (29, [240, 126, 152], [361, 181, 198], 0),
    "aucs": (61, [193, 124, 21, 88, 194], [386, 248, 42, 176, 388], 0),
    "celegans-neurons": (253, [1695, 514], [1882, 1028], 0),
}


@pytest.mark.parametrize("name", MULTIPLEX)
def test_multiplex_graphs_have_the_edges_of_their_files(name, data_folder):
    graphs, arcs = (
        load_multiplex(name, directed=way, data_folder=data_folder, download=False).graphs
        for way in (False, True)
    )
    A, B = (stack.to_dense().dense for stack in (graphs, arcs))
    n, pairs, entries, alone = KINDS[name]
    assert not graphs.is_directed
    assert A.shape[1] == n == len(set(graphs.vertex_names))
    assert (np.count_nonzero(A, axis=(1, 2)) // 2).tolist() == pairs
    assert np.count_nonzero(B, axis=(1, 2)).tolist() == entries
    assert np.array_equal(A, np.maximum(B, B.transpose(0, 2, 1)))
    assert np.count_nonzero(A.sum(axis=(0, 2)) == 0) == alone
    assert graphs.is_hollow


def test_multiplex_classes_are_those_of_their_vertices(data_folder):
    people, neurons = (
        load_multiplex(name, data_folder=data_folder, download=False)
        for name in ("aucs", "celegans-neurons")
    )
    assert Counter(neurons.labels.tolist()) == {"1": 110, "2": 76, "3": 67}
    group = dict(zip(people.graphs.vertex_names, people.labels.tolist(), strict=True))
    assert (group["U1"], group["U4"], group["U33"], group["U140"]) == ("G1", "G2/G3", "NA", "G8")
    same = load_multiplex("aarhus", data_folder=data_folder, download=False).graphs
    assert same.graph_names[2] == "coauthor"
    assert (
        repr(people) == "Multiplex(aucs: lunch, facebook, coauthor, leisure, work on 61 vertices)"
    )


def test_multiplex_refuses_an_unknown_set_and_files_of_no_known_address(tmp_path):
    with pytest.raises(InputError, match="no multiplex set 'ucla'; there are: aarhus"):
        load_multiplex("ucla")
    with pytest.raises(DatasetError, match=r"no address of multiplex/CKM.edges is known; put"):
        load_multiplex("ckm", data_folder=tmp_path)
