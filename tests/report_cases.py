"""Embeddings of every size and kind that a report must be readable for."""

import warnings
from dataclasses import replace

import numpy as np
from payloads import PAYLOADS
from scipy import sparse

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.report import summarize
from eigengraphs.report.records import (
    Finding,
    GraphQuality,
    Intervals,
    MethodScore,
    Prediction,
    Problem,
)


def fitted(graphs, d, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some are degenerate on purpose
        return JointEmbedding(d, random_state=0, **settings).fit(graphs)


def random_graphs(m, n, seed=0, **names):
    """Return symmetric weights with two blocks, in different strengths."""
    rng = np.random.default_rng(seed)
    blocks = np.sign(np.arange(n) - n / 2 + 0.5)
    A = 1.0 + rng.random((m, 1, 1)) * np.outer(blocks, blocks) + 0.3 * rng.normal(size=(m, n, n))
    A = (A + A.transpose(0, 2, 1)) / 2
    A[:, np.arange(n), np.arange(n)] = 0
    return GraphStack(A, **names)


def small(**more):
    """Twelve graphs with columns of both kinds, coordinates in space and an order."""
    graphs = random_graphs(
        12, 14,
        graph_names=[f"sub-{i:02d}" for i in range(12)],
        vertex_names=[f"region {s}" for s in range(14)],
    )  # fmt: skip
    given = {
        "title": "Twelve graphs",
        "columns": {
            "group": ["patient", "control", "carrier"] * 4,
            "age": [None, *np.linspace(20, 75, 11)],
        },
        "label": "group",
        "coordinates": np.random.default_rng(1).normal(size=(14, 3)),
        "ordered": True,
        "problems": [Problem("refused", "sub-99 has 3 vertices, expected 14")],
        "prediction": Prediction(
            "group",
            (MethodScore("joint embedding", 0.9, 0.05, 42), MethodScore("PCA", 0.7)),
            1 / 3,
            "Each graph left out once.",
        ),
    }
    embedding = fitted(graphs, 3)
    summary = summarize(embedding, graphs, **(given | more))
    return embedding, graphs, replace(summary, findings=(asked(),))


def asked():
    """Return what a later command would have found."""
    return Finding(
        "compare group", "Groups by component", ("The groups differ in component 2.",),
        ("component", "difference", "low", "high", "p"),
        (("je1", 0.1, -0.2, 0.4, 0.6), ("je2", 2.5, 1.0, 4.0, 0.001), ("je3", None, None, None, 1)),
        Intervals(1, 2, 3, 0.0, "difference of means"), (PAYLOADS[1],),
    )  # fmt: skip


def of_random(m, n, d, **given):
    graphs = random_graphs(m, n)
    return summarize(fitted(graphs, d), graphs, title=f"{m} graphs, {d} components", **given)


def many_graphs(m=2000):
    columns = {
        "site": np.arange(m) % 9,
        "age": np.random.default_rng(2).uniform(18, 90, m),
        "identifier": [f"participant number {i}" for i in range(m)],
    }
    return of_random(m, 16, 4, columns=columns, ordered=True)


def many_vertices(n=2000):
    rng = np.random.default_rng(3)
    graphs = []
    blocks = np.arange(n) * 3 // n
    for i in range(4):
        A = sparse.random_array((n, n), density=0.02, rng=rng, format="coo")
        s, t = A.coords
        same = (blocks[s] == blocks[t]) & (rng.random(len(s)) < 0.3 + 0.2 * ((blocks[s] + i) % 3))
        B = sparse.csr_array((A.data[same], (s[same], t[same])), shape=(n, n))
        graphs.append(B + B.T)
    names = [f"vertex {s}" for s in range(n)]
    stack = GraphStack(graphs, storage="sparse", vertex_names=names)
    embedding = fitted(stack, 3)
    place = rng.uniform(size=(n, 2))
    return summarize(embedding, stack, title=f"{n} vertices", coordinates=place)


def long_names():
    tail = "_of_the_left_superior_temporal_gyrus" * 12
    graphs = random_graphs(
        30, 20,
        graph_names=[f"subject-{i}{tail}" for i in range(30)],
        vertex_names=[f"region-{s}{tail}" for s in range(20)],
    )  # fmt: skip
    columns = {f"column {c}{tail}": [f"value {i % 3}{tail}" for i in range(30)] for c in range(6)}
    columns["sentence"] = ["many words that go on and on " * 20] * 30
    return summarize(
        fitted(graphs, 3), graphs, title=f"Names{tail}", columns=columns, label=next(iter(columns))
    )


def with_payloads():
    """Names with code in them, and with marks of other scripts, wherever there are names."""
    n = len(PAYLOADS)
    graphs = random_graphs(n, n, graph_names=PAYLOADS, vertex_names=PAYLOADS)
    found = Finding(
        "compare group", PAYLOADS[0], tuple(PAYLOADS[:3]), (PAYLOADS[9], *PAYLOADS[3:6]),
        tuple((text, 1.0, 0.5, 2.0) for text in PAYLOADS), Intervals(1, 2, 3, 0.0, PAYLOADS[15]),
        tuple(PAYLOADS), PAYLOADS[1],
    )  # fmt: skip
    made = summarize(
        fitted(graphs, 2), graphs, title=PAYLOADS[2], ordered=True,
        vertex_columns={PAYLOADS[10]: (PAYLOADS[9], PAYLOADS[15]) * (n // 2)},
        quality=[GraphQuality(text, text, messages=(text,)) for text in PAYLOADS],
        methods="\n\n".join(PAYLOADS), provenance=dict(zip(PAYLOADS, PAYLOADS, strict=True)),
        columns={PAYLOADS[0]: PAYLOADS, "Ünïcode ✓ 脳": (PAYLOADS[9], PAYLOADS[15]) * (n // 2),
                 PAYLOADS[13]: np.arange(n)},
        label="Ünïcode ✓ 脳",
        coordinates=np.random.default_rng(0).normal(size=(n, 3)),
        problems=[Problem("refused", text) for text in PAYLOADS],
        prediction=Prediction(PAYLOADS[1], (MethodScore(PAYLOADS[5], 0.5),), 0.5, PAYLOADS[16],
                              tuple(PAYLOADS[:9])),
    )  # fmt: skip
    return replace(made, findings=(found,))


def directed():
    rng = np.random.default_rng(4)
    graphs = GraphStack(rng.random((6, 15, 15)))
    return summarize(fitted(graphs, 2, directed=True), graphs, title="Directed graphs")


def with_troubles():
    """Graphs of one pattern alone, with more components than there are."""
    h = np.arange(1.0, 9.0)
    graphs = np.array([np.outer(h, h), 2 * np.outer(h, h), 3 * np.outer(h, h)])
    embedding = fitted(graphs, 3, diagonal="observed")
    return embedding, summarize(embedding, graphs, title="Nothing left")


CASES = {
    "one component": lambda: of_random(10, 12, 1),
    "two graphs": lambda: of_random(2, 9, 2, columns={"sex": ["f", "m"]}),
    "2000 graphs": many_graphs,
    "2000 vertices": many_vertices,
    "long names": long_names,
    "payloads": with_payloads,
    "directed": directed,
    "troubles": lambda: with_troubles()[1],
    "small": lambda: small()[2],
}
