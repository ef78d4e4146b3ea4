"""Plots of an embedding with matplotlib (extra ``report``); each draws on ``ax`` and returns it.

Nothing is sorted: graphs and vertices stay in the order of the input. Components are counted from
0 in arguments, as columns are, and from 1 in what is drawn, as in a report.

>>> from matplotlib.figure import Figure
>>> import eigengraphs as eg
>>> mice = eg.datasets.load_mice()
>>> je = eg.JointEmbedding(3, center=True, random_state=0).fit(mice.graphs.log1p())
>>> ax = eg.plot.loadings(je, (0, 2), color=mice.genotypes, ax=Figure().subplots())
>>> ax.get_ylabel()
'loading of component 3 (explains 3.3%)'
>>> ax.figure.savefig("mice.png")  # doctest: +SKIP
"""

from eigengraphs.plot.embedding_plots import (
    components,
    heatmap,
    loadings,
    objective,
    positions,
    timeline,
    trajectories,
)

__all__ = [
    "components",
    "heatmap",
    "loadings",
    "objective",
    "positions",
    "timeline",
    "trajectories",
]
