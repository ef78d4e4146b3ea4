"""Results for people: tables, and a report in a single file.

>>> import tempfile, eigengraphs as eg
>>> from eigengraphs.report import summarize, write_report
>>> mice = eg.datasets.load_mice()
>>> graphs = mice.graphs[::4].log1p()
>>> je = eg.JointEmbedding(2, center=True, random_state=0).fit(graphs)
>>> summary = summarize(je, graphs, title="Mice", columns={"genotype": mice.genotypes[::4]})
>>> with tempfile.TemporaryDirectory() as folder:
...     [path.name for path in write_report(summary, folder)]
['report.html', 'report.json']
"""

from eigengraphs.report.page import write_page, write_report
from eigengraphs.report.records import GraphQuality, MethodScore, Prediction, Problem
from eigengraphs.report.summary import Summary, read_summary, summarize

__all__ = [
    "GraphQuality",
    "MethodScore",
    "Prediction",
    "Problem",
    "Summary",
    "read_summary",
    "summarize",
    "write_page",
    "write_report",
]
