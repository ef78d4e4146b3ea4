"""The paper's two simulation designs: positions, and where the loadings come from.

>>> from eigengraphs.models import paper
>>> paper.SECTION_5_1.shape, paper.LOADINGS_5_1[0]
((20, 3), (8.0, 16.0))
>>> paper.SECTION_5_2.shape, paper.LOADINGS_5_2[2]
((100, 2), (22.5, 2.5))
"""

from __future__ import annotations

import numpy as np

from eigengraphs.models.validation import Floats

__all__ = ["LOADINGS_5_1", "LOADINGS_5_2", "SECTION_5_1", "SECTION_5_2"]


def _signs(period: int) -> Floats:
    return np.where(np.arange(20) // period % 2 == 0, 1.0, -1.0)


#: h_1, h_2, h_3 of section 5.1, (20, 3).
SECTION_5_1: Floats = np.stack([np.ones(20), _signs(1), _signs(2)], axis=1) / np.sqrt(20)
#: Loadings of section 5.1 are uniform between these, one pair per component.
LOADINGS_5_1 = ((8.0, 16.0), (0.0, 2.0), (0.0, 1.0))
#: h_1, h_2 of section 5.2, (100, 2).
SECTION_5_2: Floats = np.stack([np.full(100, 0.1), np.repeat([-0.1, 0.1], 50)], axis=1)
#: Loadings of the two classes of section 5.2, which have equal probability.
LOADINGS_5_2 = {1: (25.0, 5.0), 2: (22.5, 2.5)}
