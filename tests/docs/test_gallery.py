"""Every page of the gallery runs, and draws."""

from __future__ import annotations

import runpy
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

plt = pytest.importorskip("matplotlib.pyplot", reason="the gallery is drawn with matplotlib")

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
NAMES = sorted(page.stem for page in GALLERY.glob("plot_*.py"))
SLOW = ("plot_mice", "plot_pipeline")  # more than 15 s of a shared core


def _fetches(name: str) -> bool:
    return "eg.datasets.fetch_" in (GALLERY / f"{name}.py").read_text(encoding="utf-8")


@pytest.fixture
def drawing() -> Iterator[None]:
    """Draw into memory, and leave no figure."""
    before = plt.get_backend()
    plt.switch_backend("agg")
    yield
    plt.close("all")
    plt.switch_backend(before)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in NAMES]
)
@pytest.mark.usefixtures("drawing")
def test_page_runs_without_warnings_and_draws(name: str, request: pytest.FixtureRequest) -> None:
    if _fetches(name):
        pytest.importorskip("rdata", reason="the published files are R's")
        request.getfixturevalue("data_folder")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")  # plt.show
        runpy.run_path(str(GALLERY / f"{name}.py"))
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert 2 <= len(figures) <= 5
    for figure in figures:
        assert figure.axes
        figure.canvas.draw()
