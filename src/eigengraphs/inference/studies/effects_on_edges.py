"""Which edges, regions and pairs of networks carry an effect on loadings.

The weights that a fit reconstructs, H diag(lam_i) G^T, are linear in the loadings, so an effect on
loadings is a pattern of edges: it is tested edge by edge, by one set of permutations, and so are
the weights themselves. What each p value is about is in ``docs/guide/edge-effects.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import chdtri
from scipy.stats import false_discovery_control

from eigengraphs.embedding import FitView, JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.fitting.settings import check_count
from eigengraphs.inference.studies.adjustment import Harmonize, harmonized_for_test
from eigengraphs.inference.studies.designs import (
    Array,
    Design,
    DesignKind,
    EffectName,
    Indices,
    Permutations,
    check_choice,
    check_share,
    graph_values,
    portions,
    read_design,
    varying_loadings,
    words,
)
from eigengraphs.inference.studies.permutation_tests import (
    CountedRows,
    Estimates,
    Spreads,
    estimates,
)
from eigengraphs.system.labels import count_of
from eigengraphs.system.randomness import RandomState, seed_sequence

What: TypeAlias = Literal["edges", "regions", "networks"]
By: TypeAlias = Literal["combined", "pattern", "weights", "connected"]
Flags: TypeAlias = NDArray[np.bool_]
Read: TypeAlias = Callable[[int, int], Array]  # columns of units from one place to another
_TIES = 1e-9  # statistics that differ by less are equal, whatever the order of sums was
_BLOCK = 2048  # edges at a time
_HELD = 4_000_000  # numbers that are held at once by all permutations of a block of edges
_MOST = 250_000_000  # weights of all graphs together, 2 GB


@dataclass(frozen=True, eq=False)
class EffectMap:
    """Effects on all edges, regions or pairs of networks, k of them, at one level.

    Attributes
    ----------
    what : {"edges", "regions", "networks"}
        What they are on. The weight of a region is the sum of its edges, that of a pair of networks
        the sum of the edges between them.
    first, second : (k,)
        Places of the two regions or networks. Those of a region are both its own; in directed
        graphs ``second`` is -1 for edges that begin there, ``first`` for edges that end there.
    estimates : Estimates
        What is tested, q contrasts (q, k), in units of the weights.
    size : (k,)
        Standardized effect; ``EdgeEffects.effect_name`` says which.
    F : (k,)
        Welch's statistic; nan where all graphs have the same weight, which is not tested.
    p_values : (k,)
        Of each alone.
    p_fdr : (k,)
        Adjusted to control the share of false discoveries (Benjamini and Hochberg).
    p_family : (k,)
        Adjusted to control the probability of any false discovery among the k (largest statistic).
    """

    what: What
    first: Indices
    second: Indices
    estimates: Estimates
    size: Array
    F: Array
    p_values: Array
    p_fdr: Array
    p_family: Array
    statistics: Array = field(repr=False)  # (k,), and the largest of each arrangement, (B,)
    largest: Array = field(repr=False)


@dataclass(frozen=True, eq=False)
class ConnectedEdges:
    """Network-based statistic: connected components of edges above a threshold.

    Attributes
    ----------
    threshold : float
        Edges whose own p value, by the law of the statistic, is below it are above the threshold.
    member : (edges,)
        Component of each edge, from 0; -1 for edges below the threshold.
    sizes : (components,)
        Edges in each component.
    p_values : (components,)
        Share of arrangements in which some component is as large.
    """

    threshold: float
    member: Indices
    sizes: Indices
    p_values: Array


@dataclass(frozen=True, eq=False, repr=False)
class EdgeEffects:
    """Effects on edges, regions and pairs of networks; what :func:`edge_effects` returns.

    Attributes
    ----------
    group, kind, design, levels, counts, covariates, formula, effect_name, n_graphs, n_units
        As of :class:`~eigengraphs.inference.Comparison`.
    pattern, weights : mapping
        An :class:`EffectMap` for "edges", "regions" and "networks" (if there are any): of the
        weights that the components reconstruct, and of the weights of the graphs (empty without
        graphs).
    p_combined : (edges,) or None
        Of both levels together, adjusted to control the probability of any false discovery.
    connected : ConnectedEdges or None
        Network-based statistic of the weights.
    n_components : int
        Of the pattern.
    n_permutations, exact
        Arrangements that were looked at, the observed one included; whether these were all.
    level : float
        Largest probability that any edge is named where there is no effect anywhere.
    same_sign_level : float
        Largest p value of the weights of an edge that is named for its pattern.
    pattern_share : float
        Share of the level that the pattern has in the combined test.
    confidence : float
        Of the intervals.
    vertex_names, network_names : tuple of str
        Names of regions, and of networks; none without networks.
    network_of : (n,)
        Network of each region; -1 where it is in none.
    directed : bool
        Whether an edge has a direction.
    notes : tuple of str
        What was left out, and what to be careful about.
    harmonized : str
        What was done to loadings and weights before the test; empty if nothing was.

    Examples
    --------
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> A = np.random.default_rng(0).normal(size=(20, 6, 6))
    >>> A[10:, :3, :3] += 2.0
    >>> A, group = A + A.transpose(0, 2, 1), np.repeat(["a", "b"], 10)
    >>> je = eg.JointEmbedding(2, center=True, random_state=0).fit(A)
    >>> found = eg.inference.edge_effects(je, group, graphs=A, n_permutations=199, random_state=0)
    >>> found.pattern["edges"].size.shape, int(found.named().sum())
    ((21,), 6)
    """

    group: str
    kind: Literal["groups", "quantity", "contrast"]
    design: DesignKind
    levels: tuple[str, ...]
    counts: tuple[int, ...]
    covariates: tuple[str, ...]
    formula: str
    effect_name: EffectName
    n_graphs: int
    n_units: int
    pattern: Mapping[What, EffectMap]
    weights: Mapping[What, EffectMap]
    p_combined: Array | None
    connected: ConnectedEdges | None
    n_components: int
    n_permutations: int
    exact: bool
    level: float
    same_sign_level: float
    pattern_share: float
    confidence: float
    vertex_names: tuple[str, ...]
    network_names: tuple[str, ...]
    network_of: Indices
    directed: bool
    notes: tuple[str, ...]
    harmonized: str

    def named(self, by: By = "combined") -> Flags:
        """Return which edges carry the effect, (edges,).

        Parameters
        ----------
        by : {"combined", "pattern", "weights", "connected"}
            "pattern": the pattern has an effect on the edge (family-wise), and the edge's own
            weights show one of the same sign at ``same_sign_level``. "weights": the weights of the
            edge have an effect (family-wise). "combined": one or the other, at one level.
            "connected": the edge is in a component that is unusually large. Without graphs there
            is only the effect on the pattern.

        Examples
        --------
        >>> import numpy as np
        >>> import eigengraphs as eg
        >>> A = eg.models.ErdosRenyi(8, 0.5).sample(12, random_state=0)
        >>> je = eg.JointEmbedding(1, random_state=0).fit(A)
        >>> found = eg.inference.edge_effects(je, ["a", "b"] * 6, graphs=A, random_state=0)
        >>> found.named("weights").any()
        np.False_
        """
        check_choice("by", by, ("combined", "pattern", "weights", "connected"))
        pattern = self.pattern["edges"]
        if self.p_combined is None or self.connected is None:
            if by in ("weights", "connected"):
                raise InputError(f"by={by!r} is about the weights; pass graphs= to edge_effects")
            return np.asarray(pattern.p_family <= self.level)
        if by == "pattern":
            same = _same_sign(pattern, self.weights["edges"], self.same_sign_level)
            return np.asarray((pattern.p_family <= self.level) & same)
        if by == "weights":
            return np.asarray(self.weights["edges"].p_family <= self.level)
        if by == "connected":
            large = np.r_[self.connected.p_values <= self.level, False]  # -1 is the last
            return np.asarray(large[self.connected.member])
        return np.asarray(self.p_combined <= self.level)

    def matrix(self, of: Literal["pattern", "weights"] = "pattern") -> Array:
        """Return the effect on each edge as a matrix (n, n): of one contrast, or else its size.

        Parameters
        ----------
        of : {"pattern", "weights"}
            Of the weights that the components reconstruct, or of the weights themselves.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> A = eg.models.ErdosRenyi(8, 0.5).sample(12, random_state=0)
        >>> je = eg.JointEmbedding(1, random_state=0).fit(A)
        >>> found = eg.inference.edge_effects(je, ["a", "b"] * 6, random_state=0)
        >>> found.matrix().shape
        (8, 8)
        """
        check_choice("of", of, ("pattern", "weights"))
        found = (self.pattern if of == "pattern" else self.weights).get("edges")
        if found is None:
            raise InputError("there is no effect on weights; pass graphs= to edge_effects")
        values = found.estimates.values
        n = len(self.vertex_names)
        matrix = np.zeros((n, n))
        matrix[found.first, found.second] = values[0] if len(values) == 1 else found.size
        return matrix if self.directed else matrix + np.triu(matrix, 1).T

    def table(self, what: What = "edges") -> dict[str, list[Any]]:
        """Return the columns of a table by their names, one row per edge, region or pair.

        Parameters
        ----------
        what : {"edges", "regions", "networks"}
            Rows of the table.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> A = eg.models.ErdosRenyi(8, 0.5).sample(12, random_state=0)
        >>> je = eg.JointEmbedding(1, random_state=0).fit(A)
        >>> found = eg.inference.edge_effects(je, ["a", "b"] * 6, random_state=0)
        >>> list(found.table("regions"))[:4]
        ['region', 'pattern_effect', 'pattern_low', 'pattern_high']
        """
        if what not in self.pattern:
            raise InputError(
                f"there is no table of {what!r}; there are: {', '.join(self.pattern)}"
                f"{' (pass networks= to edge_effects)' * (what == 'networks')}"
            )
        place = self.pattern[what]
        table: dict[str, list[Any]] = {}
        if what == "networks":
            names = np.array(self.network_names)
            table |= {"network": names[place.first].tolist(),
                      "network 2": names[place.second].tolist()}  # fmt: skip
        else:
            names = np.array(self.vertex_names)
            table["region"] = names[np.maximum(place.first, place.second)
                                    if what == "regions" else place.first].tolist()  # fmt: skip
        if what == "regions" and self.directed:
            table["ends"] = np.where(place.first < 0, "in", "out").tolist()
        if what == "edges":
            table["region 2"] = names[place.second].tolist()
            if self.network_names:
                known = np.array([*self.network_names, ""])  # -1 is the last
                table |= {"network": known[self.network_of[place.first]].tolist(),
                          "network 2": known[self.network_of[place.second]].tolist()}  # fmt: skip
        for maps, of in ((self.pattern, "pattern_"), (self.weights, "weights_")):
            if what not in maps:
                continue
            found = maps[what]
            told = found.estimates
            one = len(told.names) == 1
            columns = dict(zip(["effect"] if one else told.names, told.values, strict=True))
            if one:
                columns |= {"low": told.low[0], "high": told.high[0]}
            columns |= {self.effect_name: found.size, "F": found.F, "p": found.p_values,
                        "p_fdr": found.p_fdr, "p_family": found.p_family}  # fmt: skip
            table |= {f"{of}{name}": column.tolist() for name, column in columns.items()}
        if what != "edges":
            return table
        by: Any = np.array([self.named(), np.zeros(len(place.F), bool)])  # pattern, weights
        if self.p_combined is not None:
            table["p_combined"] = self.p_combined.tolist()
            shares = self.same_sign_level, self.pattern_share
            by = _combined(place, self.weights["edges"], *shares) <= self.level
        table["named"] = ["yes" if one else "no" for one in by.any(axis=0)]
        kinds = np.array(["", "pattern", "weights", "both"])
        table["named_by"] = kinds[by[0] + 2 * by[1]].tolist()
        if self.connected is not None:
            p, member = [*self.connected.p_values.tolist(), None], self.connected.member.tolist()
            table["connected"] = [c + 1 or None for c in member]  # -1 is in none, and the last p
            table["connected_p"] = [p[c] for c in member]
        return table

    @property
    def compared(self) -> str:
        """What the effects of groups are, "b minus a" or "each minus a"; else empty."""
        names = self.pattern["edges"].estimates.names
        if self.kind == "groups" and len(names) == 1:
            return " minus ".join(self.levels[1::-1])
        told = {name[name.rfind("[T.") :] for name in names}
        base = [level for level in self.levels if f"[T.{level}]" not in told]
        return f"each minus {base[0]}" if self.kind == "groups" and len(base) == 1 else ""

    @property
    def words(self) -> tuple[str, ...]:
        """The answer in sentences."""
        named, total = int(self.named().sum()), len(self.pattern["edges"].F)
        verdict = {"groups": "differ between groups of", "quantity": "change with",
                   "contrast": "depend on"}[self.kind]  # fmt: skip
        sign = f" (effects: {self.compared})" * bool(self.compared)
        does = verdict.replace(" ", "s ", 1) if named == 1 else verdict
        said = [f"{named:,} of {total:,} edges {does} {self.group}{sign}."]
        if not self.weights:
            said = [f"The effect of {self.group}{sign} on the pattern is on {named:,} of "
                    f"{total:,} edges; weights of edges were not tested."]  # fmt: skip
        said.append(
            "Where there is no effect anywhere, any edge is named with a probability of at "
            f"most {self.level:.0%}; where there is one, edges beside it may be named."
        )
        if self.weights:
            alone = [f"{int(self.named(name).sum()):,} by {text}" for name, text in _TESTS.items()]
            said.append(f"Each alone, at the whole level, names {' and '.join(alone)}.")
            said.append(f"Edges in a connected component with p <= {self.level:g} (network-based "
                        f"statistic): {int(self.named('connected').sum()):,}.")  # fmt: skip
        for what in self.pattern:
            if what == "edges":
                continue
            found = (self.weights or self.pattern)[what]
            first, *second = [column for name, column in self.table(what).items()
                              if name in ("region", "ends", "network", "network 2")]  # fmt: skip
            own = np.flatnonzero(found.p_family <= self.level)
            own = own[np.argsort(-found.statistics[own], kind="stable")].tolist()
            names = [" with ".join(map(str, (first[i], *(column[i] for column in second))))
                     if what == "networks" else " ".join((first[i], *(x[i] for x in second)))
                     for i in own]  # fmt: skip
            of = f"{len(own)} of {len(found.F)} {_OF[what]}{': ' * bool(names)}{words(names, 6)}"
            if not self.weights:
                said.append(f"It is on {of}.")
                continue
            count = int((self.pattern[what].p_family <= self.level).sum())
            said.append(f"Sums of weights {verdict} {self.group} in {of}. The pattern's effect is "
                        f"on {count}.")  # fmt: skip
        return tuple(said)

    @property
    def methods(self) -> str:
        """The methods, as a paragraph for a paper."""
        orders = f"{self.n_permutations - 1:,} random permutations"
        if self.exact:
            orders = f"all {self.n_permutations:,} arrangements (exact)"
        moved = {"single": "graphs", "between": "participants",
                 "within": "graphs within participants"}  # fmt: skip
        adjusted = ""
        if self.covariates:
            adjusted = f", adjusted for {words(self.covariates, 20)}"
            adjusted += f" (model: {self.formula})" * bool(self.formula)
            adjusted += " by permuting residuals of the covariates (Freedman and Lane, 1983)"
        text = (
            f"{self.harmonized}{' ' * bool(self.harmonized)}"
            f"The weights that {count_of(self.n_components, 'component')} reconstruct were tested "
            f"for an effect of {self.group} edge by edge by Welch's F, with ratios of variances "
            "of groups common to all edges, referred to "
            f"{orders} of {moved[self.design]}{adjusted}; sums of edges of regions and between "
            "networks likewise. p values were adjusted by the largest statistic over all edges, "
            "regions or pairs of networks (Westfall and Young, 1993), and by the false discovery "
            "rate (Benjamini and Hochberg, 1995). They are about the effect on the pattern, which "
            "spreads to edges beside those that carry it. "
        )
        if self.connected is not None:
            text += (
                "The weights of the graphs were tested in the same way. An edge is named if its "
                "weights have an effect, or if its pattern has one and its weights show one of the "
                f"same sign (p <= {self.same_sign_level:g}, not adjusted). Where there is no "
                "effect anywhere, any edge is named with a probability of at most "
                f"{self.level:.0%}, of which the pattern has a share of {self.pattern_share:.0%}; "
                "where there is one, edges beside it may be named. Connected components of edges "
                f"whose own p value was below {self.connected.threshold:g} were tested by their "
                "number of edges (network-based statistic; Zalesky et al., 2010). "
            )
        return text + (
            f"Intervals ({self.confidence:.0%}) are those of single edges, with standard errors "
            "that allow each graph its own spread (HC2), and take the patterns as they were fitted."
        )

    def __repr__(self) -> str:
        return (
            f"EdgeEffects({self.group!r}, {self.n_graphs} graphs, "
            f"{int(self.named().sum()):,} of {len(self.pattern['edges'].F):,} edges named)"
        )


_OF: dict[What, str] = {"regions": "regions", "networks": "pairs of networks"}
_TESTS: dict[By, str] = {
    "pattern": "the pattern (with weights of the same sign)",
    "weights": "the weights of each edge",
}


def edge_effects(
    embedding: JointEmbedding,
    group: Any,
    *,
    graphs: Any = None,
    networks: Any = None,
    covariates: Any = None,
    subjects: Any = None,
    harmonize: Any = None,
    harmonizer: Harmonize | None = None,
    name: str = "group",
    level: float = 0.05,
    same_sign_level: float = 0.1,
    pattern_share: float = 0.25,
    threshold: float = 0.01,
    n_permutations: int = 4999,
    confidence: float = 0.95,
    random_state: RandomState = None,
) -> EdgeEffects:
    """Find the edges, regions and pairs of networks that carry an effect, by permutations.

    Two questions are asked of every edge, with the same permutations. *Pattern:* do the weights
    that the components reconstruct have an effect? That is powerful where an effect is spread over
    many edges, but spreads to edges beside them. *Weights:* do the edge's own weights have one?
    The combined test names an edge that passes the first and whose weights show the same sign, or
    that passes the second, with one family-wise error over both.

    Parameters
    ----------
    embedding : JointEmbedding
        A fit of m graphs, made without the groups.
    group, covariates, subjects, harmonize, harmonizer, name
        As of :func:`compare`; weights are harmonized as loadings are.
    graphs : GraphStack, or anything it can be made of, optional
        The m graphs of the fit, in their order. Without them, only the pattern is tested. Their
        weights are held in memory.
    networks : (n,), optional
        Network of each vertex; those where it is None, nan or "n/a" are in none.
    level
        Largest probability that any edge is named where there is no effect anywhere. Where there is
        one, edges beside it may be named.
    same_sign_level
        An edge is named for its pattern only if its own weights show an effect of the same sign
        with a p value of at most this, not adjusted. 1 asks for the sign alone.
    pattern_share
        Share of the level that the pattern has in the combined test; the weights have the rest.
    threshold
        Of the network-based statistic: the p value of an edge above which it is not connected.
    n_permutations
        Number of random rearrangements; if there are no more different ones, all are used.
    confidence
        Coverage of the intervals, each alone.
    random_state
        Seed.

    Returns
    -------
    EdgeEffects

    Examples
    --------
    >>> import eigengraphs as eg
    >>> mice = eg.datasets.load_mice()
    >>> je = eg.JointEmbedding(4, preprocess="log1p", center=True, random_state=0).fit(mice.graphs)
    >>> found = eg.inference.edge_effects(
    ...     je, mice.sexes, covariates={"genotype": mice.genotypes}, networks=mice.regions.blocks,
    ...     name="sex", n_permutations=199, random_state=0)
    >>> int(found.named().sum()), found.pattern["networks"].F.shape
    (0, (28,))
    """
    check_count("n_permutations", n_permutations)
    shares = {"level": level, "same_sign_level": same_sign_level, "pattern_share": pattern_share,
              "threshold": threshold, "confidence": confidence}  # fmt: skip
    for what, value in shares.items():
        if not (what == "same_sign_level" and value == 1):
            check_share(what, value)
    fit = FitView.of(embedding)
    if fit.settings["degree_corrected"]:
        raise InputError(
            "weights that a degree-corrected fit reconstructs depend on the degrees of each graph "
            "and not on loadings alone: compare its loadings, or fit with degree_corrected=False"
        )
    H = np.asarray(embedding.latent_positions_, dtype=np.float64)
    G = np.asarray(getattr(embedding, "latent_positions_right_", H), dtype=np.float64)
    Lam = np.asarray(embedding.loadings_, dtype=np.float64)
    (n, d), m = H.shape, len(Lam)
    varying_loadings(Lam, lambda Y: np.ptp(Y, axis=0), "the same for all graphs")  # or refuses
    notes = []
    if fit.settings["loadings"] == "class":
        notes.append("loadings of classes know the classes: p values for these are too small")
    edges = _edges(n, fit.directed, loops=not fit.treatment.hollow)
    names, network_of = _networks(networks, n)
    sums = _sums(*edges, n, fit.directed, network_of, len(names))
    A = None if graphs is None else _weights(fit, graphs, *edges, m)
    harmonized = ""
    if harmonize is not None:
        over = (harmonize, covariates, group, name, harmonizer)
        A = None if A is None else harmonized_for_test(A, *over)[0]
        Lam, covariates, harmonized = harmonized_for_test(Lam, *over)
    # The rows of the design, as what they are of the graphs.
    design = read_design(np.eye(m), group, covariates, subjects, name)
    model, levels = design.model, design.group.levels
    permutations = Permutations(design.raw, design.intercepts, n_permutations)
    rng = np.random.default_rng(seed_sequence(random_state).spawn(2)[0])  # as compare's
    orders = np.concatenate(list(permutations.orders(rng, 1)))
    if not permutations.exact:
        orders = np.vstack([np.arange(len(design.Y)), orders])
    tests = _Tests(design, orders, confidence)
    Y = design.Y @ Lam

    def reconstructed(lo: int, hi: int) -> Array:
        return Y @ (H[edges[0][lo:hi]] * G[edges[1][lo:hi]]).T

    pattern, _ = tests.maps(reconstructed, edges, sums)
    weights: dict[What, EffectMap] = {}
    p_combined, connected = None, None
    if A is None:
        notes.append(
            "edges are named by the pattern alone, whose effect spreads to edges beside those that "
            "carry it; with the graphs, their own weights are tested, too"
        )
    else:
        hidden = int(np.isnan(A).any(axis=0).sum())
        if hidden:
            notes.append(f"the weights of {count_of(hidden, 'edge')} that are missing in some "
                         "graphs were not tested, nor added to sums")  # fmt: skip
        weights, above = tests.maps(_columns_of(design.Y @ A), edges, sums, threshold)
        both = pattern["edges"], weights["edges"]
        p_combined = _combined(*both, same_sign_level, pattern_share).min(axis=0)
        same = int(np.isnan(both[1].F).sum()) - hidden
        if same:
            notes.append(f"the weights of {count_of(same, 'edge')} are the same in all graphs and "
                         "were not tested")  # fmt: skip
        if _as_large(both[0].largest, both[0].largest).min() > level * pattern_share:
            notes.append("too few arrangements for the pattern to reach its share of the level: "
                         "edges are named by their weights, if at all")  # fmt: skip
        connected = _connected(above, edges, n, tests, threshold, weights["edges"].statistics)
    if not permutations.exact and len(orders) <= 20 / level:
        notes.append("few permutations: p values cannot be small")
    return EdgeEffects(
        group=model.name, kind=model.kind, design=design.kind, levels=levels,
        counts=tuple(np.bincount(design.group.values.astype(int)).tolist()) if levels else (),
        covariates=design.covariates, formula=model.formula, effect_name=model.effect_name,
        n_graphs=design.n_graphs, n_units=int(design.units.max()) + 1, pattern=pattern,
        weights=weights, p_combined=p_combined, connected=connected, n_components=d,
        n_permutations=len(orders), exact=permutations.exact, level=level,
        same_sign_level=same_sign_level, pattern_share=pattern_share, confidence=confidence,
        vertex_names=tuple(embedding.vertex_names_), network_names=names, network_of=network_of,
        directed=fit.directed, notes=(*notes, *design.notes), harmonized=harmonized,
    )  # fmt: skip


# Edges, and what they are parts of


def _edges(n: int, directed: bool, *, loops: bool) -> tuple[Indices, Indices]:
    """Return the ends of all edges; of undirected graphs, each pair once."""
    first, second = (x.ravel() for x in np.indices((n, n)))
    keep = first != second if directed else first < second
    keep |= loops & (first == second)
    return first[keep], second[keep]


def _networks(given: Any, n: int) -> tuple[tuple[str, ...], Indices]:
    """Return names of networks in the order in which they come, and that of each vertex."""
    if given is None:
        return (), np.full(n, -1)
    values = list(given) if hasattr(given, "__iter__") else [given]
    if isinstance(given, str) or len(values) != n:
        raise InputError(f"networks must have one value for each of {n} vertices, got "
                         f"{'one text' if isinstance(given, str) else len(values)}")  # fmt: skip
    known = [None if x is None else str(x) for x in graph_values("networks", values, n)]
    names = tuple(dict.fromkeys(name for name in known if name is not None))
    if not names:
        raise InputError("networks has no value for any vertex")
    if 2 * len(names) > n:
        raise InputError(f"networks (--by) has {len(names)} networks for {n} vertices; give fewer, "
                         "larger ones, or none: each region is tested anyway")  # fmt: skip
    place = {name: i for i, name in enumerate(names)}
    return names, np.array([-1 if name is None else place[name] for name in known])


def _sums(
    first: Indices, second: Indices, n: int, directed: bool, network_of: Indices, count: int
) -> dict[What, tuple[Indices, Indices, csr_array]]:
    """Return places of regions and pairs of networks, and which edges they sum, (edges, k)."""
    e, nodes, none = np.arange(len(first)), np.arange(n), np.full(n, -1)
    others = e[first != second]  # a loop counts once
    if directed:
        e, ends = np.r_[e, e], np.r_[first, n + second]
        places = (np.r_[nodes, none], np.r_[none, nodes])
    else:
        e, ends, places = np.r_[e, others], np.r_[first, second[others]], (nodes, nodes)
    shape = (len(first), len(places[0]))
    found: dict[What, Any] = {"regions": (*places, csr_array((np.ones(len(e)), (e, ends)), shape))}
    if count:
        a, b = network_of[first], network_of[second]
        known = np.flatnonzero((a >= 0) & (b >= 0))
        if not directed:
            a, b = np.minimum(a, b), np.maximum(a, b)
        pairs, place = np.unique((a * count + b)[known], return_inverse=True)
        T = csr_array((np.ones(len(known)), (known, place)), (len(first), len(pairs)))
        found["networks"] = (pairs // count, pairs % count, T)
    return found


def _weights(fit: FitView, graphs: Any, first: Indices, second: Indices, m: int) -> Array:
    """Return the weights of all edges, (m, edges), transformed as in the fit; nan where hidden."""
    stack = fit.aligned(fit.stack(graphs))
    if stack.n_graphs != m:
        raise InputError(f"graphs must be the {m} of the fit, in their order; got {stack.n_graphs}")
    if m * len(first) > _MOST:
        raise InputError(
            f"{m} graphs with {len(first):,} edges each are too many to test their weights (at "
            f"most {_MOST:,} in all); leave out graphs= to test the pattern, which needs none"
        )
    found = np.empty((m, len(first)))
    for i, graph in enumerate(stack):
        dense = graph.toarray() if hasattr(graph, "toarray") else np.asarray(graph)
        found[i] = dense[first, second]
    return found


# Tests


class _Tests:
    """Tests of many columns of units by one set of arrangements."""

    def __init__(self, design: Design, orders: Indices, confidence: float) -> None:
        self.design, self.orders, self._confidence = design, orders, confidence
        self._spreads = Spreads(design)
        self.q, self.u = self._spreads.q, len(design.Y)

    def maps(
        self,
        read: Read,
        edges: tuple[Indices, Indices],
        sums: Mapping[What, tuple[Indices, Indices, csr_array]],
        threshold: float | None = None,
    ) -> tuple[dict[What, EffectMap], tuple[Indices, Indices]]:
        """Return tests of edges and of their sums, and which edges exceed a threshold when.

        Parameters
        ----------
        read
            Columns of edges.
        edges, sums
            Their ends, and what they are summed to.
        threshold
            p value of an edge; the second result holds arrangements, and edges above it.
        """
        totals = {what: np.zeros((self.u, T.shape[1])) for what, (_, _, T) in sums.items()}
        for lo, hi in _spans(len(edges[0])):
            Y = np.nan_to_num(read(lo, hi))
            for what, (_, _, T) in sums.items():
                totals[what] += Y @ T[lo:hi]
        above: list[tuple[Indices, Indices]] = []
        found: dict[What, EffectMap] = {"edges": self._map("edges", *edges, read, threshold, above)}
        for what, (first, second, _) in sums.items():
            found[what] = self._map(what, first, second, _columns_of(totals[what]))
        if not above:
            return found, (np.zeros(0, np.intp), np.zeros(0, np.intp))
        when, which = (np.concatenate(part) for part in zip(*above, strict=True))
        return found, (when, which)

    def _map(
        self,
        what: What,
        first: Indices,
        second: Indices,
        read: Read,
        threshold: float | None = None,
        above: list[tuple[Indices, Indices]] | None = None,
    ) -> EffectMap:
        design, u, k, model = self.design, self.u, len(first), self.design.model
        rows = model.tested.T / design.scales
        K, told, sizes = np.zeros((u, u)), [], []
        for lo, hi in _spans(k):
            block = replace(design, Y=read(lo, hi), means=np.zeros(hi - lo))
            S = self._standardized(block.Y)
            K += S @ S.T
            units = np.ones(hi - lo)
            told.append(estimates(block, model.contrasts, rows, units, self._confidence))
            sizes.append(CountedRows(block).sizes(np.ones((1, u)))[0])
        # Once more, with columns of one variance where the ratios are those of the first time:
        # of one length, columns in which the wider group happens to vary little weigh too much.
        straight = np.arange(u)[None, :]
        _, weights, _ = self._spreads.common(K, straight)
        K = np.zeros((u, u))
        for lo, hi in _spans(k):
            S = self._standardized(read(lo, hi))
            K += (S / self._fitted(S, straight, weights)[1]) @ S.T
        cuts = list(_portions(len(self.orders), self._width(k)))
        common = [self._spreads.common(K, self.orders[a:b]) for a, b in cuts]
        as_given = self._spreads.common(K, straight)
        B = len(self.orders)
        largest, as_large, observed, F = np.zeros(B), np.zeros(k), np.zeros(k), np.zeros(k)
        limit = np.inf if threshold is None else chdtri(self.q, threshold)
        for lo, hi in _spans(k):
            S = self._standardized(read(lo, hi))
            (observed[lo:hi],), (F[lo:hi],) = self._statistics(S, straight, *as_given)
            F[lo:hi][~S.any(axis=0)] = np.nan
            for (a, b), roots in zip(cuts, common, strict=True):
                found, _ = self._statistics(S, self.orders[a:b], *roots)
                largest[a:b] = np.maximum(largest[a:b], found.max(axis=1))
                as_large[lo:hi] += (found >= observed[lo:hi] * (1 - _TIES)).sum(axis=0)
                if above is not None and threshold is not None:
                    when, which = np.nonzero(found > limit)
                    above.append((when + a, which + lo))
        tested = np.isfinite(F)
        p, fdr, family = np.full((3, k), np.nan)
        p[tested] = as_large[tested] / B
        fdr[tested] = false_discovery_control(p[tested])
        family[tested] = _as_large(largest, observed[tested])
        ends = (np.hstack([getattr(part, one.name) for part in told])
                for one in fields(Estimates) if one.name != "names")  # fmt: skip
        return EffectMap(what, first, second, Estimates(model.contrasts, *ends),
                         np.concatenate(sizes), F, p, fdr, family, observed, largest)  # fmt: skip

    def _width(self, k: int) -> int:
        """How many numbers are held for each arrangement."""
        columns = int(self._spreads.basis.shape[1])
        return max(4 * self.u * columns, (3 * columns + 4) * min(k, _BLOCK))

    def _standardized(self, Y: Array) -> Array:
        """Return what covariates leave of columns, of length sqrt(u), or zero if it is rounding."""
        E = self.design.without_covariates(Y)
        left, whole = np.linalg.norm(E, axis=0), np.linalg.norm(Y, axis=0)
        some = left > 1e-8 * whole  # not where there is a nan
        return np.where(some, E, 0.0) / np.where(some, left / np.sqrt(self.u), 1.0)

    def _statistics(
        self, S: Array, orders: Indices, root: Array, weights: Array, df: Array
    ) -> tuple[Array, Array]:
        """Return statistics with the law of chi-squared with q degrees of freedom, and F, (B, k).

        As degrees of freedom change from one arrangement to the next, arrangements are not compared
        by F but by Bartlett's approximation of its tail.
        """
        q, df = self.q, df[:, None]
        b, s2 = self._fitted(S, orders, weights)
        F = ((root @ b[:, :q]) ** 2).sum(axis=1) / s2
        return (df + q / 2 - 1) * np.log1p(q * F / df), F

    def _fitted(self, S: Array, orders: Indices, weights: Array) -> tuple[Array, Array]:
        """Return coefficients (B, q + r, k), and weighted squares of what they leave, (B, k)."""
        on = np.swapaxes(self._spreads.basis[orders], 1, 2)  # (B, q + r, u)
        weighted, shape = on * weights[:, None], (*on.shape[:2], S.shape[1])
        b = (on.reshape(-1, self.u) @ S).reshape(shape)
        crossed = 2 * (weighted.reshape(-1, self.u) @ S).reshape(shape)
        crossed -= (weighted @ np.swapaxes(on, 1, 2)) @ b
        return b, np.maximum(weights @ S**2 - (b * crossed).sum(axis=1), 1e-14)


def _columns_of(Y: Array) -> Read:
    return lambda lo, hi: Y[:, lo:hi]


def _spans(k: int) -> Iterator[tuple[int, int]]:
    return ((lo, min(lo + _BLOCK, k)) for lo in range(0, k, _BLOCK))


def _portions(total: int, width: int) -> Iterator[tuple[int, int]]:
    lo = 0
    for some in portions(total, width, _HELD):
        yield lo, lo + some
        lo += some


def _as_large(largest: Array, values: Array) -> Array:
    """Return the share of arrangements whose largest statistic reaches each value."""
    below = np.searchsorted(np.sort(largest), values * (1 - _TIES))
    return np.asarray((len(largest) - below) / len(largest))


def _same_sign(pattern: EffectMap, weights: EffectMap, level: float) -> Flags:
    """Return where weights show an effect along that of the pattern, (edges,)."""
    along = (pattern.estimates.values * weights.estimates.values).sum(axis=0) > 0
    return np.asarray(along & (weights.p_values <= level))


def _combined(pattern: EffectMap, weights: EffectMap, level: float, share: float) -> Array:
    """Return p values of two weighted family-wise p values, the smaller counts, (2, edges)."""
    both = np.minimum(
        _as_large(pattern.largest, pattern.largest) / share,
        _as_large(weights.largest, weights.largest) / (1 - share),
    )
    own = np.where(_same_sign(pattern, weights, level), pattern.p_family / share, np.inf)
    own = np.array([own, np.nan_to_num(weights.p_family / (1 - share), nan=np.inf)])
    smaller = np.searchsorted(np.sort(both), own * (1 + _TIES), "right")
    return np.where(np.isfinite(own), smaller / len(both), 1.0)


def _connected(
    above: tuple[Indices, Indices],
    edges: tuple[Indices, Indices],
    n: int,
    tests: _Tests,
    threshold: float,
    observed: Array,
) -> ConnectedEdges:
    """Return components of the observed edges above the threshold, and how unusual they are."""
    B, (when, which) = len(tests.orders), above

    def components(when: Indices, which: Indices) -> tuple[Indices, Indices]:
        """Return the component of each edge, and their sizes; arrangements have vertices apart."""
        ends = [when * n + side[which] for side in edges]
        graph = coo_array((np.ones(len(which)), ends), (B * n, B * n))
        label = connected_components(graph, directed=False)[1][ends[0]]
        label = np.unique(label, return_inverse=True)[1]
        return label, np.bincount(label)

    label, sizes = components(when, which)
    largest = np.zeros(B)
    np.maximum.at(largest, when, sizes[label])
    mine = np.flatnonzero(observed > chdtri(tests.q, threshold))
    label, sizes = components(np.zeros_like(mine), mine)
    member = np.full(len(edges[0]), -1)
    member[mine] = label
    p_values = (largest[:, None] >= sizes).mean(axis=0)
    return ConnectedEdges(threshold, member, sizes, p_values)
