"""A fit on disk: the same fit comes back, whatever its kind; nothing else is let in."""

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.errors import InputError

KINDS = {
    "free": {},
    "centred": {"center": True},
    "observed": {"diagonal": "observed"},
    "unobserved": {"diagonal": "unobserved"},
    "algorithm1": {"solver": "algorithm1"},
    "shared": {"loadings": "shared"},
    "class": {"loadings": "class"},
    "nonnegative": {"loadings": "nonnegative"},
    "sparse loadings": {"loadings": "sparse", "max_nonzeros": 2},
    "penalized": {"loadings": "sparse", "l1_penalty": 0.1},
    "refined": {"refine": True},
    "auto": {"n_components": "auto"},
    "preprocessed": {"preprocess": ["log1p", "unit_norm"]},
    "given start": {"init": np.eye(24)[:, :3]},
}


def graphs(m=14, n=24, seed=0, sparse=False, **options):
    rng = np.random.default_rng(seed)
    A = rng.poisson(2.0, (m, n, n)) * (rng.random((m, n, n)) < 0.4)
    stack = eg.GraphStack(
        (A + A.transpose(0, 2, 1)).astype(float),
        vertex_names=[f"vertex {s}" for s in range(n)],
        **options,
    ).drop_loops()
    return stack.to_sparse() if sparse else stack


def same(a, b):
    """Whether two states are equal, arrays bit by bit."""
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return True


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_fit_comes_back(kind, sparse, tmp_path):
    stack, new = graphs(sparse=sparse), graphs(m=3, seed=1, sparse=sparse)
    y = ["a", "b"] * 7
    je = eg.JointEmbedding(**({"n_components": 3, "random_state": 0} | KINDS[kind])).fit(stack, y)
    again = eg.load(je.save(tmp_path / "model.eg"))
    public = [name for name in vars(je) if name.endswith("_") and not name.startswith("_")]
    assert public
    for name in public:
        assert same(getattr(je, name), getattr(again, name)), name
    assert same(je.get_params(), again.get_params())
    assert (again.transform(new) == je.transform(new)).all()
    assert again.score(new) == je.score(new)
    if kind != "refined":  # which does not nest
        assert (again.truncate(1).loadings_ == je.truncate(1).loadings_).all()
    assert again.vertex_names_ == je.vertex_names_


def test_fits_of_other_graphs_by_parts_and_of_other_sizes_come_back(tmp_path):
    rng = np.random.default_rng(0)
    directed = eg.GraphStack(rng.random((6, 15, 15)))
    A = rng.random((6, 15, 15))
    A += A.transpose(0, 2, 1)
    A[2, 3, 5] = A[2, 5, 3] = np.nan
    fits = [
        (stack, eg.JointEmbedding(2, random_state=0, **settings).fit(stack))
        for stack, settings in (
            (directed, {"directed": True}),
            (directed.astype("float32"), {"directed": True}),
            (A, {"missing": "unobserved"}),
        )
    ]
    stack = graphs()
    whole, parts = (eg.JointEmbedding(d, random_state=0) for d in (3, 2))
    whole.fit(stack)
    for start in (0, 5, 10):
        parts.partial_fit(stack[start : start + 5])
    fits += [(stack, je) for je in (parts, whole.truncate(2), whole.extend(4))]
    for stack, je in fits:
        again = eg.load(je.save(tmp_path / "model.eg"))
        assert again.loadings_.dtype == je.loadings_.dtype
        assert (again.transform(stack) == je.transform(stack)).all()


def test_extend_after_loading_wants_the_graphs_and_goes_on(tmp_path):
    stack = graphs()
    je = eg.JointEmbedding(2, random_state=0).fit(stack)
    again = eg.load(je.save(tmp_path / "model.eg"))
    with pytest.raises(InputError, match="does not keep the graphs"):
        again.extend(4)
    assert (again.extend(4, stack).loadings_ == je.extend(4).loadings_).all()


def test_equal_fits_make_equal_files_and_the_file_is_small(tmp_path):
    files = []
    for name in ("a.eg", "b.eg"):
        je = eg.JointEmbedding(2, random_state=0).fit(graphs())
        files.append(je.save(tmp_path / name).read_bytes())
    assert files[0] == files[1]
    assert len(files[0]) < 40_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.eg", "b.eg"]


def test_a_generator_becomes_the_seed_that_was_drawn(tmp_path):
    je = eg.JointEmbedding(2, random_state=np.random.default_rng(3)).fit(graphs())
    again = eg.load(je.save(tmp_path / "model.eg"))
    assert (again.fit(graphs()).loadings_ == je.loadings_).all()


def test_what_cannot_be_stored_is_named_and_leaves_no_file(tmp_path):
    je = eg.JointEmbedding(2, preprocess=eg.GraphStack.log1p, random_state=0).fit(graphs())
    with pytest.raises(InputError, match=r"cannot store fit\..*preprocess|_steps"):
        je.save(tmp_path / "model.eg")
    with pytest.raises(InputError, match="choose another place"):
        eg.JointEmbedding(2).fit(graphs()).save(tmp_path / "nowhere" / "model.eg")
    assert list(tmp_path.iterdir()) == []


def test_an_absent_file_is_named(tmp_path):
    with pytest.raises(InputError, match="there is no model file"):
        eg.load(tmp_path / "nothing.eg")
