import pytest

from eigengraphs.baselines import eigenvectors, graph_statistics


@pytest.fixture
def by_lanczos(monkeypatch):
    """Few eigenvectors from Lanczos' method, though the graphs are small, once it is called."""

    def force():
        for name in ("FEW", "_MEDIUM", "_SUMS_DENSE", "_SUMS_SPARSE"):
            monkeypatch.setattr(eigenvectors, name, 8)
        monkeypatch.setattr(graph_statistics, "FEW", 8)

    return force


@pytest.fixture(params=["whole", "Lanczos"])
def way(request, by_lanczos):
    """Both ways to eigenvectors: all of small matrices, few of large ones."""
    if request.param == "Lanczos":
        by_lanczos()
