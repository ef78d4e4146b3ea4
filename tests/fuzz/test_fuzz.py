"""Readers and changed files: files that once broke one, and a short run of tools.fuzz."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tools.fuzz.readers import READERS, run

FOUND = sorted(path for path in (Path(__file__).parent / "found").glob("*/*") if path.is_file())


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_broke_a_reader_is_read_or_refused_by_name(path, tmp_path):
    run(READERS[path.parent.name], path.read_bytes(), tmp_path)


@pytest.mark.parametrize("name", READERS)
def test_whole_files_are_read_and_changed_ones_are_read_or_refused(name, tmp_path):
    reader = READERS[name]
    rng = Random(0)
    results = [run(reader, data, tmp_path) for data in reader.seeds]
    assert results.count(None) >= 1
    outcomes = [
        run(reader, reader.change(rng.choice(reader.seeds), rng), tmp_path) for _ in range(80)
    ]
    assert any(error is not None for error in outcomes)  # else the changes changed nothing
