"""People told apart by repeated scans, against the definitions written out."""

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.errors import InputError
from eigengraphs.inference import contest, identify

P, S, N = 7, 3, 8


def scans(spread, seed=0):
    """Return graphs (P S, N, N) and whose each is, in no order."""
    rng = np.random.default_rng(seed)
    who = rng.permutation(np.repeat(np.arange(P), S))
    A = rng.normal(size=(P, N, N))[who] + spread * rng.normal(size=(P * S, N, N))
    return A + A.transpose(0, 2, 1), np.array([f"p{i}" for i in who])


def written_out(graphs, who):
    """Return identification and discriminability of standardized principal components."""
    seen, turn = {}, []
    for person in who:
        seen[person] = seen.get(person, -1) + 1
        turn.append(seen[person])
    right, nearer = [], []
    for gallery in range(S):
        known = [i for i in range(len(who)) if turn[i] == gallery]
        pca = eg.baselines.VectorizedPCA(4).fit(graphs[known])
        Z = pca.transform(graphs)
        X = (Z - Z[known].mean(0)) / Z[known].std(0)
        X = np.c_[X, np.ones(len(X))]
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        for probe in (i for i in range(len(who)) if turn[i] != gallery):
            d = {who[i]: 1 - X[probe] @ X[i] for i in known}
            right.append(min(d, key=d.get) == who[probe])
            nearer += [d[who[probe]] < d[other] for other in d if other != who[probe]]
    return np.mean(right), np.mean(nearer)


def found_of(graphs, who, **options):
    je = eg.JointEmbedding(4, random_state=0)
    return identify(graphs, who, embedding=je, methods=("PCA", "ASE"), **options)


@pytest.mark.parametrize("spread", [0.3, 1.5])
def test_both_shares_are_those_of_their_definitions(spread):
    graphs, who = scans(spread)
    found = found_of(graphs, who)
    identified, discriminability = written_out(graphs, who)
    assert found.identified["PCA"].value == pytest.approx(identified, abs=1e-12)
    assert found.discriminability["PCA"].value == pytest.approx(discriminability, abs=1e-12)
    assert set(found.identified) == {"joint embedding", "PCA", "ASE"}
    for share in (*found.identified.values(), *found.discriminability.values()):
        assert 0 <= share.low <= share.value <= share.high <= 1
    assert (found.n_people, found.n_scans) == (P, S)


def test_galleries_are_the_scans_that_are_asked_for():
    graphs, who = scans(1.5)
    each = [found_of(graphs, who, galleries=[k]) for k in range(S)]
    for part in ("identified", "discriminability"):
        values = [getattr(found, part)["PCA"].value for found in (*each, found_of(graphs, who))]
        assert np.mean(values[:-1]) == pytest.approx(values[-1])
        assert len(set(values)) > 1


def test_noise_is_at_chance():
    shares = []
    for seed in range(6):
        graphs, who = scans(1e6, seed)
        found = found_of(graphs, who)
        shares.append((found.identified["PCA"].value, found.discriminability["PCA"].value))
        low, high = found.discriminability["PCA"][1:]
        assert 0.2 < low < high < 0.8
    # Four standard errors of as many independent scans, and of discriminability over the seeds.
    assert abs(np.mean(shares, axis=0) - [1 / P, 0.5]) == pytest.approx([0, 0], abs=0.13)


def test_all_people_count_alike_and_those_with_one_scan_do_not():
    graphs, who = scans(1.5)
    more = np.concatenate([graphs, scans(1.0, 1)[0][:2]])
    found = found_of(more, [*who, "alone", None])
    assert found.identified == found_of(graphs, who).identified
    found = found_of(more, [*who, who[0], "alone"])  # a fourth scan of one takes no part
    assert found.discriminability == found_of(graphs, who).discriminability
    with pytest.raises(InputError, match="at least two"):
        found_of(graphs[:4], ["p", "p", "q", "r"])


def test_a_contest_of_repeated_scans_has_both():
    graphs, who = scans(0.3)
    y = np.where(who < "p3", "a", "b")
    je = eg.JointEmbedding(4, random_state=0)
    held = contest(graphs, y, embedding=je, methods=("PCA",), cv=2, groups=who, participants=who)
    rows = [dict(zip(held.header, row, strict=True)) for row in held.table()]
    expected = found_of(graphs, who)
    assert str(expected).splitlines()[0].split() == ["identified", "discriminability"]
    assert f"{expected.identified['PCA'].value:.3f}" in str(expected).splitlines()[2]
    for row in rows[:2]:
        for name, shares in (
            ("identified", expected.identified),
            ("discriminability", expected.discriminability),
        ):
            cells = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
            assert tuple(cells) == shares[row["method"]]
    assert rows[2]["identified"] is None
    assert "7 people with 3 graphs each" in held.notes[-1]
    assert held.notes[-1].endswith("joint embedding has 4 components.")
    once = contest(graphs, y, embedding=je, methods=(), cv=2, participants=np.arange(len(y)))
    assert "identified" not in once.header
    with pytest.raises(InputError, match="each of the 21 graphs, got 4"):
        contest(graphs, y, embedding=je, methods=(), cv=2, participants=who[:4])
