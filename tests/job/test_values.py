"""Columns kept as arrays give the values that lists of them would."""

import numpy as np
import pytest

from eigengraphs.job.values import Values


@pytest.mark.parametrize(
    ("given", "whole", "wanted"),
    [
        ([1.0, np.nan, 2.0], False, [1.0, None, 2.0]),
        ([1.0, np.nan, 2.0], True, [1, None, 2]),
        ([1.5, np.nan, 2.0], True, [1.5, None, 2.0]),
        ([np.inf, 1.0], True, [np.inf, 1.0]),
        ([3, 4], False, [3, 4]),
        ([True, False], False, [True, False]),
        (["a", "", "b", "a"], False, ["a", None, "b", "a"]),
        (np.array(["x", None, "x"], dtype=object), False, ["x", None, "x"]),
        (np.array(["x", float("nan")], dtype=object), True, ["x", None]),
    ],
)
def test_values_are_those_of_python(given, whole, wanted):
    values = Values(given, whole=whole)
    assert list(values) == wanted
    assert [type(value) for value in values] == [type(value) for value in wanted]
    assert values == wanted
    assert values[1:] == wanted[1:]
    assert values != [*wanted[:-1], "other"]


def test_equal_texts_are_kept_once():
    values = Values([f"{k % 2}" for k in range(1000)])
    assert len({id(value) for value in values}) == 2
