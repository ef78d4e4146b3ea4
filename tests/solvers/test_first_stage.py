"""The objective on forty stacks is as good as that of the first stage of the library."""

import json
import statistics

import pytest
from solvers.recorded_stacks import RECORD, SEEDS, STACKS, UNIQUE, share

FIRST = json.loads(RECORD.read_text())


@pytest.mark.parametrize("stack", STACKS, ids=[stack.name for stack in STACKS])
def test_objective_is_as_good_as_recorded(stack, pytestconfig):
    first = FIRST[stack.name]
    if pytestconfig.getoption("--seed") and not first["unique"]:
        pytest.skip("recorded for these seeds, and there are several maxima")
    bound = first["median"] + (UNIQUE if first["unique"] else 1e-4)
    graphs = stack.build()
    # A few seeds decide where they suffice, and all of them where they do not.
    for seeds in (SEEDS[:2] if first["unique"] else SEEDS[:5], SEEDS):
        models = [stack.fit(graphs, seed) for seed in seeds]
        # The same entries count, or the comparison means nothing.
        assert models[0].objective_path_[0] == pytest.approx(first["initial"], rel=1e-6)
        median = statistics.median(share(model) for model in models)
        if median <= bound:
            return
    assert median <= bound


def test_all_stacks_are_recorded():
    assert [stack.name for stack in STACKS] == list(FIRST)
    assert len(FIRST) == 40
