"""The file itself, without a browser: whole, small, closed to the network, and escaped."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from payloads import PAYLOADS
from report_cases import CASES, random_graphs, small

from eigengraphs.errors import InputError
from eigengraphs.report.page import SECTIONS, number, render
from eigengraphs.report.records import MethodScore, Prediction
from eigengraphs.system.labels import listed, shortened


class Reader(HTMLParser):
    """Collects tags and attributes, and whether elements are closed in order."""

    VOID = ("meta", "link", "input")

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.wrong = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def data_of(page):
    return json.loads(re.search(r'id="report-data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.fixture(scope="module")
def summary():
    return small()[2]


@pytest.fixture(scope="module")
def page(summary):
    return render(summary)


def test_elements_are_closed_and_nothing_is_loaded(page):
    reader = Reader(page)
    assert (reader.wrong, reader.open) == ([], [])
    for tag, attributes in reader.tags:
        assert tag not in ("iframe", "object", "embed", "img", "base", "form")
        assert "style" not in attributes  # the policy would refuse it
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href", "action"):
            target = attributes.get(name, "#")
            assert target.startswith("#") or target == "data:,"
    found = re.findall(r"https?://[^\s\"'<]+", page)
    assert set(found) <= {"http://www.w3.org/2000/svg"}  # a name, never requested
    ids = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in reader.tags:
        for name in ("for", "aria-labelledby"):
            assert attributes.get(name, ids[0]) in ids
    assert set(SECTIONS) <= set(ids)


def test_the_policy_allows_this_script_and_style_alone(page):
    policy = re.search(r'Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for tag, kind in (("script", "script-src"), ("style", "style-src")):
        inner = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert len(inner) == 1
        digest = base64.b64encode(hashlib.sha256(inner[0].encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy


def test_names_are_escaped_everywhere():
    text = render(CASES["payloads"]())
    assert "window.hit=1</script>" not in text
    assert "<img" not in text
    assert Reader(text).wrong == []
    data = data_of(text)
    assert data["graphs"] == data["vertices"] == PAYLOADS
    assert data["columns"][1]["name"] == "Ünïcode ✓ 脳"


def test_the_page_holds_the_numbers_to_six_digits(summary, page):
    data = data_of(page)
    for name in ("loadings", "positions", "coordinates"):
        assert np.allclose(np.transpose(data[name]), getattr(summary, name), rtol=1e-5)
    worst = data["worst"][0]["observed"]
    bytes_ = np.frombuffer(base64.b64decode(worst["data"]), np.uint8).reshape(14, 14)
    shown = worst["low"] + bytes_ * (worst["high"] - worst["low"]) / 254
    A = random_graphs(12, 14).dense[summary.worst[0].graph]
    assert np.allclose(shown, np.clip(A, worst["low"], worst["high"]), atol=worst["high"] / 250)


def huge(summary, m, n, d):
    """Return a summary with as many graphs, vertices and components, and long names."""
    rng = np.random.default_rng(0)
    return replace(
        summary,
        graph_names=tuple(f"graph {i} " + "x" * 300 for i in range(m)),
        vertex_names=tuple(f"vertex {s} " + "y" * 300 for s in range(n)),
        columns=tuple(replace(c, values=(c.values * m)[:m]) for c in summary.columns) * 30,
        coordinates=None,
        loadings=rng.normal(size=(m, d)),
        positions=rng.normal(size=(n, d)),
        components=(summary.components[0],) * d,
        objective=np.ones(d + 1),
        residual_with_mean=np.full(m, np.nan),
        explained_by_graph=np.ones(m),
        quality=tuple(replace(q, messages=("long " * 300,)) for q in summary.quality) * (m // 12),
    )


def test_too_much_is_left_out_and_the_page_says_so(summary):
    text = render(huge(summary, 12_000, 12_000, 60))
    assert len(text.encode()) < 10_000_000
    shown = ("of 12000 graphs", "of 12000 vertices", "of 60 components")
    for said in (*(f"{what} are shown" for what in shown), "are left out", "mean over 30 by 30"):
        assert said in text
    data = data_of(text)
    assert len(data["graphs"]) < 12_000
    assert len(data["cells"]["names"]) == 400
    with pytest.raises(InputError, match="pass fewer columns, or shorter texts"):
        render(replace(summary, methods="long " * 10_000), most_bytes=40_000)


def test_a_quantity_is_spoken_of_as_one():
    methods = (
        MethodScore("joint embedding", 0.42, 0.05, folds=(0.4, 0.44)),
        MethodScore("PCA", 1.5e-3),
    )
    guess = Prediction("age", methods, -0.031, kind="quantity", n_graphs=11)
    found = small(prediction=guess, label="age")[2]
    text = " ".join(found.words)
    assert "joint embedding explains 42.0% of its variance" in text
    assert "PCA 0.1%" in text
    assert "always predicting the mean −3.1%" in text
    page = render(found)
    assert "explained variance of held-out graphs" in page
    assert '<rect width="0.00"' in page  # chance is below zero: no bar, and no negative width
    everything = (page + json.dumps(found.to_json())).lower()
    assert "accuracy" not in everything
    assert "of the cases" not in everything
    worse = replace(guess, methods=(MethodScore("a", -0.2),))
    worse = small(prediction=worse, label="age")[2]
    assert "a explains nothing of its variance (−20.0%" in " ".join(worse.words)


def test_long_names_stay_different_when_they_are_cut():
    name = "ctx_lh_G_and_S_cingul-Mid-Ant_a_long_name_of_a_region_with_number_"
    cut = {shortened(f"{name}{s}") for s in range(12)}
    assert len(cut) == 12
    assert all(len(text) == 40 for text in cut)
    assert shortened("short") == "short"
    assert [listed("abc"[:k]) for k in (1, 2, 3)] == ["a", "a and b", "a, b and c"]


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(8940.2, 3, "8940"), (999.6, 3, "1000"), (-13895.4, 3, "−13,895"), (0.12345, 3, "0.123"),
     (9999.6, 4, "10,000"), (1234.5, 4, "1234"), (12.34, 3, "12.3"), (2.5e11, 3, "2.5e+11"),
     (None, 3, "–"), (np.nan, 3, "–"), (np.inf, 3, "∞")],
)  # fmt: skip
def test_numbers_in_thousands_have_no_exponent(value, digits, text):
    assert number(value, digits) == text
