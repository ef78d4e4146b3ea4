"""Everything eigengraphs raises on purpose.

Each class also derives from the built-in error that a caller would expect, so that
``except ValueError`` keeps working. A message says what was expected, what came, where
it was found, and what to do about it.

>>> import eigengraphs as eg
>>> try:
...     eg.GraphStack([[[0, 1, 2], [1, 0, 3]]])
... except ValueError as error:
...     print(type(error).__name__)
InputError
"""

__all__ = [
    "AlignmentError",
    "ClusterError",
    "ConversionError",
    "DatasetError",
    "DegenerateWarning",
    "EigengraphsError",
    "InputError",
    "MissingExtraError",
    "NotAvailableError",
    "ReadError",
    "ReadNotice",
    "SelectionError",
    "StoreError",
    "WeakPositionsWarning",
]


class EigengraphsError(Exception):
    """Root of all errors that eigengraphs raises on purpose."""


class InputError(EigengraphsError, ValueError):
    """Data or a setting cannot be used as given."""


class AlignmentError(InputError):
    """Graphs that should share one vertex set do not."""


class ReadError(InputError):
    """A file does not hold what it should; says which file, where in it, and what to do."""


class StoreError(InputError):
    """A store of graphs is unfinished, damaged or not one; says which file, and what to do."""


class SelectionError(InputError, IndexError):
    """A graph, vertex or component that was asked for does not exist."""


class ConversionError(InputError):
    """A random graph model has no equivalent of the kind asked for."""


class DatasetError(EigengraphsError, OSError):
    """A file of a data set is absent, is not the published one, or cannot be had."""


class ClusterError(EigengraphsError, RuntimeError):
    """A cluster is gone, has no worker left, or cannot do what it was asked."""


class NotAvailableError(EigengraphsError, NotImplementedError):
    """A setting that is part of the interface but is not in this version."""


class MissingExtraError(EigengraphsError, ImportError):
    """A feature needs a package that the core installation leaves out."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed; "
            f"install it with: pip install 'eigengraphs[{extra}]'"
        )


class DegenerateWarning(UserWarning):
    """A result is defined by convention alone, because the data left nothing to decide it."""


class ReadNotice(UserWarning):
    """Files were read in a way that their owner may want to know of."""


class WeakPositionsWarning(UserWarning):
    """Positions of a component are hardly known, so that its loadings mean little."""
