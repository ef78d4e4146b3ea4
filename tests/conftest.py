"""Settings and fixtures that all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "eigengraphs",
    deadline=None,  # machines are shared; a slow example is not a wrong one
    derandomize=True,  # the same examples every run; more of them with --hypothesis-profile=deep
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("ci", parent=settings.get_profile("eigengraphs"), max_examples=200)
settings.register_profile("deep", parent=settings.get_profile("eigengraphs"), max_examples=1000)
settings.load_profile("ci" if os.environ.get("CI") else "eigengraphs")


@pytest.fixture(params=["dense", "sparse"])
def storage(request: pytest.FixtureRequest) -> str:
    """Both ways to keep a stack."""
    return str(request.param)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the published files of data sets that are not bundled."""
    folder = Path(os.environ.get("EIGENGRAPHS_DATA") or "nowhere")
    if not folder.is_dir():
        pytest.skip("needs the published files, in the folder that EIGENGRAPHS_DATA names")
    return folder
