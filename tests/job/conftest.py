"""A study on disk: 24 people of two groups, a matrix each, and a table of people."""

import numpy as np
import pytest

import eigengraphs as eg

N = 20


def matrices(seed=0, m=24):
    """Return graphs (m, N, N) of two groups, which differ in how two halves hang together."""
    rng = np.random.default_rng(seed)
    H = np.stack([np.ones(N), np.repeat([1.0, -1.0], N // 2)], axis=1) / np.sqrt(N)
    group = np.arange(m) % 2
    Lam = np.stack(
        [rng.uniform(30, 34, m), np.where(group, 12.0, 4.0) + rng.normal(0, 1, m)], axis=1
    )
    noise = rng.normal(0, 0.2, (m, N, N))
    A = np.einsum("sk,ik,tk->ist", H, Lam, H) + (noise + noise.transpose(0, 2, 1)) / 2
    A[:, np.arange(N), np.arange(N)] = 0.0
    return A, group


@pytest.fixture
def study(tmp_path):
    folder = tmp_path / "connectomes"
    folder.mkdir()
    A, group = matrices()
    rows = ["participant_id\tgroup\tage"]
    for i, graph in enumerate(A):
        np.savetxt(folder / f"sub-{i + 1:02d}_connectome.csv", graph, delimiter=",")
        rows.append(f"sub-{i + 1:02d}\t{'patient' if group[i] else 'control'}\t{30 + i}")
    (tmp_path / "participants.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def stack():
    return eg.GraphStack(matrices()[0])


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Return a function that runs a command in this process: code, output and errors."""
    import sys

    from eigengraphs.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")

    def run_command(*words):
        monkeypatch.setattr(sys, "argv", ["eigengraphs", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        return end.value.code or 0, said.out, said.err

    return run_command


@pytest.fixture
def people(tmp_path, run):
    """Fit 24 scans: 12 people of two groups, two sessions each."""
    A, _ = matrices()
    A = A[np.argsort(np.arange(24) % 2, kind="stable")]  # scans of one person are of one group
    (tmp_path / "scans").mkdir()
    rows = ["participant_id\tgroup\tage"]
    for i, graph in enumerate(A):
        name = f"sub-{i // 2:02d}_ses-{1 + i % 2}"
        np.savetxt(tmp_path / "scans" / f"{name}_x.csv", graph, delimiter=",")
        if i % 2 == 0:
            rows.append(f"sub-{i // 2:02d}\t{'patient' if i >= 12 else 'control'}\t{30.5 + i}")
    (tmp_path / "participants.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    code, _, said = run("fit", "scans", "out", "-d", 2, "--participants", "participants.tsv")
    assert code == 0, said
    return tmp_path
