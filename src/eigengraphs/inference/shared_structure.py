"""What all graphs have in common, what groups of them share, and what is a single graph's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from eigengraphs.baselines.eigenvectors import as_dense, leading
from eigengraphs.dimension.choose_components import fit_quietly
from eigengraphs.embedding import FitView, JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.fitting.settings import check_count
from eigengraphs.inference.intervals_and_bootstrap import (
    MOST_VERTICES,
    LoadingVariance,
    loading_intervals,
)
from eigengraphs.inference.studies.designs import (
    Array,
    Indices,
    check_choice,
    check_share,
    numbered,
    unit_of,
)
from eigengraphs.solvers.rules import component_gram, solve_loadings
from eigengraphs.stack import GraphStack
from eigengraphs.stack.names import one_place
from eigengraphs.system.labels import count_of, listed, shortened
from eigengraphs.system.randomness import RandomState
from eigengraphs.system.tables import short_repr

KINDS = ("common", "group", "individual", "noise")
Mask: TypeAlias = NDArray[np.bool_]
_BATCH = 12  # components that the solver searches together, whatever number is wanted
_ROUNDS = 10  # of each search and refinement: those of noise need not be exact
_TOLERANCE = 1e-6  # of the squares that are left, by which they change no more


@dataclass(frozen=True, eq=False)
class Structure:
    """Components by the graphs that load on them.

    What :func:`structure` and :func:`fit_structure` return.

    Attributes
    ----------
    kinds : tuple of str
        Of each of the d components: "common" to all graphs, of a "group" of them, "individual" of
        one graph, or "noise".
    owners : tuple of str
        The graphs of each component in words.
    positions : (n, d)
        Unit columns h_k.
    loadings : (m, d)
        Of each graph on each component.
    standard_errors : (m, d)
        Of the loadings; nan on components of other graphs alone.
    members : (m, d)
        Which graphs load on which components, beyond noise.
    sizes : (d,)
        Root of the squares that the component explains, beside the largest that noise would give.
    graph_names : tuple of str
        Names of the graphs.
    mean_graph : (n, n) or None
        What a centered fit subtracts from all graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(30, 0.5).sample(8, random_state=0)
    >>> found = eg.inference.fit_structure(graphs)
    >>> found.kinds, found.owners, found.common(0).shape
    (('common',), ('all graphs',), (30, 30))
    """

    kinds: tuple[str, ...]
    owners: tuple[str, ...]
    positions: Array
    loadings: Array
    standard_errors: Array
    members: Mask
    sizes: Array
    graph_names: tuple[str, ...]
    mean_graph: Any = None

    __repr__ = short_repr

    def part(self, graph: int | str, kind: str) -> Array:
        """Return the part of a graph that components of one kind make up, (n, n).

        The four parts add up to the fit. A mean graph that was subtracted is common. Where the
        diagonal is not data, it is the model's own.

        Parameters
        ----------
        graph : int or str
            Place or name of the graph.
        kind : {"common", "group", "individual", "noise"}
            Of the components.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(30, 0.5).sample(8, random_state=0)
        >>> bool(eg.inference.fit_structure(graphs).part(0, "group").any())
        False
        """
        check_choice("kind", kind, KINDS)
        i = one_place(graph, self.graph_names, "graph")
        keep = np.array([one == kind for one in self.kinds], dtype=bool)
        P = _sum(self.positions[:, keep], self.loadings[i, keep])
        if kind == "common" and self.mean_graph is not None:
            P = P + self.mean_graph
        return np.asarray(P)

    def common(self, graph: int | str) -> Array:
        """Return the part of a graph that all graphs have, with its own loadings, (n, n).

        Parameters
        ----------
        graph : int or str
            Place or name of the graph.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(30, 0.5).sample(8, random_state=0)
        >>> found = eg.inference.fit_structure(graphs)
        >>> found.common(0).shape
        (30, 30)
        """
        return self.part(graph, "common")

    def individual(self, graph: int | str) -> Array:
        """Return the part of a graph that no other has, (n, n).

        Parameters
        ----------
        graph : int or str
            Place or name of the graph.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(30, 0.5).sample(8, random_state=0)
        >>> found = eg.inference.fit_structure(graphs)
        >>> bool(found.individual(0).any())
        False
        """
        return self.part(graph, "individual")

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns of :meth:`table`."""
        return ("component", "kind", "graphs", "n_graphs", "mean_loading", "sd_loading", "size")

    def table(self) -> tuple[tuple[Any, ...], ...]:
        """Return one row for each component; loadings of noise are those of all graphs.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(30, 0.5).sample(8, random_state=0)
        >>> found = eg.inference.fit_structure(graphs)
        >>> [row[:4] for row in found.table()]
        [(1, 'common', 'all graphs', 8)]
        """
        rows = []
        for k, on in enumerate(self.members.T):
            lam = self.loadings[on | (not on.any()), k]
            numbers = float(lam.mean()), float(lam.std()), float(self.sizes[k])
            rows.append((k + 1, self.kinds[k], self.owners[k], int(on.sum()), *numbers))
        return tuple(rows)

    @property
    def words(self) -> tuple[str, ...]:
        """Which components are common, of a group, of one graph, or noise, in sentences."""
        of: dict[tuple[str, str], list[int]] = {}
        for k, (kind, owner) in enumerate(zip(self.kinds, self.owners, strict=True)):
            of.setdefault((kind, owner if kind == "group" else ""), []).append(k)
        said = []
        for (kind, owner), ks in of.items():
            verb = "is" if len(ks) == 1 else "are"
            if kind == "individual":
                theirs = [self.owners[k] for k in ks]
                each = [f"{theirs.count(g)} of {shortened(g)}" for g in dict.fromkeys(theirs)]
                more = f" and {count_of(len(each) - 5, 'more graph')}" if len(each) > 5 else ""
                some = f"{', '.join(each[:5])}{more}"
                said.append(f"{count_of(len(ks), 'component')} {verb} of single graphs: {some}.")
                continue
            which = f"Component{'s' * (len(ks) > 1)} {listed([str(k + 1) for k in ks])} {verb}"
            said.append({
                "common": f"{which} common to all graphs.",
                "group": f"{which} shared by {owner} alone.",
                "noise": f"{which} no larger than noise.",
            }[kind])  # fmt: skip
        return tuple(said)

    def __str__(self) -> str:
        return "\n".join(self.words) or "No component is larger than noise."


def noise_edge(R: Array) -> float:
    """Return the largest absolute eigenvalue of symmetric noise with the squares of R.

    Entries of the noise are independent, have mean zero and variances about u_s u_t, with
    u_s = r_s / sqrt(sum_t r_t) and r the row sums of squares off the diagonal. In large graphs the
    spectrum of such noise ends at

        min over x > max(u) of  x sqrt(sum_s u_s / (x - u_s)),

    which for one variance sigma^2 is 2 sigma sqrt(n), the end of Wigner's semicircle.

    Parameters
    ----------
    R : (n, n)
        Symmetric residuals.

    Examples
    --------
    >>> import numpy as np
    >>> R = np.random.default_rng(0).normal(size=(400, 400))
    >>> round(noise_edge((R + R.T) / 2**0.5))
    40
    """
    rows = (R**2).sum(axis=0) - R.diagonal() ** 2
    if not rows.any():
        return 0.0
    u = rows / np.sqrt(rows.sum())
    x = u.max() * (1.0 + np.geomspace(1e-3, 1e3, 300))
    return float((x * np.sqrt((u / (x[:, None] - u)).sum(axis=1))).min())


def structure(
    embedding: JointEmbedding,
    graphs: Any,
    *,
    groups: ArrayLike | None = None,
    share: float = 0.9,
    level: float = 0.01,
) -> Structure:
    """Tell which components of a fit are common to all graphs, of groups of them, or of one.

    A component is noise if it explains no more of the graphs than a search in noise would: the
    root of its squares, over all m graphs, is at most (1 + sqrt(m / 2n)) times the largest
    :func:`noise_edge` of what the fit leaves. A graph loads on a component if its loading differs
    from zero, by its standard error; the share of false ones is held for each component (Benjamini
    and Hochberg). Nothing else is asked: a graph with a small loading that is surely not zero loads
    on it.

    Parameters
    ----------
    embedding
        An undirected fit with free loadings, to complete graphs.
    graphs
        The graphs of the fit.
    groups : (m,), optional
        A label of each graph. A component is of a group if its graphs load on it and those of other
        groups do not. Without labels, the graphs that load on it are the group.
    share : float
        Of the graphs (of a group) that must load on a component for it to be theirs; at most the
        rest of another group's may.
    level : float
        Rate of false loadings of each component.

    Returns
    -------
    Structure

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(30, 0.5).sample(8, random_state=0)
    >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
    >>> eg.inference.structure(je, graphs).kinds
    ('common', 'noise')
    """
    fit = FitView.of(embedding)
    if fit.directed:
        raise InputError("structure is read from undirected fits, and this one is directed")
    if fit.settings["degree_corrected"]:
        raise InputError(
            "structure is read from loadings with standard errors, which those of a "
            "degree-corrected fit do not have; fit without degree_corrected=True"
        )
    stack = fit.stack(graphs)
    classes = _classes(groups, stack.n_graphs, share, level)
    found = loading_intervals(embedding, stack, cross_fit=False)
    H = np.asarray(embedding.latent_positions_, dtype=np.float64)
    Lam, errors, aligned = found.loadings, found.standard_errors, fit.aligned(stack)
    mean = None if fit.treatment.mean is None else as_dense(fit.treatment.mean)
    base, unit = 0.0 if mean is None else mean, unit_of(Lam)
    edge = max(
        noise_edge((as_dense(aligned[i]) - base - _sum(H, lam)) / unit) for i, lam in enumerate(Lam)
    )
    m, n = len(Lam), len(H)
    sizes = np.sqrt(_explained(Lam / unit, fit.gram).sum(axis=0))
    sizes /= max(_largest(edge, n, m), 1e-9 * float(sizes.max()), 1e-300)  # else rounding is left
    members = _nonzero(Lam, errors, level) & (sizes > 1.0)
    kinds = _kinds(members, classes, share, stack.graph_names)
    return Structure(*kinds, H, Lam, errors, members, sizes, stack.graph_names, mean)


def fit_structure(
    graphs: Any,
    *,
    groups: ArrayLike | None = None,
    share: float = 0.9,
    level: float = 0.01,
    max_iter: int = 50,
    random_state: RandomState = 0,
) -> Structure:
    """Fit components that graphs share together with components of single graphs.

    Graph i is about sum_k lam_ik h_k h_k^T + U_i T_i U_i^T: h_k are those of a refined
    :class:`~eigengraphs.JointEmbedding`, columns of U_i are the graph's own. In turn, each is
    fitted to what the other leaves, by least squares:

    - U_i: eigenvectors of what is left of graph i, with eigenvalues beyond
      (1 + sqrt((1 + log m) / 2n)) times its :func:`noise_edge`, apart from directions in which
      several graphs have one: singular values of [U_1, ..., U_m] above 1 + sqrt(sum_i r_i / n),
      with r_i columns of U_i, which is where those of random directions end;
    - h_k: as many as explain more than a search in noise would, as in :func:`structure`.

    So all numbers of components follow from the graphs. A diagonal that is not data is replaced by
    the fit itself. At the end, loadings on h_k that do not differ from zero are set to it, and all
    others are solved again.

    Parameters
    ----------
    graphs
        A :class:`GraphStack`, or anything it can be made of: undirected, complete, at most 5,000
        vertices. They are held in memory as dense arrays, twice.
    groups, share, level
        As in :func:`structure`.
    max_iter : int
        Largest number of turns.
    random_state
        Of the starts.

    Returns
    -------
    Structure
        Components that graphs share come first, then those of each graph.

    Examples
    --------
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> rng = np.random.default_rng(0)
    >>> V, U = rng.normal(size=(60, 1)), rng.normal(size=(5, 60, 1))
    >>> E = np.triu(rng.normal(size=(5, 60, 60)), 1)
    >>> graphs = V @ V.T + U @ U.transpose(0, 2, 1) + E + E.transpose(0, 2, 1)
    >>> found = eg.inference.fit_structure(graphs)
    >>> found.kinds.count("common"), found.kinds.count("individual")
    (1, 5)
    """
    stack = graphs if isinstance(graphs, GraphStack) else GraphStack(graphs, copy=False)
    _check(stack, max_iter)
    classes = _classes(groups, stack.n_graphs, share, level)
    hollow = stack.constant_diagonal is not None
    A = np.array(stack.to_dense().dense, dtype=np.float64)
    unit = unit_of(A)
    A /= unit
    m, n = A.shape[:2]
    total = float((A**2).sum())
    own: list[tuple[Array, Array]] = [(np.zeros(0), np.zeros((n, 0)))] * m
    H, Lam, left = np.zeros((n, 0)), np.zeros((m, 0)), np.inf
    counts: tuple[int, ...] = ()
    every = np.arange(n)
    for _ in range(max_iter):
        if hollow:  # what the fit so far says
            for i, (values, U) in enumerate(own):
                A[i, every, every] = H**2 @ Lam[i] + U**2 @ values
        rest = np.array([A[i] - _sum(H, Lam[i]) for i in range(m)])
        residuals = (rest[i] - _sum(U, values) for i, (values, U) in enumerate(own))
        edges = np.array([max(noise_edge(R), 1e-9 * np.abs(A).max()) for R in residuals])
        own = _individual(rest, edges)
        rest = np.array([A[i] - _sum(U, values) for i, (values, U) in enumerate(own)])
        H, Lam = _shared(rest, _largest(edges.max(), n, m), random_state)
        before, counts_before = left, counts
        counts = (H.shape[1], *(len(values) for values, _ in own))
        left = sum(float(((rest[i] - _sum(H, Lam[i])) ** 2).sum()) for i in range(m))
        if counts == counts_before and abs(before - left) <= _TOLERANCE * left + 1e-14 * total:
            break
    d, ends = H.shape[1], np.cumsum(counts)
    H = np.hstack([H, *(U for _, U in own)])
    members = np.arange(H.shape[1]) < d * np.ones((m, 1))
    for i in range(m):
        members[i, ends[i] : ends[i + 1]] = True
    Lam, errors = _projected(A, H, members, hollow)
    members[:, :d] &= _nonzero(Lam, errors, level)[:, :d]
    Lam, errors = _projected(A, H, members, hollow)
    least = [
        np.full(d, _largest(edges.max(), n, m)),
        np.repeat(_largest(edges, n, 1.0 + np.log(m)), counts[1:]),
    ]
    sizes = np.sqrt((Lam**2).sum(axis=0)) / np.concatenate(least)
    kinds = _kinds(members, classes, share, stack.graph_names)
    return Structure(*kinds, H, Lam * unit, errors * unit, members, sizes, stack.graph_names)


def _sum(H: Array, lam: Array) -> Array:
    """Return sum_k lam_k h_k h_k^T, (n, n)."""
    return np.asarray((H * lam) @ H.T)


def _largest(edge: Any, n: int, ways: float) -> Any:
    """Return the root of the squares that a component can explain of noise.

    Of m graphs it is the largest of sum_i w_i h^T E_i h over unit w and h: by Chevet's inequality
    at most sigma (2 sqrt(n) + sqrt(2m)), if all entries vary by sigma. With a component for each
    graph, w is one of m unit vectors, and log m takes the place of m - 1.
    """
    return edge * (1.0 + np.sqrt(ways / (2 * n)))


def _individual(left: Array, edges: Array) -> list[tuple[Array, Array]]:
    """Return eigenvalues and eigenvectors of each graph above noise that are no other graph's."""
    n, least = left.shape[1], _largest(edges, left.shape[1], 1.0 + np.log(len(left)))
    found = [_above(R, edge) for R, edge in zip(left, least, strict=True)]
    all_of_them = np.hstack([U for _, U in found])
    if all_of_them.shape[1] < 2:
        return found
    W, s, _ = np.linalg.svd(all_of_them, full_matrices=False)
    W = W[:, s > 1.0 + np.sqrt(all_of_them.shape[1] / n)]
    if W.shape[1] == 0:
        return found
    own = []
    for R, edge in zip(left, least, strict=True):
        apart = R - (R @ W) @ W.T
        values, U = _above(apart - W @ (W.T @ apart), edge)
        # R = W B W^T + X T^-1 X^T: what lies across the shared directions is the graph's own, too.
        Q, triangle = np.linalg.qr(apart @ U)
        values, U = np.linalg.eigh((triangle / values) @ triangle.T)
        own.append((values, Q @ U))
    return own


def _above(R: Array, edge: float) -> tuple[Array, Array]:
    """Return eigenvalues beyond an edge, and their eigenvectors."""
    n, d = len(R), 5
    while True:
        values, U = leading(R, min(d, n))
        keep = np.abs(values) > edge
        if d >= n or not keep.all():
            return values[keep], U[:, keep]
        d *= 4


def _shared(rest: Array, least: float, random_state: RandomState) -> tuple[Array, Array]:
    """Return components that explain more than noise of all graphs together, and loadings."""
    (m, n), K, keep = rest.shape[:2], 0, np.ones(1, dtype=bool)
    stack = GraphStack(rest, copy=False)
    je = JointEmbedding(diagonal="observed", max_iter=_ROUNDS, random_state=random_state)
    while keep.all() and n > K:
        K = min(K + _BATCH, n)
        found = fit_quietly(je, stack, n_components=K)
        squares = _explained(found.loadings_, component_gram(found.latent_positions_))
        keep = np.sqrt(squares.sum(axis=0) - squares.max(axis=0)) > least
    d = int(keep.sum())
    if d == 0:
        return np.zeros((n, 0)), np.zeros((m, 0))
    if keep[:d].all():
        found = fit_quietly(je, stack, n_components=d, refine=True)
        return found.latent_positions_, found.loadings_
    # Others are of single graphs, which take them next: not to be fitted again here.
    H = found.latent_positions_[:, keep]
    return H, _projected(rest, H, np.ones((m, d), dtype=bool), hollow=False)[0]


def _explained(Lam: Array, Gamma: Array) -> Array:
    """Return the squares of graphs that components explain beside all others, (m, d)."""
    return np.asarray(Lam**2 / np.linalg.pinv(Gamma).diagonal())


def _projected(A: Array, H: Array, members: Mask, hollow: bool) -> tuple[Array, Array]:
    """Return loadings of graphs on their components, and standard errors, (m, D) each."""
    Lam, errors = np.zeros(members.shape), np.full(members.shape, np.nan)
    for i, (graph, keep) in enumerate(zip(A, members, strict=True)):
        X = H[:, keep]
        Gamma = component_gram(X, hollow=hollow)
        forms = np.einsum("sk,sk->k", X, graph @ X)
        if hollow:
            forms -= graph.diagonal() @ X**2
        Lam[i, keep] = solve_loadings(Gamma, forms[None])[0]
        V = (graph - _sum(X, Lam[i, keep])) ** 2
        errors[i, keep] = np.sqrt(LoadingVariance([X], Gamma, hollow).covariance(V).diagonal())
    return Lam, errors


def _nonzero(Lam: Array, errors: Array, level: float) -> Mask:
    """Tell which loadings differ from zero, (m, d), each component by itself."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.nan_to_num(2 * stats.norm.sf(np.abs(Lam / errors)), nan=1.0)
    return np.asarray(stats.false_discovery_control(p, axis=0) <= level)


def _kinds(
    members: Mask, classes: tuple[Indices, list[str]], share: float, names: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the kind and the owner of each component."""
    codes, labels = classes
    found: list[tuple[str, str]] = []
    for on in members.T:
        shares = np.bincount(codes, on) / np.bincount(codes)
        those, theirs = np.flatnonzero(on), shares >= share
        if len(those) == 0:
            found.append(("noise", "no graph"))
        elif len(those) == 1:
            found.append(("individual", names[those[0]]))
        elif theirs.all():
            found.append(("common", "all graphs"))
        elif theirs.any() and (theirs | (shares <= 1.0 - share)).all():
            found.append(("group", listed([labels[c] for c in np.flatnonzero(theirs)])))
        else:
            some = [shortened(names[i]) for i in those[:5]]
            more = f" and {len(those) - 5} more" if len(those) > 5 else ""
            found.append(("group", f"{count_of(len(those), 'graph')}: {', '.join(some)}{more}"))
    return tuple(kind for kind, _ in found), tuple(owner for _, owner in found)


def _classes(
    groups: ArrayLike | None, m: int, share: float, level: float
) -> tuple[Indices, list[str]]:
    """Return the group of each graph, (m,), and their names; refuse settings that cannot be."""
    check_share("share", share)
    check_share("level", level)
    if groups is None:
        return np.zeros(m, dtype=np.intp), ["all graphs"]
    return numbered(groups, m), [str(label) for label in np.unique(np.asarray(groups))]


def _check(stack: GraphStack, max_iter: int) -> None:
    if stack.n_graphs < 2:
        raise InputError("what graphs have in common needs at least 2 graphs, got 1")
    if stack.is_directed:
        raise InputError(
            "structure is fitted to undirected graphs, and some of these are directed; "
            "symmetrize() them"
        )
    if stack.has_missing:
        raise InputError("structure is fitted to graphs without missing entries; some are missing")
    if stack.n_vertices > MOST_VERTICES:
        raise InputError(
            f"dense arrays of {stack.n_vertices} x {stack.n_vertices} are needed, for at most "
            f"{MOST_VERTICES} vertices; select vertices"
        )
    check_count("max_iter", max_iter)
