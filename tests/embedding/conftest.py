"""Every test of the estimator runs with both solvers."""

import pytest

from eigengraphs import JointEmbedding


@pytest.fixture(scope="module", params=["subspace", "algorithm1"], autouse=True)
def default_solver(request):
    """Make a solver the default; a test that needs one of them names it."""
    defaults = JointEmbedding.__init__.__kwdefaults__
    before = defaults["solver"]
    defaults["solver"] = request.param
    yield request.param
    defaults["solver"] = before
