"""Loadings without what covariates explain, or without what sites add to them.

:class:`CovariateAdjustment` regresses covariates out, :class:`Harmonize` gives the graphs of every
site the same location and scale (ComBat). Both learn from training rows alone, and can be steps of
a pipeline: columns beside the loadings come as arguments, or as columns of the input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from eigengraphs.errors import InputError
from eigengraphs.inference.studies.designs import (
    Array,
    Question,
    Variable,
    check_choice,
    counted,
    graph_values,
    independent_columns,
    read_loadings,
    read_variable,
    table_columns,
    units,
    words,
)
from eigengraphs.system.labels import listed

Unseen: TypeAlias = Literal["error", "estimate"]
_CHANGE, _ROUNDS = 1e-4, 1000  # as in the published code: where its iteration stops; more is a bug
_NO_SPREAD = 1e-12  # of the largest value: a smaller spread is rounding


class Coding:
    """How a covariate becomes columns that average zero over the training rows."""

    def __init__(self, variable: Variable, first: int = 0) -> None:
        self.name, self.kind, self.levels = variable.name, variable.kind, variable.levels
        self._first = first
        columns = variable.coded(first)[variable.known]
        unit = units(columns)
        self._mean, spread = columns.mean(axis=0), (columns / unit).std(axis=0) * unit
        self._scale = np.where((spread > 0) & (self.kind == "quantity"), spread, 1.0)

    def code(self, given: Any, m: int) -> Array:
        """Return (m, columns); unknown values are zeros, the average."""
        variable = read_variable(self.name, given, m, self.kind, self.levels)
        Z = (variable.coded(self._first) - self._mean) / self._scale
        return np.where(variable.known[:, None], Z, 0.0)


class _LoadingsStep(TransformerMixin, BaseEstimator):
    """A transformer of loadings that may have other columns beside them.

    Attributes
    ----------
    n_features_in_ : int
        Columns of the input.
    """

    n_features_in_: int
    covariates_: tuple[str, ...]
    _names: list[Any]
    _codings: list[Coding]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the loadings, without those of the columns beside them.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the columns of the input.

        Examples
        --------
        >>> import numpy as np
        >>> from eigengraphs.inference import CovariateAdjustment
        >>> Lam, site = np.array([[1.0], [1.0], [3.0], [3.0]]), {"site": ["a", "a", "b", "b"]}
        >>> fitted = CovariateAdjustment().fit(Lam, covariates=site)
        >>> fitted.get_feature_names_out(["je1"])
        array(['je1'], dtype=object)
        """
        check_is_fitted(self)
        names = self._names if input_features is None else list(input_features)
        return np.delete(np.array(names, dtype=object), _places(self._beside, names))

    @property
    def _beside(self) -> list[Any]:
        """The columns of X that are not loadings."""
        raise NotImplementedError

    def _split(self, X: Any, argument: str, given: bool) -> tuple[Array, dict[str, Any]]:
        """Return loadings, and the columns beside them by name."""
        if not self._beside:
            return read_loadings(X, least=1), {}
        if given:
            raise InputError(f"give {argument} as columns of X or as an argument, not both")
        cells = np.asarray(X, dtype=object)
        if cells.ndim != 2:
            raise InputError(f"X must have rows and columns, got shape {cells.shape}")
        names = _column_names(X, cells.shape[1])
        places = _places(self._beside, names)
        table = {str(names[j]): cells[:, j].tolist() for j in places}
        return read_loadings(np.delete(cells, places, axis=1), least=1), table

    def _remember(self, X: Any) -> None:
        self.n_features_in_ = (*np.shape(X), 1)[1]
        self._names = _column_names(X, self.n_features_in_)

    def _coded(self, table: Mapping[str, Any], Y: Array, d: int) -> Array:
        """Return coded covariates of new loadings, which must be ``d`` as in the fit."""
        if Y.shape[1] != d:
            raise InputError(f"got {Y.shape[1]} loadings per graph, expected {d}")
        missing = [name for name in self.covariates_ if name not in table]
        if missing:
            raise InputError(f"no values are given for the covariates {missing} of the fit")
        coded = [coding.code(table[coding.name], len(Y)) for coding in self._codings]
        return np.hstack([np.zeros((len(Y), 0)), *coded])


def _column_names(X: Any, count: int) -> list[Any]:
    return list(X.columns) if hasattr(X, "columns") else [f"x{j}" for j in range(count)]


def _listed(columns: Any) -> list[Any]:
    if columns is None:
        return []
    return [columns] if isinstance(columns, str | int) else list(columns)


def _places(asked: Sequence[Any], names: list[Any]) -> list[int]:
    n = len(names)
    place = {name: j for j, name in enumerate(names)} | {j: j % n for j in range(-n, n)}
    for column in asked:
        if column not in place:
            raise InputError(f"there is no column {column!r} in X; its columns are {names}")
    return [place[column] for column in asked]


class CovariateAdjustment(_LoadingsStep):
    """Regress covariates out of loadings, by least squares on the training rows.

    The label takes no part, and nothing is learned from rows that are transformed; so it can be a
    step of a pipeline under cross-validation. Loadings keep the mean of the training rows.
    Categories that were not met in training, and unknown values, count as the average of the
    training rows. Where a covariate goes with the label (patients from one site), the adjustment
    removes a part of the label's signal as well; no adjustment can avoid that.

    Parameters
    ----------
    columns
        Which columns of the input are covariates: names in a pandas table, else indices. They are
        not in the output. If None, covariates are arguments of ``fit`` and ``transform``.

    Attributes
    ----------
    covariates_ : tuple of str
        Their names.
    coefficients_ : (c, d)
        Of the coded covariates: quantities in standard deviations, one column per category.
    n_features_in_ : int
        Columns of the input.

    Examples
    --------
    >>> import numpy as np
    >>> from eigengraphs.inference import CovariateAdjustment
    >>> site = np.repeat(["a", "b"], 10)
    >>> Lam = np.where(site == "a", 1.0, 3.0)[:, None] + np.zeros((20, 2))
    >>> adjusted = CovariateAdjustment().fit_transform(Lam, covariates={"site": site})
    >>> bool(np.allclose(adjusted, 2.0))
    True
    """

    def __init__(self, columns: Any = None) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any = None, covariates: Any = None) -> Self:
        """Learn what covariates explain.

        Parameters
        ----------
        X : (m, d)
            Loadings, and the covariates if ``columns`` says so.
        y
            Ignored.
        covariates
            A mapping of names to columns of m values, a pandas table, or an array (m, q).

        Returns
        -------
        CovariateAdjustment
            The estimator itself.

        Examples
        --------
        >>> import numpy as np
        >>> from eigengraphs.inference import CovariateAdjustment
        >>> Lam, site = np.array([[1.0], [1.0], [3.0], [3.0]]), {"site": ["a", "a", "b", "b"]}
        >>> CovariateAdjustment().fit(Lam, covariates=site).coefficients_.shape
        (2, 1)
        """
        Y, table = self._parts(X, covariates)
        if not table:
            raise InputError("there are no covariates to adjust for; give columns or covariates")
        self._remember(X)
        self._codings = [Coding(read_variable(*item, len(Y))) for item in table.items()]
        self.covariates_ = tuple(table)
        self._mean = Y.mean(axis=0)
        # The shortest solution: columns of all categories of a covariate are dependent.
        Z = self._coded(table, Y, Y.shape[1])
        self.coefficients_ = np.linalg.lstsq(Z, Y - self._mean, rcond=1e-10)[0]
        return self

    def transform(self, X: Any, covariates: Any = None) -> Array:
        """Return adjusted loadings, (m, d).

        Parameters
        ----------
        X, covariates
            As of :meth:`fit`; the covariates must have the same names.

        Examples
        --------
        >>> import numpy as np
        >>> from eigengraphs.inference import CovariateAdjustment
        >>> Lam, site = np.array([[1.0], [1.0], [3.0], [3.0]]), {"site": ["a", "a", "b", "b"]}
        >>> fitted = CovariateAdjustment().fit(Lam, covariates=site)
        >>> fitted.transform([[1.0], [3.0]], covariates={"site": ["a", "b"]}).round(6).tolist()
        [[2.0], [2.0]]
        """
        check_is_fitted(self)
        Y, table = self._parts(X, covariates)
        return np.asarray(Y - self._coded(table, Y, len(self._mean)) @ self.coefficients_)

    def fit_transform(self, X: Any, y: Any = None, covariates: Any = None) -> Array:
        """Learn, and return adjusted loadings of the same rows.

        Parameters
        ----------
        X, y, covariates
            As of :meth:`fit`.

        Examples
        --------
        >>> import numpy as np
        >>> from eigengraphs.inference import CovariateAdjustment
        >>> Lam, site = np.array([[1.0], [1.0], [3.0], [3.0]]), {"site": ["a", "a", "b", "b"]}
        >>> CovariateAdjustment().fit_transform(Lam, covariates=site).round(6).ravel().tolist()
        [2.0, 2.0, 2.0, 2.0]
        """
        return self.fit(X, y, covariates=covariates).transform(X, covariates=covariates)

    @property
    def _beside(self) -> list[Any]:
        return _listed(self.columns)

    def _parts(self, X: Any, covariates: Any) -> tuple[Array, dict[str, Any]]:
        """Return loadings, and columns of covariates by name."""
        Y, table = self._split(X, "covariates", covariates is not None)
        return Y, table or table_columns(covariates, len(Y))


class Harmonize(_LoadingsStep):
    """Give the graphs of every site the same location and scale: ComBat on loadings, or on edges.

    Loadings are modeled as mean + covariates + a location of the site + noise with a scale of the
    site (Johnson, Li and Rabinovic, 2007; Fortin and others, 2018). Locations and scales of a site
    are shrunk towards what the columns have in common (parametric empirical Bayes) and removed;
    what covariates explain is kept. Everything is learned by ``fit``; labels take no part, and
    rows that are transformed teach nothing, but for those of new sites with ``unseen="estimate"``.

    A group that is not among the covariates loses the part of its effect that goes with the site.
    A group that is among them is separated from the site by the model, and harmonized loadings
    then know the groups: tests and predictions of that group on them find too much
    (Nygaard, Rodland and Hovig, 2016). See the guide, "Several sites".

    Parameters
    ----------
    site, covariates, controls
        Which columns of the input are the site, the covariates to keep, and whether a graph is
        learned from: names in a pandas table, else indices. They are not in the output. If all are
        None, they are arguments of ``fit`` and ``transform``.
    reference : str, optional
        A site that stays as it is; the others become like it. By default sites meet at the mean of
        all graphs.
    unseen : {"error", "estimate"}
        What is done with graphs of sites that were not learned from. "error": they are refused.
        "estimate": location and scale of a new site are estimated from those of its graphs that are
        transformed together, given covariates and without labels; if the new site has other
        shares of a group, that difference is removed as well.
    mean_only : bool
        Remove locations, and keep scales. Sites with one graph need it.
    empirical_bayes : bool
        Shrink; without it, locations and scales are means and standard deviations. With
        ``mean_only`` the shrinkage is that of the published code, which takes every site as one
        graph, and leaves much of a site that changes few columns.

    Attributes
    ----------
    site_name_ : str
        Name of the column of sites.
    sites_ : tuple of str
        The s sites that were learned from.
    counts_ : tuple of int
        Graphs of each that were learned from.
    location_, scale_ : (s, d)
        What sites add to each column and multiply its noise by, in standard deviations of the
        noise, and as a factor.
    coefficients_ : (c, d)
        Of the coded covariates: quantities in standard deviations, one column per further category.
    covariates_ : tuple of str
        Their names.
    notes_ : tuple of str
        What to be careful about, with names of sites and columns.
    n_features_in_ : int
        Columns of the input.

    Examples
    --------
    >>> import numpy as np
    >>> from eigengraphs.inference import Harmonize
    >>> rng = np.random.default_rng(0)
    >>> site = np.repeat(["a", "b"], 30)
    >>> Lam = rng.normal(size=(60, 4)) * np.where(site == "a", 1.0, 3.0)[:, None]
    >>> even = Harmonize().fit_transform(Lam, site=site)
    >>> float(even[site == "b"].std() / even[site == "a"].std()) < 1.1
    True
    """

    def __init__(
        self,
        site: Any = None,
        covariates: Any = None,
        controls: Any = None,
        *,
        reference: Any = None,
        unseen: Unseen = "error",
        mean_only: bool = False,
        empirical_bayes: bool = True,
    ) -> None:
        self.site = site
        self.covariates = covariates
        self.controls = controls
        self.reference = reference
        self.unseen = unseen
        self.mean_only = mean_only
        self.empirical_bayes = empirical_bayes

    def fit(
        self, X: Any, y: Any = None, site: Any = None, covariates: Any = None, controls: Any = None
    ) -> Self:
        """Learn what sites add.

        Parameters
        ----------
        X : (m, d)
            Loadings or other features, and the columns beside them that the parameters name.
        y
            Ignored.
        site : (m,)
            The site of each graph, or a mapping of the name of the column to them.
        covariates
            What is kept: a mapping of names to columns of m values, a pandas table, or an array
            (m, q). Texts are categories. An unknown value counts as the average.
        controls : (m,) of bool, optional
            Graphs to learn from, such as those of healthy people; by default all.

        Returns
        -------
        Harmonize
            The estimator itself.

        Examples
        --------
        >>> import numpy as np
        >>> from eigengraphs.inference import Harmonize
        >>> Lam, site = np.random.default_rng(0).normal(size=(20, 3)), np.repeat(["a", "b"], 10)
        >>> Harmonize().fit(Lam, site=site).location_.shape
        (2, 3)
        """
        check_choice("unseen", self.unseen, ("error", "estimate"))
        Y, self.site_name_, values, table, controls = self._parts(X, site, covariates, controls)
        self._remember(X)
        learn, names = _chosen(controls, len(Y)), self.get_feature_names_out()
        variable = self._read_site(values, len(Y)).rows(learn)
        self.sites_, codes = variable.levels, variable.values.astype(np.intp)
        if self.reference is not None and str(self.reference) not in self.sites_:
            raise InputError(
                f"the reference {self.reference!r} is none of the sites of {self.site_name_!r}: "
                f"{words(self.sites_, 20)}"
            )
        n, S = np.bincount(codes), np.eye(len(self.sites_))[codes]
        self.counts_ = tuple(n.tolist())
        notes = self._learn_coding(table, learn, S)
        Z = self._coded(table, Y, Y.shape[1])[learn]
        self._unit = units(Y[learn])
        Y = Y[learn] / self._unit
        B = np.linalg.lstsq(np.hstack([S, Z]), Y, rcond=None)[0]
        B, self.coefficients_ = B[: len(n)], B[len(n) :]
        rest, home = Y - S @ B - Z @ self.coefficients_, slice(None)
        self._middle = n / n.sum() @ B
        if self.reference is not None:
            reference = self.sites_.index(str(self.reference))
            self._middle, home = B[reference], codes == reference
        spread = np.sqrt((rest[home] ** 2).mean(axis=0))
        self._flat = spread <= _NO_SPREAD * np.maximum(np.abs(Y).max(axis=0), 1e-300)
        self._spread = np.where(self._flat, 1.0, spread)
        T = (Y - self._middle - Z @ self.coefficients_) / self._spread
        self.location_, self.scale_ = np.zeros((len(n), Y.shape[1])), np.ones((len(n), Y.shape[1]))
        if self._flat.any():
            kept = words([self.site_name_, *table])
            notes.append(f"{words(names[self._flat])}: no noise around {kept}, scale left as it is")
        for i, name in enumerate(self.sites_):
            if name != str(self.reference):
                self.location_[i], self.scale_[i] = self._effects(T[codes == i], name)
            still = (np.ptp(T[codes == i], axis=0) <= _NO_SPREAD) & ~self._flat
            if still.any() and n[i] > 1:
                which = f"{self.site_name_} {name!r}"
                notes.append(f"{words(names[still])}: the same for all graphs of {which}")
        self.notes_ = tuple(notes)
        return self

    def transform(self, X: Any, site: Any = None, covariates: Any = None) -> Array:
        """Return harmonized loadings, (m, d).

        Parameters
        ----------
        X, site, covariates
            As of :meth:`fit`; the covariates must have the same names.

        Examples
        --------
        >>> import numpy as np
        >>> from eigengraphs.inference import Harmonize
        >>> Lam, site = np.random.default_rng(0).normal(size=(20, 3)), np.repeat(["a", "b"], 10)
        >>> fitted = Harmonize().fit(Lam, site=site)
        >>> fitted.transform(Lam[:2], site=["a", "a"]).shape
        (2, 3)
        """
        check_is_fitted(self)
        Y, _, values, table, _ = self._parts(X, site, covariates, None)
        middle = self._middle + self._coded(table, Y, len(self._spread)) @ self.coefficients_
        T, sites = (Y / self._unit - middle) / self._spread, self._read_site(values, len(Y))
        new = [repr(name) for name in sites.levels if name not in self.sites_]
        if new and self.unseen == "error":
            raise InputError(
                f"{self.site_name_} {words(new)} was not learned from, only "
                f"{words(self.sites_, 20)}; learn from some of its graphs, or pass "
                "unseen='estimate', which estimates it from the graphs to be harmonized, without "
                "their labels"
            )
        for i, name in enumerate(sites.levels):
            rows = sites.values == i
            if name in self.sites_:
                known = self.sites_.index(name)
                location, scale = self.location_[known], self.scale_[known]
            else:
                location, scale = self._effects(T[rows], name)
            T[rows] = (T[rows] - location) / scale
        return np.asarray((T * self._spread + middle) * self._unit)

    def fit_transform(
        self, X: Any, y: Any = None, site: Any = None, covariates: Any = None, controls: Any = None
    ) -> Array:
        """Learn, and return harmonized loadings of the same rows.

        Parameters
        ----------
        X, y, site, covariates, controls
            As of :meth:`fit`.

        Examples
        --------
        >>> import numpy as np
        >>> from eigengraphs.inference import Harmonize
        >>> Lam, site = np.random.default_rng(0).normal(size=(20, 3)), np.repeat(["a", "b"], 10)
        >>> Harmonize().fit_transform(Lam, site=site).shape
        (20, 3)
        """
        self.fit(X, y, site=site, covariates=covariates, controls=controls)
        return self.transform(X, site=site, covariates=covariates)

    @property
    def _beside(self) -> list[Any]:
        return [*_listed(self.site), *_listed(self.covariates), *_listed(self.controls)]

    def _parts(
        self, X: Any, site: Any, covariates: Any, controls: Any
    ) -> tuple[Array, str, Any, dict[str, Any], Any]:
        """Return loadings, name and values of the site, covariates, and which are controls."""
        given = any(part is not None for part in (site, covariates, controls))
        Y, columns = self._split(X, "site, covariates and controls", given)
        if not columns:
            if site is None:
                raise InputError("there is no site to harmonize; give site, one value per graph")
            return Y, *named_site(site), table_columns(covariates, len(Y)), controls
        if self.site is None:
            raise InputError("covariates and controls are columns of X: name that of site=, too")
        (name, site), *others = columns.items()
        if self.controls is not None:
            controls = others.pop()[1]
        return Y, name, site, dict(others), controls

    def _read_site(self, values: Any, m: int) -> Variable:
        variable = read_variable(self.site_name_, values, m, "groups")
        if not variable.known.all():
            which = words([counted(i) for i in np.flatnonzero(~variable.known).tolist()])
            raise InputError(
                f"{self.site_name_!r} is unknown for {which}, which cannot be harmonized then; "
                "complete the column, or leave these graphs out"
            )
        return variable

    def _learn_coding(self, table: dict[str, Any], learn: NDArray[np.bool_], S: Array) -> list[str]:
        """Learn how covariates are coded, beside the sites S (graphs, sites); return notes."""
        notes, n = list[str](), S.sum(axis=0)
        self.covariates_, self._codings, basis = tuple(table), [], S / np.sqrt(n)
        for name, values in table.items():
            variable = read_variable(name, values, len(learn)).rows(learn)
            if not variable.known.any():
                raise InputError(f"{name!r} has no value for any graph to learn from")
            self._codings.append(Coding(variable, first=1))
            Z = self._codings[-1].code(values, len(learn))[learn]
            if not np.ptp(Z, axis=0).any():
                notes.append(f"{name!r} is the same for all graphs; there is nothing to keep")
                continue
            new = independent_columns((Z - basis @ (basis.T @ Z)) / np.linalg.norm(Z, axis=0))
            if new.shape[1] < Z.shape[1]:
                beside = words([self.site_name_, *(one.name for one in self._codings[:-1])])
                raise InputError(
                    f"{name!r} is determined by {beside}, so that its effect cannot be separated "
                    "from that of sites and kept; leave it out of the covariates"
                )
            basis = np.hstack([basis, new])
            counts = S.T @ variable.coded(0)  # of each group; nothing of a quantity
            alone = (counts > 0).sum(axis=1) == 1 if variable.levels else n < 0
            for i in np.flatnonzero(alone & (n > 1)):
                notes.append(
                    f"{self.site_name_} {self.sites_[i]!r} has graphs of one {name} alone "
                    f"({variable.levels[int(counts[i].argmax())]}): what is of the site there, and "
                    f"what of {name}, is told by the other sites"
                )
        return notes

    def _effects(self, T: Array, name: str) -> tuple[Array, Array]:
        """Return location and scale of a site, (d,) and (d,), from its standardized rows.

        The prior of locations is normal, that of variances inverse gamma, with the moments over
        columns; both posterior means depend on each other, and are found by turns. It stops where
        the published code does, so that numbers are the same.
        """
        n, g = len(T), T.mean(axis=0)
        if n < 2 and not self.mean_only:
            raise InputError(
                f"{self.site_name_} {name!r} has one graph, from which no scale can be learned; "
                "leave it out, join it to another site, or pass mean_only=True"
            )
        d = np.ones_like(g) if self.mean_only else T.var(axis=0, ddof=1)
        squares = (n - 1) * d
        d = np.where(self._flat | (d <= _NO_SPREAD**2), 1.0, d)
        which = ~self._flat
        if self.empirical_bayes and which.sum() > 1:
            g[which], d[which] = self._shrunk(n, g[which], d[which], squares[which])
        return g, np.sqrt(d)

    def _shrunk(self, n: int, g: Array, d: Array, squares: Array) -> tuple[Array, Array]:
        """Return posterior means of n graphs with these means, variances and sums of squares."""
        center, t2, mean, s2 = g.mean(), g.var(ddof=1), d.mean(), d.var(ddof=1)
        if self.mean_only:
            return np.asarray((t2 * g + center) / (t2 + 1)), d
        new, new_d = g, d
        for _ in range(_ROUNDS):
            old, old_d = new, new_d
            new = (t2 * n * g + old_d * center) / (t2 * n + old_d)
            some = squares + n * (new - g) ** 2
            new_d = (s2 * (some / 2 + mean) + mean**3) / (s2 * (n / 2 + 1) + mean**2)
            with np.errstate(divide="ignore", invalid="ignore"):
                moved = np.r_[np.abs(new - old) / old, np.abs(new_d - old_d) / old_d]
            if not moved.max() > _CHANGE:
                break
        return new, new_d


def _chosen(controls: Any, m: int) -> NDArray[np.bool_]:
    """Return the graphs that are learned from, (m,)."""
    plain = [True] * m if controls is None else graph_values("controls", controls, m)
    wrong = next((i for i, value in enumerate(plain) if value not in (True, False)), None)
    if wrong is not None or True not in plain:
        came = "none is" if wrong is None else f"{counted(wrong)} has {plain[wrong]!r}"
        raise InputError(f"controls must be true or false for every graph, true for some; {came}")
    return np.array(plain, dtype=bool)


def named_site(given: Any) -> tuple[str, Any]:
    """Return the name of a column of sites, and its values, from either or both."""
    if not isinstance(given, Mapping):
        return "site", given
    ((name, values),) = given.items()
    return str(name), values


def harmonized_for_test(
    loadings: Any,
    harmonize: Any,
    covariates: Any,
    group: Any,
    name: str,
    settings: Harmonize | None = None,
) -> tuple[Array, dict[str, Any] | None, str]:
    """Return harmonized loadings for a test of groups, covariates with the site, and what was done.

    Given sites and covariates, the result depends on the loadings alone and not on the groups: then
    groups that make no difference can still be exchanged. Graphs of unknown sites are left as they
    are; the site being a covariate, they are left out of the test.

    Parameters
    ----------
    loadings, harmonize, covariates, group, name, settings
        As :func:`~eigengraphs.inference.compare` takes them; ``settings`` are its ``harmonizer``.
    """
    Y = read_loadings(loadings)
    site, values = named_site(harmonize)
    table = table_columns(covariates, len(Y))
    sites = read_variable(site, values, len(Y), "groups")
    if site in table:
        raise InputError(f"{site!r} is harmonized, and is a covariate then: do not name it as one")
    if isinstance(group, Question):
        terms = {variable.name: variable.levels for variable in group.variables(len(Y))}
        text = str(getattr(group, "text", ""))
        if not terms.get(site) and f"C({site})" not in text:
            raise InputError(
                f"loadings are harmonized over {site!r}, which must be a categorical term of the "
                f"formula then: add '+ {f'C({site})' if site in terms else site}' to {text!r}"
            )
    known = np.flatnonzero(sites.known)
    names = [sites.levels[int(i)] if i == i else None for i in sites.values]  # texts are groups
    Y[known] = (Harmonize() if settings is None else settings).fit_transform(
        Y[known], site={site: [names[i] for i in known]},
        covariates={column: [values[i] for i in known] for column, values in table.items()},
    )  # fmt: skip
    keeping = f"with the effects of {listed(list(table))} kept and " if table else ""
    unknown = "the other terms of the model" if isinstance(group, Question) else name
    said = (
        f"Loadings were harmonized over {site} by ComBat (Johnson et al., 2007), {keeping}without "
        f"knowledge of {unknown}; {site} was also a covariate of the test, so that it keeps its "
        "level where sites have unequal shares of groups (Nygaard et al., 2016)."
    )
    return Y, None if isinstance(group, Question) else {**table, site: names}, said
