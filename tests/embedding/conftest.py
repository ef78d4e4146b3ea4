"""Every test of this folder is run with both solvers, unless it names one."""

import pytest

from eigengraphs import JointEmbedding


@pytest.fixture(autouse=True, params=["algorithm1", "subspace"], scope="module")
def solver(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(JointEmbedding.__init__.__kwdefaults__, "solver", request.param)
        yield request.param
