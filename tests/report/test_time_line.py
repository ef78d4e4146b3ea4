"""Graphs in time: what is an order, what is none, and that nothing but the time line follows it."""

import json
import re

import pytest
from report_cases import fitted, random_graphs, small

from eigengraphs.errors import InputError
from eigengraphs.report import summarize
from eigengraphs.report.page import render
from eigengraphs.report.records import time_line

NAMES = [f"g{i}" for i in range(4)]


def order(values):
    return time_line("when", {"when": values}, NAMES[: len(values)]).order


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3, 1, 2.5, 10], (1, 2, 0, 3)),
        (["2019-12", "2020-01", "2019-02", "2019-11"], (2, 3, 0, 1)),
        (["2019-01-05", "2019-01-31", "2018-12-31", "2019-01-04"], (2, 3, 0, 1)),
        (["2019-01-05T10:00", "2019-01-05T09:30", "2019-01-04 23:00", "2019-01-05"], (2, 3, 1, 0)),
        (["2019-01-05T10:00+02:00", "2019-01-05T09:30Z"], (0, 1)),
        (["2019-Q4", "2019-Q1", "2018-Q4"], (2, 1, 0)),
        (["2019-W10", "2019-W09", "2018-W52"], (2, 1, 0)),
        (["ses-10", "ses-2", "ses-1", "ses-09"], (2, 1, 3, 0)),
        ([1, 0, 1, 0], (1, 3, 0, 2)),  # equal times stay in the order of the input
    ],
)
def test_numbers_dates_and_counted_texts_are_put_in_order(values, expected):
    assert order(values) == expected


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1, None, 3, float("nan")], "no value for 'g1', 'g3'"),
        (["2019-01", "n/a", "2019-03"], "no value for 'g1'"),
        (["2019-01", "2019-13", "2019-03"], r"'2019-13' \(g1\) is not a month, as 2 others"),
        (["31/01/2019", "01/02/2019"], r"'31/01/2019' \(g0\)"),  # which is the month?
        (["visit 1", "visit 2", "follow-up"], r"'follow-up' \(g2\) is not a text with one"),
        (["before", "after"], "A column to sort by has numbers"),
        (["2019-01-05T10:00", "2019-01-05T10:00", "2019-01-05T10:00Z"], r"\(g2\) .* a date"),
        ([1, 2, "soon"], r"'soon' \(g2\) is not a number, as 2 others are"),
    ],
)
def test_what_says_no_order_is_refused_with_its_graph(values, said):
    with pytest.raises(InputError, match=said):
        order(values)


def test_only_the_time_line_follows_the_column():
    graphs = random_graphs(4, 9, graph_names=NAMES)
    embedding = fitted(graphs, 2)
    when = {"when": ["2019-12", "2020-01", "2019-02", "2019-12"]}
    plain = summarize(embedding, graphs, title="", columns=when)
    found = summarize(embedding, graphs, title="", columns=when, ordered="when")
    assert found.timeline.order == (2, 0, 3, 1)
    assert found.timeline.labels == ("2019-02", "2019-12", "2019-12", "2020-01")
    one, two = plain.to_json(), found.to_json()
    assert one.pop("timeline") is None
    assert two.pop("timeline")["by"] == "when"
    assert one == two
    text = render(found)
    data = json.loads(re.search(r'report-data">(.*?)</script>', text, re.DOTALL)[1])
    assert data["graphs"] == NAMES
    assert data["timeline"]["order"] == [2, 0, 3, 1]
    assert "in the order of when, from 2019-02 to 2020-01" in text
    with pytest.raises(InputError, match="no column 'date' to order by"):
        summarize(embedding, graphs, title="", columns=when, ordered="date")
    line = small()[2].timeline  # ordered=True: the input is in order
    assert (line.by, line.order) == ("", tuple(range(12)))
