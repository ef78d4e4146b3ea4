"""The words of a report, for readers who never met them."""

from __future__ import annotations

__all__ = ["GLOSSARY"]

GLOSSARY: tuple[tuple[str, str], ...] = (
    (
        "graph, vertex, edge, weight",
        "A graph is one network: for example one person's connectome. Its vertices are the things "
        "that are connected (brain regions), the same for all graphs. An edge joins two vertices; "
        "its weight says how strongly (streamlines, a correlation).",
    ),
    (
        "component",
        "A pattern of edges that all graphs share: some pairs of vertices strongly joined, others "
        "not, or with the opposite sign. A graph is about the sum of all patterns, each in the "
        "graph's own strength. Component 1 was found first; each further one describes what those "
        "before it left over.",
    ),
    (
        "loading",
        "How strongly one graph shows one component: one number for each graph and component. "
        "Graphs with similar loadings are similar networks. The loadings are the short "
        "description of a graph that can be compared between groups, or correlated with age.",
    ),
    (
        "position",
        "Where one vertex stands in one component. In a component, the edge between two vertices "
        "is the product of their positions: two large positions of one sign make a strong edge, "
        "of opposite signs a strong negative one, and a position near zero makes none. Turning "
        "all signs of a component around changes nothing.",
    ),
    (
        "explained",
        "Share of the sum of squares that the components reproduce: 100% would be a perfect copy. "
        "If the mean graph was subtracted, of the sum of squares around the mean graph, here and "
        "in all tables. Noise cannot be explained, so a low share may still hold all that is to be "
        "known.",
    ),
    (
        "mean graph, centred",
        "The average of all graphs. If it was subtracted, components describe how graphs differ "
        "from it, and a loading of zero means: as the average graph.",
    ),
    (
        "reconstruction, residual",
        "The reconstruction of a graph is what its loadings and the components say it should be. "
        "The residual is the graph less its reconstruction: what the components miss in it; as a "
        "number, 100% less what is explained of the graph. Residual of the whole graph: the same "
        "squares as a share of the graph's own squared weights, mean graph included. It is much "
        "smaller, as the mean graph alone is most of every graph.",
    ),
    (
        "objective",
        "What the fit makes small: the sum of all squared residuals. It falls with every component "
        "that is added. Where it stops falling quickly, further components describe details or "
        "noise.",
    ),
    (
        "converged, degenerate, replicates",
        "Converged: the search for a component has come to rest. Degenerate: the component means "
        "nothing, as nothing was left to describe or as it sits on one or two vertices alone. "
        "Replicates: two random halves of the graphs find the same pattern, more alike than by "
        "chance. Starts that agree: share of the starting points of the search that led to the "
        "component; few are common among components of about equal strength.",
    ),
    (
        "density, isolated vertex",
        "Density is the share of all pairs of vertices that are joined. An isolated vertex has no "
        "edge at all in a graph.",
    ),
    (
        "held out, chance, PCA",
        "To measure honestly how well a label is found, each graph is left out once, everything "
        "is learnt from the others, and the label of the graph is guessed. Chance: how often "
        "always naming the most frequent class would be right. PCA: principal component analysis "
        "of all weights, which knows nothing of graphs.",
    ),
    (
        "explained variance of a quantity",
        "Where the label is a quantity such as age: how much smaller the squared errors of the "
        "guesses are than those of always naming the mean. 100% means no error, 0% that nothing "
        "was learnt, and below zero that the guesses are worse than the mean.",
    ),
)
