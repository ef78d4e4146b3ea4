"""The same seed gives the same bits: from run to run, with any number of threads and workers."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.errors import InputError
from eigengraphs.operators import csr, dense
from eigengraphs.store import connect

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def graphs(m, n, *, directed=False, sparse=False, seed=0):
    rng = np.random.default_rng(seed)
    H = np.linalg.qr(rng.standard_normal((n, 3)))[0]
    A = np.einsum("sk,ik,tk->ist", H, rng.gamma(2.0, 2.0, (m, 3)), H)
    A += rng.standard_normal((m, n, n)) / np.sqrt(n)
    A *= rng.random((m, n, n)) < (0.3 if sparse else 1.0)
    stack = eg.GraphStack(A if directed else A + A.transpose(0, 2, 1))
    return stack.to_sparse() if sparse else stack


def with_hole():
    A = np.array(graphs(30, 30).dense)
    A[3, 4, 5] = A[3, 5, 4] = np.nan
    return eg.GraphStack(A, missing="unobserved")


def bits(je):
    """Return a digest of all numbers of a fit."""
    digest = hashlib.sha256()
    for name in ("loadings_", "latent_positions_", "objective_path_", "stationarity_"):
        digest.update(np.ascontiguousarray(getattr(je, name)).tobytes())
    return digest.hexdigest()


def fitted(stack, **settings):
    return eg.JointEmbedding(3, random_state=0, **settings).fit(stack)


def same_up_to_signs(one, other):
    signs = np.sign((one.latent_positions_ * other.latent_positions_).sum(axis=0))
    return (
        abs(one.latent_positions_ - signs * other.latent_positions_).max() < 1e-8
        and abs(one.loadings_ - other.loadings_).max() < 1e-8 * abs(one.loadings_).max()
    )


@pytest.fixture
def many_threads(monkeypatch):
    """Let small stacks be worked on in threads, as large ones are."""
    monkeypatch.setattr(csr, "_TASK_ENTRIES", 2**9)
    monkeypatch.setattr(dense, "_TASK_BYTES", 2**14)

    def use(count):
        monkeypatch.setenv("EIGENGRAPHS_THREADS", str(count))

    return use


CASES = {
    "on all vertices": (lambda: graphs(300, 12), {}),
    "dense": (lambda: graphs(40, 60), {}),
    "sparse": (lambda: graphs(40, 60, sparse=True), {}),
    "centered": (lambda: graphs(40, 60), {"center": True}),
    "directed": (lambda: graphs(40, 40, directed=True), {"directed": True}),
    "algorithm1": (lambda: graphs(40, 40), {"solver": "algorithm1", "max_iter": 8}),
    "nonnegative": (lambda: graphs(20, 20), {"loadings": "nonnegative"}),
    "refined": (lambda: graphs(40, 40), {"refine": True, "max_iter": 5}),
    "missing": (with_hole, {"missing": "unobserved"}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore::eigengraphs.errors.DegenerateWarning")
def test_the_number_of_threads_does_not_matter(case, many_threads):
    make, settings = CASES[case]
    stack, found = make(), set()
    for count in (1, 2, 3):
        many_threads(count)
        je = fitted(stack, **settings)
        found.add((bits(je), np.asarray(je.transform(stack)).tobytes(), je.score(stack)))
    assert len(found) == 1


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("determinism") / "g.egs"
    eg.store.write_store(path, [graphs(90, 80)], shard_bytes=4 * 80**2 * 8)
    return path


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("center", [pytest.param(False, marks=pytest.mark.slow), True])
def test_nor_does_it_for_a_store(store, deterministic, center, many_threads):
    found = set()
    for count in (1, 2, 3):
        many_threads(count)
        stack = eg.open_store(store, memory="8M")
        assert len(stack.spans) > 8
        found.add(bits(fitted(stack, deterministic=deterministic, center=center)))
    assert len(found) == 1


@pytest.mark.parametrize("center", [pytest.param(False, marks=pytest.mark.slow), True])
def test_the_number_of_workers_does_not_matter(store, center):
    pytest.importorskip("distributed")
    here = fitted(eg.open_store(store, memory="8M"), deterministic=True, center=center)
    loose = fitted(eg.open_store(store, memory="8M"), center=center)
    assert same_up_to_signs(here, loose)
    # Whether they keep blocks depends on their memory, and so on how many there are.
    for count, keep in ((1, False), (4, True)):
        with connect(count, memory_limit="1GB", timeout=120) as client:
            client.wait_for_workers(count, timeout=120)
            source = eg.open_store(store, memory="8M")
            stack = eg.store.DaskStack(source, client, keep=keep)
            there = fitted(stack, deterministic=True, center=center)
            assert bits(there) == bits(here)
            assert same_up_to_signs(fitted(stack, center=center), loose)


def test_a_fit_in_fixed_order_does_not_go_on_with_sums_in_another(store, tmp_path):
    whole = bits(fitted(eg.open_store(store, memory="8M"), deterministic=True))
    for deterministic in (False, True, True):
        journal = eg.store.FitJournal(tmp_path / "j", resume=True)
        with journal.keeping():
            je = fitted(eg.open_store(store, memory="8M"), deterministic=deterministic)
    assert bits(je) == whole
    assert journal.n_asked == 0


def test_what_is_no_truth_value_is_refused():
    with pytest.raises(InputError, match="deterministic must be one of False, True, got"):
        fitted(graphs(3, 5), deterministic="yes")


CODE = """
import numpy as np, eigengraphs as eg
rng = np.random.default_rng(0)
A = rng.random((20, 160, 160))
je = eg.JointEmbedding(3, center=True, random_state=0).fit(A + A.transpose(0, 2, 1))
je.save("model.eg")
print(je.transform(A + A.transpose(0, 2, 1)).sum().hex())
"""


@pytest.mark.parametrize("count", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_processes_write_the_same_bytes(count, tmp_path):
    found = set()
    for k in range(count):
        given = {"EIGENGRAPHS_THREADS": 1 + k % 3, "OPENBLAS_NUM_THREADS": 1 + (k + 1) % 3,
                 "OMP_NUM_THREADS": 1 + (k + 1) % 3, "PYTHONHASHSEED": k}  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", CODE], cwd=tmp_path, capture_output=True, text=True, check=True,
            env=os.environ | {name: str(value) for name, value in given.items()},
        )  # fmt: skip
        found.add((done.stdout, (tmp_path / "model.eg").read_bytes()))
    assert len(found) == 1
