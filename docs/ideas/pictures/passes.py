"""Draw the relative gradient against reads of the graphs, for both solvers."""

from look import BLUE, GREY, ORANGE, figure, save

import eigengraphs as eg

D = 4
graphs = eg.datasets.load_mice().graphs.log1p()
drawn, ax = figure(3.6)


def fit(solver):
    """Return a fit, and what it said of its progress."""
    seen = []
    je = eg.JointEmbedding(D, solver=solver, random_state=0, callback=seen.append).fit(graphs)
    print(solver, je.n_passes_, je.stationarity_, je.stop_reason_, je.explained_ratio_.sum())
    return seen


seen = fit("subspace")
ax.plot([p.n_passes for p in seen], [p.stationarity for p in seen], "o-", color=BLUE, markersize=5)
seen = fit("algorithm1")
for k in range(D):
    of = [p for p in seen if p.component == k]
    ax.plot([p.n_passes for p in of], [p.stationarity for p in of], color=ORANGE)
    ax.text(of[0].n_passes, of[0].stationarity * 1.7, f"{k + 1}", color=ORANGE, ha="center")
ax.axhline(1e-8, color=GREY, linestyle=":", linewidth=1)
ax.text(1.05, 1.6e-8, "tolerance", color=GREY)
ax.text(1.1, 3e-5, "subspace:\nall four together", color=BLUE)
ax.text(1.1, 3.0, "algorithm1: component 1, 2, 3, 4, one after the other", color=ORANGE)
ax.set(xscale="log", yscale="log", ylim=(1e-9, 20))
ax.set(xlabel="reads of all graphs (passes)", ylabel="relative gradient")
ax.set_xticks([1, 3, 10, 30, 100, 300], ["1", "3", "10", "30", "100", "300"])
ax.set_yticks([1, 1e-2, 1e-4, 1e-6, 1e-8])
ax.minorticks_off()
save(drawn, "passes.svg")
