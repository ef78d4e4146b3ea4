"""Power by simulation beside that of the t test: ``python -m tests.inference.calibrate_power``."""

from pathlib import Path

import numpy as np
from tests.inference.test_power import of_a_t_test

from eigengraphs.inference import power

N, PERMUTATIONS, SIZES, EFFECTS = 1000, 199, (10, 20, 40), (0.0, 0.5, 0.8, 1.2)

if __name__ == "__main__":
    pilot = np.random.default_rng(0).normal(size=(40, 1))
    lines = [
        "# Power of one component, by simulation and by the t test",
        "",
        f"`python -m tests.inference.calibrate_power`: {N:,} simulated studies a cell,",
        f"{PERMUTATIONS} permutations each, level 0.05; in parentheses the power of a t test.",
        "",
        f"| effect (sd) | {' | '.join(f'{n} per group' for n in SIZES)} |",
        "|---|" + "---|" * len(SIZES),
    ]
    for effect in EFFECTS:
        found = power(pilot, ["a", "b"] * 20, effect=effect, sizes=SIZES, n_studies=N,
                      n_permutations=PERMUTATIONS, random_state=1)  # fmt: skip
        pairs = zip(found.power[:, found.tests.index("alone")], SIZES, strict=True)
        cells = [f"{p:.3f} ({of_a_t_test(effect, n):.3f})" for p, n in pairs]
        lines.append(f"| {effect} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    Path(__file__).with_name("calibration-power.md").write_text("\n".join([*lines, ""]))
