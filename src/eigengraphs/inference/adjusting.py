"""Loadings freed of age, sex, site: learnt from training graphs, applied to all."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from eigengraphs.errors import InputError
from eigengraphs.inference.variables import (
    Array,
    Variable,
    read_loadings,
    read_variable,
    table_columns,
    units,
)

__all__ = ["CovariateAdjustment"]


class CovariateAdjustment(TransformerMixin, BaseEstimator):
    """Take off what covariates explain of loadings, by least squares on the training rows.

    The label takes no part, and rows that are transformed teach nothing; so it may stand in a
    pipeline under cross-validation. Loadings keep the mean of the training rows. Categories that
    were not met in training, and unknown values, count as the average of the training rows. Where
    a covariate goes with the label (patients from one site), the adjustment takes from the label's
    signal as well: that is its price, not a fault of the data that it could mend.

    Parameters
    ----------
    columns
        Which columns of the input are covariates: names in a pandas table, else places. They are
        taken out of the output. If None, covariates are given to ``fit`` and ``transform`` apart.

    Attributes
    ----------
    covariates_ : tuple of str
        Their names.
    coefficients_ : (c, d)
        Of the coded covariates: quantities in standard deviations, and a column for each category.
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

    def fit(self, X: Any, y: Any = None, covariates: Any = None) -> Self:  # noqa: ARG002
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
        self.n_features_in_ = np.shape(X)[1]
        self._names = _names_of(X)
        read = [read_variable(name, values, len(Y)) for name, values in table.items()]
        self._known = [_Coding(variable) for variable in read]
        self.covariates_ = tuple(table)
        self._mean = Y.mean(axis=0)
        Z = np.hstack([coding.code(variable) for coding, variable in
                       zip(self._known, read, strict=True)])  # fmt: skip
        # The shortest solution: columns of all categories of a covariate are dependent.
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
        if Y.shape[1] != len(self._mean):
            raise InputError(f"got {Y.shape[1]} loadings a graph, expected {len(self._mean)}")
        missing = [name for name in self.covariates_ if name not in table]
        if missing:
            raise InputError(f"no values are given for the covariates {missing} of the fit")
        coded = []
        for coding in self._known:
            seen = coding.variable
            levels = seen.levels if seen.kind == "groups" else None
            new = read_variable(seen.name, table[seen.name], len(Y), seen.kind, levels)
            coded.append(coding.code(new))
        return np.asarray(Y - np.hstack(coded) @ self.coefficients_)

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

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the loadings that are left.

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
        if names is None:
            names = [f"x{j}" for j in range(self.n_features_in_)]
        out = set(self._places(names))
        return np.array([name for j, name in enumerate(names) if j not in out], dtype=object)

    def _parts(self, X: Any, covariates: Any) -> tuple[Array, dict[str, Any]]:
        """Return loadings, and columns of covariates by name."""
        if self.columns is None:
            Y = read_loadings(X, least=1)
            return Y, table_columns(covariates, len(Y))
        if covariates is not None:
            raise InputError("covariates are in the columns of X, or given apart; not both")
        names = _names_of(X)
        cells = np.asarray(X, dtype=object)
        if cells.ndim != 2:
            raise InputError(f"X must have rows and columns, got shape {cells.shape}")
        names = [f"x{j}" for j in range(cells.shape[1])] if names is None else names
        places = self._places(names)
        rest = [j for j in range(cells.shape[1]) if j not in set(places)]
        return read_loadings(cells[:, rest], least=1), {
            str(names[j]): cells[:, j].tolist() for j in places
        }

    def _places(self, names: list[Any]) -> list[int]:
        if self.columns is None:
            return []
        asked = [self.columns] if isinstance(self.columns, str | int) else list(self.columns)
        found = []
        for column in asked:
            if isinstance(column, int | np.integer) and -len(names) <= column < len(names):
                found.append(int(column) % len(names))
            elif column in names:
                found.append(names.index(column))
            else:
                raise InputError(f"there is no column {column!r} in X, of {names}")
        return found


class _Coding:
    """How a covariate becomes columns that average zero over the training rows."""

    def __init__(self, variable: Variable) -> None:
        self.variable = variable
        known = variable.values[variable.known]
        if variable.kind == "quantity":
            unit = float(units(known[:, None])[0])
            self._mean, spread = known.mean(), (known / unit).std() * unit
            self._scale = spread if spread > 0 else 1.0
        else:
            self._shares = np.bincount(known.astype(int), minlength=len(variable.levels))
            self._shares = self._shares / self._shares.sum()

    def code(self, variable: Variable) -> Array:
        """Return (m, columns); unknown values are zeros, the average."""
        if self.variable.kind == "quantity":
            Z = (variable.values[:, None] - self._mean) / self._scale
        else:
            Z = (variable.values[:, None] == np.arange(len(self._shares))) - self._shares
        return np.asarray(np.where(variable.known[:, None], Z, 0.0))


def _names_of(X: Any) -> list[Any] | None:
    return list(X.columns) if hasattr(X, "columns") else None
