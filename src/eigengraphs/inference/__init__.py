"""From loadings to findings: prediction, group differences, uncertainty, and what they rest on."""

from eigengraphs.inference.bootstrap import Bootstrap, bootstrap
from eigengraphs.inference.intervals import LoadingIntervals, loading_intervals

__all__ = ["Bootstrap", "LoadingIntervals", "bootstrap", "loading_intervals"]
