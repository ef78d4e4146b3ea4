"""Everything eigengraphs raises on purpose.

Each class also derives from the built-in error that a caller would expect, so that
``except ValueError`` keeps working. A message says what was expected, what was given, where
it was found, and what to do about it.

>>> import eigengraphs as eg
>>> try:
...     eg.GraphStack([[[0, 1, 2], [1, 0, 3]]])
... except ValueError as error:
...     print(type(error).__name__)
InputError
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

__all__ = [
    "AlignmentError",
    "ClusterError",
    "ConversionError",
    "DatasetError",
    "DegenerateWarning",
    "EigengraphsError",
    "InputError",
    "ManyAnomaliesWarning",
    "MissingExtraError",
    "NotAvailableError",
    "ReadError",
    "ReadNotice",
    "SelectionError",
    "StoreError",
    "WeakPositionsWarning",
]


_LONGEST = 2_000  # characters of a message


def short(text: str) -> str:
    """Return a message of at most 2,000 characters, with its beginning and its end."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[:1300]} ... ({len(text) - 1900:,} characters left out) ... {text[-600:]}"


class _Short(Exception):
    """An error or a warning whose message is never long, whatever names a file holds."""

    def __str__(self) -> str:
        return short(super().__str__())


class EigengraphsError(_Short):
    """Base class of all errors that eigengraphs raises on purpose.

    Catch it to catch all of them.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> try:
    ...     eg.GraphStack([])
    ... except eg.errors.EigengraphsError as error:
    ...     print(type(error).__name__)
    InputError
    """


class InputError(EigengraphsError, ValueError):
    """Data or a setting cannot be used as given.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> eg.JointEmbedding(0).fit([[[0, 1], [1, 0]]])
    Traceback (most recent call last):
        ...
    eigengraphs.errors.InputError: n_components must be a whole number >= 1, got n_components=0
    """


class AlignmentError(InputError):
    """Graphs that should share one vertex set do not.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> eg.GraphStack([[[0, 1], [1, 0]], [[0, 1, 1], [1, 0, 1], [1, 1, 0]]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    eigengraphs.errors.AlignmentError: 1 of 2 graphs have 2 vertices, but graphs[1] has 3; ...
    """


class ReadError(InputError):
    """A file does not hold what it should; says which file, where in it, and what to do.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> eg.read("nowhere.csv")
    Traceback (most recent call last):
        ...
    eigengraphs.errors.ReadError: there is no file or folder nowhere.csv
    """


class StoreError(InputError):
    """A store of graphs is unfinished, damaged or not one; says which file, and what to do.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> eg.open_store("nowhere.egs")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    eigengraphs.errors.StoreError: there is no store of graphs at ...
    """


class SelectionError(InputError, IndexError):
    """A requested graph, vertex or component does not exist.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> eg.GraphStack([[[0, 1], [1, 0]]])[5]
    Traceback (most recent call last):
        ...
    eigengraphs.errors.SelectionError: graph 5 does not exist; there are 1
    """


class ConversionError(InputError):
    """A random graph model has no equivalent of the requested kind.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> model = eg.models.StochasticBlockModel([[0.1, 0.9], [0.9, 0.1]], [0, 1])
    >>> model.to_rdpg()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    eigengraphs.errors.ConversionError: StochasticBlockModel(n_vertices=2, n_blocks=2, fixed ...
    """


class DatasetError(EigengraphsError, OSError):
    """A file of a data set is absent, is not the published one, or cannot be downloaded.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> eg.datasets.fetch_hnu1(data_folder="nowhere", download=False)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    eigengraphs.errors.DatasetError: not found: ...
    """


class ClusterError(EigengraphsError, RuntimeError):
    """A cluster is gone, has no worker left, or cannot run a task.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> with eg.store.connect("tcp://127.0.0.1:1", timeout=0.1):  # doctest: +ELLIPSIS
    ...     pass
    Traceback (most recent call last):
        ...
    eigengraphs.errors.ClusterError: no scheduler answers at tcp://127.0.0.1:1 within 0.1 s: ...
    """


class NotAvailableError(EigengraphsError, NotImplementedError):
    """A setting that is part of the interface but is not in this version.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(8, random_state=0)
    >>> eg.select_dimension(graphs, loadings="shared")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    eigengraphs.errors.NotAvailableError: the number of components cannot be chosen with ...
    """


class MissingExtraError(EigengraphsError, ImportError):
    """A feature needs a package that is not part of the core installation.

    Parameters
    ----------
    package : str
        The missing package.
    extra : str
        The extra of eigengraphs that includes it.
    purpose : str
        The feature that needs it.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> raise eg.errors.MissingExtraError("h5py", "io", "reading .mat")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    eigengraphs.errors.MissingExtraError: reading .mat needs the package 'h5py', which is ...
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed; "
            f"install it with: pip install 'eigengraphs[{extra}]'"
        )


class DegenerateWarning(_Short, UserWarning):
    """A result is defined only by convention, because the data do not determine it.

    Examples
    --------
    Equal graphs have nothing to find after centering:

    >>> import warnings
    >>> import eigengraphs as eg
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     je = eg.JointEmbedding(1, center=True, random_state=0).fit([[[0, 1], [1, 0]]] * 2)
    >>> caught[0].category.__name__, je.degenerate_
    ('DegenerateWarning', array([ True]))
    """


class ManyAnomaliesWarning(_Short, UserWarning):
    """Too many graphs were found anomalous to be single anomalies.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> rng = np.random.default_rng(0)
    >>> Lam, share = rng.normal(size=(30, 2)), rng.lognormal(-1, 0.1, size=30)
    >>> Lam[:2] += 50.0
    >>> share[2:4] = 20.0
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     found = eg.inference.anomalies(Lam, share, n_simulations=99, random_state=0)
    >>> caught[0].category.__name__, sorted(found.found)
    ('ManyAnomaliesWarning', [0, 1, 2, 3])
    """


class ReadNotice(_Short, UserWarning):
    """Files were read in a way that their owner may want to know about.

    Examples
    --------
    >>> import tempfile, warnings
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savetxt(folder + "/graph.csv", np.ones((3, 3)), delimiter=",")
    ...     with warnings.catch_warnings(record=True) as caught:
    ...         warnings.simplefilter("always")
    ...         stack = eg.read(folder + "/graph.csv")
    >>> print(str(caught[0].message).partition(";")[0])
    graph.csv is a table of 3 x 3 numbers, which could be a matrix or an edge list
    """


class WeakPositionsWarning(_Short, UserWarning):
    """Positions of a component are known only roughly.

    Examples
    --------
    Pure noise has no second component that halves of the graphs agree on:

    >>> import warnings
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(8, random_state=0)
    >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     found = eg.inference.loading_intervals(je, graphs, n_folds=2, n_splits=1)
    >>> caught[0].category.__name__, found.weak
    ('WeakPositionsWarning', array([False,  True]))
    """


@contextmanager
def in_front(where: str, known: Iterable[str] = ()) -> Iterator[None]:
    """Put a place in front of an `InputError` that does not begin with a known one already."""
    try:
        yield
    except InputError as error:
        if str(error).startswith(tuple(known)):
            raise
        raise type(error)(f"{where}: {error}") from None
