"""Settings and fixtures that all tests share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
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
settings.register_profile(
    "seeded", parent=settings.get_profile("eigengraphs"), derandomize=False, database=None
)
settings.load_profile("ci" if os.environ.get("CI") else "eigengraphs")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--seed",
        type=int,
        default=0,
        help="other random numbers wherever tests or the library draw them from a seed; 0 is as is",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Shift every seed, before test modules are imported: some draw their graphs then."""
    shift = config.getoption("--seed")
    if not shift:
        return
    settings.load_profile("seeded")
    config.option.hypothesis_seed = shift
    plain = np.random.default_rng

    def shifted(seed: Any = None) -> np.random.Generator:
        if isinstance(seed, int | np.integer):
            seed = np.random.SeedSequence([int(seed), shift])
        elif isinstance(seed, np.random.SeedSequence) and isinstance(seed.entropy, int):
            seed = np.random.SeedSequence([seed.entropy, shift], spawn_key=seed.spawn_key)
        return plain(seed)

    np.random.default_rng = shifted


@pytest.fixture(params=["dense", "sparse"])
def storage(request: pytest.FixtureRequest) -> str:
    """Both ways to keep a stack."""
    return str(request.param)


class Ended(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ended]:
    """Return a function that runs a command of ours in this process, in ``tmp_path``."""
    from eigengraphs.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")

    def run_command(*words: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["eigengraphs", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return Ended(end.value.code or 0, said.out, said.err)

    return run_command


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the published files of data sets that are not bundled."""
    folder = Path(os.environ.get("EIGENGRAPHS_DATA") or "nowhere")
    if not folder.is_dir():
        pytest.skip("needs the published files, in the folder that EIGENGRAPHS_DATA names")
    return folder
