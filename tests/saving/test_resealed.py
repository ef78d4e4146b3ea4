"""Models that were changed and sealed again: refused by ``load``, or as good as any other."""

import copy
import io
import json
import warnings

import numpy as np
import pytest
from tests.saving.test_every_bit import members_of
from tests.saving.test_model_file import graphs
from tools.build_attacks import sealed

import eigengraphs as eg
from eigengraphs.errors import AlignmentError, InputError

REMOVED = object()
VALUES = [
    REMOVED, None, True, -1, 0, 10**9, 10**30, "x", {"float": "nan"}, {"float": "-0x1p3"},
    {"list": []}, {"tuple": []}, {"dict": {}}, {"array": "array0"}, {"array": "array1"},
    {"scalar": "array3"}, {"dtype": "<f4"}, {"object": "FreeLoadings", "fields": {}},
]  # fmt: skip
CHANGES = [
    lambda a: a[:-1], lambda a: np.concatenate([a, a]), lambda a: a.T, lambda a: a[..., None],
    np.ravel, lambda a: a[..., :1], lambda a: np.full(a.shape, np.nan),
    lambda a: np.full(a.shape, np.inf), lambda a: np.full_like(a, 10**6), lambda a: -a,
    lambda a: a.astype("f4"), lambda a: a.astype(complex), lambda a: a.astype(str),
    lambda a: a.astype(">f8"), lambda a: a.astype(bool), lambda a: np.zeros(0), np.zeros_like,
]  # fmt: skip


def fitted(kind):
    """Return a fit, and graphs to project on it."""
    rng = np.random.default_rng(0)
    settings = {
        "class": {"loadings": "class"}, "centred": {"center": True}, "refined": {"refine": True},
        "sparse": {"loadings": "sparse", "max_nonzeros": 2}, "directed": {"directed": True},
        "missing": {"missing": "unobserved"}, "batches": {},
    }  # fmt: skip
    je = eg.JointEmbedding(2, random_state=0, **settings[kind])
    if kind == "directed":
        return je.fit(rng.random((6, 9, 9))), rng.random((3, 9, 9))
    stack = graphs(8, 12, sparse=kind == "centred")
    if kind == "missing":
        A = np.array(stack.dense)
        A[2, 3, 5] = A[2, 5, 3] = np.nan
        return je.fit(A), A[:3]
    if kind == "batches":
        return je.partial_fit(stack[:5]).partial_fit(stack[5:]), graphs(3, 12, seed=1)
    return je.fit(stack, ["a", "b"] * 4), graphs(3, 12, seed=1)


def places(tree, at=()):
    """Return the way to every value of a tree, and to the first three of each list."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree[:3])
    for key, value in items:
        yield (*at, key)
        if isinstance(value, dict | list):
            yield from places(value, (*at, key))


def changed(tree, at, value):
    tree = copy.deepcopy(tree)
    node = tree["state"]
    for key in at[:-1]:
        node = node[key]
    if value is REMOVED:
        del node[at[-1]]
    else:
        node[at[-1]] = value
    return json.dumps(tree)


def mutations(members, rng, count):
    """Yield what was changed and the members of the file: half in the tree, half in arrays."""
    tree = json.loads(members["model.json"])
    ways = list(places(tree["state"]))
    arrays = [name for name in members if name.endswith(".npy")]
    for k in range(count):
        if k % 2:
            at, value = ways[rng.integers(len(ways))], VALUES[rng.integers(len(VALUES))]
            yield f"{at} = {value}", members | {"model.json": changed(tree, at, value)}
            continue
        name, place = arrays[rng.integers(len(arrays))], rng.integers(len(CHANGES))
        buffer = io.BytesIO()
        try:
            np.save(buffer, CHANGES[place](np.load(io.BytesIO(members[name]))))
        except (TypeError, ValueError, IndexError):  # a change that such an array does not have
            continue
        yield f"{name}, change {place}", members | {name: buffer.getvalue()}


def use(je, new, path):
    """Do all that a fit can do without its training graphs."""
    try:
        Lam = je.transform(new)
        assert Lam.shape == (3, je.n_components_)
        assert np.isfinite(Lam).all()
        assert np.isfinite(je.score(new))
        assert np.isfinite(je.residuals(new)).all()
    except AlignmentError:
        pass  # a vertex with another name
    je.truncate(je.n_components_)
    if not hasattr(je, "refinement_"):
        assert je.truncate(1).loadings_.shape[1] == 1
    assert je.inverse_transform(je.loadings_[:1]).shape == (1, je.n_vertices_, je.n_vertices_)
    assert je.graph_positions(0).positions.shape == je.latent_positions_.shape
    assert "components" in je._repr_html_()
    je.save(path)


@pytest.mark.parametrize(
    "kind", ["class", "centred", "refined", "sparse", "directed", "missing", "batches"]
)
def test_a_resealed_model_is_refused_or_works(kind, tmp_path):
    """About 700 changes in all, the same in every run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        je, new = fitted(kind)
        path = je.save(tmp_path / "model.eg")
        members, ends = members_of(path), {True: 0, False: 0}
        for what, content in mutations(members, np.random.default_rng(0), 110):
            path.write_bytes(sealed(content))
            try:
                again = eg.load(path)
            except InputError:
                ends[False] += 1
                continue
            try:
                use(again, new, tmp_path / "again.eg")
            except Exception as error:
                raise AssertionError(f"after {what}") from error
            ends[True] += 1
    assert min(ends.values()) > 7, ends  # the check refuses neither all nor nothing
